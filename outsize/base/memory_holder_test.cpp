// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/memory_holder.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>

namespace outsize {
namespace {

/// Has bytes of three kinds; more than it claims, where they are named.
class shelf final : public memory_giver {
 public:
  shelf(memory_budget& budget, std::string name, memory_claim const& claim)
      : memory_(budget.take(claim.least, std::move(name))), holder_(memory_, *this, claim) {
    unused_ = claim.least;
  }
  shelf(memory_budget& budget, std::uint64_t unused, std::uint64_t reread, std::uint64_t written,
        std::uint64_t least = 0)
      : unused_(unused),
        reread_(reread),
        written_(written),
        memory_(budget.take(unused + reread + written, "shelf")),
        holder_(memory_, *this, memory_claim::fixed(least)) {}

  memory_holder& holder() noexcept { return holder_; }
  grant& memory() noexcept { return memory_; }
  std::uint64_t has() const noexcept { return memory_.total_bytes(); }
  std::vector<std::uint64_t> kinds() const { return {unused_, reread_, written_}; }
  void grow_as_far_as_possible(std::uint64_t step) {
    std::lock_guard const lock(holder_);
    while (holder_.grow(step)) unused_ += step;
  }
  void keep_what_is_written() { keeps_ = true; }
  void fail_to_write() { fails_ = true; }

  void give_back(std::uint64_t bytes, give_cost most) override {
    auto const give = [&](std::uint64_t& kind) {
      std::uint64_t const gone = std::min(kind, bytes);
      kind -= gone;
      bytes -= gone;
      memory_.shrink(gone);
    };
    give(unused_);
    if (most >= give_cost::reread) give(reread_);
    if (most < give_cost::written || keeps_) return;
    if (fails_ && bytes > 0) throw std::runtime_error("cannot write");
    give(written_);
  }

