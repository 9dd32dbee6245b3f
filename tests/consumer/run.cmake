# Everything happens below WORK: prefix/ is the installation, moved/ the same one at another place (a package
# must not remember where it was built), build_*/ the consumer's own build, with one compiler each.
cmake_minimum_required(VERSION 3.25)

function(run what)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what} failed (${code}):\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run("installing" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)

# Headers only: no test, no source, and the licence travels along.
file(GLOB_RECURSE strangers RELATIVE ${WORK}/prefix ${WORK}/prefix/include/*)
list(FILTER strangers EXCLUDE REGEX "\\.hpp$")
file(GLOB_RECURSE tests RELATIVE ${WORK}/prefix ${WORK}/prefix/include/*test.*)
file(GLOB_RECURSE licence ${WORK}/prefix/share/doc/semel/LICENSE)
if(strangers OR tests OR NOT licence)
  message(FATAL_ERROR "the installation holds what it should not, or lacks its licence: ${strangers} ${tests}")
endif()

file(RENAME ${WORK}/prefix ${WORK}/moved)
set(options -G Ninja -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -D CMAKE_PREFIX_PATH=${WORK}/moved
  -D SEMEL_VERSION=${VERSION})
set(compilers ${COMPILER})
if(SANITIZE)
  list(APPEND options -D CMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
else()
  # Whoever takes the library need not take the compiler that made it: both use GCC's standard library.
  find_program(GCC g++ REQUIRED)
  list(APPEND compilers ${GCC})
  list(REMOVE_DUPLICATES compilers)
endif()
foreach(compiler IN LISTS compilers)
  get_filename_component(name ${compiler} NAME)
  set(folder ${WORK}/build_${name})
  run("configuring the consumer for ${name}" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${folder} ${options}
    -D CMAKE_CXX_COMPILER=${compiler})
  run("building the consumer with ${name}" ${CMAKE_COMMAND} --build ${folder})
  foreach(program base_only everything)
    run("running ${program}, made by ${name}" ${folder}/${program})
  endforeach()
endforeach()

# A component that does not exist is refused by name.
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${WORK}/missing ${options} -D CMAKE_CXX_COMPILER=${COMPILER} -D COMPONENT=teleport
  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE code)
if(code EQUAL 0 OR NOT output MATCHES "no component 'teleport'")
  message(FATAL_ERROR "a component that does not exist was not refused by name (${code}):\n${output}")
endif()
