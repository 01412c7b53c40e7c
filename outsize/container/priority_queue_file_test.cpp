// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Priority queues in files: they are there again, as they were flushed last, whenever the power
// fails, with more memory or with less; and files that are none are refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/bulk_priority_queue.hpp>
#include <outsize/container/priority_queue.hpp>
#include <outsize/io/decorators/fault_plan.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/crashing_file.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/faulty_storage.hpp>
#include <outsize/testing/kept_image.hpp>
#include <outsize/testing/scratch_directory.hpp>
#include <outsize/testing/tagged_item.hpp>

namespace outsize {
namespace {

using scratch::by_key;
using scratch::tagged_item;
using queue_of_tags = priority_queue<tagged_item, by_key>;
/// The first one that was inserted of equal keys comes first.
using model = std::multimap<std::uint32_t, std::uint32_t, std::greater<>>;

constexpr priority_queue_options tiny{.memory_bytes = 256_KiB, .block_bytes = 4096};

storage_options in_memory() {
  return {
      .disks = {disk_options(
          "none", [](io::request_queue&) -> io::file_ptr { return io::make_memory_file("none"); })},
      .memory_bytes = 4_MiB,
      .threads = 2};
}

struct event {
  std::uint64_t time, what;
  friend bool operator==(event const&, event const&) = default;
};
struct long_item {
  std::array<std::uint64_t, 13> words;
  friend bool operator==(long_item const&, long_item const&) = default;
};
struct long_less {
  bool operator()(long_item const& a, long_item const& b) const { return a.words < b.words; }
};

struct kept_queues : testing::Test {
  storage store{in_memory()};
  std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random{seed};
  std::uint32_t tag = 0;
  model now;
  testing::ScopedTrace trace{__FILE__, __LINE__, "seed " + std::to_string(seed)};

