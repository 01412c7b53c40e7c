# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# Toolchain file of the arm64 preset: GCC's cross compiler, Debian's arm64 libraries as `./dev`
# unpacks them to build/arm64-root, and QEMU to run tests on any machine.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(CMAKE_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../build/arm64-root")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L "${CMAKE_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(libraries "${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu")
string(JOIN ":" descriptions "${libraries}/pkgconfig" "${libraries}/openblas-pthread/pkgconfig"
  "${CMAKE_SYSROOT}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${CMAKE_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${descriptions}")
