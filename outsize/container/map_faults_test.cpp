// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Maps and sets of all kinds against models, on disks and in files that are full, or fail at any
// access or for a while: what is said of each failure holds, all can be used on, and a file has
// what was flushed. Of accesses that are short, late or interrupted nobody notices anything.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/set.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/faulty_storage.hpp>

namespace outsize {
namespace {

using number = std::uint64_t;
using contents = std::vector<std::pair<number, number>>;

template <typename Container>
struct maps_on_bad_disks : testing::Test {
  static constexpr bool is_set = std::is_same_v<typename Container::value_type, number>;
  static constexpr bool is_hashed = requires(Container& c) { c.bucket_count(); };
  static constexpr bool is_multi = std::is_same_v<Container, multimap<number, number>> ||
                                   std::is_same_v<Container, multiset<number>>;
  static constexpr number keys = 300;
  using entry = typename Container::value_type;
  using model = std::multimap<number, number>;

  std::uint64_t capacity = 64_MiB;
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  io::file* beneath = nullptr;  // the faults of a file
  std::unique_ptr<storage> store = make_storage();
  std::map<std::string, int> failures;  // of each kind of access

  std::unique_ptr<storage> make_storage() {
    auto const open = [this](io::request_queue&) -> io::file_ptr {
      return std::make_unique<io::faulty_file>(io::make_memory_file("small", capacity), plan);
    };
    return std::make_unique<storage>(storage_options{
        .disks = {disk_options("small", open)}, .memory_bytes = 16_MiB, .threads = 1});
  }
  static auto options() {
    if constexpr (is_hashed)
      return unordered_map_options{
          .page_bytes = 256, .cache_pages = 8, .spare_pages = 1, .pending_bytes = 4096};
    else
      return map_options{.leaf_bytes = 144,
                         .node_bytes = 100,
                         .leaf_cache_bytes = 1,
                         .node_cache_bytes = 1,
                         .spare_leaves = 2,
                         .read_ahead_bytes = 8 * 4 * 144};
  }
  Container on_disk() { return Container(*store, options()); }
  Container in_file() {
    auto file = io::make_memory_file("file", capacity);
    beneath = file.get();
    io::file_ptr faulty = std::make_unique<io::faulty_file>(std::move(file), plan);
    if constexpr (is_hashed)
      return Container::create(std::move(faulty), *store, options());
    else
      return Container::create(*store, std::move(faulty), options());
  }
  /// What would be in the file if the process ended now.
  contents survivors() {
    std::vector<std::byte> bytes(beneath->size_bytes());
    beneath->read(0, bytes)->wait();
    auto copy = io::make_memory_file("copy");
    copy->write(0, bytes)->wait();
    if constexpr (is_hashed)
      return content(Container::open(std::move(copy), *store, io::access::read_only, options()));
    else
      return content(Container::open(*store, std::move(copy), io::access::read_only, options()));
  }

  static entry entry_of(number key, number value) {
    if constexpr (is_set)
      return key;
    else
      return {key, value};
  }
  static number key_of(entry const& e) {
    if constexpr (is_set)
      return e;
    else
      return e.first;
  }
  static contents content(Container const& of) {
    for (;;) try {
        contents found;
        for (auto const& each : of) {
          entry const e = each;
          if constexpr (is_set)
            found.emplace_back(e, 0);
          else
            found.emplace_back(e.first, e.second);
        }
        std::ranges::sort(found);
        return found;
      } catch (io_error const&) {
      }
  }
  static contents content(model const& of) {
    contents all(of.begin(), of.end());
    std::ranges::sort(all);
    return all;
  }
  static model modelled(contents const& all) { return {all.begin(), all.end()}; }
  static bool is_part(contents const& some, contents const& of) {
    return std::ranges::includes(of, some);
  }
  static void add(model& to, number key, number value) {
    if (is_multi || !to.contains(key)) to.emplace(key, is_set ? 0 : value);
  }
  std::vector<entry> random_entries(std::size_t count, std::mt19937_64& random) {
    std::vector<entry> some;
    for (; count > 0; --count) some.push_back(entry_of(random() % keys, random()));
    return some;
  }

  /// Whether it was done.
  template <typename Action>
  bool attempt(Action const& action) {
    try {
      action();
      return true;
    } catch (io_error const& e) {
      EXPECT_TRUE(e.code().value() == EIO || e.code().value() == ENOSPC) << e.what();
      ++failures[e.operation()];
      return false;
    }
  }
  template <typename Action>
  void persist(Action const& action) {
    for (int tries = 0; !attempt(action); ++tries) ASSERT_LT(tries, 1000);
  }

