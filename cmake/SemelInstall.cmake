# `cmake --install`: the libraries, the public headers, the program and a package for find_package(semel).
#
#   find_package(semel REQUIRED)                     everything
#   find_package(semel REQUIRED COMPONENTS sqlite)   and it is an error if that module is not there
#   target_link_libraries(app PRIVATE semel::semel)  or one module: semel::base, semel::sqlite, …

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(SEMEL_MODULES GLOBAL PROPERTY SEMEL_MODULES)

# All modules a service links; the fakes of semel::testing are asked for by name.
add_library(semel_semel INTERFACE)
set_target_properties(semel_semel PROPERTIES EXPORT_NAME semel)
add_library(semel::semel ALIAS semel_semel)
foreach(module IN LISTS SEMEL_MODULES)
  if(NOT module STREQUAL "semel_testing")
    target_link_libraries(semel_semel INTERFACE ${module})
  endif()
endforeach()

# The package looks for exactly what the modules link, private parts of static libraries included.
set(SEMEL_PACKAGE_OF_tl "tl-expected")
set(SEMEL_PACKAGE_OF_Threads "Threads")
set(SEMEL_PACKAGE_OF_OpenSSL "OpenSSL 3")
set(SEMEL_PACKAGE_OF_PostgreSQL "PostgreSQL")
set(SEMEL_PACKAGE_OF_SQLite "SQLite3")
set(SEMEL_PACKAGE_OF_Boost "Boost 1.81")
set(SEMEL_PACKAGE_OF_CURL "CURL 7.85")
set(SEMEL_PACKAGE_OF_fmt "fmt")
set(SEMEL_PACKAGE_OF_spdlog "spdlog")
set(SEMEL_PACKAGE_OF_nlohmann_json "nlohmann_json")
set(SEMEL_PACKAGE_OF_simdjson "simdjson")
set(SEMEL_PACKAGE_OF_GTest "GTest")
set(SEMEL_DEPENDENCIES "")
foreach(module IN LISTS SEMEL_MODULES)
  set(links "")
  foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
    get_target_property(some ${module} ${property})
    if(some)
      list(APPEND links ${some})
    endif()
  endforeach()
  string(REGEX MATCHALL "[A-Za-z0-9_]+::" namespaces "${links}")
  foreach(namespace IN LISTS namespaces)
    string(REPLACE "::" "" namespace ${namespace})
    if(namespace STREQUAL "semel")
      continue()
    elseif(NOT SEMEL_PACKAGE_OF_${namespace})
      message(FATAL_ERROR "${module} links ${namespace}::…: name its package in cmake/SemelInstall.cmake, "
        "or users of the installed library cannot link")
    endif()
    list(APPEND SEMEL_DEPENDENCIES "find_dependency(${SEMEL_PACKAGE_OF_${namespace}})")
  endforeach()
endforeach()
list(REMOVE_DUPLICATES SEMEL_DEPENDENCIES)
list(JOIN SEMEL_DEPENDENCIES "\n" SEMEL_DEPENDENCIES)

set(SEMEL_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/semel)
install(TARGETS semel_semel ${SEMEL_MODULES} EXPORT semelTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT semelTargets NAMESPACE semel:: DESTINATION ${SEMEL_PACKAGE_DIR})
set(folders "")
foreach(module IN LISTS SEMEL_MODULES)
  get_target_property(folder ${module} SOURCE_DIR)
  list(APPEND folders ${folder})
endforeach()
list(REMOVE_DUPLICATES folders)
foreach(folder IN LISTS folders)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/semel
    FILES_MATCHING PATTERN "*.hpp"
    PATTERN "*_test*" EXCLUDE PATTERN "*_pgtest*" EXCLUDE PATTERN sql EXCLUDE PATTERN migrations EXCLUDE)
endforeach()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/semelConfig.cmake.in ${PROJECT_BINARY_DIR}/semelConfig.cmake
  INSTALL_DESTINATION ${SEMEL_PACKAGE_DIR} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/semelConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/semelConfig.cmake ${PROJECT_BINARY_DIR}/semelConfigVersion.cmake
  DESTINATION ${SEMEL_PACKAGE_DIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
