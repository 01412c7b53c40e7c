// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The kernels of sorting one by one, in memory, by one thread, but for the one that is for several:
// nanoseconds and cycles for each item. Every result is looked at once. Options are those of Google
// Benchmark.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <bench/programs/typed_items.hpp>
#include <outsize/algorithm/byte_order.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/sort/bucket_partition.hpp>
#include <outsize/algorithm/sort/byte_codec.hpp>
#include <outsize/algorithm/sort/code_tree.hpp>
#include <outsize/algorithm/sort/digit_sort.hpp>
#include <outsize/algorithm/sort/index_sort.hpp>
#include <outsize/algorithm/sort/key_codec.hpp>
#include <outsize/algorithm/sort/loser_tree.hpp>
#include <outsize/algorithm/sort/merge_sort.hpp>
#include <outsize/algorithm/sort/multisequence_selection.hpp>
#include <outsize/algorithm/sort/ordered_bits.hpp>
#include <outsize/algorithm/sort/packed_block.hpp>
#include <outsize/algorithm/sort/parallel_sort.hpp>
#include <outsize/algorithm/sort/proxy_sort.hpp>
#include <outsize/algorithm/sort/record_items.hpp>
#include <outsize/algorithm/sort/reduction.hpp>
#include <outsize/algorithm/sort/sequence.hpp>
#include <outsize/algorithm/sort/slice_merge.hpp>
#include <outsize/algorithm/sort/tree_merge.hpp>
#include <outsize/algorithm/sort/two_way_merge.hpp>
#include <outsize/algorithm/sort/typed_items.hpp>
#include <outsize/algorithm/sort/vector_sort.hpp>
#include <outsize/algorithm/sort/window_writer.hpp>
#include <outsize/algorithm/sort/word_sort.hpp>
#include <outsize/algorithm/stream_sort.hpp>
#include <outsize/base/byte_places.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>

