// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Kept files when there is no memory: whichever allocation fails, the pages are as they were and
// the file holds what was committed last; and to give pages up takes no memory at all.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/page/detail/kept_file.hpp>
#include <outsize/page/detail/page_row.hpp>
#include <outsize/page/detail/page_set.hpp>
#include <outsize/testing/effort.hpp>

#include "scarce_memory.hpp"

namespace outsize::detail {
namespace {

using crash::done_with_allocations;
using crash::unlimited;

constexpr kept_kind kind{"bag", {8}};
constexpr std::size_t page_size = 64;

/// A row of pages in a kept file, and a model of it, to both of which the same is done.
class modelled_pages {
 public:
  using model = std::vector<std::uint64_t>;  // 0: blank

  /// @param one_of  So many calls lacks memory; nothing: all those that take none, and no others.
  modelled_pages(storage& store, std::uint64_t seed, std::optional<std::uint64_t> one_of)
      : store_(store), random_(seed), one_of_(one_of) {
    auto made = io::make_memory_file("kept");
    beneath_ = made.get();
    pages_.emplace(kept_file::create(store, std::move(made), kind, {page_size}), 0);
  }
  std::uint64_t file_bytes() const { return beneath_->size_bytes(); }
  model const& expected() const { return model_; }
  std::uint64_t refusals() const { return refusals_; }

  void step() {
    auto const action = random_() % 100;
    if (action < 20)
      append();
    else if (action < 60)
      change();
    else if (action < 80)
      vacate();
    else if (action < 90)
      shrink();
    else if (action < 93)
      renew();
    else
      commit(random_() % 10 == 0 ? random_() % 6 : unlimited);
  }
  void append() {
    if (model_.size() == most_pages) return;
    if (attempt([&] { pages_->append(); })) model_.push_back(0);
  }
  void change() {
    if (model_.empty()) return;
    change(random_() % model_.size());
  }
  void change(std::uint64_t page) {
    auto const before = pages_->place(page);
    if (!attempt([&] { pages_->place_to_change(page); })) {
      ASSERT_EQ(pages_->place(page), before);
      return;
    }
    model_[page] = random_();
    write(page, model_[page]);
  }
  void vacate() {
    if (model_.empty()) return;
    auto const page = random_() % model_.size();
    pages_->check_writable();
    ASSERT_TRUE(done_without_any([&] { pages_->vacate(page); }));
    model_[page] = 0;
  }
  void shrink() { shrink(random_() % (model_.size() + 1)); }
  void shrink(std::uint64_t count) {
    pages_->check_writable();
    ASSERT_TRUE(done_without_any([&] { pages_->shrink(0, count); }));
    model_.resize(count);
  }
  /// Replaces all pages, or thinks better of it.
  void renew() {
    pages_->check_writable();
    ASSERT_TRUE(done_without_any([&] { pages_->swap_aside(); }));
    model others(random_() % 20);
    for (std::uint64_t page = 0; page < others.size(); ++page) {
      pages_->append();
      pages_->place_to_change(page);
      write(page, others[page] = random_());
    }
    bool const is_kept = random_() % 2 == 0;
    if (is_kept) model_ = std::move(others);
    ASSERT_TRUE(done_without_any([&] {
      if (is_kept) pages_->swap_aside();
      pages_->shrink(0, 0);
      pages_->swap_aside();
    }));
  }
  /// Tries to, and says so again with more memory until it has been done.
  void commit(std::uint64_t allocations) {
    for (auto const before = committed_;; allocations += 2) {
      if (done_with_allocations(allocations, [&] { pages_->settle(0); })) break;
      ++refusals_;
      auto const left = survivors();
      ASSERT_TRUE(left == before || left == model_);
    }
    committed_ = model_;
    ASSERT_EQ(survivors(), committed_);
  }
  void expect_equal() {
    ASSERT_EQ(content(*pages_), model_);
    std::set<std::uint64_t> places;
    for (std::uint64_t page = 0; page < model_.size(); ++page)
      if (auto const at = pages_->place(page); at.length_bytes > 0) {
        ASSERT_TRUE(places.insert(at.offset_bytes).second);
      }
  }
  /// Ends it in a file, and goes on with what is there.
  void reopen() {
    pages_->close(0);
    auto next = copy();
    auto* const beneath = next.get();
    pages_.emplace(kept_file::open(store_, std::move(next), io::access::read_write, kind), 0);
    beneath_ = beneath;
    committed_ = model_;
  }

 private:
  static constexpr std::size_t most_pages = 60;

