# What makes the everyday build quick (SEMEL_QUICK_BUILD). What hardly computes is not optimised; and what nearly every source
# includes from elsewhere is read once for all that are compiled alike: the libraries, and the tests. Nothing of Semel's own is
# precompiled, so that a changed header compiles what includes it and no more. The preset `files` does without all of
# this, and shows an include that is missing.

set(SEMEL_PRECOMPILED_STANDARD
  <algorithm> <array> <atomic> <charconv> <chrono> <compare> <condition_variable> <cstdint> <functional> <map> <memory>
  <mutex> <optional> <set> <span> <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector>)

# semel_lend(<lender> <headers…>): what is lent has to be compiled as what uses it is: a library for libraries, a program
# for programs, plainly for those compiled plainly.
function(semel_lend lender)
  set(source ${PROJECT_BINARY_DIR}/${lender}.cpp)
  if(lender STREQUAL semel_lends_libraries)
    file(CONFIGURE OUTPUT ${source} CONTENT "extern const int semel_lends;\nconst int semel_lends = 1;\n" @ONLY)
    add_library(${lender} STATIC ${source})
  else()
    file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n" @ONLY)
    add_executable(${lender} ${source})
    set_target_properties(${lender} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    target_compile_options(${lender} PRIVATE -O0 -g0)
  endif()
  target_link_libraries(${lender} PRIVATE semel_options)
  target_precompile_headers(${lender} PRIVATE ${SEMEL_PRECOMPILED_STANDARD} <tl/expected.hpp> ${ARGN})
endfunction()

function(semel_compile_library target)
  if(NOT SEMEL_QUICK_BUILD)
    return()
  endif()
  if(NOT TARGET semel_lends_libraries)
    semel_lend(semel_lends_libraries)
  endif()
  target_precompile_headers(${target} REUSE_FROM semel_lends_libraries)
endfunction()

# What hardly computes: to optimise it would take longer than it ever runs.
function(semel_compile_plainly target)
  if(NOT SEMEL_QUICK_BUILD)
    return()
  endif()
  target_compile_options(${target} PRIVATE -O0 -g0)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL EXECUTABLE)
    return()
  endif()
  if(NOT TARGET semel_lends_programs)
    semel_lend(semel_lends_programs <nlohmann/json.hpp>)
  endif()
  target_precompile_headers(${target} REUSE_FROM semel_lends_programs)
endfunction()

# The same for a program of tests.
function(semel_compile_test target)
  if(NOT SEMEL_QUICK_BUILD)
    return()
  endif()
  target_compile_options(${target} PRIVATE -O0 -g0)
  if(NOT TARGET semel_lends_tests)
    semel_lend(semel_lends_tests <filesystem> <fstream> <sstream> <gmock/gmock.h> <gtest/gtest.h>)
    target_link_libraries(semel_lends_tests PRIVATE GTest::gmock)
  endif()
  target_precompile_headers(${target} REUSE_FROM semel_lends_tests)
endfunction()