 private:
  std::uint64_t unused_ = 0, reread_ = 0, written_ = 0;
  bool keeps_ = false, fails_ = false;
  grant memory_;
  memory_holder holder_;
};

using kinds = std::vector<std::uint64_t>;

TEST(memory_holder, gives_to_who_asks_what_is_cheapest_first) {
  memory_budget budget(100);
  shelf a(budget, 10, 20, 10), b(budget, 5, 15, 40);
  {
    grant const first = budget.take(12, "first");
    EXPECT_EQ(a.kinds(), (kinds{0, 20, 10}));
    EXPECT_EQ(b.kinds(), (kinds{3, 15, 40}));
    grant const second = budget.take(30, "second");
    EXPECT_EQ(a.kinds(), (kinds{0, 0, 10}));
    EXPECT_EQ(b.kinds(), (kinds{0, 8, 40}));
  }
  EXPECT_EQ(budget.free_bytes(), 42U);
  grant all = budget.take(100, "all");
  EXPECT_EQ(a.has() + b.has(), 0U);
}

TEST(memory_holder, keeps_its_least_and_an_error_says_so) {
  memory_budget budget(100);
  shelf const a(budget, 10, 20, 30, 25);
  grant const named = budget.take(30, "named");
  try {
    budget.take(50, "merge");
    FAIL() << "granted";
  } catch (budget_error const& error) {
    EXPECT_EQ(error.asker(), "merge");
    EXPECT_EQ(error.have_bytes(), 45U);
    EXPECT_EQ(error.need_bytes(), 50U);
    EXPECT_THAT(error.what(), testing::HasSubstr("105 bytes would do"));
    EXPECT_THAT(error.what(), testing::HasSubstr("named has 30 bytes and needs 30 bytes"));
    EXPECT_THAT(error.what(), testing::HasSubstr("and needs 25 bytes"));
  }
  EXPECT_EQ(budget.take(45, "merge").total_bytes(), 45U);
  EXPECT_EQ(a.has(), 25U);
}

TEST(memory_holder, keeps_what_it_cannot_give) {
  memory_budget budget(100);
  shelf a(budget, 10, 20, 30);
  a.keep_what_is_written();
  EXPECT_THROW(budget.take(90, "merge"), budget_error);
  EXPECT_EQ(a.has(), 30U);
  EXPECT_EQ(budget.take(70, "merge").total_bytes(), 70U);
}

TEST(memory_holder, that_cannot_write_keeps_it_and_who_asks_is_told) {
  memory_budget budget(100);
  shelf a(budget, 10, 20, 30), b(budget, 0, 0, 40);
  a.fail_to_write();
  EXPECT_THROW(budget.take(80, "merge"), std::runtime_error);
  EXPECT_EQ(a.has(), 30U);
  EXPECT_EQ(budget.take(70, "merge").total_bytes(), 70U);
  EXPECT_THROW(budget.take(101, "merge"), std::runtime_error);
  EXPECT_THROW(budget.take(101, "merge"), std::runtime_error);
}

TEST(memory_holder, grows_to_its_share_and_leaves_some_to_those_to_come) {
  memory_budget budget(160);
  shelf a(budget, "a", {.least = 10, .knee = 100, .most = 1000});
  a.grow_as_far_as_possible(1);
  EXPECT_EQ(a.has(), 150U);
  shelf b(budget, "b", {.least = 10, .knee = 100, .most = 1000});
  EXPECT_EQ(a.has(), 150U);
  b.grow_as_far_as_possible(1);
  EXPECT_EQ(a.has(), 75U);
  EXPECT_EQ(b.has(), 75U);
  a.grow_as_far_as_possible(1);
  EXPECT_EQ(a.has(), 75U);
}

TEST(memory_holder, that_is_not_used_while_others_move_much_has_no_share) {
  memory_budget budget(160);
  memory_claim const any{.least = 10, .knee = 100, .most = 1000};
  shelf a(budget, "a", any), b(budget, "b", any);
  a.grow_as_far_as_possible(1);
  b.grow_as_far_as_possible(1);
  EXPECT_EQ(b.has(), 75U);
  {
    std::lock_guard const lock(b.holder());
    for (int i = 0; i < 20; ++i) b.holder().note_moved(10);
  }
  b.grow_as_far_as_possible(1);
  EXPECT_EQ(b.has(), 140U);
  EXPECT_EQ(a.has(), 10U);
  a.grow_as_far_as_possible(1);
  EXPECT_EQ(a.has(), 75U);
}

TEST(memory_budget, gives_a_claim_its_share) {
  memory_budget budget(160);
  shelf a(budget, "a", {.least = 10, .knee = 100, .most = 1000});
  a.grow_as_far_as_possible(1);
  grant const sort = budget.take({.least = 20, .knee = 100, .most = 1000}, "sort");
  EXPECT_EQ(sort.total_bytes(), 75U);
  grant const few = budget.take(memory_claim::fixed(70), "few");
  EXPECT_EQ(few.total_bytes(), 70U);
  auto const report = budget.report();
  ASSERT_EQ(report.shares.size(), 3U);
  EXPECT_EQ(report.shares[0].has_bytes, a.has());
  EXPECT_EQ(report.free_bytes, budget.free_bytes());
  EXPECT_EQ(report.explain(),
            "160 bytes of memory, 5 bytes free\n"
            "  has        least      knee       most       who\n"
            "  10 bytes   10 bytes   100 bytes  1000 bytes a\n"
            "  75 bytes   75 bytes   75 bytes   75 bytes   sort\n"
            "  70 bytes   70 bytes   70 bytes   70 bytes   few\n");
}

TEST(memory_holder, that_works_itself_is_asked_where_it_says_that_it_can_give) {
  memory_budget budget(100);
  shelf a(budget, 50, 0, 50, 10);
  std::lock_guard const lock(a.holder());
  EXPECT_THROW(budget.take(20, "index"), budget_error);
  memory_holder::safe_point const here(a.holder());
  EXPECT_EQ(budget.take(20, "index").total_bytes(), 20U);
  EXPECT_EQ(a.kinds(), (kinds{30, 0, 50}));
}

TEST(memory_holder, gives_of_its_least_only_to_who_would_be_refused) {
  memory_budget budget(100);
  shelf a(budget, 0, 0, 60), b(budget, 0, 0, 30);
  {
    std::lock_guard const lock(a.holder());
    a.holder().claim(memory_claim::fixed(60), 20);
  }
  EXPECT_EQ(budget.obtainable_bytes(), 40U);
  EXPECT_EQ(a.holder().share_of({20, 60, 90}), 90U);
  {
    grant const little = budget.take(40, "little");
    EXPECT_EQ(a.has(), 60U);
    EXPECT_EQ(b.has(), 0U);
  }
  budget.require(80, "much");
  EXPECT_THROW(budget.require(81, "too much"), budget_error);
  try {
    budget.take(81, "too much");
    FAIL() << "granted";
  } catch (budget_error const& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("101 bytes would do: shelf has 20 bytes"));
  }
  grant const much = budget.take(80, "much");
  EXPECT_EQ(a.has(), 20U);
}

TEST(memory_holder, is_told_of_once_with_all_that_are_like_it) {
  memory_budget budget(1000);
  grant const named = budget.take(100, "named");
  std::vector<std::unique_ptr<shelf>> alike;
  for (int i = 0; i < 12; ++i)
    alike.push_back(std::make_unique<shelf>(budget, "shelf", memory_claim::fixed(70)));
  try {
    budget.take(100, "too much");
    FAIL() << "granted";
  } catch (budget_error const& error) {
    EXPECT_THAT(error.what(),
                testing::EndsWith("1.02 KiB would do: named has 100 bytes and needs 100 bytes, "
                                  "12 times shelf has 70 bytes and needs 70 bytes"));
  }
}

TEST(memory_holder, gives_of_its_least_when_the_thread_that_is_in_it_leaves) {
  memory_budget budget(100);
  shelf a(budget, 0, 0, 80);
  std::unique_lock lock(a.holder());
  a.holder().claim(memory_claim::fixed(80), 10);
  std::jthread const asker([&] { EXPECT_EQ(budget.take(90, "much").total_bytes(), 90U); });
  while (a.has() == 80) {
    std::this_thread::yield();
    lock.unlock();
    lock.lock();
  }
  EXPECT_EQ(a.has(), 10U);
}

TEST(memory_holder, gives_when_the_thread_that_is_in_it_leaves) {
  memory_budget budget(100);
  shelf a(budget, 50, 0, 50, 10);
  std::unique_lock lock(a.holder());
  std::thread other([&] { EXPECT_EQ(budget.take(60, "other").total_bytes(), 60U); });
  while (budget.free_bytes() == 0 && a.has() == 100) {
    lock.unlock();  // as one does who uses it all the time
    lock.lock();
  }
  lock.unlock();
  other.join();
  EXPECT_EQ(a.has(), 40U);
}

TEST(memory_holder, tells_who_waits_what_went_wrong_when_it_was_left) {
  memory_budget budget(100);
  shelf a(budget, 0, 0, 100);
  a.fail_to_write();
  std::atomic<bool> is_over{false};
  std::unique_lock lock(a.holder());
  std::thread other([&] {
    EXPECT_THROW(budget.take(50, "other"), std::runtime_error);
    is_over = true;
  });
  while (!is_over) {
    lock.unlock();
    lock.lock();
  }
  lock.unlock();
  other.join();
  EXPECT_EQ(a.has(), 100U);
}

TEST(memory_holder, that_ends_leaves_all_to_who_waits_for_it) {
  memory_budget budget(100);
  std::optional<shelf> a;
  a.emplace(budget, 50, 0, 50, 90);
  std::latch is_in(1);
  std::thread other([&] {
    std::unique_lock lock(a->holder());
    is_in.count_down();
    std::this_thread::yield();
    lock.unlock();
  });
  is_in.wait();
  EXPECT_EQ(budget.take(10, "asker").total_bytes(), 10U);
  other.join();
  a.reset();
  EXPECT_EQ(budget.free_bytes(), 100U);
}

TEST(memory_holder, askers_in_gates_of_their_own_do_not_wait_for_each_other) {
  for (int i = 0; i < 200; ++i) {
    memory_budget budget(100);
    shelf a(budget, 0, 0, 50, 20), b(budget, 0, 0, 50, 20);
    std::atomic<int> refused{0};
    auto const ask = [&](shelf& own) {
      std::lock_guard const lock(own.holder());
      memory_holder::safe_point const here(own.holder());
      try {
        grant const taken = budget.take(35, "index");
        EXPECT_EQ(taken.total_bytes(), 35U);
      } catch (budget_error const&) {
        ++refused;  // the other one has 35, or more than its least and waits for a place in line
      }
    };
    std::thread one([&] { ask(a); }), two([&] { ask(b); });
    one.join();
    two.join();
    EXPECT_LE(refused, 1);
    EXPECT_LE(budget.peak_bytes(), 100U);
  }
}

/// Threads with shelves of their own and one in common grow, use them and ask.
TEST(memory_holder, nobody_waits_for_ever_or_gets_more_than_there_is) {
  std::uint64_t const seed = std::random_device()();
  SCOPED_TRACE(seed);
  memory_budget budget(4000);
  memory_claim const some{.least = 40, .knee = 500, .most = 2000};
  shelf common(budget, "common", some);
  std::atomic<int> refused{0}, granted{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      std::mt19937_64 draw(seed + t);
      std::optional<shelf> own;
      std::vector<grant> taken;
      for (int i = 0; i < 2000; ++i) {
        if (!own) try {
            own.emplace(budget, "own", some);
          } catch (budget_error const&) {
            ++refused;
            continue;
          }
        switch (draw() % 8) {
          case 0:
            own.reset();
            break;
          case 1:
            own->grow_as_far_as_possible(1 + draw() % 50);
            break;
          case 2:
            common.grow_as_far_as_possible(1 + draw() % 50);
            break;
          case 3:
            taken.clear();
            break;
          case 4: {
            std::lock_guard const lock(own->holder());
            own->holder().note_moved(draw() % 500);
            break;
          }
          default:
            try {
              std::optional<std::unique_lock<memory_holder>> lock;
              std::optional<memory_holder::safe_point> here;
              if (draw() % 2 == 0) {
                lock.emplace(own->holder());
                here.emplace(own->holder());
              }
              std::uint64_t const bytes = draw() % 700;
              taken.push_back(draw() % 2 == 0 ? budget.take(bytes, "fixed")
                                              : budget.take({bytes / 2, bytes, 2 * bytes}, "part"));
              ++granted;
            } catch (budget_error const&) {
              ++refused;
              taken.clear();
            }
        }
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_LE(budget.peak_bytes(), 4000U);
  EXPECT_EQ(budget.free_bytes() + common.has(), 4000U);
  EXPECT_GT(granted, 0);
}

}  // namespace
}  // namespace outsize