namespace {

using namespace outsize;
using namespace outsize::detail;
using clock_type = std::chrono::steady_clock;
using nanoseconds = std::chrono::duration<double, std::nano>;

/// How many cycles a core takes in a nanosecond: a chain of operations of one cycle each tells.
double cycles_per_nanosecond() {
  constexpr std::size_t steps = std::size_t{1} << 26;
  std::uint64_t chain = 1;
  auto const begin = clock_type::now();
  for (std::size_t i = 0; i < steps; ++i) {
    chain ^= chain << 1;  // two operations
    benchmark::DoNotOptimize(chain);
  }
  return 2.0 * steps / nanoseconds(clock_type::now() - begin).count();
}

/// Runs `kernel` on what `prepare` has made, as often as it takes; at last asks `good`.
template <typename Prepare, typename Kernel, typename Good>
void measure(benchmark::State& state, std::size_t items, Prepare prepare, Kernel kernel,
             Good good) {
  static double const frequency = cycles_per_nanosecond();
  double total = 0;
  for ([[maybe_unused]] auto _ : state) {
    prepare();
    auto const begin = clock_type::now();
    kernel();
    nanoseconds const took = clock_type::now() - begin;
    state.SetIterationTime(took.count() * 1e-9);
    total += took.count();
  }
  double const each =
      total / (static_cast<double>(state.iterations()) * static_cast<double>(items));
  state.counters["ns/item"] = each;
  state.counters["cycles/item"] = each * frequency;
  if (!good()) state.SkipWithError("the result is wrong");
}

std::mt19937_64& random_bits() {
  static std::mt19937_64 bits(1);
  return bits;
}

void set_random(std::uint32_t& item) { item = static_cast<std::uint32_t>(random_bits()()); }
void set_random(std::uint64_t& item) { item = random_bits()(); }
void set_random(word_pair& item) { item = {.low = random_bits()(), .high = random_bits()()}; }
void set_random(prefix_entry& item) {
  item = {.place = random_bits()(), .prefix = random_bits()()};
}
void set_random(typed::triple& item) {
  item = {random_bits()(), static_cast<std::uint32_t>(random_bits()() % 4096),
          static_cast<std::uint32_t>(random_bits()() % 4096)};
}

template <typename T>
std::vector<T> random_items(std::size_t count) {
  std::vector<T> items(count);
  for (T& item : items) set_random(item);
  return items;
}

std::size_t count_of(benchmark::State const& state) {
  return static_cast<std::size_t>(state.range(0));
}

// ---- sorting ----

/// `sort(items, to)` puts them in order; whether in `to` is what it returns.
template <typename T, typename Less = std::less<>, typename Sort>
void measure_sort(benchmark::State& state, Sort sort, Less less = {}) {
  auto const given = random_items<T>(count_of(state));
  auto items = given, to = given;
  bool in_to = false;
  measure(
      state, given.size(), [&] { items = given; },
      [&] { in_to = sort(std::span(items), std::span(to)); },
      [&] { return std::ranges::is_sorted(in_to ? to : items, less); });
}

void standard_sort(benchmark::State& state) {
  measure_sort<std::uint64_t>(state, [](auto items, auto) {
    std::ranges::sort(items);
    return false;
  });
}

template <typename T>
void vector_sort_of(benchmark::State& state) {
  measure_sort<T>(state, [](auto items, auto) {
    vector_sort(items);
    return false;
  });
}

template <typename T>
void digit_sort_of(benchmark::State& state) {
  digit_sort<T> sort;
  measure_sort<T>(state, [&](auto items, auto) { return !sort(items); });
}

template <typename T>
void proxy_sort_of(benchmark::State& state) {
  proxy_sort<T> sort;
  measure_sort<T>(state, [&](auto items, auto) {
    auto const plainly = [](auto some) { vector_sort(some); };
    sort(items, plainly, plainly);
    return false;
  });
}

/// An item with a key and much beside it.
template <std::size_t Bytes>
struct keyed {
  std::uint64_t key;
  std::array<std::byte, Bytes - sizeof(std::uint64_t)> rest;
};
template <std::size_t Bytes>
void set_random(keyed<Bytes>& item) {
  item.key = random_bits()();
}

/// Items of `Bytes` by their keys.
template <std::size_t Bytes>
void word_sort_of(benchmark::State& state) {
  using item = keyed<Bytes>;
  auto const less = by(&item::key);
  measure_sort<item>(
      state,
      [&](auto items, auto to) {
        word_sort<item, std::remove_const_t<decltype(less)>>(less).sort_into(items, to);
        return true;
      },
      less);
}

/// Items of `Bytes` by a lambda, in place: too large to be moved at each level.
template <std::size_t Bytes>
void sort_in_place_by_lambda(benchmark::State& state) {
  using item = keyed<Bytes>;
  bool const upwards = state.range(0) > 0;  // true, but not to the compiler
  auto const less = [upwards](item const& a, item const& b) { return (a.key < b.key) == upwards; };
  typed_items<item, std::remove_const_t<decltype(less)>> const family(less);
  static_assert(!family.sorts_out_of_place);
  measure_sort<item>(
      state,
      [&](auto items, auto) {
        family.sort_part(items);
        return false;
      },
      less);
}

/// Items that are ordered as they are, which of two words is by the second.
template <typename T>
auto bits_of() {
  typename typed_items<T, std::less<>>::key_form bits;
  if constexpr (std::same_as<T, word_pair>) bits.key_is_first = false;
  return bits;
}

/// By `range(1)` threads.
template <typename T>
void parallel_sort_of(benchmark::State& state) {
  executor threads(static_cast<std::size_t>(state.range(1)));
  measure_sort<T>(state, [&](auto items, auto) {
    parallel_sort(items, bits_of<T>(), threads);
    return false;
  });
}

/// Keys in eight clusters: too uneven for digits.
template <typename T>
void vector_sort_of_clusters(benchmark::State& state) {
  auto given = random_items<T>(count_of(state));
  std::uint64_t constexpr kept = 0xE0000000000FFFFF;
  for (T& item : given) {
    if constexpr (std::same_as<T, word_pair>) {
      item.high &= kept;
    } else {
      item &= kept;
    }
  }
  auto items = given;
  measure(
      state, given.size(), [&] { items = given; }, [&] { vector_sort(items); },
      [&] { return std::ranges::is_sorted(items); });
}

void merge_sort_by_lambda(benchmark::State& state) {
  auto const less = typed::by_group(state.range(0) > 0);  // true, but not to the compiler
  measure_sort<typed::triple>(
      state,
      [&](auto items, auto to) {
        merge_sort<typed::triple, decltype(less)>(less).sort_into(items, to);
        return true;
      },
      less);
}

template <typename T>
void bucket_partition_of(benchmark::State& state) {
  auto const given = random_items<T>(count_of(state));
  std::vector<std::uint64_t> sample;
  for (std::size_t i = 0; i < given.size(); i += given.size() / 1024)
    sample.push_back(key_word(given[i]));
  auto const rule = bucket_rule::from_sample(sample, bucket_rule::most_buckets).value();
  bucket_partition<T> partition;
  auto items = given;
  typename bucket_partition<T>::bounds bounds{};
  measure(
      state, given.size(), [&] { items = given; }, [&] { bounds = partition(items, rule); },
      [&] {
        for (std::size_t b = 0; b < rule.count; ++b)
          for (std::size_t i = bounds[b]; i < bounds[b + 1]; ++i)
            if (rule(key_word(items[i])) != b) return false;
        return bounds[rule.count] == items.size();
      });
}

/// Numbers to integers of the same order, as before a sort and, the other way, behind it.
template <typename T>
void conversion_of(benchmark::State& state) {
  using word = typename family_of<T, std::less<>>::bits;
  auto const given = random_items<word>(count_of(state));
  auto const bits = ordered_bits_of<T, std::less<>>();
  auto items = given;
  measure(
      state, given.size(), [&] { items = given; }, [&] { bits.encode_all(std::span(items)); },
      [&] {
        bits.decode_all(std::span(items));
        return items == given;
      });
}

/// Of sorted items, as a sort of a file looks for in its input.
template <typename Family>
void measure_order_check(benchmark::State& state, Family const& family,
                         std::span<std::byte const> items) {
  auto const checks = operations_of(family);
  bool good = false;
  measure(
      state, items.size() / checks.item_bytes, [] {}, [&] { good = checks.in_order(items, false); },
      [&] { return good; });
}

template <typename T>
void order_check_of(benchmark::State& state) {
  auto items = random_items<T>(count_of(state));
  std::ranges::sort(items);
  measure_order_check(state, typed_items<T, std::less<>>({}, bits_of<T>()),
                      std::as_bytes(std::span(items)));
}

void order_check_by_lambda(benchmark::State& state) {
  auto const less = typed::by_group(state.range(0) > 0);
  auto items = random_items<typed::triple>(count_of(state));
  std::ranges::sort(items, less);
  measure_order_check(state, typed_items<typed::triple, std::remove_const_t<decltype(less)>>(less),
                      std::as_bytes(std::span(items)));
}

/// Records of 100 bytes, all of which count.
void order_check_of_records(benchmark::State& state) {
  constexpr std::size_t record_bytes = 100;
  auto keys = random_items<std::uint64_t>(count_of(state));
  std::ranges::sort(keys);
  std::vector<std::byte> bytes(keys.size() * record_bytes);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::uint64_t const leading = __builtin_bswap64(keys[i]);
    std::memcpy(&bytes[i * record_bytes], &leading, sizeof leading);
  }
  byte_order const order;
  measure_order_check(state, record_items(order, record_bytes), bytes);
}

