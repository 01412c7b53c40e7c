// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Containers that grow at their ends, on a disk that others fill: a push for which there is no room
// leaves all as it was, and all goes on when there is room again. Those that are to have many items
// at once ask for the space of these before they take any, and take it when they need it.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/deque.hpp>
#include <outsize/container/matrix.hpp>
#include <outsize/container/queue.hpp>
#include <outsize/container/sequence.hpp>
#include <outsize/container/stack.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/page/page_pool.hpp>
#include <outsize/scan/shuffle.hpp>
#include <outsize/scan/sort_containers.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

using number = std::uint64_t;
using model = std::deque<number>;

page_options const small{.page_bytes = 64, .cache_pages = 4, .spare_pages = 1};
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
                 .memory_bytes = 1_MiB,
                 .threads = 1}};
  vector<number> others{store, small};  // that take room

  void others_take(std::uint64_t pages) {
    others.shrink_to_fit();
    others.reserve(pages * page_items);
  }
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
  this->others_take(20);
  ASSERT_NO_FATAL_FAILURE(this->fill());
  EXPECT_EQ(this->items.size(), page_items * 20);
  for (bool const at_back : {true, false, true}) {
    EXPECT_FALSE(this->push(7, at_back));
    EXPECT_EQ(this->ends->c.size(), page_items * 20);
    EXPECT_EQ(this->ends->next(true),
              TypeParam::pops_back(true) ? this->items.back() : this->items.front());
  }
  this->others_take(0);
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
      this->others_take(random() % disk_pages);
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
  this->others_take(0);
  while (!this->items.empty()) ASSERT_NO_FATAL_FAILURE(this->pop(this->items.size() % 3 == 0));
}

TYPED_TEST(containers_on_a_full_disk, have_the_room_that_others_could_not_use) {
  this->others_take(10);
  EXPECT_THROW(this->others.reserve(page_items * 100), out_of_space);
  EXPECT_EQ(this->others.capacity(), page_items * 10);
  ASSERT_NO_FATAL_FAILURE(this->fill());
  EXPECT_EQ(this->items.size(), page_items * (disk_pages - 10));
}

/// A disk of so many bytes, which says so when it is asked.
storage_options on_a_disk_of(std::uint64_t bytes) {
  disk_options disk("small", [](io::request_queue&) -> io::file_ptr {
    return io::make_memory_file("small", 64_MiB);
  });
  disk.capacity_bytes = bytes;
  return {.disks = {disk}, .memory_bytes = 4_MiB, .threads = 1};
}

unordered_map_options const small_buckets{.page_bytes = 256, .cache_pages = 8, .spare_pages = 1};

TEST(containers_that_ask, take_nothing_where_there_is_not_enough) {
  storage store(on_a_disk_of(64_KiB));
  page_pool pool(store, small);
  vector<number> v(store, small);
  deque<number> d(pool);
  unordered_map<number, number> h(store, small_buckets);
  EXPECT_THROW(v.resize(1'000'000), out_of_space);
  EXPECT_THROW(v.resize(v.max_size()), out_of_space);
  EXPECT_THROW(v.reserve(1'000'000), out_of_space);
  EXPECT_THROW(v.assign(1'000'000, 1), out_of_space);
  EXPECT_THROW(vector<number>(store, 1'000'000, small), out_of_space);
  EXPECT_THROW(d.resize(1'000'000), out_of_space);
  EXPECT_THROW(h.reserve(number{1} << 45), out_of_space);
  EXPECT_THROW(h.reserve(h.max_size()), out_of_space);
  EXPECT_THROW(matrix<double>(pool, 1000, 1000), out_of_space);
  EXPECT_EQ(store.peak_allocated_bytes(), 0U);
  h.insert({1, 1});
  auto const buckets = h.bucket_count();
  EXPECT_THROW(h.reserve(number{1} << 45), out_of_space);
  EXPECT_EQ(h.bucket_count(), buckets);
  EXPECT_LE(store.peak_allocated_bytes(), 2 * 256U);
  EXPECT_TRUE(v.empty() && d.empty());
}

