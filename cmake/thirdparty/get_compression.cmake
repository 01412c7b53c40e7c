# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# compression::gzip, ::zstd, ::lz4, ::xz and ::bzip2: what streams read and write (Debian:
# zlib1g-dev, libzstd-dev, liblz4-dev, liblzma-dev, libbz2-dev).

foreach(row IN ITEMS gzip/zlib>=1.2.11 zstd/libzstd>=1.4 lz4/liblz4>=1.9 xz/liblzma>=5.2)
  string(REGEX MATCH "^([^/]+)/(.+)$" matched "${row}")
  set(kind "${CMAKE_MATCH_1}")
  set(package "${CMAKE_MATCH_2}")
  if(NOT TARGET compression::${kind})
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(outsize_${kind} REQUIRED IMPORTED_TARGET ${package})
    add_library(compression::${kind} INTERFACE IMPORTED)
    target_link_libraries(compression::${kind} INTERFACE PkgConfig::outsize_${kind})
  endif()
endforeach()

if(NOT TARGET compression::bzip2)  # which has no description for pkg-config
  find_package(BZip2 REQUIRED)
  add_library(compression::bzip2 INTERFACE IMPORTED)
  target_link_libraries(compression::bzip2 INTERFACE BZip2::BZip2)
endif()