/// Sorted items of which every second one is equal to the one before.
void reduction_to_unique(benchmark::State& state) {
  auto const family = family_of<std::uint64_t, std::less<>>::make({});
  std::vector<std::uint64_t> given(count_of(state));
  for (std::size_t i = 0; i < given.size(); ++i) given[i] = i / 2;
  auto items = given;
  std::size_t left = 0;
  measure(
      state, given.size(), [&] { items = given; },
      [&] { left = reduce_sorted(family, std::as_writable_bytes(std::span(items))); },
      [&] { return left == given.size() / 2 * sizeof(std::uint64_t); });
}

/// Of a block of `range(0)` bytes.
void checksum_of_block(benchmark::State& state) {
  auto const block = random_items<std::uint64_t>(count_of(state) / sizeof(std::uint64_t));
  auto const bytes = std::as_bytes(std::span(block));
  std::uint64_t const expected = storage::checksum_of(bytes);
  std::uint64_t sum = 0;
  measure(
      state, bytes.size(), [] {}, [&] { sum = storage::checksum_of(bytes); },
      [&] { return sum == expected; });
}

/// `range(0)` lines of some 40 bytes are cut.
void ends_of_lines(benchmark::State& state) {
  std::string text;
  std::vector<std::uint32_t> expected;
  auto random = random_bits();
  for (std::size_t i = 0; i < count_of(state); ++i) {
    text.append(10 + random() % 60, 'x');
    expected.push_back(static_cast<std::uint32_t>(text.size()));
    text += '\n';
  }
  std::vector<std::uint32_t> ends(expected.size() + 64);
  std::size_t found = 0;
  measure(
      state, expected.size(), [] {}, [&] { found = find_byte(text, '\n', ends); },
      [&] { return std::ranges::equal(std::span(ends).first(found), expected); });
}

