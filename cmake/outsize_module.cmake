# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# outsize_module(NAME ...): one folder of outsize/ as a library, with its unit tests.
#
#   outsize_module(io                       # -> target outsize_io, alias outsize::io
#     DEPENDS base                          # modules to the left in outsize/CMakeLists.txt, public
#     HEADERS file.hpp request.hpp          # all that are installed, relative to this folder
#     SOURCES file.cpp linux/uring_queue.cpp   # none: a header-only module
#     ALONE linux/uring_queue.cpp           # of SOURCES, what is not joined with others (below)
#     THIRDPARTY fmt::fmt uring::uring      # linked publicly
#     TESTS file_test.cpp request_test.cpp  # -> executable outsize_io_test, each TEST known to ctest
#     TEST_DEPENDS testing xxhash::xxhash   # what only the tests need: modules or targets
#     THREADS request_test.cpp              # of TESTS, what runs under ThreadSanitizer, or ALL
#     MEMORY ALL                            # the same for AddressSanitizer (outsize_test.cmake)
#     INTERNAL)                             # not installed (outsize/testing)
#
# Third parties (cmake/thirdparty): Threads::Threads fmt::fmt hwy::hwy uring::uring xxhash::xxhash
# Boost::headers openblas::openblas compression::gzip (zstd, lz4, xz, bzip2); in the tool
# nlohmann_json::nlohmann_json; in tests GTest::gmock.
#
# With OUTSIZE_JOIN the sources of a module are compiled several at once, in the order in which they
# are listed, so that headers are read once. ALONE stand those whose local names or macros are also
# another's, those that take long by themselves, and inner loops whose code must not depend on what
# is beside them.
#
# OUTSIZE_HAS_URING says whether uring::uring exists: list the sources that need it with
# $<$<BOOL:${OUTSIZE_HAS_URING}>:linux/uring_queue.cpp> and the target with
# $<$<BOOL:${OUTSIZE_HAS_URING}>:uring::uring>; C++ code asks `outsize::has_uring` of
# <outsize/base/config.hpp>.

# Compiles the sources of a target several at once, but for those behind ALONE. To be called behind
# outsize_warnings.
function(outsize_join target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALONE")
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${OUTSIZE_JOIN} UNITY_BUILD_BATCH_SIZE 12)
  if(OUTSIZE_JOIN)  # a file sees what is local to those before it
    target_compile_options(${target} PRIVATE -Wno-shadow)
  endif()
  set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(outsize_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL" ""
    "DEPENDS;HEADERS;SOURCES;ALONE;THIRDPARTY;TESTS;TEST_DEPENDS;THREADS;MEMORY")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "outsize_module(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()

  set(target outsize_${name})
  if(arg_SOURCES)
    set(scope PUBLIC)
    add_library(${target} STATIC ${arg_SOURCES})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(outsize::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} ${scope} cxx_std_20)
  target_compile_definitions(${target} ${scope} OUTSIZE_ASSERTS=$<BOOL:${OUTSIZE_ASSERTS}>)
  # A header that is the first that its own source includes has been compiled alone there.
  set(with_source)
  foreach(header IN LISTS arg_HEADERS)
    string(REGEX REPLACE "\\.hpp$" ".cpp" source "${header}")
    if(source IN_LIST arg_SOURCES)
      list(APPEND with_source "${header}")
    endif()
  endforeach()
  list(REMOVE_ITEM arg_HEADERS ${with_source})
  target_sources(${target} ${scope}
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${arg_HEADERS}
    FILE_SET headers_with_source TYPE HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}"
    FILES ${with_source})
  set_target_properties(${target} PROPERTIES INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
  if(name STREQUAL "base")
    set(generated "${PROJECT_BINARY_DIR}/include")
    target_sources(${target} ${scope} FILE_SET generated_headers TYPE HEADERS
      BASE_DIRS "${generated}" FILES "${generated}/outsize/base/config.hpp")
  endif()
  outsize_warnings(${target})
  if(arg_SOURCES)
    outsize_join(${target} ALONE ${arg_ALONE})
  endif()

  foreach(module IN LISTS arg_DEPENDS)
    if(NOT TARGET outsize_${module})
      message(FATAL_ERROR "outsize_module(${name}): '${module}' is no module of a lower layer")
    endif()
    target_link_libraries(${target} ${scope} outsize_${module})
  endforeach()
  target_link_libraries(${target} ${scope} ${arg_THIRDPARTY})

  if(NOT arg_INTERNAL)
    set_property(GLOBAL APPEND PROPERTY OUTSIZE_MODULES ${name})
  endif()
  if(OUTSIZE_TESTS AND arg_TESTS)
    outsize_test(${target}_test PREFIX ${name}
      SOURCES ${arg_TESTS} MODULES ${name} ${arg_TEST_DEPENDS}
      THREADS ${arg_THREADS} MEMORY ${arg_MEMORY})
  endif()
endfunction()