TEST(containers_that_ask, take_no_memory_where_there_is_not_enough) {
  storage store(on_a_disk_of(UINT64_MAX));
  vector<number> v(store, small);
  unordered_map<number, number> h(store, small_buckets);
  auto const memory = store.memory().free_bytes();
  EXPECT_THROW(v.resize(1'000'000'000), budget_error);
  EXPECT_THROW(v.reserve(1'000'000'000), budget_error);
  EXPECT_THROW(h.reserve(number{1} << 45), budget_error);
  EXPECT_EQ(store.memory().free_bytes(), memory);
  EXPECT_EQ(store.peak_allocated_bytes(), 0U);
  page_options const wraps{.page_bytes = std::size_t{1} << 40, .cache_pages = std::size_t{1} << 24};
  EXPECT_THROW(vector<number>(store, wraps), budget_error);
}

TEST(containers_that_ask, take_space_as_they_need_it) {
  storage store(on_a_disk_of(64_KiB));
  vector<number> v(store, 8000, small);  // all of it but for a page
  EXPECT_EQ(v[4000], 0U);                // counts as changed
  EXPECT_EQ(std::as_const(v)[7999], 0U);
  EXPECT_EQ(store.allocated_bytes(), 64U);
  vector<number> other(store, 4000, small);
  other.reserve(4000);
  EXPECT_EQ(store.allocated_bytes(), 4000 * sizeof(number) + 64);
  EXPECT_THROW(v.reserve(8000), out_of_space);
  EXPECT_EQ(store.allocated_bytes(), 4000 * sizeof(number) + 64);
  unordered_map<number, number> h(store, small_buckets);
  h.reserve(500);
  EXPECT_EQ(store.allocated_bytes(), 4000 * sizeof(number) + 64);
  h.insert({1, 2});
  EXPECT_EQ(store.allocated_bytes(), 4000 * sizeof(number) + 64 + 256);
  page_pool const pool(store, small);
  matrix<double> m(pool, 30, 30);
  m(3, 3) = 1;
  EXPECT_EQ(store.allocated_bytes(), 4000 * sizeof(number) + 64 + 256 + 4 * sizeof(double));
  // What has no space yet can run out of it, and is as it was.
  number written = 0;
  EXPECT_THROW(for (;; ++written) v[written] = written + 1, out_of_space);
  EXPECT_GT(written, 4000U);
  for (number i = 0; i < 8000; ++i) ASSERT_EQ(std::as_const(v)[i], i < written ? i + 1 : 0);
  other.clear();
  other.shrink_to_fit();
  v[written] = 1;
}

// They write to all pages, and what is replaced must not be lost halfway.
TEST(containers_that_ask, are_as_before_where_they_cannot_be_sorted_for_want_of_space) {
  storage store(on_a_disk_of(64_KiB));
  vector<number> v(store, 6000, small), others(store, small);
  v[5999] = 7;
  others.reserve(4000);
  std::mt19937_64 random(5);
  EXPECT_THROW(sort(v, std::greater<>(), {.memory_bytes = 3_MiB}), out_of_space);
  EXPECT_THROW(shuffle(v, random, {.memory_bytes = 3_MiB}), out_of_space);
  EXPECT_EQ(std::as_const(v)[5999], 7U);
  for (number i = 0; i < 5999; ++i) ASSERT_EQ(std::as_const(v)[i], 0U);
  others.shrink_to_fit();
  sort(v, std::greater<>(), {.memory_bytes = 3_MiB});
  EXPECT_EQ(v[0], 7U);
}

TEST(containers_that_ask, have_holes_in_files_where_nothing_was_written) {
  scratch::directory const dir;
  storage store(on_a_disk_of(64_KiB));
  auto const taken_bytes = [&](std::string const& name) {
    struct stat status {};
    EXPECT_EQ(::stat(dir.path(name).c_str(), &status), 0);
    return status.st_blocks * 512;
  };
  for (bool const is_kept : {false, true}) {
    std::string const name = is_kept ? "kept" : "plain";
    auto v = is_kept ? vector<number>::create(dir.path(name), store, {.page_bytes = 4_KiB})
                     : vector<number>::create_plain(dir.path(name), store, {.page_bytes = 4_KiB});
    EXPECT_THROW(v.resize(v.max_size()), out_of_space);
    EXPECT_EQ(v.size(), 0U);
    number const count = is_kept ? 1'000'000 : 10'000'000;
    v.resize(count);
    EXPECT_LE(taken_bytes(name), 64 * 1024);
    v[count / 2] = 5;
    v.close();
    EXPECT_LE(taken_bytes(name), 64 * 1024);
    v = is_kept ? vector<number>::open(dir.path(name), store)
                : vector<number>::open_plain(dir.path(name), store, io::access::read_only,
                                             {.page_bytes = 4_KiB});
    ASSERT_EQ(v.size(), count);
    EXPECT_EQ(std::as_const(v)[count / 2], 5U);
    EXPECT_EQ(std::as_const(v)[count / 2 + 1], 0U);
    EXPECT_EQ(std::as_const(v)[count - 1], 0U);
  }
}

}  // namespace
}  // namespace outsize