/// Lines of some 40 bytes, the first of which all have in common, as `range(1)` says.
void index_sort_of_lines(benchmark::State& state) {
  std::string text;
  std::vector<prefix_entry> given;
  byte_order const order;
  std::string const common(static_cast<std::size_t>(state.range(1)), ' ');
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < count_of(state); ++i) {
    begins.push_back(text.size());
    text += common + std::to_string(random_bits()()) + std::to_string(random_bits()());
  }
  begins.push_back(text.size());
  auto const record = [&](std::uint64_t place) {
    return std::string_view(text).substr(begins[place], begins[place + 1] - begins[place]);
  };
  for (std::size_t i = 0; i + 1 < begins.size(); ++i)
    given.push_back({.place = i, .prefix = order.prefix(record(i))});
  auto const fetch = [&](std::uint64_t place, std::size_t depth) {
    __builtin_prefetch(text.data() + begins[place] + depth);
  };
  auto entries = given;
  measure(
      state, given.size(), [&] { entries = given; },
      [&] { index_sort(order, record, fetch)(entries); },
      [&] {
        return std::ranges::is_sorted(entries, {},
                                      [&](prefix_entry const& e) { return record(e.place); });
      });
}

// ---- merging ----

/// Sorted sequences of one length, side by side.
template <typename T, typename Less>
std::vector<T> sorted_sequences(std::size_t count, std::size_t length, Less less) {
  auto items = random_items<T>(count * length);
  for (std::size_t s = 0; s < count; ++s)
    std::ranges::sort(std::span(items).subspan(s * length, length), less);
  return items;
}

template <typename T>
void merge_of_two(benchmark::State& state) {
  std::size_t const length = count_of(state);
  std::less<> const less;
  auto const items = sorted_sequences<T>(2, length, less);
  std::span<T const> const all(items);
  std::vector<T> out(2 * length);
  measure(
      state, out.size(), [] {},
      [&] { merge_two_ways(all.first(length), all.subspan(length), out.data(), less); },
      [&] { return std::ranges::is_sorted(out); });
}

/// `range(0)` sequences of `range(1)` items.
template <typename T, typename Merge, typename Less>
void merge_by_copying(benchmark::State& state, Merge const& empty, Less less) {
  auto const length = static_cast<std::size_t>(state.range(1));
  auto const items = sorted_sequences<T>(count_of(state), length, less);
  std::vector<T> out(items.size());
  std::optional<Merge> merge;
  measure(
      state, out.size(),
      [&] {
        merge.emplace(empty);
        for (std::size_t begin = 0; begin < items.size(); begin += length)
          merge->add_source({std::span<T const>(items).subspan(begin, length)});
      },
      [&] {
        item_place<T> place(reinterpret_cast<std::byte*>(out.data()), out.size());
        merge->run(place);
      },
      [&] { return std::ranges::is_sorted(out, less); });
}

template <typename T>
void slice_merge_of(benchmark::State& state) {
  merge_by_copying<T>(state, slice_merge<T>(), std::less<>());
}

void tree_merge_by_lambda(benchmark::State& state) {
  auto const less = typed::by_group(state.range(0) > 0);
  merge_by_copying<typed::triple>(state, tree_merge<typed::triple, decltype(less)>(less), less);
}

enum class tree_of { losers, codes };

