// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorting an index of records: entries of a prefix and a place, the records stay where they are.
//
// vector_sort sorts by prefix. What it leaves equal is sorted by comparing records where that are
// few; where they are many, and the order can (deepening_order.hpp), by the next bytes as a new
// prefix:
//
//   depth 8:   | return 0 | return 0 | return x | return x | return x |     one run of entries
//   depth 15:                        | ...      | ...      | ...      |     those still equal
//
// So each record is fetched once for some bytes of it, by loops that ask for it in advance, and
// not once for each comparison; and an order of keys finds those as seldom. What all records of a
// group have in common is skipped at once, so that long common prefixes cost no more than reading
// them. Whoever wants to know which records are alike is told so where it shows. One thread.
// Layer: kernel. Source: Bentley, Sedgewick: Fast algorithms for sorting and searching strings,
// SODA 1997; Kärkkäinen, Rantala: Engineering radix sort for strings, 2008 (keeping the next bytes
// beside the pointer).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/kernel/deepening_order.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>

namespace outsize::detail {

/// Whether records with equal prefixes are equal, for orders that can know that.
template <typename Order>
bool prefix_is_whole_key(Order const& order) noexcept {
  if constexpr (requires { order.prefix_is_whole_key(); }) {
    return order.prefix_is_whole_key();
  } else {
    return false;
  }
}

/// For callers that need not know which records compare equal.
struct equals_unnoted {
  bool wanted() const noexcept { return false; }
  bool operator()(std::uint64_t, std::uint64_t) const noexcept { return false; }
};

/// Sorts index entries of records. `RecordAt` gives the record at an entry's place, and `Fetch`
/// asks the processor for its bytes from some depth on. `Equals`, if it is `wanted()`, is called
/// with the places of a record and of one that compares equal and comes later, and says whether the
/// later one's entry is to have the first place, too.
template <typename Order, typename RecordAt, typename Fetch, typename Equals = equals_unnoted>
class index_sort {
 public:
  index_sort(Order const& order, RecordAt const& record_at, Fetch const& fetch, Equals equals = {})
      : order_(order), record_at_(record_at), fetch_(fetch), equals_(std::move(equals)) {}

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
    std::span<prefix_entry> entries;  // in the order of their places
    key_depth depth;                  // to which all of them are alike
    std::size_t looks;                // further prefixes that they have had
  };

  static std::size_t end_of_equals(std::span<prefix_entry const> entries, std::size_t begin) {
    std::size_t end = begin + 1;
    while (end < entries.size() && entries[end].prefix == entries[begin].prefix) ++end;
    return end;
  }

  void sort_equals(std::span<prefix_entry> equals) {
    if constexpr (deepening_order<Order>) {
      if (are_short_and_equal(equals)) return note_equals(equals);
      if (equals.size() > few) {
        std::uint64_t const prefix = equals.front().prefix;
        leave({equals, order_.prefix_depth(prefix), 0}, {}, false);
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
    if constexpr (requires { order_.prefix_is_whole_key(size); }) {
      return order_.prefix_is_whole_key(size) && std::ranges::all_of(equals, [&](auto const& e) {
               return record_at_(e.place).size() == size;
             });
    } else {
      return false;
    }
  }

  /// Sorts entries, which are in the order of their places, by comparing their records.
  void compare(std::span<prefix_entry> entries) const {
    if (entries.size() <= few) return compare_few(entries);
    auto const compared = [&](prefix_entry const& a, prefix_entry const& b) {
      return order_.compare(record_at_(a.place), record_at_(b.place));
    };
    std::sort(entries.begin(), entries.end(), [&](prefix_entry const& a, prefix_entry const& b) {
      int const c = compared(a, b);
      return c != 0 ? c < 0 : a.place < b.place;
    });
    if (!equals_.wanted()) return;
    for (std::size_t begin = 0, end; begin < entries.size(); begin = end) {
      for (end = begin + 1; end < entries.size() && compared(entries[begin], entries[end]) == 0;)
        ++end;
      note_equals(entries.subspan(begin, end - begin));
    }
  }

  /// The same by insertion, which notes what is equal as it is found.
  void compare_few(std::span<prefix_entry> entries) const {
    for (std::size_t i = 1; i < entries.size(); ++i) {
      prefix_entry inserted = entries[i];
      auto const record = record_at_(inserted.place);
      std::size_t to = i;
      int before = 1;
      while (to > 0 && (before = order_.compare(record, record_at_(entries[to - 1].place))) < 0) {
        entries[to] = entries[to - 1];
        --to;
      }
      if (to > 0 && before == 0 && equals_.wanted() &&
          equals_(entries[to - 1].place, inserted.place))
        inserted.place = entries[to - 1].place;
      entries[to] = inserted;
    }
  }

  /// Of records that compare equal.
  void note_equals(std::span<prefix_entry> entries) const {
    if (!equals_.wanted()) return;
    std::uint64_t first = entries.front().place;
    for (prefix_entry& e : entries.subspan(1)) {
      if (equals_(first, e.place)) {
        e.place = first;
      } else {
        first = e.place;
      }
    }
  }

  /// Sorts a group by its next bytes, and leaves what is still equal to be sorted.
  void deepen(group g) {
    auto const entries = g.entries;
    bool differ = false;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i + ahead < entries.size()) fetch_(entries[i + ahead].place, g.depth.bytes);
      entries[i].prefix = order_.deeper_prefix(record_at_(entries[i].place), g.depth);
      differ |= entries[i].prefix != entries[0].prefix;
    }
    if (differ) vector_sort(entries);
    for (std::size_t begin = 0, end; begin < entries.size(); begin = end) {
      end = end_of_equals(entries, begin);
      if (end - begin == 1) continue;
      auto const depth = order_.deeper_depth(entries[begin].prefix, g.depth);
      leave({entries.subspan(begin, end - begin), depth, g.looks + 1}, g.depth, !differ);
    }
  }

  /// Leaves a group, which was known to be alike to `known`, to be looked at; or compares its
  /// records, where they are few or looking leads no further. Whether its last words have not
  /// parted anything: it may have much more in common then.
  void leave(group g, key_depth known, bool undivided) {
    if (order_.is_whole_key(g.depth)) return note_equals(g.entries);
    if (g.entries.size() <= few || g.looks >= Order::most_looks) return compare(g.entries);
    if (g.depth == known || (undivided && g.depth.key == known.key)) {
      g.depth = common_depth(g);
      if (order_.is_whole_key(g.depth)) return note_equals(g.entries);
      if (g.depth == known) return compare(g.entries);
    }
    groups_.push_back(g);
  }

  /// To what depth all records of a group are alike.
  key_depth common_depth(group const& g) const {
    auto const entries = g.entries;
    std::string_view const first = record_at_(entries[0].place);
    auto common = order_.common_depth(first, record_at_(entries[1].place), g.depth);
    for (std::size_t i = 2; i < entries.size() && common != g.depth; ++i) {
      if (i + ahead < entries.size()) fetch_(entries[i + ahead].place, g.depth.bytes);
      common = std::min(common, order_.common_depth(first, record_at_(entries[i].place), g.depth));
    }
    return common;
  }

  Order const& order_;
  RecordAt const& record_at_;
  Fetch const& fetch_;
  [[no_unique_address]] Equals equals_;
  std::vector<group> groups_;
};

}  // namespace outsize::detail
