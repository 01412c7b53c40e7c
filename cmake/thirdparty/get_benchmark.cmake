# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# benchmark::benchmark: micro-benchmarks.

find_package(benchmark 1.7 REQUIRED)
