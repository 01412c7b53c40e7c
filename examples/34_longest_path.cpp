// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The longest path of a directed acyclic graph of ten million edges, by time-forward processing in
// 16 MiB: each vertex sends the length of its longest path along its edges.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <span>

#include <outsize/base/units.hpp>
#include <outsize/stream/time_forward.hpp>

constexpr std::uint32_t last_vertex = 999'999, degree = 10;

struct edge {
  std::uint32_t from, to;
};

/// The edges in the order of their tails, made as they are read.
class random_edges {
 public:
  random_edges() { make(); }
  bool empty() const { return number_ == std::uint64_t{last_vertex} * degree; }
  edge const& operator*() const { return current_; }
  random_edges& operator++() {
    ++number_;
    make();
    return *this;
  }

 private:
  void make() {
    if (empty()) return;
    auto const from = static_cast<std::uint32_t>(number_ / degree);
    std::uint64_t const x = (number_ + 1) * 0x9E3779B97F4A7C15U;
    current_ = {from, from + 1 + static_cast<std::uint32_t>((x ^ x >> 29) % (last_vertex - from))};
  }
  std::uint64_t number_ = 0;
  edge current_{};
};

int main() {
  using namespace outsize;
  storage store({.memory_bytes = 16_MiB});
  random_edges edges;
  std::uint32_t longest = 0;
  stream::time_forward<std::uint32_t>(
      store, last_vertex + 1, edges, &edge::from, &edge::to,
      [&](std::uint32_t, std::span<std::uint32_t const> lengths, auto& out) {
        std::uint32_t const length = lengths.empty() ? 0 : std::ranges::max(lengths) + 1;
        longest = std::max(longest, length);
        out.send_all(length);
      });
  std::cout << "the longest path has " << longest << " edges\n";
}
