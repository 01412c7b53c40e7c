# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# fmt::fmt, in place of <format>, which GCC 12 lacks.

find_package(fmt 9 REQUIRED)
