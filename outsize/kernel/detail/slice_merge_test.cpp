// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// Merging by sorting slices against std::sort: many shapes of sources, pieces, duplicates and
// rooms.

#include <outsize/kernel/detail/slice_merge.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <outsize/testing/effort.hpp>

namespace outsize::detail {
namespace {

/// Hands out rooms of random sizes, up to the longest.
class random_rooms {
 public:
  random_rooms(std::vector<std::uint64_t>& out, std::size_t longest, std::mt19937_64& random)
      : out_(out), longest_(longest), random_(random) {}
  std::span<std::uint64_t> room() {
    std::size_t const most = std::min(out_.size() - used_, longest_);
    return std::span(out_).subspan(used_, 1 + random_() % most);
  }
  void used(std::size_t count) { used_ += count; }
  std::size_t used() const { return used_; }

 private:
  std::vector<std::uint64_t>& out_;
  std::size_t longest_;
  std::mt19937_64& random_;
  std::size_t used_ = 0;
};

TEST(slice_merge, equals_sorting_everything) {
  for (std::uint64_t seed = 0; seed < 400; seed += scratch::one_of(5)) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::size_t const source_count = 1 + random() % (seed % 11 == 0 ? 400 : 12);
    std::size_t const longest_room = seed % 2 == 0 ? SIZE_MAX : 1 + random() % 5000;
    std::uint64_t const values = seed % 3 == 0 ? 3 : seed % 3 == 1 ? 1000 : UINT64_MAX;
    std::vector<std::vector<std::uint64_t>> sources(source_count);
    std::vector<std::uint64_t> want;
    slice_merge<std::uint64_t> merge;
    for (auto& source : sources) {
      source.resize(1 + random() % (seed % 7 == 0 ? 30000 : 300));
      for (auto& x : source) x = random() % values;
      std::sort(source.begin(), source.end());
      want.insert(want.end(), source.begin(), source.end());
      std::vector<std::span<std::uint64_t const>> pieces;
      for (std::size_t begin = 0; begin < source.size();) {
        std::size_t const count = std::min(source.size() - begin, 1 + random() % source.size());
        pieces.push_back(std::span(source).subspan(begin, count));
        begin += count;
      }
      merge.add_source(std::move(pieces));
    }
    std::sort(want.begin(), want.end());
    std::vector<std::uint64_t> out(want.size());
    random_rooms rooms(out, longest_room, random);
    merge.run(rooms);
    EXPECT_EQ(rooms.used(), want.size());
    ASSERT_EQ(out, want);
  }
}

}  // namespace
}  // namespace outsize::detail
