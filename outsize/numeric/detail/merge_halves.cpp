// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/detail/merge_halves.hpp>

#include <algorithm>
#include <cstddef>

#include <outsize/base/assert.hpp>

namespace outsize::numeric {
namespace {

/// Spans of one length n: neither end can pass the other's in n steps, so nothing else is checked.
void merge_equal(std::uint64_t const* a, std::uint64_t const* b, std::size_t n,
                 std::uint64_t* to) noexcept {
  std::uint64_t const* a_back = a + n - 1;
  std::uint64_t const* b_back = b + n - 1;
  std::uint64_t* back = to + 2 * n - 1;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t const x = *a, y = *b;
    bool const b_first = y < x;
    *to++ = b_first ? y : x;
    b += b_first ? 1 : 0;
    a += b_first ? 0 : 1;
    std::uint64_t const v = *a_back, w = *b_back;
    bool const a_last = w < v;
    *back-- = a_last ? v : w;
    a_back -= a_last ? 1 : 0;
    b_back -= a_last ? 0 : 1;
  }
}

}  // namespace

void merge_halves(std::span<std::uint64_t const> a, std::span<std::uint64_t const> b,
                  std::span<std::uint64_t> to) noexcept {
  OUTSIZE_ASSERT(to.size() == a.size() + b.size());
  if (a.size() == b.size() && !a.empty()) {
    merge_equal(a.data(), b.data(), a.size(), to.data());
  } else {
    std::merge(a.begin(), a.end(), b.begin(), b.end(), to.begin());
  }
}

}  // namespace outsize::numeric