  template <typename Action>
  bool attempt(Action const& action) {
    bool const is_scarce = one_of_ && random_() % *one_of_ == 0;
    if (done_with_allocations(is_scarce ? random_() % 3 : unlimited, action)) return true;
    ++refusals_;
    return false;
  }
  /// What must not need memory.
  template <typename Action>
  bool done_without_any(Action const& action) {
    bool const is_scarce = !one_of_ || random_() % *one_of_ == 0;
    return done_with_allocations(is_scarce ? 0 : unlimited, action);
  }
  void write(std::uint64_t page, std::uint64_t number) {
    std::array<std::byte, page_size> bytes{};
    std::memcpy(bytes.data(), &number, sizeof number);
    pages_->device().write(pages_->place(page), bytes)->wait();
  }
  static model content(kept_pages& pages) {
    model found(pages.end());
    for (std::uint64_t page = 0; page < found.size(); ++page) {
      if (!pages.is_written(page)) continue;
      std::array<std::byte, page_size> bytes{};
      pages.device().read(pages.place(page), bytes)->wait();
      std::memcpy(&found[page], bytes.data(), sizeof found[page]);
    }
    return found;
  }
  io::file_ptr copy() {
    std::vector<std::byte> bytes(file_bytes());
    beneath_->read(0, bytes)->wait();
    auto made = io::make_memory_file("kept");
    made->write(0, bytes)->wait();
    return made;
  }
  /// What would be there if the process ended now.
  model survivors() {
    kept_pages left(kept_file::open(store_, copy(), io::access::read_only, kind), 0);
    return content(left);
  }

  storage& store_;
  std::mt19937_64 random_;
  std::optional<std::uint64_t> one_of_;
  io::file* beneath_ = nullptr;
  std::optional<kept_pages> pages_;
  model model_;
  model committed_;
  std::uint64_t refusals_ = 0;
};

struct kept_pages_without_memory : testing::Test {
  storage store{{.disks = {disk_options("none",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("none");
                                        })},
                 .memory_bytes = 16_MiB,
                 .threads = 1}};
};

TEST_F(kept_pages_without_memory, are_as_they_were_whichever_allocation_fails) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  auto const free_bytes = store.memory().free_bytes();
  {
    modelled_pages pages(store, seed, 10);
    for (int i = 0; i < scratch::operations(200'000); ++i) {
      ASSERT_NO_FATAL_FAILURE(pages.step());
      if (i % 20 != 0) continue;
      ASSERT_NO_FATAL_FAILURE(pages.expect_equal());
      if (i % 1000 != 0) continue;
      pages.reopen();
      ASSERT_NO_FATAL_FAILURE(pages.expect_equal());
    }
    EXPECT_GT(pages.refusals(), scratch::operations(200U));
  }
  EXPECT_EQ(store.memory().free_bytes(), free_bytes);
}

TEST_F(kept_pages_without_memory, that_are_given_up_leave_their_space_to_others) {
  modelled_pages pages(store, 1, {});
  for (int round = 0; round < 200; ++round) {
    while (pages.expected().size() < 50) pages.append();
    for (std::uint64_t page = 0; page < 50; ++page)
      while (pages.expected()[page] == 0) ASSERT_NO_FATAL_FAILURE(pages.change(page));
    pages.commit(unlimited);
    for (int i = 0; i < 10; ++i) ASSERT_NO_FATAL_FAILURE(pages.vacate());
    ASSERT_NO_FATAL_FAILURE(pages.shrink(static_cast<std::uint64_t>(round) % 30));
    pages.commit(unlimited);
  }
  // 50 pages at most twice, an index at most twice, and what growing in steps has left over.
  EXPECT_LE(pages.file_bytes(), 4 * 50 * page_size + 12_KiB);
}

TEST_F(kept_pages_without_memory, that_nobody_can_ask_for_are_not_given_twice) {
  auto const file = kept_file::create(store, io::make_memory_file("kept"), kind, {page_size});
  page_cache_options const options{.page_bytes = page_size, .cache_pages = 4, .spare_pages = 1};
  auto space = std::make_unique<kept_pages>(file, 0);
  auto& device = space->device();
  auto cache = std::make_shared<page_cache>(
      device, store.memory().take(page_cache::memory_bytes(device, options), "pages"), options,
      block::make_lru_replacement());
  page_set pages(std::make_shared<page_row>(store, std::move(space), std::move(cache), page_size));
  std::set<std::uint64_t> taken;
  auto const take = [&] {
    auto const page = pages.take();
    ASSERT_TRUE(taken.insert(page).second);
    std::memcpy(pages.row().change(page).data(), &page, sizeof page);
  };
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    if (taken.size() < 30 || (taken.size() < 100 && random() % 2 == 0)) {
      ASSERT_NO_FATAL_FAILURE(take());
      continue;
    }
    auto const page = *std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % 30));
    ASSERT_TRUE(done_with_allocations(random() % 8 == 0 ? 0 : 8, [&] { pages.give(page); }));
    taken.erase(page);
    ASSERT_GE(pages.used(), taken.size());
  }
  for (std::uint64_t const page : taken) {
    std::uint64_t found = 0;
    pages.row().read(page, 0, std::as_writable_bytes(std::span(&found, 1)));
    EXPECT_EQ(found, page);
  }
}

}  // namespace
}  // namespace outsize::detail