/// `range(0)` sequences of `range(1)` records of 100 bytes that begin with `range(2)` equal ones,
/// which are copied to their places.
template <tree_of Tree>
void merge_of_records(benchmark::State& state) {
  using family = record_items<byte_order>;
  constexpr std::size_t record_bytes = 100;
  auto const length = static_cast<std::size_t>(state.range(1));
  auto const common = static_cast<std::size_t>(state.range(2));
  byte_order const order;
  family const records(order, record_bytes);
  std::vector<std::byte> bytes(count_of(state) * length * record_bytes);
  std::vector<family::view> views;
  for (std::size_t s = 0; s < count_of(state); ++s) {
    std::vector<std::uint64_t> keys = random_items<std::uint64_t>(length);
    for (auto& key : keys) key = __builtin_bswap64(key);
    std::ranges::sort(keys, {}, [](std::uint64_t key) { return __builtin_bswap64(key); });
    std::byte* const begin = bytes.data() + s * length * record_bytes;
    for (std::size_t i = 0; i < length; ++i)
      std::memcpy(begin + i * record_bytes + common, &keys[i], sizeof keys[i]);
    views.push_back(records.block_view({begin, length * record_bytes}, length));
  }
  std::vector<std::byte> out(bytes.size());
  auto const merge = [&out](auto tree) {
    for (std::byte* to = out.data(); !tree.empty(); tree.pop()) to = family::store(tree.top(), to);
  };
  measure(
      state, views.size() * length, [] {},
      [&] {
        std::vector<piece_cursor<family::view>> cursors;
        for (auto const& v : views)
          cursors.emplace_back(std::vector<piece<family::view>>{{v, 0, v.size()}});
        if constexpr (Tree == tree_of::codes) {
          merge(code_tree(std::move(cursors), records.codes()));
        } else {
          merge(loser_tree(std::move(cursors), records.less()));
        }
      },
      [&] {
        auto const all = records.block_view(out, views.size() * length);
        for (std::size_t i = 1; i < all.size(); ++i)
          if (records.less()(all.key(i), all.key(i - 1))) return false;
        return true;
      });
}

/// One cut in the middle of `range(0)` sequences of `range(1)` items; time is for the whole cut.
void selection_of_the_middle(benchmark::State& state) {
  using view = typed_view<std::uint64_t>;
  auto const length = static_cast<std::size_t>(state.range(1));
  auto const items = sorted_sequences<std::uint64_t>(count_of(state), length, std::less<>());
  std::vector<sequence<view>> sequences(count_of(state));
  for (std::size_t s = 0; s < sequences.size(); ++s)
    sequences[s].append(view(std::span(items).subspan(s * length, length)));
  std::vector<std::size_t> const limits(sequences.size(), length);
  std::vector<std::size_t> cut;
  measure(
      state, 1, [] {},
      [&] {
        cut = multisequence_select(std::span<sequence<view> const>(sequences),
                                   std::span<std::size_t const>(limits), items.size() / 2,
                                   std::less<>());
      },
      [&] {
        std::size_t sum = 0;
        for (std::size_t const rank : cut) sum += rank;
        return sum == items.size() / 2;
      });
}

// ---- encoding ----

/// Blocks of encoded keys, each in memory that also holds its items.
template <typename T>
struct encoded {
  static constexpr std::size_t block_bytes = 1_MiB, held_bytes = block_bytes * 3 / 2;
  std::vector<T> items;
  std::vector<std::vector<std::byte>> blocks;
  std::vector<std::pair<std::size_t, std::size_t>> used;  // items and bytes of each

  explicit encoded(std::size_t count) : items(random_items<T>(count)) {
    std::ranges::sort(items);
    blocks.assign(count * sizeof(T) / (block_bytes / 2) + 1, std::vector<std::byte>(block_bytes));
  }

  void encode() {
    used.clear();
    for (std::span<T const> rest(items); !rest.empty();) {
      key_encoder<T> encoder(blocks[used.size()], held_bytes, 64);
      rest = rest.subspan(encoder.append(rest));
      std::size_t const taken = encoder.items();
      used.emplace_back(taken, encoder.close());
    }
  }
};

template <typename T>
void encoding(benchmark::State& state) {
  encoded<T> keys(count_of(state));
  measure(
      state, keys.items.size(), [] {}, [&] { keys.encode(); },
      [&] { return keys.used.size() < keys.blocks.size(); });
}

template <typename T>
void decoding(benchmark::State& state) {
  encoded<T> keys(count_of(state));
  keys.encode();
  std::vector<T> out(keys.items.size());
  bool good = true;
  measure(
      state, keys.items.size(), [] {},
      [&] {
        std::span<T> rest(out);
        for (std::size_t b = 0; b < keys.used.size(); ++b) {
          auto const [items, bytes] = keys.used[b];
          good &= decode_keys<T>(std::span(keys.blocks[b]).first(bytes), rest.first(items));
          rest = rest.subspan(items);
        }
      },
      [&] {
        return good && std::memcmp(out.data(), keys.items.data(), out.size() * sizeof(T)) == 0;
      });
}

/// A block of sorted paths.
struct block_of_lines {
  std::vector<std::byte> content, code, held;
  std::size_t lines = 0, line_bytes = 0;

