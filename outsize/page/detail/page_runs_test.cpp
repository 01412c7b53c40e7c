// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Pages that lie side by side are read by one request, and are what is on disk, whatever happened
// to them meanwhile; a run that fails is as if it had not been.

#include <outsize/page/detail/page_runs.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/decorators/counting_file.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/page/detail/disk_pages.hpp>
#include <outsize/page/detail/page_row.hpp>
#include <outsize/page/detail/page_run_writer.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t page_size = 64;
constexpr page_row::ahead plenty = {.runs = 100, .pages = 100};

struct runs_of_pages : testing::Test {
  std::shared_ptr<io::io_tally> tally = std::make_shared<io::io_tally>();
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  storage store{{.disks = {disk_options("counted",
                                        [this](io::request_queue&) -> io::file_ptr {
                                          return std::make_unique<io::counting_file>(
                                              std::make_unique<io::faulty_file>(
                                                  io::make_memory_file("counted", 1_MiB), plan),
                                              tally);
                                        })},
                 .memory_bytes = 1_MiB,
                 .threads = 1}};

  /// A row whose blocks on disk are of four pages, with runs of up to eight.
  std::shared_ptr<page_row> make(std::size_t run_count) {
    page_cache_options const options{.page_bytes = page_size, .cache_pages = 6, .live_pages = 2};
    page_run_options const runs{run_count > 0 ? 8 * page_size : 0, run_count};
    auto cache = std::make_shared<page_cache>(
        store, store.memory().take(page_cache::memory_bytes(store, options), "pages"), options,
        block::make_lru_replacement());
    return std::make_shared<page_row>(
        store, std::make_unique<disk_pages>(store, page_size, store.new_placement(), 0, 4),
        std::move(cache), page_size, store.memory().take(page_runs::memory_bytes(runs), "runs"),
        runs);
  }
  /// `count` pages, each with its number in it, on disk only; `run_bytes` at once.
  std::shared_ptr<page_row> make_filled(std::size_t count, std::size_t run_count) {
    auto row = make(run_count);
    auto memory = store.memory().take(page_run_writer::memory_bytes(page_size, 4 * page_size), "");
    page_run_writer writer(*row, memory, 4 * page_size);
    for (std::uint64_t i = 0; i < count; ++i) set(writer.next(), i);
    writer.finish();
    return row;
  }
  static void set(std::span<std::byte> page, std::uint64_t number) {
    std::memcpy(page.data(), &number, sizeof number);
  }
  static std::uint64_t number_in(page_row& row, std::uint64_t page) {
    std::uint64_t number = 0;
    row.read(page, 0, std::as_writable_bytes(std::span(&number, 1)));
    return number;
  }
  static std::vector<std::uint64_t> pages(std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint64_t> all(last - first);
    std::iota(all.begin(), all.end(), first);
    return all;
  }
  std::uint64_t reads() const { return tally->reads().requests; }
  std::uint64_t writes() const { return tally->writes().requests; }
};

TEST_F(runs_of_pages, are_written_and_read_by_few_requests) {
  auto const row = make_filled(30, 4);
  EXPECT_EQ(writes(), 8U) << "four pages at once";
  EXPECT_EQ(row->expect(pages(3, 15), plenty), 12U);  // of which eight are side by side in a run
  EXPECT_EQ(reads(), 2U);
  for (std::uint64_t page = 3; page < 15; ++page) EXPECT_EQ(number_in(*row, page), page);
  EXPECT_EQ(reads(), 2U);
  std::vector<std::uint64_t> const apart = {20, 21, 25, 23, 24};
  EXPECT_EQ(row->expect(apart, plenty), 5U);
  EXPECT_EQ(reads(), 7U) << "each by itself";
  for (auto const page : apart) EXPECT_EQ(number_in(*row, page), page);
  EXPECT_EQ(row->expect(apart, {}), 5U) << "they are in the cache";
  EXPECT_EQ(reads(), 7U);
  EXPECT_EQ(writes(), 8U);
}

TEST_F(runs_of_pages, are_read_downwards_too) {
  auto const row = make_filled(30, 4);
  auto down = pages(3, 15);
  std::ranges::reverse(down);
  EXPECT_EQ(row->expect(down, plenty), 12U);
  EXPECT_EQ(reads(), 2U);
  for (auto const page : down) EXPECT_EQ(number_in(*row, page), page);
  EXPECT_EQ(reads(), 2U);
}

TEST_F(runs_of_pages, are_no_more_than_asked_for) {
  auto const row = make_filled(64, 4);
  EXPECT_EQ(row->expect(pages(0, 32), {.runs = 2, .pages = 0}), 16U);
  EXPECT_EQ(row->expect(pages(0, 32), {.runs = 1, .pages = 0}), 24U) << "those are on their way";
  std::vector<std::uint64_t> const apart = {40, 50, 60};
  EXPECT_EQ(row->expect(apart, {.runs = 1, .pages = 2}), 2U);
  EXPECT_EQ(reads(), 5U);
}

