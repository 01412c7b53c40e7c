// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What all sorts promise: the output is a function of input and order alone. One suite on each kind
// of item, with each back-end, number of threads, memory, length of blocks, and runs encoded or
// not, held against std::stable_sort. Items of C++ types come from ranges, whose sorts do with
// little memory; records and lines from files.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <outsize/algorithm/record_sort.hpp>
#include <outsize/algorithm/reduce.hpp>
#include <outsize/algorithm/sort.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/testing/scratch_directory.hpp>
#include <outsize/text/line_sort.hpp>

namespace outsize {
namespace {

/// What becomes of items that compare equal.
enum class way : std::uint8_t { plain, stable, unique, combining };

struct job {
  storage& store;
  std::string const& folder;
  std::string const& input;
  way how;
  sort_options options;
};

struct outcome {
  std::string bytes;
  sort_report report;
};

/// A kind of item: the bytes of its input, those that must come out, and the sort.
struct kind {
  char const* name;
  std::string input;
  std::function<std::string(std::string const& input, way how)> expect;
  std::function<outcome(job const&)> sort;
  std::uint64_t
      memory_bytes;      ///< Too little for all items; with four times as much nothing spills.
  bool combines = true;  ///< Whether there is a sort that combines such items.
};

// ---- items of C++ types ----

/// The bytes of items.
template <typename T>
std::string bytes_of(std::vector<T> const& items) {
  return {reinterpret_cast<char const*>(items.data()), items.size() * sizeof(T)};
}

template <typename T>
std::vector<T> items_of(std::string const& bytes) {
  std::vector<T> items(bytes.size() / sizeof(T));
  std::memcpy(static_cast<void*>(items.data()), bytes.data(), bytes.size());
  return items;
}

/// Sorted items with equal ones made one where that is asked for.
template <typename T, typename Less, typename Combine>
std::vector<T> expected(std::vector<T> items, way how, Less less, Combine combine) {
  std::stable_sort(items.begin(), items.end(), less);
  if (how == way::plain || how == way::stable) return items;
  std::vector<T> left;
  for (T const& item : items) {
    if (left.empty() || less(left.back(), item)) {
      left.push_back(item);
    } else if (how == way::combining) {
      left.back() = combine(left.back(), item);
    }
  }
  return left;
}

template <typename T, typename Less, typename Combine>
outcome sort_range(job const& work, Less less, Combine combine) {
  auto const in = items_of<T>(work.input);
  std::vector<T> sorted;
  auto const out = std::back_inserter(sorted);
  sort_report report;
  switch (work.how) {
    case way::plain:
      report = sort(work.store, in, out, less, work.options);
      break;
    case way::stable:
      report = stable_sort(work.store, in, out, less, work.options);
      break;
    case way::unique:
      report = sort_unique(work.store, in, out, less, work.options);
      break;
    case way::combining:
      report = reduce_by_key(work.store, in, out, less, combine, work.options);
      break;
  }
  return {bytes_of(sorted), report};
}

template <typename T, typename Less, typename Combine, typename Make>
kind typed_kind(char const* name, Less less, Combine combine, Make make) {
  std::mt19937_64 random(7);
  std::vector<T> items(1'600'000 / sizeof(T));
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = make(random, i);
  return {
      .name = name,
      .input = bytes_of(items),
      .expect = [=](auto const& in,
                    way how) { return bytes_of(expected(items_of<T>(in), how, less, combine)); },
      .sort = [=](job const& work) { return sort_range<T>(work, less, combine); },
      .memory_bytes = 1_MiB};
}

/// Numbers of which each comes some times; equal ones are equal bytes.
template <typename T>
kind numbers(char const* name) {
  auto const make = [](std::mt19937_64& random, std::size_t) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(random() % 5000) / 8 - 300 + T{1} / 16;  // no zero, which has two forms
    } else {
      return static_cast<T>((random() % 5000) * (std::numeric_limits<T>::max() / 2500));
    }
  };
  return typed_kind<T>(
      name, std::less<>(), [](T a, T) { return a; }, make);
}

struct pair {
  std::uint64_t key;
  std::uint64_t value;
};

/// Two words by the first; in input order, the second is the place.
kind pairs() {
  auto const make = [](std::mt19937_64& random, std::size_t i) { return pair{random() % 3000, i}; };
  auto const add = [](pair a, pair const& b) {
    a.value += b.value;
    return a;
  };
  return typed_kind<pair>("pairs", by(&pair::key), add, make);
}

// ---- records and lines ----

template <typename Order>
std::string expected_text(std::vector<std::string_view> items, way how, Order const& order,
                          std::string_view end) {
  std::ranges::stable_sort(items, [&](auto a, auto b) { return order.compare(a, b) < 0; });
  std::string out;
  std::string_view const* last = nullptr;
  for (auto const& item : items) {
    if (how == way::unique && last != nullptr && order.compare(*last, item) == 0) continue;
    out += item;
    out += end;
    last = &item;
  }
  return out;
}

template <typename Sort>
outcome sort_file(job const& work, Sort sort) {
  sort_paths const paths{{work.folder + "/in"}, work.folder + "/out"};
  scratch::write_file(paths.inputs[0], work.input);
  sort_options options = work.options;
  options.unique = work.how == way::unique;
  auto const report = sort(paths, options);
  return {scratch::read_file(paths.output), report};
}

