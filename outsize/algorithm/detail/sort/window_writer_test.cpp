// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Windows of every size hold the framed items of a round in order, without repetitions if so asked.

#include <outsize/algorithm/detail/sort/window_writer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <outsize/algorithm/detail/sort/family/record_items.hpp>
#include <outsize/base/units.hpp>
#include <outsize/kernel/byte_order.hpp>

namespace outsize::detail {
namespace {

using lines = record_items<byte_order>;
using kind = item_framing::kind;
constexpr byte_order order{};

/// Sorted records in several sequences; text() writes them through windows of the given size.
struct resident {
  memory_budget budget{4_MiB};
  grant memory = budget.take(4_MiB, "test");
  executor threads{4};
  lines family{order, 0};
  std::vector<std::unique_ptr<record_chunk<lines>>> chunks;
  std::vector<std::string> all;

  explicit resident(std::size_t count) {
    std::mt19937_64 random(count);
    for (std::size_t c = 0; c < 3; ++c) {
      chunks.push_back(std::make_unique<record_chunk<lines>>(memory, 512_KiB));
      for (std::size_t i = 0; i < count; ++i) {
        all.push_back(std::to_string(random() % 500) + std::string(random() % 3, 'x'));
        EXPECT_TRUE(chunks.back()->append(family, all.back()));
      }
    }
    std::ranges::sort(all);
  }

  std::string text(std::size_t window_bytes, item_framing framing, bool unique) {
    std::vector<item_sequence<lines::view>> sequences(3);
    executor one(1);
    for (std::size_t c = 0; c < 3; ++c)
      for (auto const& v : chunks[c]->sort(family, one, 1)) sequences[c].append(v);
    window_writer<lines> writer(family, threads, framing,
                                unique ? equal_items::made_one : equal_items::kept);
    std::string out;
    std::string window(window_bytes, '?');
    for (;;) {
      merge_round<lines> round(family, threads,
                               std::span<item_sequence<lines::view> const>(sequences));
      if (round.items() == 0) return out;
      auto const done = writer.write(round, std::as_writable_bytes(std::span(window)));
      EXPECT_LE(done.bytes, window_bytes);
      EXPECT_GT(round.items(), 0U);
      EXPECT_LE(done.items, round.items());
      out += window.substr(0, done.bytes);
      for (std::size_t s = 0; s < 3; ++s) sequences[s].consume(round.limit(s));
    }
  }

  std::string model(item_framing framing, bool unique) const {
    auto wanted = all;
    if (unique) wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    std::string out;
    for (auto const& r : wanted) {
      auto const length = static_cast<std::uint32_t>(r.size());
      if (framing.how == kind::length_prefix)
        out.append(reinterpret_cast<char const*>(&length), sizeof length);
      out += r;
      if (framing.how == kind::terminator) out += framing.terminator;
    }
    return out;
  }
};

TEST(window_writer, writes_rounds_through_windows_of_every_size) {
  for (std::size_t count : {1, 40, 2000}) {
    resident in(count);
    for (auto const how : {kind::none, kind::terminator, kind::length_prefix})
      for (bool unique : {false, true})
        for (std::size_t window : {16, 1000, 100'000}) {
          if (count == 2000 && window == 16) continue;  // takes long and shows nothing new
          item_framing const framing{how, ';'};
          EXPECT_EQ(in.text(window, framing, unique), in.model(framing, unique))
              << count << " records, window " << window << (unique ? ", unique" : "");
        }
  }
}

TEST(window_writer, counts_what_framing_adds) {
  EXPECT_EQ((item_framing{kind::none}.overhead_bytes()), 0U);
  EXPECT_EQ((item_framing{kind::terminator}.overhead_bytes()), 1U);
  EXPECT_EQ((item_framing{kind::length_prefix}.overhead_bytes()), 4U);
}

}  // namespace
}  // namespace outsize::detail
