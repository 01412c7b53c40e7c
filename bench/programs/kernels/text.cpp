// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What is done for each line of text: records of CSV and their fields are found, keys become words,
// indices are sorted by them, lines are counted.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/programs/kernels/index_of_lines.hpp>
#include <bench/programs/kernels/random_items.hpp>
#include <bench/programs/kernels/timing.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/record/csv_scanner.hpp>
#include <outsize/text/csv_field.hpp>
#include <outsize/text/detail/text_tally.hpp>
#include <outsize/text/field_split.hpp>
#include <outsize/text/key_extractor.hpp>
#include <outsize/text/line_key.hpp>
#include <outsize/text/line_order.hpp>

namespace kernels {
namespace {

using namespace outsize;
using namespace outsize::detail;

// ---- CSV ----

/// Records of four fields, of which `range(1)` are quoted, with quotes and an LF inside.
text_lines csv_records(benchmark::State const& state) {
  bool const quoted = state.range(1) != 0;
  return text_lines(count_of(state), [=] {
    auto const number = random_bits()() % 1'000'000'000;
    return quoted ? fmt::format("{},\"a \"\"{}\"\"\nof two lines\",street,town", number, number)
                  : fmt::format("{},a plain {} of one line,street,town", number, number);
  });
}

/// The ends of records are found; for each byte.
void csv_scanner_of_records(benchmark::State& state) {
  auto const records = csv_records(state);
  csv_scanner scanner{csv_format()};
  std::size_t found = 0;
  measure(
      state, records.text().size(), [&] { found = 0; },
      [&] {
        for (std::string_view rest = records.text(); !rest.empty(); ++found)
          rest.remove_prefix(scanner.scan(rest) + 1);
      },
      [&] { return found == records.size(); });
}

/// The value of the second field, without its quotes.
void csv_field_of_records(benchmark::State& state) {
  auto const records = csv_records(state);
  auto const all = records.all();
  std::string room;
  std::size_t bytes = 0;
  measure(
      state, all.size(), [&] { bytes = 0; },
      [&] {
        for (auto const record : all) bytes += text::csv_field(record, 1, {}, room).size();
      },
      [&] { return bytes > 15 * all.size(); });
}

// ---- keys ----

/// Lines of six fields: a name, a number, one with a unit, a month, a version, a number with an
/// exponent. Names have the first `common` bytes in common.
text_lines lines_of_fields(std::size_t count, std::size_t common = 0) {
  static constexpr std::array months{"jan", "feb", "mar", "apr", "may", "jun"};
  return text_lines(count, [common] {
    auto const bits = random_bits()();
    return fmt::format("{:-<{}}{:08x}ab,{},{}K,{},file-{}.{}.tar,{}.5e{}", "", common, bits >> 32,
                       bits % 100'000, bits % 1000, months[bits % months.size()], bits % 10,
                       bits % 97, bits % 89, bits % 7);
  });
}

text::line_order order_by(char const* key) {
  return text::line_order({.separator = ',', .keys = {text::parse_key(key)}});
}

/// Keys are found and become words of the same order.
void key_words(benchmark::State& state, char const* key) {
  auto const order = order_by(key);
  auto const lines = lines_of_fields(count_of(state));
  auto const all = lines.all();
  std::vector<std::uint64_t> words(all.size());
  measure(
      state, all.size(), [] {},
      [&] {
        std::ranges::transform(all, words.begin(),
                               [&](std::string_view line) { return order.prefix(line); });
      },
      [&] {
        for (std::size_t i = 1; i < all.size(); ++i)
          if (words[i] < words[i - 1] && order.compare(all[i], all[i - 1]) >= 0) return false;
        return true;
      });
}

/// An index of lines by a name that many bytes of decide nothing, as `range(1)` says: key after
/// key, some bytes of it at a time.
void index_sort_by_key(benchmark::State& state, char const* key) {
  auto const order = order_by(key);
  auto const lines = lines_of_fields(count_of(state), static_cast<std::size_t>(state.range(1)));
  measure_index_of(state, lines, order,
                   [&](std::string_view a, std::string_view b) { return order.compare(a, b) < 0; });
}

/// Two keys are cut out of a line, as groups are counted by.
void key_extraction(benchmark::State& state) {
  text::key_extractor extractor(
      {.separator = ',', .keys = {text::parse_key("4,4"), text::parse_key("1,1")}}, '\n');
  auto const lines = lines_of_fields(count_of(state));
  auto const all = lines.all();
  std::size_t bytes = 0;
  measure(
      state, all.size(), [&] { bytes = 0; },
      [&] {
        for (auto const line : all) bytes += extractor.extract(line).size();
      },
      [&] { return bytes == 14 * all.size(); });
}

/// All fields, as lines are joined by.
void field_split_of_lines(benchmark::State& state) {
  auto const lines = lines_of_fields(count_of(state));
  auto const all = lines.all();
  std::vector<std::string_view> fields;
  std::size_t found = 0;
  measure(
      state, all.size(), [&] { found = 0; },
      [&] {
        for (auto const line : all) {
          text::split_fields(line, ',', fields);
          found += fields.size();
        }
      },
      [&] { return found == 6 * all.size(); });
}

/// Lines of `range(1)` kinds are counted.
void text_tally_of_lines(benchmark::State& state) {
  auto const kinds = static_cast<std::uint64_t>(state.range(1));
  text_lines const lines(count_of(state),
                         [=] { return fmt::format("line {:011}", random_bits()() % kinds); });
  auto const all = lines.all();
  memory_budget budget(32_MiB);
  grant memory = budget.take(32_MiB, "kernel");
  text_tally tally(memory, 32_MiB);
  measure(
      state, all.size(), [&] { tally.clear(); },
      [&] {
        for (auto const line : all) tally.add(line);
      },
      [&] {
        std::uint64_t sum = 0;
        tally.for_each([&](std::string_view, std::uint64_t count) { sum += count; });
        return sum == all.size();
      });
}

BENCHMARK(csv_scanner_of_records)->Args({in_cache, 0})->Args({in_cache, 1})->UseManualTime();
BENCHMARK(csv_field_of_records)->Args({in_cache, 0})->Args({in_cache, 1})->UseManualTime();
BENCHMARK_CAPTURE(key_words, bytes, "4,4")->Arg(in_cache)->UseManualTime();
BENCHMARK_CAPTURE(key_words, folded, "4,4f")->Arg(in_cache)->UseManualTime();
BENCHMARK_CAPTURE(key_words, decimal, "2,2n")->Arg(in_cache)->UseManualTime();
BENCHMARK_CAPTURE(key_words, with_unit, "3,3h")->Arg(in_cache)->UseManualTime();
BENCHMARK_CAPTURE(key_words, month, "4,4M")->Arg(in_cache)->UseManualTime();
BENCHMARK_CAPTURE(key_words, version, "5,5V")->Arg(in_cache)->UseManualTime();
BENCHMARK_CAPTURE(key_words, general, "6,6g")->Arg(in_cache)->UseManualTime();
BENCHMARK_CAPTURE(key_words, random, "2,2R")->Arg(in_cache)->UseManualTime();
BENCHMARK_CAPTURE(index_sort_by_key, bytes, "1,1")
    ->Args({1 << 18, 0})
    ->Args({1 << 18, 20})
    ->UseManualTime();
BENCHMARK_CAPTURE(index_sort_by_key, decimal, "2,2n")->Args({1 << 18, 0})->UseManualTime();
BENCHMARK(key_extraction)->Arg(in_cache)->UseManualTime();
BENCHMARK(field_split_of_lines)->Arg(in_cache)->UseManualTime();
BENCHMARK(text_tally_of_lines)->Args({1 << 18, 1000})->Args({1 << 18, 1 << 17})->UseManualTime();

}  // namespace
}  // namespace kernels
