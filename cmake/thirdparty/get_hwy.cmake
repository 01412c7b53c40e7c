# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# hwy::hwy: Highway with its contrib library, which holds the vector sort.

if(NOT TARGET hwy::hwy)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(outsize_hwy REQUIRED IMPORTED_TARGET libhwy>=1.0.3 libhwy-contrib)
  add_library(hwy::hwy INTERFACE IMPORTED)
  target_link_libraries(hwy::hwy INTERFACE PkgConfig::outsize_hwy)
endif()
