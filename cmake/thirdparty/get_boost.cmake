# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# Boost::headers: Boost.Sort and other headers. Boost::context, where it is installed (Debian:
# libboost-context-dev): what is compiled of Boost.Context, which only virtual processors need.

find_package(Boost 1.74 REQUIRED)
if(NOT TARGET Boost::context AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  find_package(Boost 1.74 QUIET OPTIONAL_COMPONENTS context)
endif()