  explicit block_of_lines(std::size_t count) : lines(count) {
    std::vector<std::string> all(count);
    for (auto& line : all)
      line = "/usr/share/doc/package-" + std::to_string(random_bits()() % 1000) + "/part-" +
             std::to_string(random_bits()() % 100) + ".txt";
    std::ranges::sort(all);
    for (auto const& line : all) line_bytes += line.size();
    content.resize(round_up<std::size_t>(packed_bytes(line_bytes, count), 4));
    packed_block block(content);
    for (auto const& line : all) block.append(line);
    code.resize(content.size());
    held.resize(content.size() + content.size() / 128 + 64);
  }

  std::size_t encode(byte_coding coding) {
    return encode_block(coding, content, {lines, 0}, code, held.size(), 1);
  }
};

template <byte_coding coding>
void encoding_of_lines(benchmark::State& state) {
  block_of_lines block(count_of(state));
  std::size_t used = 0;
  measure(
      state, block.lines, [] {}, [&] { used = block.encode(coding); },
      [&] { return used != 0 && used < block.content.size(); });
  state.counters["bytes of 100"] =
      100 * static_cast<double>(used) / static_cast<double>(block.content.size());
}

template <byte_coding coding>
void decoding_of_lines(benchmark::State& state) {
  block_of_lines block(count_of(state));
  std::size_t const used = block.encode(coding);
  auto const place = std::span(block.held).last(used);
  auto const to = std::span(block.held).first(block.content.size());
  bool good = true;
  measure(
      state, block.lines, [&] { std::copy_n(block.code.begin(), used, place.begin()); },
      [&] {
        good &= decode_block(place, to, {block.lines, 0});
      },
      [&] {
        return good && std::ranges::equal(to.first(block.line_bytes),
                                          std::span(block.content).first(block.line_bytes));
      });
}

/// A block of records like those of `outsize gen records`: letters of 64 kinds, and a number.
struct block_of_records {
  static constexpr std::size_t record_bytes = 100;
  std::vector<std::byte> content, code, held;
  std::size_t records;

  explicit block_of_records(std::size_t count) : records(count) {
    for (std::size_t i = 0; i < count; ++i) {
      auto const number = fmt::format("{:016X}", random_bits()() % (1 << 26));
      for (char const c : number) content.push_back(static_cast<std::byte>(c));
      for (std::size_t c = number.size(); c < record_bytes; ++c)
        content.push_back(static_cast<std::byte>(' ' + random_bits()() % 64));
    }
    code.resize(content.size());
    held.resize(content.size() + content.size() / 128 + 64);
  }

  std::size_t encode() {
    return encode_block(byte_coding::columns, content, {records, record_bytes}, code, held.size(),
                        1);
  }
};

void encoding_of_records(benchmark::State& state) {
  block_of_records block(count_of(state));
  std::size_t used = 0;
  measure(
      state, block.records, [] {}, [&] { used = block.encode(); },
      [&] { return used != 0 && used < block.content.size(); });
  state.counters["bytes of 100"] =
      100 * static_cast<double>(used) / static_cast<double>(block.content.size());
}

void decoding_of_records(benchmark::State& state) {
  block_of_records block(count_of(state));
  std::size_t const used = block.encode();
  auto const place = std::span(block.held).last(used);
  auto const to = std::span(block.held).first(block.content.size());
  bool good = true;
  measure(
      state, block.records, [&] { std::copy_n(block.code.begin(), used, place.begin()); },
      [&] {
        good &= decode_block(place, to, {block.records, block.record_bytes});
      },
      [&] { return good && std::ranges::equal(to, block.content); });
}

constexpr std::int64_t in_cache = 1 << 14, beyond_cache = 1 << 23;

}  // namespace

