# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# Boost::headers: Boost.Sort and other headers; no compiled part of Boost.

find_package(Boost 1.74 REQUIRED)
