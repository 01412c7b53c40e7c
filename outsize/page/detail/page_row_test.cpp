// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Pages keep what was put into them, those touched last stay in memory, neighbours come ahead; also
// when accesses fail, or are late.

#include <outsize/page/detail/page_row.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/page/detail/disk_pages.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/faulty_storage.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t page = 64;

struct rows_of_pages : testing::Test, scratch::counted_storage {
  std::shared_ptr<page_row> make(std::size_t cached, std::size_t ahead = 0) {
    return make_at(
        0,
        {.page_bytes = page, .cache_pages = cached, .spare_pages = 1, .read_ahead_pages = ahead});
  }
  std::shared_ptr<page_row> make_at(std::uint64_t first, page_cache_options const& options) {
    auto cache = std::make_shared<page_cache>(
        store, store.memory().take(page_cache::memory_bytes(store, options), "row"), options,
        block::make_lru_replacement());
    return std::make_shared<page_row>(
        store, std::make_unique<disk_pages>(store, page, store.new_placement(), first),
        std::move(cache), page);
  }
  static void fill(page_row& row, std::uint64_t number, int value) {
    std::ranges::fill(row.change(number), static_cast<std::byte>(value));
  }
  static int value(page_row const& row, std::uint64_t number) {
    std::byte b{};
    row.read(number, page - 1, {&b, 1});
    return std::to_integer<int>(b);
  }
};

TEST_F(rows_of_pages, hold_zeros_without_io_until_they_are_changed) {
  auto const row = make(4);
  row->reach(0, 100);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(value(*row, i), 0);
  EXPECT_FALSE(row->pin(3, 2));
  row->flush();
  EXPECT_EQ(reads() + writes(), 0U);
  for (std::uint64_t i = 0; i < 100; i += 10) fill(*row, i, 5);
  row->flush();
  EXPECT_EQ(writes(), 10U);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(value(*row, i), i % 10 == 0 ? 5 : 0);
}

TEST_F(rows_of_pages, keep_the_live_ones_where_they_are) {
  auto const row = make(4);
  ASSERT_EQ(row->live_pages(), 2U);
  row->reach(0, 20);
  for (std::uint64_t i = 0; i < 20; ++i) fill(*row, i, static_cast<int>(i));
  std::mt19937_64 random(1);
  auto before = row->change(19);
  for (int i = 0; i < 200; ++i) {
    auto const number = random() % 20;
    auto const now = row->change(number);
    std::ignore = value(*row, random() % 20);
    std::ranges::fill(before, before[0]);
    EXPECT_EQ(std::to_integer<std::uint64_t>(now[0]), number);
    before = now;
  }
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(value(*row, i), static_cast<int>(i));
}

TEST_F(rows_of_pages, are_replaced_as_a_whole_or_are_as_before) {
  for (bool const is_kept : {false, true}) {
    auto const row = make(5, 2);
    row->reach(0, 20);
    for (std::uint64_t i = 0; i < 20; ++i)
      if (i != 7) fill(*row, i, static_cast<int>(i));
    auto const pinned = row->pin(3, 3);
    auto const bytes = store.allocated_bytes();
    {
      page_renewal renewed(*row);
      EXPECT_EQ(row->end(), 0U);
      row->reach(0, 9);
      for (std::uint64_t i = 0; i < 9; ++i) EXPECT_EQ(value(*row, i), 0);
      EXPECT_EQ(store.allocated_bytes(), bytes);
      for (std::uint64_t i = 0; i < 9; ++i) fill(*row, i, 100);
      EXPECT_EQ(store.allocated_bytes(), bytes + 9 * page);
      if (is_kept) renewed.keep();
    }
    EXPECT_EQ(store.allocated_bytes(), is_kept ? 9 * page : bytes);
    EXPECT_EQ(std::to_integer<int>(pinned.bytes()[0]), 3);
    EXPECT_EQ(row->end(), is_kept ? 9U : 20U);
    for (std::uint64_t i = 0; i < row->end(); ++i)
      EXPECT_EQ(value(*row, i), is_kept ? 100 : i == 7 ? 0 : static_cast<int>(i));
    EXPECT_EQ(row->holds_zeros(7), !is_kept);
    row->reach(0, 0);
    EXPECT_EQ(store.allocated_bytes(), 0U);
  }
}

TEST_F(rows_of_pages, are_not_written_for_being_read) {
  auto const row = make(6);
  row->reach(0, 30);
  for (std::uint64_t i = 0; i < 30; ++i) fill(*row, i, static_cast<int>(i));
  row->flush();
  auto const written = writes();
  for (std::uint64_t i = 0; i < 30; ++i) {
    EXPECT_EQ(value(*row, i), static_cast<int>(i));
    auto const pin = row->pin(i, i);
    ASSERT_TRUE(pin);
    EXPECT_EQ(std::to_integer<std::uint64_t>(pin.bytes()[5]), i);
  }
  row->reach(0, 0);
  EXPECT_EQ(writes(), written);
}