BENCHMARK(standard_sort)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(vector_sort_of<std::uint32_t>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(vector_sort_of<std::uint64_t>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(vector_sort_of<word_pair>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(vector_sort_of<prefix_entry>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(bucket_partition_of<std::uint64_t>)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(bucket_partition_of<word_pair>)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(digit_sort_of<std::uint64_t>)->Arg(in_cache)->UseManualTime();
BENCHMARK(digit_sort_of<word_pair>)->Arg(in_cache)->UseManualTime();
BENCHMARK(proxy_sort_of<word_pair>)->Arg(in_cache)->UseManualTime();
BENCHMARK(vector_sort_of_clusters<std::uint64_t>)->Arg(in_cache)->UseManualTime();
BENCHMARK(vector_sort_of_clusters<word_pair>)->Arg(in_cache)->UseManualTime();
BENCHMARK(word_sort_of<16>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(word_sort_of<32>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(word_sort_of<64>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(merge_sort_by_lambda)->Arg(in_cache)->Arg(beyond_cache / 4)->UseManualTime();
BENCHMARK(sort_in_place_by_lambda<48>)->Arg(in_cache)->Arg(beyond_cache / 16)->UseManualTime();
BENCHMARK(sort_in_place_by_lambda<104>)->Arg(in_cache)->Arg(beyond_cache / 16)->UseManualTime();
BENCHMARK(parallel_sort_of<std::uint32_t>)
    ->Args({beyond_cache, 1})
    ->Args({beyond_cache, 2})
    ->UseManualTime();
BENCHMARK(parallel_sort_of<std::uint64_t>)
    ->Args({beyond_cache, 1})
    ->Args({beyond_cache, 2})
    ->UseManualTime();
BENCHMARK(parallel_sort_of<word_pair>)
    ->Args({beyond_cache, 1})
    ->Args({beyond_cache, 2})
    ->UseManualTime();
BENCHMARK(conversion_of<std::int32_t>)->Arg(in_cache)->UseManualTime();
BENCHMARK(conversion_of<float>)->Arg(in_cache)->UseManualTime();
BENCHMARK(conversion_of<double>)->Arg(in_cache)->UseManualTime();
BENCHMARK(order_check_of<std::uint32_t>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(order_check_of<std::uint64_t>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(order_check_of<word_pair>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(order_check_by_lambda)->Arg(in_cache)->UseManualTime();
BENCHMARK(order_check_of_records)->Arg(in_cache)->UseManualTime();
BENCHMARK(reduction_to_unique)->Arg(in_cache)->UseManualTime();
BENCHMARK(checksum_of_block)->Arg(2_MiB)->UseManualTime();
BENCHMARK(ends_of_lines)->Arg(in_cache)->UseManualTime();
BENCHMARK(index_sort_of_lines)->Args({1 << 18, 0})->Args({1 << 18, 20})->UseManualTime();
BENCHMARK(merge_of_two<std::uint64_t>)->Arg(in_cache)->UseManualTime();
BENCHMARK(merge_of_two<word_pair>)->Arg(in_cache)->UseManualTime();
BENCHMARK(slice_merge_of<std::uint64_t>)->Args({50, 1 << 16})->UseManualTime();
BENCHMARK(slice_merge_of<word_pair>)->Args({50, 1 << 16})->UseManualTime();
BENCHMARK(tree_merge_by_lambda)->Args({50, 1 << 16})->UseManualTime();
BENCHMARK(merge_of_records<tree_of::losers>)
    ->Args({50, 1 << 13, 0})
    ->Args({50, 1 << 13, 20})
    ->UseManualTime();
BENCHMARK(merge_of_records<tree_of::codes>)
    ->Args({50, 1 << 13, 0})
    ->Args({50, 1 << 13, 20})
    ->UseManualTime();
BENCHMARK(selection_of_the_middle)->Args({50, 1 << 16})->UseManualTime();
BENCHMARK(encoding<std::uint64_t>)->Arg(1 << 20)->UseManualTime();
BENCHMARK(encoding<word_pair>)->Arg(1 << 20)->UseManualTime();
BENCHMARK(decoding<std::uint64_t>)->Arg(1 << 20)->UseManualTime();
BENCHMARK(decoding<word_pair>)->Arg(1 << 20)->UseManualTime();
BENCHMARK(encoding_of_lines<byte_coding::prefixes>)->Arg(in_cache)->UseManualTime();
BENCHMARK(encoding_of_lines<byte_coding::lz4>)->Arg(in_cache)->UseManualTime();
BENCHMARK(decoding_of_lines<byte_coding::prefixes>)->Arg(in_cache)->UseManualTime();
BENCHMARK(decoding_of_lines<byte_coding::lz4>)->Arg(in_cache)->UseManualTime();
BENCHMARK(encoding_of_records)->Arg(in_cache)->UseManualTime();
BENCHMARK(decoding_of_records)->Arg(in_cache)->UseManualTime();

BENCHMARK_MAIN();
