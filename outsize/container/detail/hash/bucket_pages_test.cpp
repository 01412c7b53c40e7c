// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Pages of buckets against a set: every item is in its bucket once, whatever comes, goes, divides
// or fails; pages of the overflow are used again.

#include <outsize/container/detail/hash/bucket_pages.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::detail {
namespace {

using numbers = std::set<std::uint64_t>;

std::uint64_t number_at(std::span<std::byte const> items, std::size_t slot) {
  std::uint64_t number = 0;
  std::memcpy(&number, items.data() + slot * sizeof number, sizeof number);
  return number;
}

/// Items are numbers of 8 bytes.
bucket_items describe_numbers() {
  return {{4, 4}, 8, 8, 0, [](std::span<std::byte const> items, std::span<std::uint64_t> hashes) {
            for (std::size_t i = 0; i < hashes.size(); ++i)
              hashes[i] = mixed_bits(number_at(items, i));
          }};
}

struct pages_of_buckets : testing::Test {
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  storage store{{.disks = {disk_options("memory",
                                        [this](io::request_queue&) -> io::file_ptr {
                                          return std::make_unique<io::faulty_file>(
                                              io::make_memory_file("memory"), plan);
                                        })},
                 .memory_bytes = 1_MiB,
                 .threads = 1}};
  /// Eight numbers in a bucket's page, six in one of the overflow.
  std::unique_ptr<bucket_pages> pages = std::make_unique<bucket_pages>(
      store, describe_numbers(),
      unordered_map_options{.page_bytes = 144, .cache_pages = 8, .spare_pages = 1, .load = 0.9});

  void insert(std::uint64_t number) {
    pages->insert(mixed_bits(number), std::as_bytes(std::span(&number, 1)));
  }
  std::optional<bucket_place> find(std::uint64_t number) const {
    if (pages->numbers().count() == 0) return {};
    std::optional<bucket_place> at = pages->first(mixed_bits(number));
    while (at) {
      auto const view = pages->rows().view(at->row, at->page);
      for (std::size_t slot = 0; slot < view.header().count; ++slot)
        if (number_at(view.items(), slot) == number) return bucket_place{at->row, at->page, slot};
      at = view.next(mixed_bits(number));
    }
    return {};
  }
  bool erase(std::uint64_t number) {
    auto const place = find(number);
    if (place) pages->erase(mixed_bits(number), *place);
    return place.has_value();
  }
  /// All items of all pages, none of them twice.
  numbers content() const {
    numbers found;
    for (auto const row : {bucket_row::buckets, bucket_row::overflow})
      for (std::uint64_t page = 0; page < pages->rows().page_count(row); ++page) {
        auto const view = pages->rows().view(row, page);
        for (std::size_t slot = 0; slot < view.header().count; ++slot)
          EXPECT_TRUE(found.insert(number_at(view.items(), slot)).second);
      }
    return found;
  }
  void check(numbers const& model) const {
    ASSERT_EQ(pages->size(), model.size());
    ASSERT_EQ(content(), model);
    for (auto const number : model) ASSERT_TRUE(find(number));
  }
};

TEST_F(pages_of_buckets, have_every_item_where_it_is_looked_for) {
  std::mt19937_64 random(std::random_device{}());
  numbers model;
  for (int round = 0; round < 60; ++round) {
    // It grows for a while, then it shrinks.
    std::uint64_t const inserts_of_ten = round % 20 < 10 ? 7 : 3;
    for (int i = 0; i < 50; ++i) {
      auto const number = random() % 2000;
      if (random() % 10 >= inserts_of_ten) {
        ASSERT_EQ(erase(number), model.erase(number) == 1);
      } else if (model.insert(number).second) {
        insert(number);
      }
    }
    if (round % 10 == 4) pages->reserve(model.size() + random() % 100);
    if (round % 10 == 9) pages->shrink_to_fit();
    check(model);
  }
  pages->clear();
  check({});
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(pages_of_buckets, are_as_before_when_a_change_fails) {
  std::mt19937_64 random(std::random_device{}());
  numbers model;
  int failures = 0;
  for (int i = 0; i < 3000; ++i) {
    auto const number = random() % 600;
    auto const where = random() % 2 == 0 ? io::fault_point::read : io::fault_point::write;
    plan->script(where, plan->calls(where) + random() % 3, io::fault::fail(EIO));
    bool const is_there = model.contains(number);
    try {
      if (is_there)
        erase(number);
      else
        insert(number);
      is_there ? model.erase(number) : model.insert(number).second;
    } catch (io_error const&) {
      ++failures;
      if (failures % 20 == 0)
        for (bool checked = false; !checked;) try {
            check(model);
            checked = true;
          } catch (io_error const&) {
          }
    }
    ASSERT_EQ(pages->size(), model.size());
    if (i % 300 == 299)
      for (bool done = false; !done;) try {
          pages->shrink_to_fit();
          done = true;
        } catch (io_error const&) {
        }
  }
  EXPECT_GT(failures, 300);
}

TEST_F(pages_of_buckets, use_those_of_the_overflow_again) {
  for (std::uint64_t i = 0; i < 2000; ++i) insert(i);
  auto const pages_used = pages->rows().page_count(bucket_row::overflow);
  EXPECT_GT(pages_used, 0U);
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(erase(i));
    EXPECT_EQ(pages->rows().page_count(bucket_row::overflow), 0U);
    for (std::uint64_t i = 0; i < 2000; ++i) insert(i);
    EXPECT_LE(pages->rows().page_count(bucket_row::overflow), pages_used * 2);
  }
}

TEST_F(pages_of_buckets, keep_a_draft_only_if_it_becomes_a_bucket) {
  insert(1);
  {
    bucket_pages::draft given_up(*pages, 0);
    for (std::uint64_t i = 0; i < 50; ++i) {
      auto const item = std::as_bytes(std::span(&i, 1));
      given_up.put(mixed_bits(i), item);
    }
    EXPECT_GT(pages->rows().page_count(bucket_row::overflow), 0U);
  }
  EXPECT_EQ(pages->rows().page_count(bucket_row::overflow), 0U);
  check({1});
  bucket_pages::draft next(*pages, 0);
  for (std::uint64_t i = 2; i < 40; ++i) next.put(mixed_bits(i), std::as_bytes(std::span(&i, 1)));
  pages->replace(0, next, {}, 38, 1);
  numbers model;
  for (std::uint64_t i = 2; i < 40; ++i) model.insert(i);
  check(model);
}

}  // namespace
}  // namespace outsize::detail
