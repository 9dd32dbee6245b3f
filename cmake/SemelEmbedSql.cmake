# Puts a folder of numbered migrations into the program, so that a binary carries its own schema.
#
# semel_embed_sql(<target> <namespace> <dir>)
#   <target>     an existing library target
#   <namespace>  e.g. semel::postgres
#   <dir>        folder, relative to the current source folder, with files NNNN_name.sql
#
# Declare in a header of the namespace:
#   [[nodiscard]] std::span<const Migration> migrations() noexcept;
# The generated source defines it: one semel::Migration per file, in order of number, the text
# byte for byte as in the file.
#
# semel_embed_catalogue(<target> <namespace> <dir>)
#   The same for named statements: files name.sql in <dir> become the entries of
#   <namespace>::catalogue().
#
# The same file is the script that does the writing (cmake -P), so a changed .sql file is enough to
# make it anew.

if(CMAKE_SCRIPT_MODE_FILE AND DEFINED SEMEL_EMBED_CATALOGUE)
  file(GLOB files "${SEMEL_EMBED_DIR}/*.sql")
  list(SORT files)
  set(bodies "")
  set(entries "")
  set(count 0)
  foreach(file IN LISTS files)
    get_filename_component(stem "${file}" NAME_WE)
    if(NOT stem MATCHES "^[a-z][a-z0-9_]*$")
      message(FATAL_ERROR "${file}: a statement is named name.sql")
    endif()
    file(READ "${file}" hex HEX)
    string(REGEX REPLACE "(............................)" "\\1\n    " bytes "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND bodies "constexpr char text_${stem}[] = {\n    ${bytes}'\\0'};\n")
    string(APPEND entries "    semel::Catalogue::Entry{\"${stem}\", std::string_view(text_${stem}, sizeof text_${stem} - 1)},\n")
    math(EXPR count "${count} + 1")
  endforeach()
  if(count EQUAL 0)
    message(FATAL_ERROR "${SEMEL_EMBED_DIR}: no statements found")
  endif()
  file(WRITE "${SEMEL_EMBED_CATALOGUE}" "// Made from ${SEMEL_EMBED_DIR} by cmake/SemelEmbedSql.cmake.
#include \"semel/db/catalogue.hpp\"

#include <array>

namespace {

${bodies}
constexpr std::array<semel::Catalogue::Entry, ${count}> all{
${entries}};

}  // namespace

namespace ${SEMEL_EMBED_NAMESPACE} {

semel::Catalogue catalogue() noexcept;
semel::Catalogue catalogue() noexcept { return semel::Catalogue(all); }

}  // namespace ${SEMEL_EMBED_NAMESPACE}
")
  return()
endif()

if(CMAKE_SCRIPT_MODE_FILE AND DEFINED SEMEL_EMBED_OUTPUT)
  file(GLOB files "${SEMEL_EMBED_DIR}/*.sql")
  list(SORT files COMPARE NATURAL)
  set(bodies "")
  set(entries "")
  set(previous 0)
  foreach(file IN LISTS files)
    get_filename_component(stem "${file}" NAME_WE)
    if(NOT stem MATCHES "^([0-9][0-9][0-9][0-9])_([a-z0-9_]+)$")
      message(FATAL_ERROR "${file}: a migration is named NNNN_name.sql")
    endif()
    set(digits "${CMAKE_MATCH_1}")
    set(title "${CMAKE_MATCH_2}")
    string(REGEX REPLACE "^0+" "" number "${digits}")
    math(EXPR expected "${previous} + 1")
    if(NOT number EQUAL expected)
      message(FATAL_ERROR "${file}: the migration before it is ${previous}; numbers have no gaps")
    endif()
    set(previous ${number})
    # Bytes instead of a string literal: no quoting to get wrong and no length limit.
    file(READ "${file}" hex HEX)
    string(REGEX REPLACE "(............................)" "\\1\n    " bytes "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND bodies "constexpr char text_${number}[] = {\n    ${bytes}'\\0'};\n")
    string(APPEND entries "    semel::Migration{${number}, \"${title}\", std::string_view(text_${number}, sizeof text_${number} - 1)},\n")
  endforeach()
  if(previous EQUAL 0)
    message(FATAL_ERROR "${SEMEL_EMBED_DIR}: no migrations found")
  endif()
  file(WRITE "${SEMEL_EMBED_OUTPUT}" "// Made from ${SEMEL_EMBED_DIR} by cmake/SemelEmbedSql.cmake.
#include \"semel/db/migration.hpp\"

#include <array>
#include <span>
#include <string_view>

namespace {

${bodies}
constexpr std::array<semel::Migration, ${previous}> all{
${entries}};

}  // namespace

namespace ${SEMEL_EMBED_NAMESPACE} {

// Declared here as well, so that the definition does not depend on which header declares it.
std::span<const semel::Migration> migrations() noexcept;
std::span<const semel::Migration> migrations() noexcept { return all; }

}  // namespace ${SEMEL_EMBED_NAMESPACE}
")
  return()
endif()

function(semel_embed_sql target namespace dir)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${dir})
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.sql)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_migrations.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DSEMEL_EMBED_DIR=${folder} -DSEMEL_EMBED_NAMESPACE=${namespace}
            -DSEMEL_EMBED_OUTPUT=${output} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPENDS ${files} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Embedding ${dir} into ${target}"
    VERBATIM)
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${output})
endfunction()

function(semel_embed_catalogue target namespace dir)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${dir})
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.sql)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_catalogue.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DSEMEL_EMBED_DIR=${folder} -DSEMEL_EMBED_NAMESPACE=${namespace}
            -DSEMEL_EMBED_CATALOGUE=${output} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPENDS ${files} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Embedding ${dir} into ${target}"
    VERBATIM)
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${output})
endfunction()
