// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Files of containers in which something has been changed by others, page by page: what is wrong is
// noticed and named, or what is read is right; whatever it is, nothing ends the program, and
// everything comes to an end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/set.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/crashing_file.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/kept_image.hpp>

namespace outsize {
namespace {

using number = std::uint64_t;
using bytes_of_file = std::vector<std::byte>;
using contents = std::vector<std::pair<number, number>>;

/// The pages of a file.
auto pages_in(bytes_of_file const& file) { return scratch::kept_image(file).pages(); }

template <typename Container>
struct damaged_files : testing::Test {
  static constexpr bool is_set = std::is_same_v<typename Container::value_type, number>;
  static constexpr bool is_hashed = requires(Container& c) { c.bucket_count(); };
  static constexpr number keys = 1000;

  storage store{{.disks = {disk_options("none",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("none");
                                        })},
                 .memory_bytes = 16_MiB,
                 .threads = 1}};
  contents expected;
  bytes_of_file sound;

  static auto options() {
    if constexpr (is_hashed)
      return unordered_map_options{
          .page_bytes = 512, .cache_pages = 8, .spare_pages = 1, .pending_bytes = 4096};
    else
      return map_options{.leaf_bytes = 256,
                         .node_bytes = 128,
                         .leaf_cache_bytes = 1,
                         .node_cache_bytes = 1,
                         .spare_leaves = 2,
                         .read_ahead_bytes = 8 * 4 * 256};
  }
  Container create(io::file_ptr file) {
    if constexpr (is_hashed)
      return Container::create(std::move(file), store, options());
    else
      return Container::create(store, std::move(file), options());
  }
  Container open(bytes_of_file const& bytes, io::access mode) {
    auto file = scratch::kept_image(bytes).as_file("some.file");
    if constexpr (is_hashed)
      return Container::open(std::move(file), store, mode, options());
    else
      return Container::open(store, std::move(file), mode, options());
  }
  static void insert(Container& c, number key, number value) {
    if constexpr (is_set)
      c.insert(key);
    else
      c.insert({key, value});
  }

  void SetUp() override {
    std::mt19937_64 random(1);
    auto const journal = std::make_shared<scratch::file_journal>();
    auto c = create(std::make_unique<scratch::crashing_file>(journal));
    std::map<number, number> model;
    for (int i = 0; i < 600; ++i) {
      number const key = 2 * (random() % (keys / 2));
      if (model.contains(key)) continue;
      number const value = is_set ? 0 : random();
      insert(c, key, value);
      model[key] = value;
    }
    for (int i = 0; i < 50; ++i) {
      number const key = 2 * (random() % (keys / 2));
      c.erase(key);
      model.erase(key);
    }
    c.close();
    expected.assign(model.begin(), model.end());
    auto const file = journal->file_after(journal->size(), random);
    sound.resize(file->size_bytes());
    file->read(0, sound)->wait();
  }

  /// Whether something is noticed that is wrong.
  template <typename Action>
  static bool notices(Action const& action) {
    try {
      action();
      return false;
    } catch (format_error const& e) {
      EXPECT_THAT(e.what(), testing::StartsWith("some.file: "));
      return true;
    }
  }
  static contents::value_type pair_of(auto const& entry) {
    if constexpr (is_set)
      return {entry, 0};
    else
      return {entry.first, entry.second};
  }
  /// All that comes of a range, if that is not endless.
  template <typename First, typename Last>
  static contents all(First first, Last last) {
    contents found;
    for (; first != last && found.size() < 10 * keys; ++first) found.push_back(pair_of(*first));
    EXPECT_LT(found.size(), 10 * keys);
    return found;
  }