  /// One random operation on both; what has failed has done what it says.
  void step(Container& c, model& m, std::mt19937_64& random) {
    number const key = random() % keys, value = random();
    auto const draw = random() % 1000;
    if (draw < 390) {
      if (attempt([&] { c.insert(entry_of(key, value)); })) add(m, key, value);
    } else if (draw < 780) {
      erase(c, m, key);
    } else if (draw < 988) {
      attempt([&] { ASSERT_EQ(std::as_const(c).count(key), m.count(key)); });
      attempt([&] { expect_found(c, m, key); });
    } else {
      change_many(c, m, draw % 6, random);
    }
  }
  static void expect_found(Container const& c, model const& m, number key) {
    auto const at = c.find(key);
    auto const place = m.lower_bound(key);
    bool const is_there = place != m.end() && place->first == key;
    ASSERT_EQ(at != c.cend(), is_there);
    if (is_there) {
      ASSERT_EQ(*at, entry_of(key, place->second));
    }
  }
  void erase(Container& c, model& m, number key) {
    if constexpr (is_multi) {
      // The first one with the key in the order of insertion.
      if (attempt([&] {
            if (auto const at = std::as_const(c).find(key); at != c.cend()) c.erase(at);
          }))
        if (auto const at = m.lower_bound(key); at != m.end() && at->first == key) m.erase(at);
    } else {
      if (attempt([&] { EXPECT_EQ(c.erase(key), m.count(key)); })) m.erase(key);
    }
  }
  void change_many(Container& c, model& m, number kind, std::mt19937_64& random) {
    number const key = random() % keys, value = random();
    auto const before = content(m);
    switch (kind) {
      case 0: {
        auto const some = random_entries(40, random);
        bool const done = attempt([&] { c.insert_many(some); });
        for (auto const& e : some) add_entry(m, e);
        check_between(c, m, before, content(m), done);
        break;
      }
      case 1: {
        std::vector<number> some;
        for (int i = 0; i < 40; ++i) some.push_back(random() % keys);
        bool const done = attempt([&] { c.erase_many(some); });
        for (number const each : some) m.erase(each);
        check_between(c, m, content(m), before, done);
        break;
      }
      case 2: {
        auto const is_unwanted = [&](number k) { return (k + value) % 3 == 0; };
        bool const done =
            attempt([&] { erase_if(c, [&](auto const& e) { return is_unwanted(key_of(e)); }); });
        std::erase_if(m, [&](auto const& e) { return is_unwanted(e.first); });
        check_between(c, m, content(m), before, done);
        break;
      }
      case 3: {
        auto const all = random_entries(150, random);
        if (attempt([&] { c.build(all); })) {
          m.clear();
          for (auto const& e : all) add_entry(m, e);
        }
        ASSERT_EQ(content(c), content(m));
        break;
      }
      default:
        if constexpr (is_hashed) {
          if (attempt([&] { c.insert_oblivious({key, value}); })) {
            m.erase(key);
            m.emplace(key, value);
          }
        }
    }
  }
  static void add_entry(model& to, entry const& e) {
    if constexpr (is_set)
      add(to, e, 0);
    else
      add(to, e.first, e.second);
  }
  /// Of an operation on many the model takes what there is, if that is possible.
  static void check_between(Container const& c, model& m, contents const& least,
                            contents const& most, bool done) {
    auto const found = content(c);
    if (done) {
      ASSERT_EQ(found, content(m));
    } else {
      ASSERT_TRUE(is_part(least, found) && is_part(found, most));
      m = in_order_of(c);
    }
  }
  /// Equal keys in the order in which they are there.
  static model in_order_of(Container const& c) {
    for (;;) try {
        model m;
        for (auto const& each : c) {
          entry const e = each;
          if constexpr (is_set)
            m.emplace(e, 0);
          else
            m.emplace(e.first, e.second);
        }
        return m;
      } catch (io_error const&) {
      }
  }