TEST_F(rows_of_pages, come_ahead_of_a_scan_in_either_direction_and_once) {
  auto const row = make(8, 30);  // as many as the cache has room for
  row->reach(0, 50);
  for (std::uint64_t i = 0; i < 50; ++i) fill(*row, i, static_cast<int>(i));
  row->flush();
  auto const filled = row->counts();
  auto const read = reads();
  for (std::uint64_t i = 0; i < 40; ++i) row->pin(i, i - 1);
  EXPECT_GE(row->counts().prefetches - filled.prefetches, 30U);
  EXPECT_LE(reads() - read, 44U);
  for (std::uint64_t i = 40; i-- > 0;) row->pin(i, i + 1);
  EXPECT_GE(row->counts().prefetches - filled.prefetches, 60U);
  EXPECT_LE(reads() - read, 90U);
}

TEST_F(rows_of_pages, give_their_space_back_when_they_shrink_even_if_they_are_pinned) {
  auto const row = make(6);
  row->reach(0, 30);
  for (std::uint64_t i = 0; i < 30; ++i) fill(*row, i, static_cast<int>(i));
  auto pin = row->pin(25, 0);
  row->reach(0, 10);
  EXPECT_EQ(store.allocated_bytes(), 10 * page);
  EXPECT_EQ(std::to_integer<int>(pin.bytes()[0]), 25);
  row->reach(0, 30);
  EXPECT_EQ(value(*row, 25), 0);
  EXPECT_EQ(value(*row, 9), 9);
  fill(*row, 25, 1);
  EXPECT_EQ(std::to_integer<int>(pin.bytes()[0]), 25);
  pin.release();
  EXPECT_EQ(value(*row, 25), 1);
}

TEST_F(rows_of_pages, come_and_go_at_both_ends) {
  auto const row = make_at(100, {.page_bytes = page, .cache_pages = 4, .spare_pages = 1});
  std::mt19937_64 random(3);
  std::uint64_t begin = 100, end = 100;
  for (int i = 0; i < 300; ++i) {
    std::uint64_t const old_begin = begin, old_end = end;
    begin = std::min(end, begin - 5 + random() % 11);
    end = std::max({begin, old_begin, end - 5 + random() % 11});
    row->reach(begin, end);
    ASSERT_EQ(row->begin(), begin);
    ASSERT_EQ(row->end(), end);
    ASSERT_LE(store.allocated_bytes(), (end - begin) * page);
    row->take_places(begin, end);
    ASSERT_EQ(store.allocated_bytes(), (end - begin) * page);
    for (auto number = begin; number < end; ++number)
      if (number < old_begin || number >= old_end)
        fill(*row, number, static_cast<int>(number % 256));
    for (auto number = begin; number < end; ++number)
      ASSERT_EQ(value(*row, number), static_cast<int>(number % 256));
  }
}

/// A row, and what is in its pages that something was written to; to both the same is done. What
/// fails is done again: it must not have done anything.
class modelled_row {
 public:
  /// @param begin  Of a row that begins at 0 pages do not come and go at the front, but all of them
  /// may be replaced.
  modelled_row(storage& store, std::uint64_t begin, std::uint64_t seed)
      : begin_(begin), end_(begin), random_(seed) {
    page_cache_options const options{
        .page_bytes = page, .cache_pages = 6, .spare_pages = 1, .read_ahead_pages = 1};
    row_ = std::make_shared<page_row>(
        store, std::make_unique<disk_pages>(store, page, store.new_placement(), begin),
        std::make_shared<page_cache>(
            store, store.memory().take(page_cache::memory_bytes(store, options), "row"), options,
            block::make_lru_replacement()),
        page);
  }
  std::uint64_t failures() const { return failures_; }
  template <typename Action>
  auto done(Action const& action) {
    return scratch::persist(failures_, action);
  }

  void step() {
    auto const action = random_() % 100;
    if (begin_ == end_ || action < 5) return reach();
    if (action >= 7 && action < 10) return renew();
    // Near the last one, more often than not, so that neighbours are asked for.
    std::uint64_t const old = std::clamp(number_, begin_, end_ - 1);
    number_ = random_() % 3 == 0 ? begin_ + random_() % (end_ - begin_)
                                 : std::clamp(old + random_() % 3 - 1, begin_, end_ - 1);
    if (action < 7) return vacate();
    if (action < 40) return change();
    if (action < 60) return look();
    if (action < 75) return pin(old);
    if (action < 85) return hold();
    if (action < 90) return done([&] { row_->flush(); });
    std::vector<std::uint64_t> some;
    for (auto next = number_; next < end_ && some.size() < action % 5 + 1; ++next)
      some.push_back(next);
    if (action < 95)
      done([&] { row_->expect(some, {.runs = 0, .pages = 3}); });
    else
      done([&] { row_->expect(number_); });
  }
  void expect_equal() {
    ASSERT_EQ(row_->begin(), begin_);
    ASSERT_EQ(row_->end(), end_);
    for (number_ = begin_; number_ < end_; ++number_) look();
  }

