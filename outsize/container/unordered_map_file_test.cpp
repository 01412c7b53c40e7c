// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Unordered_maps that outlive their process: whenever the power fails, what was flushed last is
// there; and what is no such file is refused.

#include <outsize/container/unordered_map.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/crashing_file.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

using numbers = unordered_map<std::uint64_t, std::uint64_t>;
using model = std::unordered_map<std::uint64_t, std::uint64_t>;

struct other_hash {
  std::size_t operator()(std::uint64_t key) const { return key * 3; }
};

struct kept_unordered_maps : testing::Test {
  storage store{{.disks = {disk_options("none",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("none");
                                        })},
                 .memory_bytes = 16_MiB,
                 .threads = 1}};
  scratch::directory directory;
  unordered_map_options const options{
      .page_bytes = 512, .cache_pages = 8, .spare_pages = 1, .pending_bytes = 4096};
  unordered_map_options const options_on_disk{
      .page_bytes = 4096, .cache_pages = 100, .pending_bytes = 4096};

  std::string path() const { return directory.path("map"); }
  static model content(numbers const& map) {
    model found;
    for (auto const& [key, value] : map) EXPECT_TRUE(found.emplace(key, value).second);
    EXPECT_EQ(map.size(), found.size());
    for (auto const& [key, value] : found) EXPECT_EQ(map.get(key), value);
    return found;
  }
  static void change(numbers& map, model& m, std::mt19937_64& random) {
    for (int i = 0; i < 40; ++i) {
      std::uint64_t const key = random() % 300, value = random();
      switch (random() % 5) {
        case 0:
        case 1:
          map.insert_or_assign(key, value);
          m[key] = value;
          break;
        case 2:
          map.insert_oblivious({key, value});
          m[key] = value;
          break;
        case 3:
          map.erase(key);
          m.erase(key);
          break;
        default:
          map.erase_oblivious(key);
          m.erase(key);
      }
    }
    if (random() % 4 == 0) map.shrink_to_fit();
    if (random() % 10 == 0) {
      map.clear();
      m.clear();
    }
  }
};

TEST_F(kept_unordered_maps, hold_what_was_flushed_last_whenever_the_power_fails) {
  auto const first_seed = std::random_device{}();
  for (std::uint64_t seed = first_seed; seed < first_seed + 3; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    auto const journal = std::make_shared<scratch::file_journal>();
    std::map<std::size_t, model> flushed;  // steps → what is there for sure
    {
      auto map = numbers::create(std::make_unique<scratch::crashing_file>(journal), store, options);
      model m;
      flushed[journal->size()] = m;
      for (int i = 0; i < 15; ++i) {
        change(map, m, random);
        map.flush();
        flushed[journal->size()] = m;
      }
      change(map, m, random);
      map.close();
      flushed[journal->size()] = m;
    }
    for (std::size_t steps = flushed.begin()->first; steps <= journal->size(); ++steps) {
      auto const survivor =
          numbers::open(journal->file_after(steps, random), store, io::access::read_only, options);
      auto const after = flushed.upper_bound(steps);  // may be there already, if its header is
      auto const found = content(survivor);
      bool const is_before = found == std::prev(after)->second;
      ASSERT_TRUE(is_before || (after != flushed.end() && found == after->second))
          << "after " << steps << " steps";
      if (steps == journal->size()) {
        EXPECT_TRUE(survivor.was_closed());
      }
    }
  }
}

TEST_F(kept_unordered_maps, lose_nothing_when_accesses_fail) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  auto const plan = std::make_shared<io::fault_plan>();
  auto const journal = std::make_shared<scratch::file_journal>();
  auto map = numbers::create(
      std::make_unique<io::faulty_file>(std::make_unique<scratch::crashing_file>(journal), plan),
      store, options);
  model m;
  int failures = 0;
  auto const persist = [&](auto const& action) {
    constexpr std::array points{io::fault_point::read, io::fault_point::write,
                                io::fault_point::allocate};
    auto const where = points[random() % points.size()];
    if (random() % 4 == 0)
      plan->script(where, plan->calls(where) + random() % 2, io::fault::fail(EIO));
    for (;;) try {
        return action();
      } catch (io_error const&) {
        ++failures;
      }
  };
  for (int i = 1; i <= 3000; ++i) {
    std::uint64_t const key = random() % 500, value = random();
    switch (random() % 4) {
      case 0:
        persist([&] { map.insert_or_assign(key, value); });
        m[key] = value;
        break;
      case 1:
        persist([&] { map.insert_oblivious({key, value}); });
        m[key] = value;
        break;
      case 2:
        persist([&] { map.erase(key); });
        m.erase(key);
        break;
      default:
        persist([&] { EXPECT_EQ(std::as_const(map).contains(key), m.contains(key)); });
    }
    if (i % 100 == 0) {
      persist([&] { map.flush(); });
      auto const survivor = numbers::open(journal->file_after(journal->size(), random), store,
                                          io::access::read_only, options);
      ASSERT_EQ(content(survivor), m);
    }
  }
  EXPECT_GT(failures, 50);
}