TEST_F(runs_of_pages, are_read_with_what_lies_between) {
  auto const row = make_filled(64, 4);
  std::vector<std::uint64_t> const some = {3, 5, 6, 9, 30, 40, 50, 63};  // a run is of eight pages
  EXPECT_EQ(row->expect_first(some, {.runs = 0, .pages = 1}), 0U) << "there is no room for a run";
  EXPECT_EQ(row->expect_first(some, {.runs = 1, .pages = 0}), 4U);
  EXPECT_EQ(reads(), 1U);
  EXPECT_EQ(tally->reads().bytes, 7 * page_size);
  for (std::uint64_t const page : {3U, 5U, 6U, 9U}) EXPECT_EQ(number_in(*row, page), page);
  EXPECT_EQ(reads(), 1U);
  EXPECT_EQ(number_in(*row, 4), 4U);
  EXPECT_EQ(reads(), 2U) << "what lies between is not kept";

  auto const far = std::span(some).subspan(4);
  EXPECT_EQ(row->expect_first(far, {.runs = 1, .pages = 0}), 0U) << "there is no room for a page";
  EXPECT_EQ(row->expect_first(far, {.runs = 0, .pages = 1}), 1U);
  EXPECT_EQ(reads(), 3U);
  std::vector<std::uint64_t> const here = {5, 6, 9};
  EXPECT_EQ(row->expect_first(here, {.runs = 0, .pages = 1}), 1U) << "it is in the cache";
  std::vector<std::uint64_t> const gone = {64, 65, UINT64_MAX};
  EXPECT_EQ(row->expect_first(gone, {.runs = 0, .pages = 1}), 1U) << "there is no such page";
  EXPECT_EQ(reads(), 3U);
}

TEST_F(runs_of_pages, have_none_of_the_pages_that_were_changed_or_are_blank) {
  auto const row = make_filled(64, 4);
  set(row->change(10), 1000);
  row->vacate(13);
  EXPECT_EQ(row->expect_first(pages(8, 16), {.runs = 1, .pages = 1}), 5U) << "up to the blank one";
  std::uint64_t const before = reads();
  for (std::uint64_t page = 8; page < 13; ++page)
    EXPECT_EQ(number_in(*row, page), page == 10 ? 1000 : page);
  EXPECT_EQ(reads(), before);
  EXPECT_EQ(number_in(*row, 13), 0U);
}

TEST_F(runs_of_pages, stay_as_they_are_while_they_are_held) {
  auto const row = make_filled(64, 2);
  EXPECT_FALSE(row->pin_run(9)) << "it was not expected";
  EXPECT_EQ(row->expect(pages(8, 16), plenty), 8U);
  EXPECT_EQ(number_in(*row, 8), 8U);
  run_pin const held = row->pin_run(12);
  ASSERT_TRUE(held);
  EXPECT_EQ(held.first(), 9U) << "8 is in the cache now";
  EXPECT_EQ(held.bytes().size(), 7 * page_size);
  set(row->change(10), 1000);
  EXPECT_EQ(row->expect(pages(16, 64), plenty), 48U) << "by the other run, again and again";
  EXPECT_EQ(number_in(*row, 10), 1000U);
  for (std::uint64_t page = 9; page < 16; ++page) {
    std::uint64_t number = 0;
    std::memcpy(&number, held.bytes().data() + (page - 9) * page_size, sizeof number);
    EXPECT_EQ(number, page);
  }
  run_pin const other = row->pin_run(60);
  ASSERT_TRUE(other);
  EXPECT_EQ(row->expect(pages(16, 64), plenty), 0U) << "no run is left";
}

TEST_F(runs_of_pages, make_room_for_others) {
  auto const row = make_filled(64, 2);
  row->expect(pages(0, 32), plenty);  // four runs, of which two are kept
  EXPECT_EQ(reads(), 4U);
  for (std::uint64_t page = 0; page < 64; ++page) EXPECT_EQ(number_in(*row, page), page);
  EXPECT_EQ(reads(), 4U + 48);
}

TEST_F(runs_of_pages, are_what_is_on_disk_whatever_happens) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    auto const row = make_filled(40, 3);
    std::vector<std::uint64_t> model = pages(0, 40);
    for (int i = 0; i < 5000; ++i) {
      std::uint64_t const page = random() % model.size();
      switch (random() % 7) {
        case 6: {
          std::vector<std::uint64_t> some;
          for (std::uint64_t at = page; some.size() < 8; at += 1 + random() % 3) some.push_back(at);
          row->expect_first(some, {.runs = random() % 2, .pages = random() % 2});
          break;
        }
        case 0:
          row->expect(pages(page, std::min<std::uint64_t>(page + random() % 12, model.size())),
                      {.runs = random() % 3, .pages = random() % 3});
          break;
        case 1:
          set(row->change(page), model[page] = random());
          break;
        case 2:
          set(row->change(page, page_row::content::replaced), model[page] = random());
          break;
        case 3:
          if (random() % 4 == 0) {
            row->vacate(page);
            model[page] = 0;
          }
          break;
        case 4:
          if (random() % 10 == 0) row->flush();
          break;
        default:
          ASSERT_EQ(number_in(*row, page), model[page]) << page;
      }
    }
  }
}

TEST_F(runs_of_pages, that_fail_are_read_page_by_page) {
  auto const row = make_filled(10, 2);
  plan->script(io::fault_point::read, 0, io::fault::fail(EIO));
  row->expect(pages(0, 8), plenty);
  for (std::uint64_t page = 0; page < 8; ++page) EXPECT_EQ(number_in(*row, page), page);
  EXPECT_EQ(reads(), 9U);
}

TEST_F(runs_of_pages, whose_writes_fail_say_so) {
  auto const row = make(0);
  auto memory = store.memory().take(page_run_writer::memory_bytes(page_size, 4 * page_size), "");
  plan->script(io::fault_point::write, 2, io::fault::fail(EIO));
  page_run_writer writer(*row, memory, 4 * page_size);
  EXPECT_THROW(
      {
        for (std::uint64_t i = 0; i < 100; ++i) set(writer.next(), i);
        writer.finish();
      },
      io_error);
}

}  // namespace
}  // namespace outsize::detail
