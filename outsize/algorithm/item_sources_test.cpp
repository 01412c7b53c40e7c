// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Items come out of streams whole, whatever pieces their bytes come in, and go into files the same.

#include <outsize/algorithm/item_sources.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <forward_list>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <outsize/algorithm/detail/input_options.hpp>
#include <outsize/algorithm/detail/item_scan.hpp>
#include <outsize/algorithm/detail/item_writer.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::detail {
namespace {

/// Hands out pieces of random lengths, at addresses that are no multiples of anything.
class pieces final : public io::input_stream {
 public:
  pieces(std::string bytes, std::size_t most, unsigned seed)
      : bytes_(std::move(bytes)), most_(most), random_(seed) {}

  std::span<std::byte const> next() override {
    std::size_t const count = std::min(bytes_.size() - at_, 1 + random_() % most_);
    if (count == 0) return {};
    piece_.assign(count + 1, '\0');
    std::memcpy(&piece_[1], &bytes_[at_], count);
    at_ += count;
    return std::as_bytes(std::span(piece_)).subspan(1);
  }
  std::size_t read(std::span<std::byte>) override { return 0; }
  std::optional<std::uint64_t> remaining_bytes() const override { return std::nullopt; }
  std::string const& name() const noexcept override { return name_; }

 private:
  std::string bytes_;
  std::size_t most_;
  std::mt19937 random_;
  std::size_t at_ = 0;
  std::string piece_;
  std::string name_ = "pieces";
};

struct wide {
  std::array<std::uint32_t, 5> words;
};
struct large {
  std::array<std::uint64_t, 1000> words;
};

template <typename T>
std::string bytes_of(std::vector<T> const& all) {
  std::string bytes(all.size() * sizeof(T), '\0');
  if (!all.empty()) std::memcpy(bytes.data(), all.data(), bytes.size());
  return bytes;
}

template <typename T>
std::vector<T> numbered(std::size_t count) {
  std::vector<T> all(count);
  std::uint32_t next = 1;
  for (T& item : all)
    for (auto& word : item.words) word = next++;
  return all;
}

template <typename T>
void expect_reads(std::size_t count) {
  std::string const bytes = bytes_of(numbered<T>(count));
  for (std::size_t const most : {std::size_t{1}, std::size_t{7}, sizeof(T), 3 * sizeof(T) + 1}) {
    if (most == 1 && bytes.size() > 10'000) continue;
    pieces in(bytes, most, 5);
    item_reader<T> reader(in);
    std::vector<T> read;
    for (auto some = reader.next(); !some.empty(); some = reader.next())
      read.insert(read.end(), some.begin(), some.end());
    EXPECT_TRUE(bytes_of(read) == bytes) << count << " items in pieces of up to " << most;
  }
}

TEST(item_reader, yields_whole_items_of_pieces_of_any_length) {
  for (std::size_t count : {0, 1, 2, 400}) expect_reads<wide>(count);
  for (std::size_t count : {1, 30}) expect_reads<large>(count);
}

TEST(item_reader, refuses_an_item_cut_short) {
  pieces in(bytes_of(numbered<wide>(3)) + "rest", 7, 6);
  item_reader<wide> reader(in);
  std::size_t read = 0;
  try {
    for (auto some = reader.next(); !some.empty(); some = reader.next()) read += some.size();
    FAIL();
  } catch (format_error const& e) {
    EXPECT_STREQ(e.what(), "pieces: the last record is cut short: 64 bytes are no multiple of 20");
  }
  EXPECT_EQ(read, 3U);
}

class item_files : public ::testing::Test {
 protected:
  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 1}};
};

