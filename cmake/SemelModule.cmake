# One folder of semel/ is one library, semel_<name>, known to users as semel::<name>.
#
# semel_module(<name>
#   SOURCES <files…>        # without sources the module is header-only
#   DEPENDS <targets…>      # public: they appear in the headers
#   LINKS <targets…>        # private: only the sources need them
#   TESTS <x_test.cpp…>     # unit tests: no sleep, no real clock, no server
#   PGTESTS <x_pgtest.cpp…> # tests that start a PostgreSQL of their own
#   TEST_LINKS <targets…>)
function(semel_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LINKS;TESTS;PGTESTS;TEST_LINKS" ${ARGN})
  set(target semel_${name})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
    target_compile_features(${target} PUBLIC cxx_std_23)
    target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE $<BUILD_INTERFACE:semel_options> ${arg_LINKS})
    if(SEMEL_ENABLE_FAILPOINTS)
      target_compile_definitions(${target} PUBLIC SEMEL_FAILPOINTS)
    endif()
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
    target_compile_features(${target} INTERFACE cxx_std_23)
    target_link_libraries(${target} INTERFACE ${arg_DEPENDS})
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  add_library(semel::${name} ALIAS ${target})
  set_property(GLOBAL APPEND PROPERTY SEMEL_MODULES ${target})

  if(SEMEL_BUILD_TESTS AND arg_TESTS)
    semel_test(${name}_test SOURCES ${arg_TESTS} LINKS ${target} ${arg_TEST_LINKS} LABELS unit)
  endif()
  if(SEMEL_BUILD_TESTS AND arg_PGTESTS)
    semel_test(${name}_pgtest SOURCES ${arg_PGTESTS} LINKS ${target} ${arg_TEST_LINKS} semel_testing LABELS postgres)
  endif()
endfunction()

# One target per label builds all programs of that label: semel_tests_unit, semel_tests_sqlite, …
function(semel_label_target label)
  if(NOT TARGET semel_tests_${label})
    add_custom_target(semel_tests_${label})
  endif()
endfunction()
foreach(label unit sqlite)
  semel_label_target(${label})
endforeach()

# semel_test(<name> SOURCES … LINKS … LABELS … [TIMEOUT seconds]): one GoogleTest program, one ctest entry.
# Labels: unit, sqlite, postgres, … say what a test needs; soak keeps it out of `make test`.
function(semel_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINKS} semel_options GTest::gmock_main)
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
  foreach(label IN LISTS arg_LABELS)
    semel_label_target(${label})
    add_dependencies(semel_tests_${label} ${name})
  endforeach()
endfunction()
