# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# Tests that ctest knows by name.
#
#   outsize_test(sort_io_test            # executable; every TEST in it becomes a test of ctest
#     SOURCES sort_io_test.cpp
#     MODULES algorithm testing          # modules, or targets such as xxhash::xxhash
#     PREFIX complexity                  # shown before the test's name; by default the folder's
#     CONCURRENT ALL)                    # or those of SOURCES that also run under ThreadSanitizer
#
#   outsize_compile_fail_test(items.cpp          # compiles as it stands, but not with
#     SECTION NOT_TRIVIALLY_COPYABLE             #   -DNOT_TRIVIALLY_COPYABLE, and then
#     EXPECT "external_item")                    #   the compiler's message matches EXPECT, or each
#                                                #   of a list

# All that the tsan preset builds.
add_custom_target(outsize_concurrent_tests)

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

function(outsize_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX" "SOURCES;MODULES;CONCURRENT")
  if(NOT arg_PREFIX)
    get_filename_component(arg_PREFIX "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  endif()
  if(OUTSIZE_SANITIZE MATCHES "thread" AND arg_CONCURRENT AND NOT arg_CONCURRENT STREQUAL "ALL")
    set(arg_SOURCES ${arg_CONCURRENT})
  endif()
  if(NOT TARGET outsize_death_tests)
    add_library(outsize_death_tests OBJECT "${PROJECT_SOURCE_DIR}/tests/death_tests.cpp")
    target_link_libraries(outsize_death_tests PRIVATE GTest::gmock)
  endif()
  add_executable(${name} ${arg_SOURCES} $<TARGET_OBJECTS:outsize_death_tests>)
  outsize_warnings(${name})
  foreach(module IN LISTS arg_MODULES)
    if(module MATCHES "::")
      target_link_libraries(${name} PRIVATE ${module})
    else()
      target_link_libraries(${name} PRIVATE outsize::${module})
    endif()
  endforeach()
  target_link_libraries(${name} PRIVATE GTest::gmock GTest::gtest_main)
  # What nearly every test includes takes half the time of compiling it.
  list(LENGTH arg_SOURCES count)
  if(count GREATER 4)
    target_precompile_headers(${name} PRIVATE <gtest/gtest.h> <gmock/gmock.h> <fmt/format.h>
      <algorithm> <array> <functional> <memory> <random> <span> <string> <vector>)
    # GCC 12 then sees impossible lengths in inlined functions of std::string.
    target_compile_options(${name} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-array-bounds>)
  endif()
  outsize_compile_quickly(${name})
  set(properties TIMEOUT 300)
  if(arg_CONCURRENT)
    list(APPEND properties LABELS concurrent)
    add_dependencies(outsize_concurrent_tests ${name})
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
