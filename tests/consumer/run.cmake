# Everything happens below WORK: prefix/ is the installation, moved/ the same one at another place (a package
# must not remember where it was built), build/ the consumer's own build.
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
set(options -G Ninja -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
  -D CMAKE_PREFIX_PATH=${WORK}/moved -D SEMEL_VERSION=${VERSION})
if(SANITIZE)
  list(APPEND options -D CMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
endif()
run("configuring the consumer" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${WORK}/build ${options})
run("building the consumer" ${CMAKE_COMMAND} --build ${WORK}/build)
foreach(program base_only everything)
  run("running ${program}" ${WORK}/build/${program})
endforeach()

# A component that does not exist is refused by name.
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${WORK}/missing ${options} -D COMPONENT=teleport
  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE code)
if(code EQUAL 0 OR NOT output MATCHES "no component 'teleport'")
  message(FATAL_ERROR "a component that does not exist was not refused by name (${code}):\n${output}")
endif()
