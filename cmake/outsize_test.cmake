# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# Tests that ctest knows by name.
#
#   outsize_test(sort_io_test            # executable; every TEST in it becomes a test of ctest
#     SOURCES sort_io_test.cpp
#     MODULES algorithm testing          # modules, or targets such as xxhash::xxhash
#     PREFIX complexity                  # shown before the test's name; by default the folder's
#     THREADS ALL                        # or those of SOURCES that run under ThreadSanitizer
#     MEMORY ALL)                        # the same for AddressSanitizer and UBSan
#
# A sanitizer costs several times the work, so its build has only what it may find something in
# that others do not show; with OUTSIZE_ALL_TESTS it has everything (`./dev check`). THREADS are
# tests in which threads of ours share what they work on. MEMORY are those that place or read bytes
# by themselves, or code that does; not those that count, plan or look at what others test. They
# are the labels `threads`, `memory` and `threads+memory` of ctest.
#
#   outsize_compile_fail_test(items.cpp          # compiles as it stands, but not with
#     SECTION NOT_TRIVIALLY_COPYABLE             #   -DNOT_TRIVIALLY_COPYABLE, and then
#     EXPECT "external_item")                    #   the compiler's message matches EXPECT, or each
#                                                #   of a list

# What the sanitizers' presets build.
add_custom_target(outsize_threads_tests)
add_custom_target(outsize_memory_tests)

# Sets `result` to the label of the tests that this build is for; empty: all.
function(outsize_label_of_build result)
  set(label "")
  if(NOT OUTSIZE_ALL_TESTS)
    if(OUTSIZE_SANITIZE MATCHES "thread")
      set(label threads)
    elseif(OUTSIZE_SANITIZE MATCHES "address")
      set(label memory)
    endif()
  endif()
  set(${result} "${label}" PARENT_SCOPE)
endfunction()

# Optimising tests and examples takes longer than running them, most of all with what UBSan adds;
# under ThreadSanitizer it is the other way round. Null pointers are found by ASan too; to check these
# and the alignment at each access takes GCC half the time again. Modules, tools and benchmarks are
# compiled as they ship, modules and what libFuzzer runs with both checks.
function(outsize_compile_quickly name)
  if(OUTSIZE_SANITIZE MATCHES "undefined")
    target_compile_options(${name} PRIVATE -O0
      $<$<CXX_COMPILER_ID:GNU>:-fno-sanitize=null,alignment>)
  elseif(NOT OUTSIZE_SANITIZE)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# Sets `result` to sources that are compiled instead of those given: with OUTSIZE_JOIN some of
# them joined, in the order in which they are given (join_tests.cmake).
function(outsize_join_tests result name)
  set(${result} ${ARGN} PARENT_SCOPE)
  list(LENGTH ARGN count)
  if(NOT OUTSIZE_JOIN OR count LESS 5)
    return()
  endif()
  set(most_bytes 100000)  # what two processors and 4 GiB of memory take well
  set(sources)
  set(files)
  set(bytes 0)
  foreach(source IN LISTS ARGN ITEMS "")
    set(source_bytes ${most_bytes})
    if(source)
      file(SIZE "${CMAKE_CURRENT_SOURCE_DIR}/${source}" source_bytes)
    endif()
    math(EXPR bytes "${bytes} + ${source_bytes}")
    if(files AND bytes GREATER most_bytes)
      list(LENGTH sources number)
      set(joined "${CMAKE_CURRENT_BINARY_DIR}/${name}_${number}.cpp")
      list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE paths)
      add_custom_command(OUTPUT "${joined}"
        COMMAND ${CMAKE_COMMAND} "-DROOT=${PROJECT_SOURCE_DIR}"
          -P "${PROJECT_SOURCE_DIR}/cmake/join_tests.cmake" -- "${joined}" ${files}
        DEPENDS ${paths} "${PROJECT_SOURCE_DIR}/cmake/join_tests.cmake"
        COMMENT "" VERBATIM)
      list(APPEND sources "${joined}")
      set(files)
      set(bytes ${source_bytes})
    endif()
    file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
    list(APPEND files "${path}")
  endforeach()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

function(outsize_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX" "SOURCES;MODULES;THREADS;MEMORY")
  if(NOT arg_PREFIX)
    get_filename_component(arg_PREFIX "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  endif()
  outsize_label_of_build(label)
  string(TOUPPER "${label}" label)
  set(is_of_build ON)
  if(label AND NOT arg_${label})
    set(is_of_build OFF)
  elseif(label AND NOT arg_${label} STREQUAL "ALL")
    set(arg_SOURCES ${arg_${label}})
  endif()
  if(NOT TARGET outsize_death_tests)
    add_library(outsize_death_tests OBJECT "${PROJECT_SOURCE_DIR}/tests/death_tests.cpp")
    target_link_libraries(outsize_death_tests PRIVATE GTest::gmock)
  endif()
  outsize_join_tests(sources ${name} ${arg_SOURCES})
  add_executable(${name} ${sources} $<TARGET_OBJECTS:outsize_death_tests>)
  outsize_warnings(${name})
  foreach(module IN LISTS arg_MODULES)
    if(module MATCHES "::")
      target_link_libraries(${name} PRIVATE ${module})
    else()
      target_link_libraries(${name} PRIVATE outsize::${module})
    endif()
  endforeach()
  target_link_libraries(${name} PRIVATE GTest::gmock GTest::gtest_main)
  if(OUTSIZE_JOIN)
    target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
    # GCC 12 then sees impossible lengths in inlined functions of std::string, and takes types that
    # are local to a test, as arguments of templates, for those of a header.
    target_compile_options(${name} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-array-bounds -Wno-subobject-linkage>)
  endif()
  outsize_compile_quickly(${name})
  set(properties TIMEOUT 300)
  if(NOT is_of_build)
    return()  # ctest would miss it
  endif()
  set(labels)
  foreach(label IN ITEMS threads memory)
    string(TOUPPER "${label}" sources)
    if(arg_${sources})
      list(APPEND labels ${label})
      add_dependencies(outsize_${label}_tests ${name})
    endif()
  endforeach()
  if(labels)  # one, as gtest_discover_tests takes no lists: ctest looks for expressions in it
    list(JOIN labels "+" labels)
    list(APPEND properties LABELS ${labels})
  endif()
  gtest_discover_tests(${name}
    TEST_PREFIX "${arg_PREFIX}/" DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()

function(outsize_compile_fail_test file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SECTION;EXPECT" "")
  set(compile ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only
    -I${PROJECT_SOURCE_DIR} -I${PROJECT_BINARY_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  if(NOT TEST compile_fail/${file})
    add_test(NAME compile_fail/${file} COMMAND ${compile})
  endif()
  add_test(NAME compile_fail/${file}:${arg_SECTION}
    COMMAND ${CMAKE_COMMAND} "-DEXPECT=${arg_EXPECT}" -P
      "${PROJECT_SOURCE_DIR}/cmake/expect_compile_failure.cmake" -- ${compile} -D${arg_SECTION})
endfunction()
