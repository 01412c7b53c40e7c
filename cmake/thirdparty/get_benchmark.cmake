# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# Google Benchmark: benchmark::benchmark, for the kernels one by one.

find_package(benchmark REQUIRED)
