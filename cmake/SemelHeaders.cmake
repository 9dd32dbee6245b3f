# semel_check_headers(<target> <root> <folders…>): compiles every header below the folders of <root> alone.
#
# A source that includes its own header first proves that header already (tests/tidy holds sources to that
# order), so only headers without a source beside them get a generated one. It includes the header twice,
# which also proves that it guards itself.
function(semel_check_headers target root)
  set(sources "")
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${root} ${root}/${folder}/*.hpp)
    foreach(header IN LISTS headers)
      string(REGEX REPLACE "\\.hpp$" ".cpp" beside ${root}/${header})
      if(NOT EXISTS ${beside})
        string(MAKE_C_IDENTIFIER ${header} stem)
        set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}/${stem}.cpp)
        file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"\n" @ONLY)
        list(APPEND sources ${source})
      endif()
    endforeach()
  endforeach()
  if(NOT sources)
    # An object library wants one source.
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}/none.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "" @ONLY)
    set(sources ${source})
  endif()
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PRIVATE ${root})
  # Only whether it compiles matters.
  target_compile_options(${target} PRIVATE -O0 -g0)
endfunction()
