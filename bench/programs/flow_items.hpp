// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The items of the benchmarks of flows, and the work on them; the peers use the same. C++17.

#include <cstdint>

namespace flows {

constexpr std::uint64_t odd = 0x9E3779B97F4A7C15U;

/// A number and a sum that does not depend on the order: that two sequences agree in both says that
/// they have the same items.
struct checksum {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;

  void add(std::uint64_t a, std::uint64_t b) {
    std::uint64_t const both = (a * odd ^ b) * odd;
    sum += both ^ both >> 32;
    ++count;
  }
  friend bool operator==(checksum const& a, checksum const& b) {
    return a.count == b.count && a.sum == b.sum;
  }
};

/// An edge of a random graph (random-graph).
struct edge {
  std::uint64_t source;
  std::uint64_t target;

  bool is_loop() const { return source == target; }
  friend bool operator==(edge const& a, edge const& b) {
    return a.source == b.source && a.target == b.target;
  }
  friend bool operator<(edge const& a, edge const& b) {
    return a.source != b.source ? a.source < b.source : a.target < b.target;
  }
};

/// The edges of a graph with a vertex for about four of them. One edge in 64 repeats an earlier
/// one; all others are different, so it is known which are left without repeats.
class random_edges {
 public:
  explicit random_edges(std::uint64_t count) : count_(count) {
    while (count >> (vertex_bits_ + 2) > 1) ++vertex_bits_;
  }

  std::uint64_t count() const { return count_; }
  edge operator()(std::uint64_t i) const { return numbered(i % 64 == 63 ? i / 64 : i); }
  /// The checksum of the edges without repeats and loops.
  checksum left() const {
    checksum found;
    for (std::uint64_t i = 0; i < count_; ++i) {
      if (i % 64 == 63 && i >= count_ / 64) continue;
      if (edge const e = numbered(i); !e.is_loop()) found.add(e.source, e.target);
    }
    return found;
  }

 private:
  /// Different edges for different numbers: each step can be undone.
  edge numbered(std::uint64_t number) const {
    std::uint64_t const mask = (std::uint64_t{1} << 2 * vertex_bits_) - 1;
    std::uint64_t mixed = number * odd & mask;
    mixed ^= mixed >> vertex_bits_;
    mixed = mixed * 0xD6E8FEB86659FD93U & mask;
    mixed ^= mixed >> vertex_bits_;
    return {mixed >> vertex_bits_, mixed & (mask >> vertex_bits_)};
  }

  std::uint64_t count_;
  unsigned vertex_bits_ = 2;
};

/// Two pairs side by side (diamond). A pair's first word is the key of the output.
struct pair {
  std::uint64_t first;
  std::uint64_t second;
};
struct two_pairs {
  pair left;
  pair right;
};

}  // namespace flows
