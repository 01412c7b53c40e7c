# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# cmake -DEXPECT=REGEX -P expect_compile_failure.cmake -- COMMAND...: succeeds if COMMAND fails and
# what it prints matches REGEX, or each of a list, so that a program that fails for another reason is
# noticed.

set(command)
set(seen FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(index RANGE ${last})
  if(seen)
    list(APPEND command "${CMAKE_ARGV${index}}")
  elseif(CMAKE_ARGV${index} STREQUAL "--")
    set(seen TRUE)
  endif()
endforeach()

execute_process(COMMAND ${command}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "compiled, although it must not")
endif()
foreach(regex IN LISTS EXPECT)
  if(NOT output MATCHES "${regex}")
    message(FATAL_ERROR "failed without a message that matches '${regex}':\n${output}")
  endif()
endforeach()