  void push(auto& q, std::uint32_t keys = 1000) {
    tagged_item const item{static_cast<std::uint32_t>(random() % keys), tag++};
    q.push(item);
    now.emplace(item.key, item.tag);
  }
  void pop(auto& q) {
    auto const item = q.top();
    ASSERT_EQ(item, (tagged_item{now.begin()->first, now.begin()->second}));
    q.pop();
    now.erase(now.begin());
  }
  void act(auto& q, std::uint64_t steps) {
    std::uint64_t const pushes = random() % 101;
    for (std::uint64_t i = 0; i < steps && !HasFatalFailure(); ++i)
      random() % 100 < pushes || now.empty() ? push(q) : pop(q);
  }
  static std::vector<tagged_item> drained(auto& q) {
    std::vector<tagged_item> found;
    for (; !q.empty(); q.pop()) found.push_back(q.top());
    return found;
  }
  static std::vector<tagged_item> items_of(model const& from) {
    std::vector<tagged_item> items;
    for (auto const& [key, tag] : from) items.push_back({key, tag});
    return items;
  }
  /// Empties it.
  static bool holds(auto& q, model const& items) {
    return q.size() == items.size() && drained(q) == items_of(items);
  }
};

TEST_F(kept_queues, are_as_they_were_flushed_whenever_the_power_fails) {
  auto const journal = std::make_shared<scratch::file_journal>();
  std::map<std::size_t, model> flushed;  // steps of the journal → items
  {
    auto q = queue_of_tags::create(store, std::make_unique<scratch::crashing_file>(journal), tiny);
    flushed[journal->size()] = now;
    std::size_t most_arrays = 0;
    for (int flushes = 0; flushes < 12; ++flushes) {
      act(q, flushes == 0 ? 0 : random() % 12'000);
      for (int i = 0; flushes == 3 && i < 5000; ++i) push(q);
      ASSERT_FALSE(HasFatalFailure());
      q.flush();
      flushed[journal->size()] = now;
      ASSERT_EQ(q.size(), now.size());
      most_arrays = std::max(most_arrays, q.report().arrays);
    }
    EXPECT_GT(most_arrays, 0U);
    push(q);
    q.close();
    flushed[journal->size()] = now;
  }
  for (std::size_t steps = flushed.begin()->first; steps <= journal->size();
       steps += 1 + random() % (journal->size() / 60)) {
    auto survivor = queue_of_tags::open(store, journal->file_after(steps, random), tiny);
    auto const found = drained(survivor);
    auto const after = flushed.upper_bound(steps);
    ASSERT_TRUE(found == items_of(std::prev(after)->second) ||
                (after != flushed.end() && found == items_of(after->second)))
        << "after " << steps << " steps";
  }
}

TEST_F(kept_queues, go_on_when_they_are_opened_again) {
  scratch::directory directory;
  auto const path = directory.path("queue");
  queue_of_tags::create(path, store, tiny).close();
  for (int opened = 0; opened < 12; ++opened) {
    auto q = queue_of_tags::open(path, store, tiny);
    ASSERT_TRUE(q.was_closed());
    ASSERT_EQ(q.size(), now.size());
    act(q, scratch::operations(30'000U));
    ASSERT_FALSE(HasFatalFailure());
    if (opened % 3 == 1) q.flush();
    if (opened % 4 == 2) act(q, 1000);
    // The destructor closes it.
  }
  auto q = queue_of_tags::open(path, store, tiny);
  EXPECT_TRUE(holds(q, now));
  q.flush();
  q.close();
  EXPECT_LE(std::filesystem::file_size(path), 20_KiB);
}

TEST_F(kept_queues, have_flushed_items_though_they_are_not_closed) {
  scratch::directory directory;
  auto const path = directory.path("queue"), copy = directory.path("copy");
  auto q = queue_of_tags::create(path, store, tiny);
  act(q, 40'000);
  for (int i = 0; i < 5000; ++i) push(q);
  pop(q);  // so that there is a window
  push(q);
  q.flush();
  std::filesystem::copy_file(path, copy);  // as a crash would leave it
  auto other = queue_of_tags::open(copy, store, tiny);
  EXPECT_FALSE(other.was_closed());
  EXPECT_TRUE(holds(other, now));
  act(q, 20'000);  // goes on as before
  EXPECT_TRUE(holds(q, now));
}

TEST_F(kept_queues, write_each_item_once) {
  constexpr std::uint64_t count = 40'000, bytes = count * sizeof(tagged_item);
  auto q = queue_of_tags::create(store, io::make_memory_file("file"), tiny);
  auto const written = [&] { return store.file_statistics().snapshot().write_bytes; };
  auto const before = written();
  for (std::uint64_t i = 0; i < count; ++i) push(q);
  q.flush();
  // Arrays of at least seven blocks, each with a last one that is not full; the catalogue, the
  // index, and a header.
  EXPECT_LE(written() - before, bytes * 8 / 7 + 4 * 4096);
  auto const flushed = written();
  q.flush();
  EXPECT_LE(written() - flushed, 3U * 4096);
}

TEST_F(kept_queues, merge_arrays_where_there_is_less_memory) {
  auto const journal = std::make_shared<scratch::file_journal>();
  {
    auto q = queue_of_tags::create(store, std::make_unique<scratch::crashing_file>(journal),
                                   {.memory_bytes = 2_MiB, .block_bytes = 4096});
    for (int flushes = 0; flushes < 100; ++flushes) {
      for (int i = 0; i < 100; ++i) push(q);
      q.flush();
    }
    EXPECT_GT(q.report().arrays, 80U);
    q.close();
  }
  auto const file = [&] { return journal->file_after(journal->size(), random); };
  auto q = queue_of_tags::open(store, file(), tiny);
  EXPECT_LT(q.report().arrays, 60U);
  EXPECT_GT(q.report().array_merges, 0U);
  EXPECT_TRUE(holds(q, now));
  EXPECT_THROW(queue_of_tags::open(store, file(), {.memory_bytes = 64_KiB}), budget_error);
}

TEST_F(kept_queues, stay_closed_if_they_cannot_be_opened) {
  scratch::directory directory;
  auto const path = directory.path("queue");
  {
    auto q = queue_of_tags::create(path, store, tiny);
    for (int i = 0; i < 20'000; ++i) push(q);
  }
  EXPECT_THROW(queue_of_tags::open(path, store, {.memory_bytes = 64_KiB}), budget_error);
  auto q = queue_of_tags::open(path, store, tiny);
  EXPECT_TRUE(q.was_closed());
  EXPECT_TRUE(holds(q, now));
}

TEST_F(kept_queues, whose_blocks_cannot_have_an_item_are_refused) {
  auto const journal = std::make_shared<scratch::file_journal>();
  priority_queue<long_item, long_less>::create(
      store, std::make_unique<scratch::crashing_file>(journal), tiny)
      .close();
  auto const file = journal->file_after(journal->size(), random);
  std::vector<std::byte> bytes(file->size_bytes());
  file->read(0, bytes)->wait();
  scratch::kept_image damaged(bytes);
  damaged.set(scratch::kept_field{"page_bytes[0]", 88}, 64);
  damaged.repair();
  auto const opening = [&] {
    priority_queue<long_item, long_less>::open(store, damaged.as_file("some.file"), tiny);
  };
  EXPECT_THAT(opening, testing::ThrowsMessage<format_error>(
                           "some.file: damaged: page_bytes[0] cannot be 64"));
}

TEST_F(kept_queues, take_the_length_of_blocks_from_the_file) {
  auto file = std::make_shared<scratch::file_journal>();
  queue_of_tags::create(store, std::make_unique<scratch::crashing_file>(file), tiny).close();
  auto const q = queue_of_tags::open(store, file->file_after(file->size(), random),
                                     {.memory_bytes = 1_MiB, .block_bytes = 16_KiB});
  EXPECT_EQ(q.report().block_bytes, 4096U);
}

template <typename T, typename Less, typename Make>
void expect_kept(storage& store, Less less, Make const& make) {
  auto const journal = std::make_shared<scratch::file_journal>();
  std::mt19937_64 random(3);
  std::vector<T> expected;
  {
    priority_queue<T, Less> plain(store, less, tiny);
    auto q = priority_queue<T, Less>::create(
        store, std::make_unique<scratch::crashing_file>(journal), tiny, less);
    for (int i = 0; i < 30'000; ++i) {
      T const item = make(random());
      plain.push(item);
      q.push(item);
      if (i % 10'000 == 5000) {
        q.pop();
        plain.pop();
        q.flush();
      }
    }
    for (; !plain.empty(); plain.pop()) expected.push_back(plain.top());
    q.close();
  }
  std::mt19937_64 none;
  auto q =
      priority_queue<T, Less>::open(store, journal->file_after(journal->size(), none), tiny, less);
  ASSERT_EQ(q.size(), expected.size());
  for (T const& item : expected) {
    ASSERT_EQ(q.top(), item);
    q.pop();
  }
}

TEST_F(kept_queues, have_all_kinds_of_items) {
  auto const number = [](std::uint64_t x) { return x; };
  expect_kept<std::uint64_t>(store, std::less<>(), number);
  expect_kept<std::uint64_t>(store, std::greater<>(), number);
  expect_kept<std::int32_t>(store, std::less<>(),
                            [](std::uint64_t x) { return static_cast<std::int32_t>(x); });
  expect_kept<double>(store, std::greater<>(), [](std::uint64_t x) {
    return static_cast<double>(static_cast<std::int64_t>(x)) / 3;
  });
  expect_kept<event>(store, by(&event::time), [](std::uint64_t x) { return event{x % 100, x}; });
  expect_kept<event>(store, in_input_order(by(&event::time)), [](std::uint64_t x) {
    return event{x % 100, x};
  });
  expect_kept<long_item>(store, long_less(), [](std::uint64_t x) {
    return long_item{{x % 10, x, x, x, x, x, x, x, x, x, x, x, x}};
  });
}

// ---- bulks ----

TEST_F(kept_queues, are_filled_by_bulks) {
  using bulk_queue = bulk_priority_queue<std::uint64_t>;
  scratch::directory directory;
  auto const path = directory.path("queue");
  {
    auto q = bulk_queue::create(path, store, tiny);
    auto bulk = q.push_bulk();
    std::thread other([&] {
      for (std::uint64_t i = 0; i < 30'000; ++i) bulk.push(2 * i);
    });
    for (std::uint64_t i = 0; i < 30'000; ++i) bulk.push(2 * i + 1);
    other.join();
    bulk.end();
    q.flush();
    EXPECT_DEATH(
        {
          q.bulk_push_begin();
          q.flush();
        },
        "phase");
    auto last = q.push_bulk();
    last.push(60'000);
    // Ends with the scope, and the queue with it.
  }
  auto q = bulk_queue::open(path, store, tiny);
  EXPECT_TRUE(q.was_closed());
  std::vector<std::uint64_t> out;
  EXPECT_EQ(q.bulk_pop(out, 100'000), 60'001U);
  for (std::uint64_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 60'000 - i);
  q.close();
  auto single = priority_queue<std::uint64_t>::open(path, store, tiny);
  EXPECT_TRUE(single.empty());
}

// ---- errors ----

TEST_F(kept_queues, that_are_something_else_are_refused) {
  scratch::directory directory;
  auto const path = directory.path("queue");
  auto const refused = [&](auto const& open, std::string const& why) {
    try {
      open();
      ADD_FAILURE() << "opened";
    } catch (format_error const& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr(why));
    }
  };
  {
    auto q = queue_of_tags::create(path, store, tiny);
    for (int i = 0; i < 20'000; ++i) push(q);
    EXPECT_THROW(queue_of_tags::create(path, store, tiny), io_error);
    try {
      queue_of_tags::open(path, store, tiny);
      ADD_FAILURE() << "opened";
    } catch (io_error const& e) {
      EXPECT_EQ(e.code().value(), EBUSY);
    }
  }
  refused([&] { priority_queue<long_item, long_less>::open(path, store, tiny); }, "104 bytes");
  auto const backwards = [](tagged_item const& a, tagged_item const& b) { return a.key > b.key; };
  refused(
      [&] { priority_queue<tagged_item, decltype(backwards)>::open(path, store, tiny, backwards); },
      "another order");
  auto q = queue_of_tags::open(path, store, tiny);
  EXPECT_TRUE(holds(q, now));

  auto const numbers = directory.path("numbers");
  priority_queue<std::uint64_t>::create(numbers, store, tiny).close();
  refused([&] { priority_queue<std::uint64_t, std::greater<>>::open(numbers, store, tiny); },
          "the order 'less', not 'greater'");
  refused([&] { priority_queue<std::int64_t>::open(numbers, store, tiny); }, "'u64', not 'i64'");
}

TEST_F(kept_queues, that_are_damaged_say_so) {
  auto const journal = std::make_shared<scratch::file_journal>();
  {
    auto q = queue_of_tags::create(store, std::make_unique<scratch::crashing_file>(journal), tiny);
    for (int i = 0; i < 20'000; ++i) push(q);
    q.close();
  }
  std::mt19937_64 none;
  auto const file = journal->file_after(journal->size(), none);
  std::vector<std::byte> bytes(file->size_bytes());
  file->read(0, bytes)->wait();
  scratch::kept_image const sound(bytes);
  auto const pages = sound.pages();
  ASSERT_GT(pages.size(), 10U);
  for (auto const& page : pages) {
    auto damaged = sound;
    damaged.bytes()[page.offset + random() % 200] ^= std::byte{16};
    try {
      auto q = queue_of_tags::open(store, damaged.as_file("some.file"), tiny);
      EXPECT_FALSE(holds(q, now)) << "page " << page.number;
      ADD_FAILURE() << "nothing was noticed in page " << page.number << " of row " << page.row;
    } catch (format_error const& e) {
      EXPECT_THAT(e.what(), testing::StartsWith("some.file: damaged: page 0 of the catalogue"));
    } catch (corrupt_block const& e) {
      EXPECT_EQ(page.row, 0U);
      EXPECT_THAT(e.what(), testing::HasSubstr("some.file"));
    }
  }
}

TEST_F(kept_queues, that_find_no_room_hold_all_items_and_what_was_flushed) {
  auto q = queue_of_tags::create(store, io::make_memory_file("small", 400_KiB), tiny);
  int refused = 0;
  for (int round = 0; round < 40 && !HasFatalFailure(); ++round) {
    for (int i = 0; i < 10'000; ++i) {
      tagged_item const item{static_cast<std::uint32_t>(random() % 1000), tag++};
      try {
        q.push(item);
      } catch (io_error const&) {
        ++refused;
        break;
      }
      now.emplace(item.key, item.tag);
    }
    try {
      q.flush();
    } catch (io_error const&) {
      ++refused;
    }
    ASSERT_EQ(q.size(), now.size());
    for (auto left = std::min<std::uint64_t>(random() % 12'000, now.size()); left > 0; --left)
      pop(q);
  }
  EXPECT_GT(refused, 2);
  EXPECT_TRUE(holds(q, now));
}

TEST_F(kept_queues, lose_nothing_when_accesses_fail_or_are_late) {
  auto odds = scratch::failing_or_late(seed);
  odds.fail = 0.01;
  auto const plan = std::make_shared<io::fault_plan>(odds);
  std::uint64_t failures = 0;
  auto q = scratch::persist(failures, [&] {
    return queue_of_tags::create(
        store, std::make_unique<io::faulty_file>(io::make_memory_file("faulty"), plan), tiny);
  });
  for (int round = 0; round < 10 && !HasFatalFailure(); ++round) {
    auto const pushes = round % 2 == 0 ? 90 : random() % 101;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      if (random() % 100 < pushes || now.empty()) {
        tagged_item const item{static_cast<std::uint32_t>(random() % 1000), tag++};
        scratch::persist(failures, [&] { q.push(item); });
        now.emplace(item.key, item.tag);
      } else {
        auto const top = scratch::persist(failures, [&] { return q.top(); });
        ASSERT_EQ(top, (tagged_item{now.begin()->first, now.begin()->second}));
        scratch::persist(failures, [&] { q.pop(); });
        now.erase(now.begin());
      }
    }
    scratch::persist(failures, [&] { q.flush(); });
    ASSERT_EQ(q.size(), now.size());
  }
  EXPECT_GT(plan->injected(), 0U);
}

TEST_F(kept_queues, are_ended_by_close) {
  scratch::directory directory;
  auto q = queue_of_tags::create(directory.path("queue"), store, tiny);
  push(q);
  q.close();
  EXPECT_DEATH(q.push({}), "closed");
  q = queue_of_tags::create(directory.path("other"), store, tiny);
  q.push({1, 1});
  q = queue_of_tags::open(directory.path("queue"), store, tiny);  // the other one is closed
  EXPECT_TRUE(holds(q, now));
  auto other = queue_of_tags::open(directory.path("other"), store, tiny);
  EXPECT_TRUE(other.was_closed());
  EXPECT_EQ(other.size(), 1U);

  queue_of_tags plain(store, {}, tiny);
  push(plain);
  plain.flush();
  EXPECT_TRUE(plain.was_closed());
  plain.close();
}

}  // namespace
}  // namespace outsize