TEST_F(item_files, are_scanned_like_ranges_as_far_as_is_wanted) {
  std::vector<std::uint32_t> all(100'000);
  std::iota(all.begin(), all.end(), 0U);
  scratch::write_file(dir_.path("in"), bytes_of(all));
  std::forward_list<std::uint32_t> const list(all.begin(), all.end());
  auto const first = [&](auto&& in, std::size_t most) {
    std::vector<std::uint32_t> seen;
    scan_items(store_, in, {}, [&](std::span<std::uint32_t const> some) {
      seen.insert(seen.end(), some.begin(), some.end());
      return seen.size() < most;
    });
    return seen;
  };
  constexpr auto no_limit = std::numeric_limits<std::size_t>::max();
  EXPECT_TRUE(first(items<std::uint32_t>(dir_.path("in")), no_limit) == all);
  EXPECT_TRUE(first(all, no_limit) == all);
  EXPECT_TRUE(first(list, no_limit) == all);
  EXPECT_LT(first(items<std::uint32_t>(dir_.path("in")), 10).size(), all.size());
  EXPECT_EQ(first(list, 10).size(), 64U);
  EXPECT_EQ(store_.memory().free_bytes(), 2_MiB);
}

TEST_F(item_files, are_scanned_with_what_memory_is_free) {
  std::vector<std::uint32_t> all(100'000);
  std::iota(all.begin(), all.end(), 0U);
  scratch::write_file(dir_.path("in"), bytes_of(all));
  std::size_t const least_bytes = 5 * page_bytes();  // of blocks of a page
  auto const scan = [&] {
    std::vector<std::uint32_t> seen;
    scan_items(store_, items<std::uint32_t>(dir_.path("in")), {},
               [&](std::span<std::uint32_t const> some) {
                 seen.insert(seen.end(), some.begin(), some.end());
                 return true;
               });
    return seen;
  };
  for (std::size_t const left : {2_MiB, 160_KiB, 40_KiB, std::size_t{least_bytes}}) {
    auto const others = store_.memory().take(2_MiB - left, "others");
    EXPECT_TRUE(scan() == all) << left;
  }
  auto const others = store_.memory().take(2_MiB - least_bytes + page_bytes(), "others");
  EXPECT_THROW(scan(), budget_error);
}

TEST(scans, read_ahead_with_half_of_what_is_free_unless_they_are_given_less) {
  storage store({.memory_bytes = 64_MiB, .threads = 1});
  auto const of = [&](std::uint64_t free_bytes, std::uint64_t given_bytes = 0) {
    auto const others = store.memory().take(64_MiB - free_bytes, "others");
    return scan_options(store, {.memory_bytes = given_bytes});
  };
  auto const expect = [](io::input_stream_options const& found, std::size_t block_bytes,
                         std::size_t depth) {
    EXPECT_EQ(found.block_bytes, block_bytes);
    EXPECT_EQ(found.depth, depth);
  };
  expect(of(64_MiB), 2_MiB, 8);
  expect(of(36_MiB), 2_MiB, 8);
  expect(of(35_MiB), 2_MiB, 4);
  expect(of(20_MiB), 2_MiB, 4);
  expect(of(19_MiB), 1_MiB, 4);
  expect(of(1_MiB), 64_KiB, 4);
  expect(of(5 * page_bytes()), page_bytes(), 4);
  expect(of(64_MiB, 32_MiB), 512_KiB, 4);
  expect(of(64_MiB, 512_MiB), 2_MiB, 8);
  expect(of(1_MiB, 32_MiB), 128_KiB, 4);
}

TEST_F(item_files, appear_when_they_are_finished) {
  grant memory = store_.memory().take(1_MiB, "test");
  auto const all = numbered<wide>(10'000);
  {
    item_writer<wide, output_path> writer(store_, memory, into(dir_.path("out")), 4096,
                                          {.block_bytes = 4096});
    for (auto const& item : all) writer.put(item);
  }
  EXPECT_FALSE(std::filesystem::exists(dir_.path("out")));
  for (std::size_t const count : {std::size_t{0}, std::size_t{1}, all.size()}) {
    item_writer<wide, output_path> writer(store_, memory, into(dir_.path("out")), 4096,
                                          {.block_bytes = 4096});
    for (std::size_t i = 0; i < count; ++i) writer.put(all[i]);
    writer.finish();
    EXPECT_TRUE(scratch::read_file(dir_.path("out")) ==
                bytes_of(all).substr(0, count * sizeof(wide)))
        << count;
  }
}

}  // namespace
}  // namespace outsize::detail