  /// Reads all in all ways; in which of them it is wrong, and nothing says so.
  std::string wrong_ways(bytes_of_file const& bytes) {
    std::string wrong;
    auto const expect = [&](bool is_right, char const* way) {
      if (!is_right && wrong.find(way) == std::string::npos) (wrong += way) += ' ';
    };
    notices([&] {
      Container const c = open(bytes, io::access::read_only);
      auto at = expected.begin();
      for (number key = 0; key < keys; ++key) {
        bool const is_there = at != expected.end() && at->first == key;
        notices([&] {
          auto const found = c.find(key);
          bool const is_found = found != c.end();
          expect(is_found == is_there && (!is_found || pair_of(*found) == *at), "find");
        });
        if (is_there) ++at;
      }
      auto const is_all = [&](contents found, char const* way) {
        if (is_hashed) std::ranges::sort(found);
        expect(found == expected, way);
      };
      notices([&] { is_all(all(c.begin(), c.end()), "iteration"); });
      std::vector<number> sought(keys);
      for (number key = 0; key < keys; ++key) sought[key] = key;
      if constexpr (!is_hashed) {
        notices([&] {
          auto backward = all(c.rbegin(), c.rend());
          std::ranges::reverse(backward);
          is_all(backward, "backward");
        });
        notices([&] {
          auto stream = c.forward();
          is_all(all(stream.begin(), stream.end()), "stream");
        });
        notices([&] {
          contents found;
          c.find_many(sought, [&](std::size_t, auto const& e) { found.push_back(pair_of(e)); });
          is_all(found, "find_many");
        });
      } else {
        notices([&] {
          std::vector<std::optional<number>> found(keys);
          c.find_many(sought, found);
          contents some;
          for (number key = 0; key < keys; ++key)
            if (found[key]) some.emplace_back(key, *found[key]);
          is_all(some, "find_many");
        });
      }
    });
    return wrong;
  }
  /// Changes it in all ways; what is in it then is not known.
  void change(bytes_of_file const& bytes, std::mt19937_64& random) {
    notices([&] {
      Container c = open(bytes, io::access::read_write);
      for (int i = 0; i < 60; ++i) {
        notices([&] { insert(c, random() % keys, 1); });
        notices([&] { c.erase(random() % keys); });
      }
      if constexpr (is_hashed) notices([&] { c.reserve(2 * expected.size()); });
      notices([&] { all(c.begin(), c.end()); });
      notices([&] { c.flush(); });
      notices([&] { erase_if(c, [](auto const& e) { return pair_of(e).first % 4 == 0; }); });
      notices([&] { c.clear(); });
      insert(c, 5, 5);
      EXPECT_TRUE(std::as_const(c).contains(5));
      notices([&] { c.close(); });
    });
  }
};

// One of each kind of key and of value: maps and sets are one template.
using kinds = testing::Types<multimap<number, number>, set<number>, unordered_map<number, number>>;
TYPED_TEST_SUITE(damaged_files, kinds);

TYPED_TEST(damaged_files, are_read_as_they_are_if_they_are_sound) {
  EXPECT_GE(pages_in(this->sound).size(), 20U);
  EXPECT_FALSE(this->notices([&] {
    EXPECT_EQ(this->wrong_ways(this->sound), "");
    auto const c = this->open(this->sound, io::access::read_only);
    EXPECT_EQ(c.size(), this->expected.size());
  }));
}

TYPED_TEST(damaged_files, are_noticed_where_a_page_is_zeros) {
  std::mt19937_64 random(2);
  for (auto const& [row, index, offset, length] : pages_in(this->sound)) {
    SCOPED_TRACE(testing::Message() << "row " << row << ", at " << offset);
    auto damaged = this->sound;
    std::ranges::fill(std::span(damaged).subspan(offset, length), std::byte{0});
    auto const wrong = this->wrong_ways(damaged);
    // A bucket of zeros is one without items.
    EXPECT_TRUE(wrong.empty() || this->is_hashed) << wrong;
    this->change(damaged, random);
  }
}

/// Each page of a chain is followed by itself.
TYPED_TEST(damaged_files, are_noticed_where_a_chain_has_no_end) {
  if constexpr (TestFixture::is_hashed) {
    constexpr std::size_t place_of_next = 0;
    auto damaged = this->sound;
    number followed = 0;
    for (auto const& page : pages_in(this->sound)) {
      if (page.row != 1) continue;
      ++followed;
      std::memcpy(damaged.data() + page.offset + place_of_next, &followed, sizeof followed);
    }
    ASSERT_GT(followed, 0U);
    auto const c = this->open(damaged, io::access::read_only);
    std::vector<number> absent(20'000);  // so that some are looked for behind their buckets
    for (std::size_t i = 0; i < absent.size(); ++i) absent[i] = 2 * i + 1;
    std::vector<std::optional<number>> found(absent.size());
    EXPECT_TRUE(this->notices([&] { c.find_many(absent, found); }));
    std::mt19937_64 random(4);
    this->change(damaged, random);
  }
}

/// A leaf is | before | after | count … | (btree_layout.hpp).
constexpr std::size_t place_of_before = 0, place_of_after = 8, place_of_count = 16;

TYPED_TEST(damaged_files, are_noticed_where_leaves_go_round_in_a_circle) {
  if constexpr (!TestFixture::is_hashed) {
    scratch::kept_image damaged(this->sound);
    auto const pages = damaged.pages();
    auto const leaf = [&](number n) {
      return std::ranges::find(pages, std::pair<std::size_t, number>(0, n),
                               [](auto const& page) {
                                 return std::pair<std::size_t, number>(page.row, page.number);
                               })
          ->offset;
    };
    number const first = damaged.get(scratch::kept_tree_fields[2]);
    number const a = damaged.get(leaf(damaged.get(leaf(first) + place_of_after)) + place_of_after);
    number const b = damaged.get(leaf(a) + place_of_after);
    number const last = damaged.get(leaf(b) + place_of_after);
    damaged.set(leaf(a) + place_of_before, last);
    damaged.set(leaf(last) + place_of_after, a);
    number const key = damaged.get(leaf(b) + 24);
    for (bool const is_empty : {false, true}) {  // then a step does not come out of them
      SCOPED_TRACE(is_empty);
      if (is_empty)
        for (number const each : {a, b, last}) damaged.set(leaf(each) + place_of_count, 0, 4);
      TypeParam const c = this->open(damaged.bytes(), io::access::read_only);
      EXPECT_TRUE(this->notices([&] { this->all(c.lower_bound(key), c.end()); }));
      EXPECT_TRUE(this->notices([&] {
        number steps = 0;
        for (auto at = c.lower_bound(key); at != c.begin() && steps < 10 * this->keys; --at)
          ++steps;
        EXPECT_LT(steps, 10 * this->keys);
      }));
      EXPECT_TRUE(this->notices([&] { this->all(c.begin(), c.end()); }));
      std::mt19937_64 random(5);
      this->change(damaged.bytes(), random);
    }
  }
}

/// So that there are more ways from the root than can be tried.
TYPED_TEST(damaged_files, are_noticed_where_nodes_have_themselves_as_children) {
  if constexpr (!TestFixture::is_hashed) {
    scratch::kept_image damaged(this->sound);
    auto const pages = damaged.pages();
    number const root = damaged.get(scratch::kept_tree_fields[1]);
    std::vector<number> others;
    number nodes = 0;
    for (auto const& page : pages)
      if (page.row == 1) {
        ++nodes;
        if (page.number != root && others.size() < 2) others.push_back(page.number);
      }
    if (nodes < 10) return;
    auto const fill = [&](number node, number child, number last) {
      for (auto const& page : pages) {
        if (page.row != 1 || page.number != node) continue;
        number const capacity = damaged.get(page.offset + 4, 4);
        damaged.set(page.offset, capacity, 4);
        for (number i = 0; i < capacity; ++i) {
          damaged.set(page.offset + 8 + 8 * i, i + 1 < capacity ? child : last);
          damaged.set(page.offset + 8 + 8 * (capacity + i), 0);
        }
      }
    };
    fill(root, others[0], others[1]);
    for (number const each : others) fill(each, each, each);
    for (auto const& page : pages)
      if (page.row == 0 && page.number == others[1]) {
        damaged.set(page.offset + place_of_before, UINT64_MAX);
        damaged.set(page.offset + place_of_after, UINT64_MAX);
        damaged.set(page.offset + place_of_count, 2, 4);
        damaged.set(page.offset + 24, 0);
      }
    damaged.set(scratch::kept_tree_fields[4], 10);
    damaged.repair();
    TypeParam c = this->open(damaged.bytes(), io::access::read_write);
    EXPECT_TRUE(this->notices([&] { std::as_const(c).forward(c.find(0), c.end()); }));
    this->notices([&] { c.erase(0); });
  }
}

TYPED_TEST(damaged_files, of_which_the_number_of_entries_is_wrong_do_no_harm) {
  for (number const size : {1, 5, 600}) {
    scratch::kept_image damaged(this->sound);
    damaged.set(scratch::kept_vector_fields[0], size);  // which is the first one of all of them
    damaged.repair();
    EXPECT_FALSE(this->notices([&] {
      this->notices([&] {
        auto c = this->open(damaged.bytes(), io::access::read_write);
        this->notices([&] { erase_if(c, [](auto const&) { return true; }); });
        EXPECT_LE(c.size(), 600U);
      });
    }));
    std::mt19937_64 random(6);
    this->change(damaged.bytes(), random);
  }
}

TYPED_TEST(damaged_files, are_noticed_where_a_page_is_another_one) {
  std::mt19937_64 random(3);
  auto const pages = pages_in(this->sound);
  for (int i = 0; i < scratch::operations(400); ++i) {
    auto const& a = pages[random() % pages.size()];
    auto const& b = pages[random() % pages.size()];
    if (a.row != b.row) continue;
    SCOPED_TRACE(testing::Message() << "row " << a.row << ", " << a.offset << ", " << b.offset);
    auto damaged = this->sound;
    auto const from = damaged.begin() + static_cast<std::ptrdiff_t>(a.offset);
    auto const to = damaged.begin() + static_cast<std::ptrdiff_t>(b.offset);
    std::swap_ranges(from, from + static_cast<std::ptrdiff_t>(a.length), to);
    EXPECT_EQ(this->wrong_ways(damaged), "");
    if (i % 4 == 0) this->change(damaged, random);
    damaged = this->sound;
    std::copy_n(this->sound.begin() + static_cast<std::ptrdiff_t>(a.offset), a.length,
                damaged.begin() + static_cast<std::ptrdiff_t>(b.offset));
    // Which has the same items at another place, if it is of a table and they are not looked up.
    auto const wrong = this->wrong_ways(damaged);
    EXPECT_TRUE(wrong.empty() || this->is_hashed) << wrong;
    this->change(damaged, random);
  }
}

TYPED_TEST(damaged_files, of_which_bits_have_flipped_do_no_harm) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  auto const flip = [&](bytes_of_file& bytes, std::size_t from, std::size_t length) {
    bytes[from + random() % length] ^= std::byte(1U << random() % 8);
  };
  for (auto const& page : pages_in(this->sound))
    for (int i = 0; i < scratch::operations(10); ++i) {
      auto damaged = this->sound;
      // Mostly in what pages begin with, as the rest is keys and values.
      flip(damaged, page.offset, i % 3 == 0 ? page.length : 32);
      this->wrong_ways(damaged);
      this->change(damaged, random);
    }
  for (int i = 0; i < scratch::operations(300); ++i) {  // headers
    auto damaged = this->sound;
    flip(damaged, 0, 8_KiB);
    try {
      EXPECT_EQ(this->wrong_ways(damaged), "");
    } catch (format_error const&) {  // not one of this kind, say
    }
  }
}

}  // namespace
}  // namespace outsize