TEST_F(kept_unordered_maps, are_there_again) {
  std::mt19937_64 random(std::random_device{}());
  model m;
  {
    auto map = numbers::create(path(), store, options_on_disk);
    EXPECT_TRUE(map.was_closed());
    for (std::uint64_t i = 0; i < 6'000; ++i) {
      map.insert({i, i * i});
      m[i] = i * i;
    }
    map.flush();
    map.insert({1'000'000, 1});
    std::filesystem::copy_file(path(), path() + ".copy");  // what a crash would leave now
    auto const meanwhile = numbers::open(path() + ".copy", store, io::access::read_only);
    EXPECT_FALSE(meanwhile.was_closed());
    EXPECT_EQ(content(meanwhile), m);
    map.erase(1'000'000);
    change(map, m, random);
  }
  {
    auto map = numbers::open(path(), store, io::access::read_write, options_on_disk);
    EXPECT_TRUE(map.was_closed());
    EXPECT_EQ(content(map), m);
    for (std::uint64_t i = 0; i < 6'000; i += 2) {
      map.erase(i);
      m.erase(i);
    }
    map.shrink_to_fit();
    map.close();
  }
  {
    auto map = numbers::open(path(), store, io::access::read_write, options_on_disk);
    EXPECT_EQ(content(map), m);
    std::vector<map_item<std::uint64_t, std::uint64_t>> built;
    for (std::uint64_t i = 0; i < 1000; ++i) built.push_back({i, i + 1});
    map.build(built);
    EXPECT_EQ(map.size(), 1000U);
  }
  auto map = numbers::open(path(), store);
  EXPECT_EQ(map.size(), 1000U);
  EXPECT_EQ(map.get(999), 1000U);
  map.clear();
  map.close();
  EXPECT_EQ(std::filesystem::file_size(path()), 8_KiB);
}

TEST_F(kept_unordered_maps, use_pages_of_the_overflow_again_that_were_free) {
  {
    auto map = numbers::create(path(), store, options_on_disk);
    for (std::uint64_t i = 0; i < 5000; ++i) map.insert({i, i});
    for (std::uint64_t i = 0; i < 5000; ++i)
      if (i % 8 != 0) map.erase(i);
  }
  auto const length = std::filesystem::file_size(path());
  auto map = numbers::open(path(), store, io::access::read_write, options_on_disk);
  for (std::uint64_t i = 0; i < 5000; ++i) map.insert({i, i});
  map.close();
  // What was erased is elsewhere, beside the pages of the last flush.
  EXPECT_LE(std::filesystem::file_size(path()), 2 * length + 100'000);
  EXPECT_EQ(std::as_const(map = numbers::open(path(), store)).size(), 5000U);
}

TEST_F(kept_unordered_maps, that_are_read_only_are_not_changed) {
  { numbers::create(path(), store, options_on_disk).insert({1, 2}); }
  auto map = numbers::open(path(), store, io::access::read_only);
  EXPECT_EQ(map.get(1), 2U);
  EXPECT_FALSE(map.insert({1, 3}).second);
  EXPECT_THROW(map.insert({2, 3}), io_error);
  EXPECT_THROW(map.at(1) = 3, io_error);
  EXPECT_THROW(map.erase(1), io_error);
  EXPECT_THROW(map.insert_oblivious({2, 3}), io_error);
  EXPECT_THROW(map.clear(), io_error);
  EXPECT_THROW(map.reserve(1000), io_error);
  EXPECT_EQ(map.size(), 1U);
  map.close();
  EXPECT_EQ(numbers::open(path(), store, io::access::read_only).get(1), 2U);
}

TEST_F(kept_unordered_maps, that_are_none_are_refused_by_name) {
  EXPECT_THROW(numbers::open(path(), store), io_error);
  { numbers::create(path(), store, options_on_disk).insert({1, 2}); }
  EXPECT_THROW(numbers::create(path(), store), io_error);
  auto const refusal = [&](auto const& action) {
    try {
      action();
    } catch (format_error const& e) {
      return std::string(e.what());
    }
    return std::string("opened");
  };
  using testing::HasSubstr;
  EXPECT_THAT(
      refusal([&] { unordered_map<std::uint64_t, char>::open(path(), store); }),
      HasSubstr("holds an unordered_map of 8 + 8 bytes, not an unordered_map of 8 + 1 bytes"));
  EXPECT_THAT(refusal([&] {
                unordered_map<std::uint64_t, std::uint64_t, other_hash>::open(path(), store);
              }),
              HasSubstr("made with another hash function"));
  std::filesystem::resize_file(path(), std::filesystem::file_size(path()) - 1);
  EXPECT_THAT(refusal([&] { numbers::open(path(), store); }), HasSubstr("cut short"));
  scratch::write_file(path(), std::string(10'000, 'x'));
  EXPECT_THAT(refusal([&] { numbers::open(path(), store); }), HasSubstr("not a container"));
}

TEST_F(kept_unordered_maps, that_were_damaged_do_not_lead_astray) {
  {
    auto map = numbers::create(path(), store, options_on_disk);
    for (std::uint64_t key = 0; key < 5000; ++key) map.insert({key, key});
  }
  {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes(std::filesystem::file_size(path()), '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    // the number of items
    for (std::size_t at = 8_KiB + 8; at + 512 < bytes.size(); at += 512)
      if (bytes[at] != 0 && bytes[at + 1] == 0 && bytes[at + 7] == 0) bytes[at + 6] = 1;
    file.seekp(0);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  try {
    auto const map = numbers::open(path(), store, io::access::read_only);
    std::ignore = map.get(1);
    FAIL() << "read";
  } catch (format_error const& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("damaged"));
  }
}

}  // namespace
}  // namespace outsize
