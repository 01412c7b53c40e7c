# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# uring::uring and OUTSIZE_HAS_URING (true or false). Without liburing the thread pool does all I/O.

set(OUTSIZE_HAS_URING false)
if(OUTSIZE_WITH_URING)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(outsize_uring QUIET IMPORTED_TARGET liburing>=2.2)
  if(outsize_uring_FOUND)
    set(OUTSIZE_HAS_URING true)
    if(NOT TARGET uring::uring)
      add_library(uring::uring INTERFACE IMPORTED)
      target_link_libraries(uring::uring INTERFACE PkgConfig::outsize_uring)
    endif()
  endif()
endif()
