# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# fftw3::fftw3: the transforms in memory, in double precision (Debian: libfftw3-dev).

if(NOT TARGET fftw3::fftw3)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(outsize_fftw REQUIRED IMPORTED_TARGET fftw3>=3.3)
  add_library(fftw3::fftw3 INTERFACE IMPORTED)
  target_link_libraries(fftw3::fftw3 INTERFACE PkgConfig::outsize_fftw)
endif()
