# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# outsize_warnings(target): the warnings that all of our own code is compiled with. GCC 12 sees
# overlapping copies in plain string concatenation (its bug 105651), hence no -Wrestrict.

function(outsize_warnings target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
    -Wcast-align -Wformat=2 -Wimplicit-fallthrough
    $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op -Wno-restrict>
    # As GCC understands -Wconversion: literals in tests need no suffixes.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
    $<$<BOOL:${OUTSIZE_WARNINGS_AS_ERRORS}>:-Werror>)
endfunction()