/// Records of 100 bytes by four of them; others are the place.
kind records() {
  record_order const order(record_format::parse("bytes:100"), {record_key::parse("4:4")}, false);
  std::mt19937_64 random(8);
  std::string bytes;
  for (std::size_t i = 0; i < 30'000; ++i)
    bytes += "head" + std::to_string(1000 + random() % 3000) + std::string(86, 'f') +
             std::to_string(100'000 + i);
  return {.name = "records",
          .input = bytes,
          .expect =
              [order](auto const& in, way how) {
                std::vector<std::string_view> all;
                for (std::size_t i = 0; i < in.size(); i += 100)
                  all.push_back(std::string_view(in).substr(i, 100));
                return expected_text(all, how, order, "");
              },
          .sort =
              [order](job const& work) {
                return sort_file(work, [&](auto const& paths, auto const& options) {
                  return sort_records(work.store, paths, order, options);
                });
              },
          .memory_bytes = 2_MiB,
          .combines = false};
}

text::line_order order_of_lines(way how) {
  return text::line_order({.separator = ',',
                           .keys = {text::parse_key("2,2n")},
                           .stable = how == way::stable,
                           .unique = how == way::unique});
}

/// Lines by a number in the middle.
kind lines() {
  std::mt19937_64 random(9);
  std::string text;
  for (std::size_t i = 0; i < 25'000; ++i)
    text += std::string(50 + random() % 90, 'x') + "," + std::to_string(random() % 4000) + "," +
            std::to_string(random() % 100) + "\n";
  return {.name = "lines",
          .input = text,
          .expect =
              [](auto const& in, way how) {
                std::vector<std::string_view> all;
                for (std::size_t at = 0; at < in.size(); at += all.back().size() + 1)
                  all.push_back(std::string_view(in).substr(at, in.find('\n', at) - at));
                return expected_text(all, how, order_of_lines(how), "\n");
              },
          .sort =
              [](job const& work) {
                return sort_file(work, [&](auto const& paths, auto const& options) {
                  return text::sort_lines(work.store, paths, order_of_lines(work.how), {}, options);
                });
              },
          .memory_bytes = 2_MiB,
          .combines = false};
}

kind const& kind_of(std::size_t index) {
  static std::array const kinds{numbers<std::uint32_t>("u32"),
                                numbers<std::int32_t>("i32"),
                                numbers<std::uint64_t>("u64"),
                                numbers<std::int64_t>("i64"),
                                numbers<float>("f32"),
                                numbers<double>("f64"),
                                pairs(),
                                records(),
                                lines()};
  return kinds.at(index);
}
constexpr std::size_t kind_count = 9;

// ---- the suite ----

class sort_conformance : public testing::TestWithParam<std::size_t> {
 protected:
  static bool can_use(io::backend backend) {
    try {
      return io::make_request_queue(backend, 1) != nullptr;
    } catch (io_error const&) {
      return false;
    }
  }

  /// Sorts with a storage like this, and returns whether runs went to disk.
  bool expect_sorts(way how, std::string const& want, storage_options like,
                    sort_options const& options) {
    like.disks = {folder_};
    like.memory = 16_MiB;
    storage store(like);
    auto const [bytes, report] = kind_.sort({store, folder_, kind_.input, how, options});
    EXPECT_TRUE(bytes == want) << "way " << static_cast<int>(how) << ", threads " << like.threads
                               << ", memory " << options.memory_bytes << ", blocks of "
                               << options.block_bytes;
    EXPECT_EQ(store.allocated_bytes(), 0U);
    return report.runs > 0;
  }

  kind const& kind_ = kind_of(GetParam());
  scratch::directory const dir_;
  std::string const folder_ = dir_.path();
};

TEST_P(sort_conformance, does_not_depend_on_backend_threads_memory_or_blocks) {
  std::uint64_t const memory = kind_.memory_bytes;
  std::array const sizes{sort_options{.memory_bytes = memory, .block_bytes = 4096},
                         sort_options{.memory_bytes = memory * 5 / 4, .block_bytes = 8192},
                         sort_options{.memory_bytes = memory * 4, .block_bytes = 65536}};
  auto const want = kind_.expect(kind_.input, way::plain);
  int spilled = 0, sorts = 0;
  for (auto const backend : {io::backend::threads, io::backend::mmap, io::backend::uring}) {
    if (!can_use(backend)) continue;
    for (std::size_t const threads : {1, 3})
      for (sort_options const& options : sizes) {
        storage_options const like{.threads = threads, .backend = backend};
        spilled += expect_sorts(way::plain, want, like, options);
        ++sorts;
      }
  }
  EXPECT_EQ(spilled, sorts / 3 * 2) << "the largest memory holds all items";
}

TEST_P(sort_conformance, does_not_depend_on_the_codec_of_runs) {
  for (way const how : {way::plain, way::stable, way::unique, way::combining}) {
    if (how == way::combining && !kind_.combines) continue;
    auto const want = kind_.expect(kind_.input, how);
    for (auto const codec : {run_codec::none, run_codec::always}) {
      sort_options const options{
          .memory_bytes = kind_.memory_bytes, .block_bytes = 32_KiB, .codec = codec};
      EXPECT_TRUE(expect_sorts(how, want, {.threads = 2}, options));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, sort_conformance, testing::Range(std::size_t{0}, kind_count),
                         [](auto const& tested) { return kind_of(tested.param).name; });

}  // namespace
}  // namespace outsize
