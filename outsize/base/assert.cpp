// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/assert.hpp>

#include <cstdio>
#include <cstdlib>

namespace outsize::detail {

void assertion_failed(char const* condition, char const* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace outsize::detail
