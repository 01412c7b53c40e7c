// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorting an index of records: entries of a prefix and a place, the records stay where they are.
//
// vector_sort sorts by prefix. What it leaves equal is sorted by comparing records where that are
// few; where they are many, and the order says so (deeper_prefix), by the next bytes as a new
// prefix:
//
//   depth 8:   | return 0 | return 0 | return x | return x | return x |     one run of entries
//   depth 15:                        | ...      | ...      | ...      |     those still equal
//
// So each record is fetched once for some bytes of it, by loops that ask for it in advance, and
// not once for each comparison. What all records of a group have in common is skipped at once, so
// that long common prefixes cost no more than reading them. One thread. Layer: algorithm. Source:
// Bentley, Sedgewick: Fast algorithms for sorting and searching strings, SODA 1997; Kärkkäinen,
// Rantala: Engineering radix sort for strings, 2008 (keeping the next bytes beside the pointer).

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <outsize/algorithm/sort/vector_sort.hpp>
#include <outsize/base/byte_words.hpp>

namespace outsize::detail {

/// Orders that can look further into records whose first `depth` bytes are alike: deeper_prefix()
/// as byte_order has it.
template <typename Order>
concept deepening_order = requires(Order const order, std::string_view r, std::size_t depth) {
  { order.deeper_prefix(r, depth) } -> std::same_as<std::uint64_t>;
  { order.decides(std::uint64_t{}) } -> std::same_as<bool>;
  { Order::deeper_bytes } -> std::convertible_to<std::size_t>;
};

/// Whether records with equal prefixes are equal, for orders that can know that.
template <typename Order>
bool prefix_is_whole_key(Order const& order) noexcept {
  if constexpr (requires { order.prefix_is_whole_key(); }) {
    return order.prefix_is_whole_key();
  } else {
    return false;
  }
}

/// Sorts index entries of records. `RecordAt` gives the record at an entry's place, and `Fetch`
/// asks the processor for its bytes from some depth on.
template <typename Order, typename RecordAt, typename Fetch>
class index_sort {
 public:
  index_sort(Order const& order, RecordAt const& record_at, Fetch const& fetch)
      : order_(order), record_at_(record_at), fetch_(fetch) {}

  /// Sorts entries whose prefixes are set: by prefix, then by the order itself, then by place.
  void operator()(std::span<prefix_entry> entries) {
    vector_sort(entries);
    if (prefix_is_whole_key(order_)) return;
    std::size_t fetched = 0;
    for (std::size_t begin = 0; begin < entries.size();) {
      for (; fetched < std::min(begin + ahead, entries.size() - 1); ++fetched)
        if (entries[fetched].prefix == entries[fetched + 1].prefix) {
          fetch_(entries[fetched].place, 0);
          fetch_(entries[fetched + 1].place, 0);
        }
      std::size_t const end = end_of_equals(entries, begin);
      if (end - begin > 1) sort_equals(entries.subspan(begin, end - begin));
      begin = end;
    }
  }

 private:
  static constexpr std::size_t ahead = 24;  // entries: what a core can wait for at once
  static constexpr std::size_t few = 12;    // records are compared

  struct group {
    std::span<prefix_entry> entries;
    std::size_t depth;  // bytes in which all of them agree
  };

  static std::size_t end_of_equals(std::span<prefix_entry const> entries, std::size_t begin) {
    std::size_t end = begin + 1;
    while (end < entries.size() && entries[end].prefix == entries[begin].prefix) ++end;
    return end;
  }

  void sort_equals(std::span<prefix_entry> equals) {
    if constexpr (deepening_order<Order>) {
      if (are_short_and_equal(equals)) return;
      if (equals.size() > few) {
        std::uint64_t const prefix = equals.front().prefix;
        groups_.push_back({equals, sizeof prefix});
        while (!groups_.empty()) {
          group const next = groups_.back();
          groups_.pop_back();
          deepen(next);
        }
        for (prefix_entry& e : equals) e.prefix = prefix;
        return;
      }
    }
    compare(equals);
  }

  /// Whether equal prefixes hold all of these records: of short ones a place tells the length.
  bool are_short_and_equal(std::span<prefix_entry const> equals) const {
    std::size_t const size = record_at_(equals.front().place).size();
    return size <= sizeof(std::uint64_t) && std::ranges::all_of(equals, [&](prefix_entry const& e) {
             return record_at_(e.place).size() == size;
           });
  }

  void compare(std::span<prefix_entry> equals) const {
    std::sort(equals.begin(), equals.end(), [&](prefix_entry const& a, prefix_entry const& b) {
      int const c = order_.compare(record_at_(a.place), record_at_(b.place));
      return c != 0 ? c < 0 : a.place < b.place;
    });
  }

  /// Sorts a group by its next bytes, and leaves what is still equal to be sorted.
  void deepen(group g) {
    auto const entries = g.entries;  // in the order of their places
    bool differ = false;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i + ahead < entries.size()) fetch_(entries[i + ahead].place, g.depth);
      entries[i].prefix = order_.deeper_prefix(record_at_(entries[i].place), g.depth);
      differ |= entries[i].prefix != entries[0].prefix;
    }
    if (!differ) {
      if (!order_.decides(entries[0].prefix)) groups_.push_back({entries, common_depth(entries)});
      return;
    }
    vector_sort(entries);
    for (std::size_t begin = 0, end; begin < entries.size(); begin = end) {
      end = end_of_equals(entries, begin);
      if (end - begin == 1 || order_.decides(entries[begin].prefix)) continue;
      auto const equals = entries.subspan(begin, end - begin);
      if (equals.size() > few) {
        groups_.push_back({equals, g.depth + Order::deeper_bytes});
      } else {
        compare(equals);
      }
    }
  }

  /// In how many bytes all records agree.
  std::size_t common_depth(std::span<prefix_entry const> entries) const {
    std::string_view common = record_at_(entries[0].place);
    for (std::size_t i = 1; i < entries.size(); ++i) {
      if (i + ahead < entries.size()) fetch_(entries[i + ahead].place, 0);
      common = common.substr(0, common_prefix_bytes(common, record_at_(entries[i].place)));
    }
    return common.size();
  }

  Order const& order_;
  RecordAt const& record_at_;
  Fetch const& fetch_;
  std::vector<group> groups_;
};

}  // namespace outsize::detail
