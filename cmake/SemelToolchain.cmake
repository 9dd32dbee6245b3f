# How everything is compiled: warnings, sanitizers, ccache.

find_program(SEMEL_CCACHE ccache)
if(SEMEL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SEMEL_CCACHE})
  if(SEMEL_QUICK_BUILD)
    # What ccache asks for where headers are precompiled: to trust that their macros are those of the program.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,$ENV{CCACHE_SLOPPINESS} ${SEMEL_CCACHE})
  endif()
endif()

add_library(semel_options INTERFACE)
target_compile_options(semel_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Woverloaded-virtual -Wimplicit-fallthrough -Wextra-semi
  $<$<BOOL:${SEMEL_WARNINGS_AS_ERRORS}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # A precompiled header is the same whenever it was made, so that ccache knows it again.
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  # SEMEL_TRY is a statement expression by design; SEMEL_ASSERT takes a reason as !"reason".
  target_compile_options(semel_options INTERFACE
    -Wno-gnu-statement-expression-from-macro-expansion -Wno-string-conversion)
endif()

if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A type of an anonymous namespace is local all the same when the compiler sees its file through an #include.
  add_compile_options(-Wno-subobject-linkage)
endif()

if(SEMEL_SANITIZE)
  add_compile_options(-fsanitize=${SEMEL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SEMEL_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 warns of std::regex, whose instrumented code it no longer sees through.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
  if(SEMEL_SANITIZE MATCHES "thread")
    # GCC 12 cannot instrument std::atomic_thread_fence; nothing of ours uses it.
    add_compile_options(-Wno-tsan)
  endif()
endif()

if(SEMEL_BUILD_FUZZ)
  # The library reports its branches to the fuzzer; only the fuzzers themselves get its main().
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
endif()
