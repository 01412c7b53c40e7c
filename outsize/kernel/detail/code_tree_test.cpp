// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The tournament tree of codes against std::stable_sort of all records, in the order of their
// sequences.

#include <outsize/kernel/detail/code_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace outsize::detail {
namespace {

struct record_of_sequence {
  std::string const* text;
  std::size_t sequence;

  std::string_view record() const { return *text; }
  bool operator==(record_of_sequence const&) const = default;
};

struct cursor {
  std::vector<std::string> const* records;
  std::size_t sequence;
  std::size_t at = 0;

  record_of_sequence get() const { return {&(*records)[at], sequence}; }
  bool next() { return ++at < records->size(); }
};

using sequences = std::vector<std::vector<std::string>>;

std::vector<record_of_sequence> merged(byte_order const& order, sequences const& from) {
  std::vector<cursor> cursors;
  for (std::size_t s = 0; s < from.size(); ++s)
    if (!from[s].empty()) cursors.push_back({&from[s], s});
  std::vector<record_of_sequence> out;
  for (code_tree tree(std::move(cursors), offset_codes(order)); !tree.empty(); tree.pop())
    out.push_back(tree.top());
  return out;
}

std::vector<record_of_sequence> sorted(byte_order const& order, sequences const& from) {
  std::vector<record_of_sequence> all;
  for (std::size_t s = 0; s < from.size(); ++s)
    for (std::string const& r : from[s]) all.push_back({&r, s});
  std::ranges::stable_sort(
      all, [&](auto const& a, auto const& b) { return order.compare(a.record(), b.record()) < 0; });
  return all;
}

/// Of `distinct` letters; most begin as others do.
std::string random_record(std::mt19937_64& random, std::size_t distinct) {
  std::string r(random() % 3 * 7, 'a');
  r.resize(r.size() + random() % 10);
  for (std::size_t i = r.size() / 2; i < r.size(); ++i) r[i] = "a\0\xff b"[random() % distinct];
  return r;
}

TEST(code_tree, is_empty_without_sequences) { EXPECT_TRUE(merged({}, {}).empty()); }

TEST(code_tree, merges_stably_for_any_number_of_sequences) {
  std::mt19937_64 random(5);
  for (byte_order const order : {byte_order{}, byte_order{.descending = true}})
    for (std::size_t k : {1, 2, 3, 4, 5, 7, 8, 9, 31, 100})
      for (std::size_t distinct : {1, 2, 5}) {
        sequences from(k);
        for (auto& sequence : from) {
          for (auto i = random() % 60; i > 0; --i)
            sequence.push_back(random_record(random, distinct));
          std::ranges::stable_sort(
              sequence, [&](auto const& a, auto const& b) { return order.compare(a, b) < 0; });
        }
        EXPECT_EQ(merged(order, from), sorted(order, from))
            << k << " sequences, " << distinct << " letters";
      }
}

}  // namespace
}  // namespace outsize::detail
