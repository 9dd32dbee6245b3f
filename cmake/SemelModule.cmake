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
    semel_compile_library(${target})
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

# Where each entry of ctest notes at which failpoints its processes were killed, for tests/crash/points.py.
set(SEMEL_KILLS ${PROJECT_BINARY_DIR}/kills)
file(MAKE_DIRECTORY ${SEMEL_KILLS})

# semel_test(<name>
#   SOURCES … LINKS …
#   LABELS <labels…>       # unit, sqlite, postgres, … say what it needs; soak keeps it out of `make test`
#   TIMEOUT <seconds>      # 300 unless told; those with a longer one start first
#   BUSY                   # keeps a processor busy, or measures what a busy neighbour would lengthen
#   OPTIMISED              # always, since it computes a lot by itself
#   SQLITE <entry>         # the cases */sqlite, which need no server, become an entry of their own: the sanitizers run it
#   SQLITE_CASES <filter>) # if those are called otherwise
# One GoogleTest program, one ctest entry. tools/run-tests runs twice as many entries at once as there are processors, since most
# of them wait most of the time: for servers, leases and deadlines. A busy one takes two places.
function(semel_test name)
  cmake_parse_arguments(arg "BUSY;OPTIMISED" "TIMEOUT;SQLITE;SQLITE_CASES" "SOURCES;LINKS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINKS} semel_options GTest::gmock_main)
  if(NOT arg_OPTIMISED)
    semel_compile_test(${name})
  endif()
  set(properties "")
  if(arg_TIMEOUT)
    list(APPEND properties TIMEOUT ${arg_TIMEOUT} COST ${arg_TIMEOUT})
  else()
    list(APPEND properties TIMEOUT 300)
  endif()
  if(arg_BUSY)
    list(APPEND properties PROCESSORS 2)
  endif()
  set(others "")
  if(arg_SQLITE)
    if(NOT arg_SQLITE_CASES)
      set(arg_SQLITE_CASES */sqlite)
    endif()
    add_test(NAME ${arg_SQLITE} COMMAND ${name} --gtest_brief=1 --gtest_filter=${arg_SQLITE_CASES})
    set_tests_properties(${arg_SQLITE} PROPERTIES ${properties} LABELS sqlite
      ENVIRONMENT SEMEL_FAILPOINT_LOG=${SEMEL_KILLS}/${arg_SQLITE})
    semel_label_target(sqlite)
    add_dependencies(semel_tests_sqlite ${name})
    set(others --gtest_filter=-${arg_SQLITE_CASES})
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 ${others})
  set_tests_properties(${name} PROPERTIES ${properties} LABELS "${arg_LABELS}"
    ENVIRONMENT SEMEL_FAILPOINT_LOG=${SEMEL_KILLS}/${name})
  foreach(label IN LISTS arg_LABELS)
    semel_label_target(${label})
    add_dependencies(semel_tests_${label} ${name})
  endforeach()
endfunction()
