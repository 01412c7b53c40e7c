# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# Joins test sources into one translation unit, so that what they include is read and what they
# instantiate is made once:
#
#   cmake -DROOT=SOURCE_TREE -P join_tests.cmake -- RESULT FILE...   # FILEs relative to ROOT
#
# What is local to a file stays so: its unnamed namespace gets one with a name of its own around it,
# and no file sees the names of another. That relies on the layout of clang-format.

cmake_minimum_required(VERSION 3.25)

set(files)
math(EXPR last_argument "${CMAKE_ARGC} - 1")
foreach(i RANGE 1 ${last_argument})
  if(DEFINED files_begin)
    list(APPEND files "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(files_begin ${i})
  endif()
endforeach()
list(POP_FRONT files result)

set(joined "")
foreach(file IN LISTS files)
  string(MAKE_C_IDENTIFIER "${file}" name)
  file(READ "${ROOT}/${file}" text)
  set(begin "\nnamespace {\n")
  set(end "\n}  // namespace\n")
  set(end_joined "\n} }\n")
  # What stands between such namespaces or behind them may speak of what is in them.
  string(REGEX REPLACE "\n}  // namespace [a-z_:]+" "" rest "${text}\n")
  string(FIND "${rest}" "${begin}" first)
  string(FIND "${rest}" "${begin}" last REVERSE)
  if(NOT first EQUAL last OR NOT rest MATCHES "\n}  // namespace\n+$")
    set(end_joined "\n} } using namespace in_${name};\n")
  endif()
  string(REPLACE "${begin}" "\nnamespace in_${name} { namespace {\n" text "${text}")
  string(REPLACE "${end}" "${end_joined}" text "${text}")
  string(APPEND joined "#line 1 \"${file}\"\n${text}")
endforeach()
set(before "")
if(EXISTS "${result}")
  file(READ "${result}" before)
endif()
if(NOT joined STREQUAL before)  # else nothing is to be compiled
  file(WRITE "${result}" "${joined}")
endif()