  /// Faults at random, by which one sees whether it is full; of no sync, which would be the last.
  void make_faulty(std::uint64_t seed, int error_number) {
    plan = std::make_shared<io::fault_plan>(
        io::fault_odds{.seed = seed, .fail = 0.004, .error_number = error_number});
    for (std::uint64_t i = 7; i < 3'000; i += 20 + seed % 50)
      for (auto const where : {io::fault_point::allocate, io::fault_point::resize})
        plan->script(where, i, io::fault::fail(error_number));
    store = make_storage();
  }
  /// Has all reads fail for a while, or all writes.
  void fail_for_a_while(std::mt19937_64& random, int error_number) {
    auto const where = random() % 2 == 0 ? io::fault_point::read : io::fault_point::write;
    auto const first = plan->calls(where) + random() % 50;
    plan->script(where, first, io::fault::fail(error_number), 1 + random() % 30);
  }
  void make_slow(std::uint64_t seed) {
    plan = std::make_shared<io::fault_plan>(scratch::late(seed));
    store = make_storage();
  }
  /// Steps after none of which anything may have failed.
  void expect_smooth(Container& c, std::mt19937_64& random) {
    model m;
    for (int i = 0; i < scratch::operations(100'000); ++i) {
      ASSERT_NO_FATAL_FAILURE(step(c, m, random));
      if (i % 200 == 0) c.flush();
      if (i % 2'000 != 0) continue;
      ASSERT_EQ(c.size(), m.size());
      ASSERT_EQ(content(c), content(m));
    }
    c.flush();
    ASSERT_EQ(content(c), content(m));
    if (beneath != nullptr) {
      EXPECT_EQ(survivors(), content(m));
    }
    EXPECT_TRUE(failures.empty());
    EXPECT_GT(plan->injected(), scratch::operations(10'000U));
  }
};

// One of each kind of key and of value: maps and sets are one template.
using kinds = testing::Types<map<number, number>, multiset<number>, unordered_map<number, number>>;
TYPED_TEST_SUITE(maps_on_bad_disks, kinds);

TYPED_TEST(maps_on_bad_disks, have_what_they_say_whichever_access_fails) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int const error_number : {EIO, ENOSPC}) {
    this->make_faulty(seed, error_number);
    auto c = this->on_disk();
    typename TestFixture::model m;
    for (int i = 0; i < scratch::operations(100'000); ++i) {
      ASSERT_NO_FATAL_FAILURE(this->step(c, m, random));
      if (i % 500 == 0) this->fail_for_a_while(random, error_number);
      if (i % 200 == 0) this->attempt([&] { c.flush(); });
      if (i % 1'000 == 0) {
        ASSERT_EQ(this->content(c), this->content(m));
      }
    }
    this->persist([&] { c.flush(); });
    EXPECT_EQ(this->content(c), this->content(m));
    EXPECT_EQ(c.size(), m.size());
  }
  for (auto const* const access : {"read", "write"})
    EXPECT_GT(this->failures[access], scratch::operations(100)) << access;
}

TYPED_TEST(maps_on_bad_disks, in_files_hold_what_was_flushed_whichever_access_fails) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int const error_number : {EIO, ENOSPC}) {
    this->make_faulty(seed, error_number);
    std::optional<TypeParam> c;
    this->persist([&] { c.emplace(this->in_file()); });
    typename TestFixture::model m;
    std::vector<contents> flushed{{}};  // one of them, the last one if its flush() said so
    int flushes = 0;
    for (int i = 0; i < scratch::operations(100'000); ++i) {
      ASSERT_NO_FATAL_FAILURE(this->step(*c, m, random));
      if (i % 500 == 0) this->fail_for_a_while(random, error_number);
      if (i % 250 != 0) continue;
      if (i % 1'000 == 0) {
        ASSERT_EQ(this->content(*c), this->content(m));
      }
      if (this->attempt([&] { c->flush(); })) {
        flushed.clear();
        ++flushes;
      }
      flushed.push_back(this->content(m));
      ASSERT_NE(std::ranges::find(flushed, this->survivors()), flushed.end());
    }
    EXPECT_GT(flushes, 5);
    this->persist([&] { c->flush(); });
    EXPECT_EQ(this->content(*c), this->content(m));
    EXPECT_EQ(this->survivors(), this->content(m));
    TypeParam closed = std::move(*c);
    this->persist([&] { closed.close(); });
  }
  for (auto const* const access : {"read", "write"})
    EXPECT_GT(this->failures[access], scratch::operations(100)) << access;
}

TYPED_TEST(maps_on_bad_disks, notice_nothing_of_accesses_that_are_short_or_late) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  this->make_slow(seed);
  {
    auto c = this->on_disk();
    ASSERT_NO_FATAL_FAILURE(this->expect_smooth(c, random));
  }
  auto c = this->in_file();
  this->expect_smooth(c, random);
  c.close();
}

TYPED_TEST(maps_on_bad_disks, that_are_full_stay_as_they_are_and_go_on_when_others_leave) {
  this->capacity = 40_KiB;
  this->store = this->make_storage();
  vector<number> others(*this->store, {.page_bytes = 256, .cache_pages = 4, .spare_pages = 1});
  others.reserve(20_KiB / sizeof(number));
  auto c = this->on_disk();
  typename TestFixture::model m;
  std::mt19937_64 random(5);
  number next = 0;
  auto const fill = [&] {
    for (;; ++next) {
      c.insert(this->entry_of(next * 7919 % 100'003, next));
      this->add(m, next * 7919 % 100'003, next);
    }
  };
  EXPECT_THROW(fill(), out_of_space);
  ASSERT_EQ(this->content(c), this->content(m));
  EXPECT_THROW(fill(), out_of_space);
  c.flush();
  auto const before = this->content(m);
  std::vector<typename TestFixture::entry> more;
  for (number i = 0; i < 500; ++i) more.push_back(this->entry_of(200'000 + i, i));
  EXPECT_THROW(c.build(more), out_of_space);
  ASSERT_EQ(this->content(c), before);
  EXPECT_THROW(c.insert_many(more), out_of_space);
  for (auto const& e : more) this->add_entry(m, e);
  this->check_between(c, m, before, this->content(m), false);
  for (auto const& [key, value] : before)
    if (key % 2 == 0) {
      ASSERT_EQ(c.erase(key), m.erase(key));
    }
  ASSERT_EQ(this->content(c), this->content(m));
  others.clear();
  others.shrink_to_fit();
  EXPECT_GT(m.size(), 0U);
  auto const size = m.size();
  EXPECT_THROW(fill(), out_of_space);
  EXPECT_GT(m.size(), size + 300);
  ASSERT_EQ(this->content(c), this->content(m));
  c.clear();
  EXPECT_EQ(this->store->allocated_bytes(), 0U);
}

TYPED_TEST(maps_on_bad_disks, in_files_that_are_full_keep_what_was_flushed_and_go_on_with_less) {
  this->capacity = 40_KiB;
  auto c = this->in_file();
  typename TestFixture::model m;
  auto const key_at = [](number i) { return i * 7919 % 100'003; };
  auto const insert = [&](number i) {
    c.insert(this->entry_of(key_at(i), i));
    this->add(m, key_at(i), i);
  };
  number next = 0;
  for (; next < 100; ++next) insert(next);
  c.flush();
  auto const flushed = this->content(m);
  while (this->attempt([&] { insert(next); })) ++next;
  EXPECT_GT(next, 500U);
  ASSERT_EQ(this->content(c), this->content(m));
  EXPECT_EQ(this->survivors(), flushed);
  EXPECT_FALSE(this->attempt([&] {
    for (int i = 0; i < 100; ++i) insert(next);
    c.flush();
  }));
  m = this->in_order_of(c);
  EXPECT_EQ(this->survivors(), flushed);
  // Pages that were written since the flush can be given up.
  for (number i = 100; i < next; ++i)
    if (this->attempt([&] { c.erase(key_at(i)); })) m.erase(key_at(i));
  if constexpr (requires { c.shrink_to_fit(); }) c.shrink_to_fit();
  ASSERT_EQ(this->content(c), this->content(m));
  c.flush();
  EXPECT_EQ(this->survivors(), this->content(m));
  insert(100'000);
  c.flush();
  EXPECT_EQ(this->survivors(), this->content(m));
  c.close();
}

// The leaf that was changed last, or shown, is found without asking the cache for it: no longer
// when others that could not be changed have pushed it out.
using maps_in_full_files = maps_on_bad_disks<map<number, number>>;

TEST_F(maps_in_full_files, change_a_leaf_again_after_failures_in_others) {
  auto c = in_file();
  model m;
  number next = 0;
  auto const insert = [&] {
    bool const is_inserted = attempt([&] { c.insert({next, next}); });
    if (is_inserted) m.emplace(next, next);
    next += is_inserted ? 1 : 0;
    return is_inserted;
  };
  auto const erase = [&](number key) {
    bool const is_erased = attempt([&] { c.erase(key); });
    if (is_erased) m.erase(key);
    return is_erased;
  };
  while (next < 400) insert();
  c.flush();
  plan->script(io::fault_point::allocate, plan->calls(io::fault_point::allocate),
               io::fault::fail(ENOSPC), 1'000'000);
  while (insert()) ASSERT_LT(next, 100'000U);
  ASSERT_TRUE(erase(next - 20));
  // Leaves have eight entries at most: each time another one must move.
  for (number key = 0; key < 5 * 16; key += 16) EXPECT_FALSE(erase(key));
  ASSERT_EQ(content(c), content(m));
  ASSERT_TRUE(erase(next - 19));
  EXPECT_EQ(content(c), content(m));
}

}  // namespace
}  // namespace outsize
