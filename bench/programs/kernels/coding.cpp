// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Blocks on their way to the disk and back: checksums, packed lines, and what encodes keys, lines
// and records in fewer bytes.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <bench/programs/kernels/random_items.hpp>
#include <bench/programs/kernels/timing.hpp>
#include <outsize/algorithm/detail/sort/family/record_items.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/checksum_table.hpp>
#include <outsize/codec/detail/byte_codec.hpp>
#include <outsize/codec/detail/key_codec.hpp>
#include <outsize/codec/detail/packed_block.hpp>
#include <outsize/kernel/byte_order.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>

namespace kernels {
namespace {

using namespace outsize;
using namespace outsize::detail;

/// Of a block of `range(0)` bytes.
void checksum_of_block(benchmark::State& state) {
  auto const block = random_items<std::uint64_t>(count_of(state) / sizeof(std::uint64_t));
  auto const bytes = std::as_bytes(std::span(block));
  std::uint64_t const expected = block::checksum_of(bytes);
  std::uint64_t sum = 0;
  measure(
      state, bytes.size(), [] {}, [&] { sum = block::checksum_of(bytes); },
      [&] { return sum == expected; });
}

// ---- keys ----

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

// ---- lines ----

/// Sorted paths.
std::vector<std::string> sorted_paths(std::size_t count) {
  std::vector<std::string> paths(count);
  for (auto& path : paths)
    path = fmt::format("/usr/share/doc/package-{}/part-{}.txt", random_bits()() % 1000,
                       random_bits()() % 100);
  std::ranges::sort(paths);
  return paths;
}

/// A block of them.
struct block_of_lines {
  std::vector<std::byte> content, code, held;
  std::size_t lines = 0, line_bytes = 0;

  explicit block_of_lines(std::size_t count) : lines(count) {
    auto const all = sorted_paths(count);
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

/// Into a block, as a merge does it.
void packing_of_lines(benchmark::State& state) {
  auto const paths = sorted_paths(count_of(state));
  std::size_t bytes = 0;
  for (auto const& path : paths) bytes += path.size();
  std::vector<std::byte> place(round_up<std::size_t>(packed_bytes(bytes, paths.size()), 4));
  packed_block block;
  measure(
      state, paths.size(), [&] { block = packed_block(place); },
      [&] {
        for (auto const& path : paths) block.append(path);
      },
      [&] { return block.items() == paths.size() && block.record_bytes() == bytes; });
}

/// Out of a block, as a merge does it: whether it can be one, and each with its prefix.
void unpacking_of_lines(benchmark::State& state) {
  block_of_lines const block(count_of(state));
  byte_order const order;
  record_items const family(order, 0);
  std::vector<std::byte> out(block.line_bytes);
  bool good = true;
  measure(
      state, block.lines, [] {},
      [&] {
        good &= can_be_packed(block.content, block.lines, out.size());
        auto const view = family.block_view(block.content, block.lines);
        std::byte* to = out.data();
        for (std::size_t i = 0; i < block.lines; ++i) {
          auto const key = view.key(i);
          good &= key.prefix != 0;
          to = family.store(key, to);
        }
      },
      [&] {
        return good && std::ranges::equal(out, std::span(block.content).first(block.line_bytes));
      });
}

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

// ---- records ----

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

BENCHMARK(checksum_of_block)->Arg(2_MiB)->UseManualTime();
BENCHMARK(encoding<std::uint32_t>)->Arg(1 << 20)->UseManualTime();
BENCHMARK(encoding<std::uint64_t>)->Arg(1 << 20)->UseManualTime();
BENCHMARK(encoding<word_pair>)->Arg(1 << 20)->UseManualTime();
BENCHMARK(decoding<std::uint32_t>)->Arg(1 << 20)->UseManualTime();
BENCHMARK(decoding<std::uint64_t>)->Arg(1 << 20)->UseManualTime();
BENCHMARK(decoding<word_pair>)->Arg(1 << 20)->UseManualTime();
BENCHMARK(packing_of_lines)->Arg(in_cache)->UseManualTime();
BENCHMARK(unpacking_of_lines)->Arg(in_cache)->UseManualTime();
BENCHMARK(encoding_of_lines<byte_coding::prefixes>)->Arg(in_cache)->UseManualTime();
BENCHMARK(encoding_of_lines<byte_coding::lz4>)->Arg(in_cache)->UseManualTime();
BENCHMARK(decoding_of_lines<byte_coding::prefixes>)->Arg(in_cache)->UseManualTime();
BENCHMARK(decoding_of_lines<byte_coding::lz4>)->Arg(in_cache)->UseManualTime();
BENCHMARK(encoding_of_records)->Arg(in_cache)->UseManualTime();
BENCHMARK(decoding_of_records)->Arg(in_cache)->UseManualTime();

}  // namespace
}  // namespace kernels
