# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# Sanitizers apply to every target of a build: code with and without them must not be mixed.

if(OUTSIZE_SANITIZE)
  add_compile_options(-fsanitize=${OUTSIZE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${OUTSIZE_SANITIZE})
  if(OUTSIZE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
    # What UBSan notes of each check has pointers: moving them costs each start of a test 30 ms.
    add_link_options(-no-pie)
  endif()
  if(OUTSIZE_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Boost and the standard library use fences that GCC warns it cannot instrument.
    add_compile_options(-Wno-tsan)
  endif()
endif()
