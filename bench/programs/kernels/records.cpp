// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Lines and records on their way into a chunk, and the sort of its index.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/programs/kernels/index_of_lines.hpp>
#include <bench/programs/kernels/random_items.hpp>
#include <bench/programs/kernels/timing.hpp>
#include <outsize/algorithm/detail/sort/family/recent_records.hpp>
#include <outsize/algorithm/detail/sort/family/record_items.hpp>
#include <outsize/base/detail/byte_places.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/codec/detail/record_place.hpp>
#include <outsize/kernel/byte_order.hpp>
#include <outsize/kernel/detail/index_sort.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>

namespace kernels {
namespace {

using namespace outsize;
using namespace outsize::detail;

/// Lines of some 40 bytes are cut.
void ends_of_lines(benchmark::State& state) {
  text_lines const lines(count_of(state),
                         [] { return std::string(10 + random_bits()() % 60, 'x'); });
  std::vector<std::uint32_t> ends(lines.size() + 64);
  std::size_t found = 0;
  measure(
      state, lines.size(), [] {},
      [&] { found = outsize::detail::find_byte(lines.text(), '\n', ends); },
      [&] {
        for (std::size_t i = 0; i < lines.size(); ++i)
          if (ends[i] != lines.begin(i) + lines[i].size()) return false;
        return found == lines.size();
      });
}

// ---- into a chunk ----

/// `range(0)` lines of 40 bytes, of `range(1)` kinds; 0: each is another one.
text_lines lines_of_kinds(benchmark::State const& state) {
  std::uint64_t const kinds = static_cast<std::uint64_t>(state.range(1));
  return text_lines(count_of(state), [=, i = std::uint64_t{0}]() mutable {
    return fmt::format("line {:035}", kinds == 0 ? i++ : random_bits()() % kinds);
  });
}

/// Lines are looked for among those that came of late. Where each is another one, that is given up
/// after some thousands.
void search_of_recent_lines(benchmark::State& state) {
  auto const lines = lines_of_kinds(state);
  auto const all = lines.all();
  auto const* const chunk = reinterpret_cast<std::byte const*>(lines.text().data());
  std::vector<std::uint64_t> memory(recent_records::memory_bytes(256_MiB) / sizeof(std::uint64_t));
  std::array<recent_records::hash, 32> hashes;
  recent_records recent;
  std::size_t found = 0;
  measure(
      state, all.size(),
      [&] {
        recent = recent_records(std::as_writable_bytes(std::span(memory)));
        found = 0;
      },
      [&] {
        for (std::size_t begin = 0; begin < all.size(); begin += hashes.size()) {
          auto const some =
              std::span(all).subspan(begin, std::min(hashes.size(), all.size() - begin));
          recent.look_ahead(some, chunk, hashes);
          for (std::size_t i = 0; i < some.size(); ++i) {
            auto const place = record_place::encode(lines.begin(begin + i), some[i].size());
            found += recent.find_or_note(some[i], hashes[i], chunk, place) ? 1 : 0;
          }
        }
      },
      [&] { return state.range(1) == 0 ? found == 0 : found > all.size() / 2; });
}

/// Lines are copied into a chunk, or counted there.
void chunk_of_lines(benchmark::State& state) {
  using family = record_items<byte_order>;
  byte_order const order;
  family const items(order, 0);
  auto const lines = lines_of_kinds(state);
  auto const all = lines.all();
  memory_budget budget(16_MiB);
  grant memory = budget.take(16_MiB, "kernel");
  family::chunk chunk(memory, 16_MiB);
  measure(
      state, all.size(), [&] { chunk.clear(); }, [&] { chunk.append(items, std::span(all)); },
      [&] { return chunk.count() == all.size() && chunk.bytes() == 40 * all.size(); });
}

// ---- the index ----

/// Lines of some 40 bytes, the first of which all have in common, as `range(1)` says.
text_lines lines_in_common(benchmark::State const& state) {
  std::string const common(static_cast<std::size_t>(state.range(1)), ' ');
  return text_lines(count_of(state), [&] {
    return common + std::to_string(random_bits()()) + std::to_string(random_bits()());
  });
}

/// The eight bytes behind those that are known to be alike.
void further_prefixes_of_lines(benchmark::State& state) {
  byte_order const order;
  auto const lines = lines_in_common(state);
  auto const all = lines.all();
  std::size_t const depth = std::max<std::size_t>(8, static_cast<std::size_t>(state.range(1)));
  std::vector<std::uint64_t> words(all.size());
  measure(
      state, all.size(), [] {},
      [&] {
        std::ranges::transform(all, words.begin(), [&](std::string_view line) {
          return order.deeper_prefix(line, {.bytes = depth});
        });
      },
      [&] {
        auto const of_next = [&](std::size_t i) { return order.prefix(all[i].substr(depth)) >> 8; };
        return words.front() >> 8 == of_next(0) && words.back() >> 8 == of_next(all.size() - 1);
      });
}

void index_sort_of_lines(benchmark::State& state) {
  measure_index_of(state, lines_in_common(state), byte_order(), std::less<>());
}

BENCHMARK(ends_of_lines)->Arg(in_cache)->UseManualTime();
BENCHMARK(search_of_recent_lines)->Args({1 << 16, 0})->Args({1 << 16, 1000})->UseManualTime();
BENCHMARK(chunk_of_lines)->Args({1 << 16, 0})->Args({1 << 16, 1000})->UseManualTime();
BENCHMARK(further_prefixes_of_lines)->Args({in_cache, 20})->UseManualTime();
BENCHMARK(index_sort_of_lines)->Args({1 << 18, 0})->Args({1 << 18, 20})->UseManualTime();

}  // namespace
}  // namespace kernels
