# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# Compiles through ccache where it is installed: what was compiled in another clone, or before a
# change was taken back, is not compiled again. Settings of one's own come first.

find_program(OUTSIZE_CCACHE ccache)
if(OUTSIZE_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(settings)
  # Paths below the clone, also those in debugging information, do not tell clones apart, and
  # precompiled headers are allowed.
  foreach(setting IN ITEMS "BASEDIR=${CMAKE_CURRENT_SOURCE_DIR}" NOHASHDIR=1
                           "SLOPPINESS=pch_defines,time_macros")
    string(REGEX REPLACE "=.*" "" name "${setting}")
    if(NOT DEFINED ENV{CCACHE_${name}})
      list(APPEND settings "CCACHE_${setting}")
    endif()
  endforeach()
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;env;${settings};${OUTSIZE_CCACHE}")
  # So that ccache sees which precompiled header GCC takes, and clang takes one that is not newer
  # than what it was made of.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
                      "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
