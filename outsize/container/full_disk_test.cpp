// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Containers that grow at their ends, on a disk that others fill: a push for which there is no room
// leaves all as it was, and all goes on when there is room again.

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <random>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/deque.hpp>
#include <outsize/container/queue.hpp>
#include <outsize/container/sequence.hpp>
#include <outsize/container/stack.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/effort.hpp>

namespace outsize {
namespace {

using number = std::uint64_t;
using model = std::deque<number>;

vector_options const small{.page_bytes = 64, .cache_pages = 4, .spare_pages = 1};
constexpr std::uint64_t disk_pages = 40, page_items = 8;

// What a container does at its ends, and its model; `at_back` is drawn for those that have both.

struct stack_ends {
  stack<number> c;
  explicit stack_ends(storage& store) : c(store, small) {}
  void push(number item, bool) { c.push(item); }
  number next(bool) { return c.top(); }
  void pop(bool) { c.pop(); }
  static bool pushes_back(bool) { return true; }
  static bool pops_back(bool) { return true; }
};

struct small_stack_ends : stack_ends {
  explicit small_stack_ends(storage& store) : stack_ends(store) {
    c = stack<number>(store, without_overlap(small));
  }
};

struct queue_ends {
  queue<number> c;
  explicit queue_ends(storage& store) : c(store, small) {}
  void push(number item, bool) { c.push(item); }
  number next(bool) { return c.front(); }
  void pop(bool) { c.pop(); }
  static bool pushes_back(bool) { return true; }
  static bool pops_back(bool) { return false; }
};

template <typename Container>
struct both_ends {
  Container c;
  explicit both_ends(storage& store) : c(store, small) {}
  void push(number item, bool at_back) { at_back ? c.push_back(item) : c.push_front(item); }
  number next(bool at_back) { return at_back ? c.back() : c.front(); }
  void pop(bool at_back) { at_back ? c.pop_back() : c.pop_front(); }
  static bool pushes_back(bool at_back) { return at_back; }
  static bool pops_back(bool at_back) { return at_back; }
};

template <typename Ends>
struct containers_on_a_full_disk : testing::Test {
  storage store{{.disks = {disk_options("small",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("small", disk_pages * 64);
                                        })},
                 .memory = 1_MiB,
                 .threads = 1}};
  vector<number> others{store, small};  // that take room
  std::optional<Ends> ends{std::in_place, store};
  model items;

  /// Whether there was room.
  bool push(number item, bool at_back) {
    try {
      ends->push(item, at_back);
    } catch (out_of_space const& e) {
      EXPECT_EQ(e.disk(), "small");
      return false;
    }
    Ends::pushes_back(at_back) ? items.push_back(item) : items.push_front(item);
    return true;
  }
  void pop(bool at_back) {
    ASSERT_EQ(ends->next(at_back), Ends::pops_back(at_back) ? items.back() : items.front());
    ends->pop(at_back);
    Ends::pops_back(at_back) ? items.pop_back() : items.pop_front();
    ASSERT_EQ(ends->c.size(), items.size());
  }
  void fill() {
    for (number i = 0; push(i, i % 2 == 0); ++i) ASSERT_EQ(ends->c.size(), items.size());
  }
};

using all_ends = testing::Types<stack_ends, small_stack_ends, queue_ends, both_ends<deque<number>>,
                                both_ends<sequence<number>>>;
TYPED_TEST_SUITE(containers_on_a_full_disk, all_ends);

TYPED_TEST(containers_on_a_full_disk, stay_as_they_are_and_go_on_when_others_leave) {
  this->others.resize(page_items * 20);
  ASSERT_NO_FATAL_FAILURE(this->fill());
  EXPECT_EQ(this->items.size(), page_items * 20);
  for (bool const at_back : {true, false, true}) {
    EXPECT_FALSE(this->push(7, at_back));
    EXPECT_EQ(this->ends->c.size(), page_items * 20);
    EXPECT_EQ(this->ends->next(true),
              TypeParam::pops_back(true) ? this->items.back() : this->items.front());
  }
  this->others.clear();
  ASSERT_NO_FATAL_FAILURE(this->fill());
  EXPECT_EQ(this->items.size(), page_items * disk_pages);
  while (!this->items.empty()) ASSERT_NO_FATAL_FAILURE(this->pop(this->items.size() % 3 == 0));
  EXPECT_LE(this->store.allocated_bytes(), 3 * 64U);
  ASSERT_NO_FATAL_FAILURE(this->fill());
  EXPECT_GE(this->items.size(), page_items * (disk_pages - 2));
  this->ends.reset();
  EXPECT_EQ(this->store.allocated_bytes(), 0U);
}

TYPED_TEST(containers_on_a_full_disk, take_what_they_gave_back_themselves) {
  ASSERT_NO_FATAL_FAILURE(this->fill());
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 3 * static_cast<int>(page_items); ++i)
      ASSERT_NO_FATAL_FAILURE(this->pop(i % 2 == 0));
    auto const left = this->items.size();
    ASSERT_NO_FATAL_FAILURE(this->fill());
    EXPECT_GE(this->items.size(), left + page_items) << "a page at each end may be kept";
  }
}

TYPED_TEST(containers_on_a_full_disk, behave_as_standard_ones_while_others_come_and_go) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  int refused = 0;
  for (int phase = 0; phase < scratch::operations(60) || (refused == 0 && phase < 1000); ++phase) {
    auto const pushes = 30 + random() % 71;
    try {
      this->others.resize(page_items * (random() % disk_pages));
    } catch (out_of_space const&) {
    }
    for (int i = 0; i < 200; ++i) {
      bool const at_back = random() % 2 == 0;
      if (this->items.empty() || random() % 100 < pushes)
        refused += this->push(random(), at_back) ? 0 : 1;
      else
        ASSERT_NO_FATAL_FAILURE(this->pop(at_back));
      ASSERT_EQ(this->ends->c.size(), this->items.size());
    }
  }
  EXPECT_GT(refused, 0);
  this->others.clear();
  while (!this->items.empty()) ASSERT_NO_FATAL_FAILURE(this->pop(this->items.size() % 3 == 0));
}

TYPED_TEST(containers_on_a_full_disk, have_the_room_that_others_could_not_use) {
  this->others.resize(page_items * 10);
  EXPECT_THROW(this->others.resize(page_items * 100), out_of_space);
  EXPECT_EQ(this->others.size(), page_items * 10);
  ASSERT_NO_FATAL_FAILURE(this->fill());
  EXPECT_EQ(this->items.size(), page_items * (disk_pages - 10));
}

}  // namespace
}  // namespace outsize
