# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# openblas::openblas: products of matrices in memory (Debian: libopenblas-dev).

if(NOT TARGET openblas::openblas)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(outsize_openblas REQUIRED IMPORTED_TARGET openblas>=0.3)
  add_library(openblas::openblas INTERFACE IMPORTED)
  target_link_libraries(openblas::openblas INTERFACE PkgConfig::outsize_openblas)
endif()
