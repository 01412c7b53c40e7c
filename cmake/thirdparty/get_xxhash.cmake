# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# xxhash::xxhash: checksums. OUTSIZE_XXHASH_HEADER is what to include for functions that choose the
# processor's widest vectors when they run, where the library has these: four times as fast.

if(NOT TARGET xxhash::xxhash)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(outsize_xxhash REQUIRED IMPORTED_TARGET libxxhash>=0.8)
  add_library(xxhash::xxhash INTERFACE IMPORTED)
  target_link_libraries(xxhash::xxhash INTERFACE PkgConfig::outsize_xxhash)
  include(CheckCXXSourceCompiles)
  include(CMakePushCheckState)
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_LIBRARIES PkgConfig::outsize_xxhash)
  check_cxx_source_compiles(
    "#include <xxh_x86dispatch.h>\nint main() { return XXH3_64bits_dispatch(\"\", 0) == 0; }"
    OUTSIZE_XXHASH_DISPATCHES)
  cmake_pop_check_state()
  if(OUTSIZE_XXHASH_DISPATCHES)
    set(OUTSIZE_XXHASH_HEADER "<xxh_x86dispatch.h>")
  else()
    set(OUTSIZE_XXHASH_HEADER "<xxhash.h>")
  endif()
endif()