 private:
  struct kept_pin {
    std::uint64_t number;
    bool is_there;  // if not, the page has gone, and stays as it was for who has pinned it
    std::uint8_t value;
    page_pin pin;
  };

  std::uint8_t expected() const {
    auto const found = content_.find(number_);
    return found == content_.end() ? 0 : found->second;
  }
  static void expect_filled(std::span<std::byte const> bytes, std::uint8_t value) {
    ASSERT_EQ(bytes.front(), std::byte{value});
    ASSERT_EQ(bytes.back(), std::byte{value});
  }
  void become(std::span<std::byte> bytes) {
    auto const value = static_cast<std::uint8_t>(random_());
    std::ranges::fill(bytes, std::byte{value});
    content_[number_] = value;
    for (auto& each : pins_)
      if (each.is_there && each.number == number_) each.value = value;
  }
  void reach() {
    std::uint64_t const old_begin = begin_, old_end = end_;
    if (begin_ > 0) begin_ = std::min(old_end, old_begin - 3 + random_() % 7);
    end_ = std::max(
        {begin_, old_begin, old_end - std::min<std::uint64_t>(old_end, 4) + random_() % 9});
    end_ = std::min(end_, begin_ + 40);
    end_ = std::max(end_, old_begin);
    done([&] { row_->reach(begin_, end_); });
    std::erase_if(content_, [&](auto const& e) { return e.first < begin_ || e.first >= end_; });
    for (auto& each : pins_)
      each.is_there = each.is_there && each.number >= begin_ && each.number < end_;
  }
  void renew() {
    if (begin_ > 0) return;
    page_renewal renewed(*row_);
    auto const count = random_() % 10;
    done([&] { row_->reach(0, count); });
    auto const old = content_;
    content_.clear();
    auto const old_pins = std::exchange(pins_, {});
    for (number_ = 0; number_ < count; ++number_)
      if (random_() % 4 != 0) change();
    number_ = 0;
    if (random_() % 2 == 0) {
      renewed.keep();
      end_ = count;
    } else {
      content_ = old;
    }
  }
  void vacate() {
    row_->vacate(number_);
    content_.erase(number_);
    for (auto& each : pins_) each.is_there = each.is_there && each.number != number_;
  }
  void change() {
    if (random_() % 4 == 0) {
      become(done([&] { return row_->change(number_, page_row::content::replaced); }));
      return;
    }
    auto const bytes = done([&] { return row_->change(number_); });
    expect_filled(bytes, expected());
    become(bytes);
  }
  void look() {
    ASSERT_EQ(row_->holds_zeros(number_), !content_.contains(number_));
    std::array<std::byte, page> bytes;
    done([&] { row_->read(number_, 0, bytes); });
    expect_filled(bytes, expected());
    if (content_.contains(number_) && random_() % 2 == 0)
      expect_filled(done([&] { return row_->show(number_); }), expected());
  }
  void pin(std::uint64_t before) {
    for (auto const& each : pins_) expect_filled(each.pin.bytes(), each.value);
    if (pins_.size() == 3) pins_.erase(pins_.begin());
    auto pinned = done([&] { return row_->pin(number_, before); });
    if (!pinned) return;
    expect_filled(pinned.bytes(), expected());
    pins_.push_back({number_, true, expected(), std::move(pinned)});
  }
  /// Many at the same time.
  void hold() {
    row_->end_lives();
    std::vector<page_pin> held;
    for (; number_ < end_ && row_->free_pages() > 1 && held.size() < 3; ++number_) {
      if (random_() % 2 == 0) {
        held.push_back(done([&] { return row_->hold_to_change(number_); }));
        expect_filled(held.back().bytes(), expected());
        become(held.back().change());
      } else if (auto pinned = done([&] { return row_->hold(number_); })) {
        expect_filled(pinned.bytes(), expected());
        held.push_back(std::move(pinned));
      } else {
        ASSERT_FALSE(content_.contains(number_));
      }
    }
  }

  std::shared_ptr<page_row> row_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::map<std::uint64_t, std::uint8_t> content_;
  std::vector<kept_pin> pins_;
  std::uint64_t number_ = 0;  // of the page that was used last
  std::mt19937_64 random_;
  std::uint64_t failures_ = 0;
};

