# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# xxhash::xxhash: checksums.

if(NOT TARGET xxhash::xxhash)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(outsize_xxhash REQUIRED IMPORTED_TARGET libxxhash>=0.8)
  add_library(xxhash::xxhash INTERFACE IMPORTED)
  target_link_libraries(xxhash::xxhash INTERFACE PkgConfig::outsize_xxhash)
endif()
