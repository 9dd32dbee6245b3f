# Puts a folder of text files into the program, so that a binary carries what it serves.
#
# semel_embed_text(<target> <function> <dir> <extension>)
#   <target>     an existing target
#   <function>   with its namespace, e.g. orders::schemas
#   <dir>        folder, relative to the current source folder
#   <extension>  without the dot; Name.json becomes the entry "Name", and a.v1.json "a.v1"
#
# Declare in a header:
#   [[nodiscard]] std::span<const std::pair<std::string_view, std::string_view>> schemas() noexcept;
# The generated source defines it: name and text of each file, by ascending name, byte for byte as in the file.
#
# The same file is the script that does the writing (cmake -P), so a changed file is enough to make it anew.

if(CMAKE_SCRIPT_MODE_FILE AND DEFINED SEMEL_EMBED_OUTPUT)
  file(GLOB files "${SEMEL_EMBED_DIR}/*.${SEMEL_EMBED_EXTENSION}")
  list(SORT files)
  set(bodies "")
  set(entries "")
  set(count 0)
  foreach(file IN LISTS files)
    get_filename_component(stem "${file}" NAME_WLE)
    if(NOT stem MATCHES "^[A-Za-z][A-Za-z0-9_.]*$")
      message(FATAL_ERROR "${file}: a name is made of letters, digits, underscores and dots")
    endif()
    string(MAKE_C_IDENTIFIER "${stem}" variable)
    # Bytes instead of a string literal: no quoting to get wrong and no length limit.
    file(READ "${file}" hex HEX)
    string(REGEX REPLACE "(............................)" "\\1\n    " bytes "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND bodies "constexpr char text_${variable}[] = {\n    ${bytes}'\\0'};\n")
    string(APPEND entries "    Entry{\"${stem}\", std::string_view(text_${variable}, sizeof text_${variable} - 1)},\n")
    math(EXPR count "${count} + 1")
  endforeach()
  if(count EQUAL 0)
    message(FATAL_ERROR "${SEMEL_EMBED_DIR}: no files found")
  endif()
  string(REGEX REPLACE "::[a-z_]+$" "" namespace "${SEMEL_EMBED_FUNCTION}")
  string(REGEX REPLACE "^.*::" "" function "${SEMEL_EMBED_FUNCTION}")
  file(WRITE "${SEMEL_EMBED_OUTPUT}" "// Made from ${SEMEL_EMBED_DIR} by cmake/SemelEmbedText.cmake.
#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace {

using Entry = std::pair<std::string_view, std::string_view>;

${bodies}
constexpr std::array<Entry, ${count}> all{
${entries}};

}  // namespace

namespace ${namespace} {

// Declared here as well, so that the definition does not depend on which header declares it.
std::span<const Entry> ${function}() noexcept;
std::span<const Entry> ${function}() noexcept { return all; }

}  // namespace ${namespace}
")
  return()
endif()

function(semel_embed_text target function dir extension)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${dir})
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.${extension})
  get_filename_component(stem ${dir} NAME)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_${stem}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DSEMEL_EMBED_DIR=${folder} -DSEMEL_EMBED_EXTENSION=${extension}
            -DSEMEL_EMBED_FUNCTION=${function} -DSEMEL_EMBED_OUTPUT=${output} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPENDS ${files} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Embedding ${dir} into ${target}"
    VERBATIM)
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${output})
endfunction()