/// How often an access failed, of two rows.
std::uint64_t run_model(storage& store, std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::uint64_t failures = 0;
  for (std::uint64_t const begin : {0U, 1'000'000U}) {
    modelled_row row(store, begin, seed);
    for (int i = 0; i < scratch::operations(100'000) && !testing::Test::HasFailure(); ++i) {
      row.step();
      if (i % 2000 == 0) row.expect_equal();
    }
    row.expect_equal();
    failures += row.failures();
  }
  EXPECT_EQ(store.allocated_bytes(), 0U);
  return failures;
}

TEST_F(rows_of_pages, hold_what_a_model_holds) {
  EXPECT_EQ(run_model(store, std::random_device{}()), 0U);
}

TEST_F(rows_of_pages, lose_nothing_when_accesses_fail_or_are_late) {
  auto const seed = std::random_device{}();
  scratch::faulty_storage disk(scratch::failing_or_late(seed));
  EXPECT_GT(run_model(disk.store, seed), scratch::operations(1000U));
}

TEST_F(rows_of_pages, notice_nothing_of_accesses_that_are_short_or_late) {
  auto const seed = std::random_device{}();
  scratch::faulty_storage disk(scratch::late(seed));
  EXPECT_EQ(run_model(disk.store, seed), 0U);
  EXPECT_GT(disk.plan->injected(), scratch::operations(1000U));
}

/// Tells of each read before it goes on to the file beneath.
class telling_of_reads final : public io::file_decorator {
 public:
  telling_of_reads(io::file_ptr inner, std::function<void()> tell)
      : file_decorator(std::move(inner)), tell_(std::move(tell)) {}
  ~telling_of_reads() override { drain(); }
  void start(io::attempt work) noexcept override {
    if (work.kind == io::operation::read) tell_();
    inner().start(std::move(work));
  }

 private:
  std::function<void()> tell_;
};

TEST(rows_of_pages_in_company, have_several_reads_under_way) {
  std::atomic<int> under_way{0}, most_under_way{0};
  auto const begins = [&] {
    int const now = ++under_way;
    for (int most = most_under_way;
         most < now && !most_under_way.compare_exchange_weak(most, now);) {
    }
  };
  auto const plan = std::make_shared<io::fault_plan>();
  plan->script(io::fault_point::read, 0, io::fault::hold(std::chrono::milliseconds(2)), 100'000);
  storage store(
      {.disks = {disk_options("slow",
                              [&](io::request_queue&) -> io::file_ptr {
                                auto memory = io::make_memory_file("slow", 1_MiB);
                                auto last = std::make_unique<telling_of_reads>(
                                    std::move(memory), [&] { --under_way; });
                                auto slow =
                                    std::make_unique<io::faulty_file>(std::move(last), plan);
                                return std::make_unique<telling_of_reads>(std::move(slow), begins);
                              })},
       .memory_bytes = 1_MiB,
       .threads = 1});
  page_cache_options const paging{.page_bytes = page, .cache_pages = 32, .spare_pages = 1};
  auto const row = std::make_shared<page_row>(
      store, std::make_unique<disk_pages>(store, page, store.new_placement()),
      std::make_shared<page_cache>(
          store, store.memory().take(page_cache::memory_bytes(store, paging), "row"), paging,
          block::make_lru_replacement()),
      page);
  row->reach(0, 400);
  for (std::uint64_t i = 0; i < 400; ++i)
    std::ranges::fill(row->change(i), static_cast<std::byte>(i % 251));
  row->flush();
  std::vector<std::jthread> readers;
  for (std::uint64_t first = 0; first < 4; ++first)
    readers.emplace_back([&, first] {
      for (std::uint64_t i = first; i < 400; i += 4) {
        std::byte found{};
        if (auto const pin = i % 3 == 0 ? row->pin(i, i) : page_pin())
          found = pin.bytes()[0];
        else
          row->read(i, 0, {&found, 1});
        ASSERT_EQ(found, static_cast<std::byte>(i % 251));
      }
    });
  readers.clear();
  EXPECT_GE(most_under_way, 2);
  EXPECT_EQ(under_way, 0);
}

TEST_F(rows_of_pages, can_be_read_by_several_threads_with_more_pins_than_there_is_room_for) {
  auto const row = make(6);
  row->reach(0, 40);
  for (std::uint64_t i = 0; i < 40; ++i) fill(*row, i, static_cast<int>(i));
  std::vector<std::jthread> readers;
  for (unsigned seed = 0; seed < 4; ++seed)
    readers.emplace_back([&, seed] {
      std::mt19937_64 random(seed);
      std::vector<page_pin> pins(4);
      for (int i = 0; i < 2000; ++i) {
        auto const number = random() % 40;
        auto& pin = pins[random() % pins.size()];
        pin = row->pin(number, number);
        int const found = pin ? std::to_integer<int>(pin.bytes()[0]) : value(*row, number);
        ASSERT_EQ(found, static_cast<int>(number));
      }
    });
}

}  // namespace
}  // namespace outsize::detail
