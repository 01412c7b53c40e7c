// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/detail/fft_loads.hpp>

#include <algorithm>
#include <bit>
#include <complex>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/numeric/detail/fft_kernel.hpp>

namespace outsize::numeric {
namespace {

constexpr std::uint64_t record_bytes = sizeof(std::complex<double>);

// 8 KiB: shorter requests would cost more time than another pass does.
constexpr unsigned usual_block_bits = 9;
// 64 KiB: disks gain nothing by longer ones.
constexpr unsigned longest_block_bits = 12;
// 16 MiB: enough for any disk, few enough of the memory.
constexpr unsigned longest_chunk_bits = 20;
constexpr std::uint64_t chunks_in_memory = 16;

unsigned floor_log2(std::uint64_t value) noexcept {
  return value == 0 ? 0 : static_cast<unsigned>(std::bit_width(value)) - 1;
}

/// The part of a load's transfers that belongs to a range of its buffer, as seen from there.
std::vector<fft_transfer> cut(std::vector<fft_transfer> const& all, std::uint64_t begin,
                              std::uint64_t end) {
  auto const ends_before = [](fft_transfer const& t, std::uint64_t place) {
    return t.buffer_offset + t.length <= place;
  };
  std::vector<fft_transfer> part;
  for (auto t = std::lower_bound(all.begin(), all.end(), begin, ends_before);
       t != all.end() && t->buffer_offset < end; ++t) {
    std::uint64_t const from = std::max(begin, t->buffer_offset);
    std::uint64_t const to = std::min(end, t->buffer_offset + t->length);
    part.push_back({t->file_offset + (from - t->buffer_offset), from - begin, to - from});
  }
  return part;
}

std::uint64_t shortest(std::vector<fft_transfer> const& transfers) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (auto const& t : transfers) least = std::min(least, t.length);
  return least;
}

}  // namespace

// -------------------------------------------------------------------------------------- pass

fft_chunked_pass::fft_chunked_pass(fft_pass pass, unsigned chunk_bits, bool tiled)
    : pass_(std::move(pass)), chunk_bits_(chunk_bits), tiled_(tiled) {
  OUTSIZE_ASSERT(chunk_records() <= pass_.records_per_load());
  OUTSIZE_ASSERT(chunk_bits_ >= chunk_row_bits());
}

unsigned fft_chunked_pass::chunk_row_bits() const noexcept {
  return pass_.is_last() ? floor_log2(pass_.shape().count) : 0;
}

/// Tiles lie in the order in which the first pass writes them.
fft_transfer fft_chunked_pass::tile(std::uint64_t chunk) const noexcept {
  if (!pass_.is_last()) return {chunk * chunk_records(), 0, chunk_records()};
  std::uint64_t const a = chunk % chunks_per_load(), b = chunk / chunks_per_load();
  return {(a * pass_.load_count() + b) * chunk_records(), 0, chunk_records()};
}

std::vector<fft_transfer> fft_chunked_pass::reads(std::uint64_t chunk) const {
  if (pass_.is_last() && tiled_) return {tile(chunk)};
  std::uint64_t const load = chunk / chunks_per_load(), part = chunk % chunks_per_load();
  auto const all = pass_.gathers(load);
  if (!pass_.is_last()) return cut(all, part * chunk_records(), (part + 1) * chunk_records());
  std::uint64_t const columns = std::uint64_t{1} << chunk_column_bits();
  std::vector<fft_transfer> pieces;
  for (std::uint64_t row = 0; row < pass_.shape().count; ++row) {
    std::uint64_t const begin = row * pass_.shape().length + part * columns;
    fft_transfer piece = cut(all, begin, begin + columns).front();
    piece.buffer_offset = row * columns;
    if (!pieces.empty() && pieces.back().file_offset + pieces.back().length == piece.file_offset) {
      pieces.back().length += piece.length;  // whole rows, neighbours in the file
    } else {
      pieces.push_back(piece);
    }
  }
  return pieces;
}

std::vector<fft_transfer> fft_chunked_pass::writes(std::uint64_t chunk) const {
  if (!pass_.is_last() && tiled_) return {tile(chunk)};
  std::uint64_t const load = chunk / chunks_per_load(), part = chunk % chunks_per_load();
  return cut(pass_.scatters(load), part * chunk_records(), (part + 1) * chunk_records());
}

std::uint64_t fft_chunked_pass::read_records() const { return shortest(reads(0)); }
std::uint64_t fft_chunked_pass::write_records() const { return shortest(writes(0)); }

// ------------------------------------------------------------------------------------- loads

namespace {

std::uint64_t in_pages(std::uint64_t bytes) { return round_up<std::uint64_t>(bytes, page_bytes()); }

std::uint64_t scratch_bytes(fft_pass const& pass) {
  std::uint64_t const length = pass.shape().length;
  return in_pages(
      panel_bytes(length, pass.is_last() ? 1 : panel_columns(length, pass.row_records())));
}

/// lg of the numbers of a load's rows, for each pass.
std::vector<unsigned> choose_widths(std::vector<unsigned> const& digits, unsigned memory_bits,
                                    unsigned block_bits, unsigned chunk_bits) {
  std::vector<unsigned> widths;
  for (unsigned d : digits) widths.push_back(std::min(memory_bits - d, longest_block_bits));
  if (digits.size() > 2) {  // the last pass's chunks are all its rows of at least a block each
    widths.back() = std::min(widths.back(), std::max(chunk_bits, 2 * block_bits) - block_bits);
  } else if (digits.size() == 2) {
    while (widths[0] + widths[1] > chunk_bits) {
      unsigned& longer = widths[0] > widths[1] ? widths[0] : widths[1];
      if (longer <= block_bits) break;
      --longer;
    }
  }
  return widths;
}

fft_loads loads_for(fft_limits const& limits, fft_memory memory) {
  fft_plan const plan(limits.record_bits, memory);
  fft_loads loads;
  if (plan.passes().size() == 1) {
    loads.passes.emplace_back(plan.passes()[0], limits.record_bits, false);
    return loads;
  }
  std::vector<unsigned> const digits(plan.digit_bits().begin(), plan.digit_bits().end());
  unsigned const chunk_bits = std::min(
      floor_log2(limits.memory_bytes / chunks_in_memory / record_bytes), longest_chunk_bits);
  auto const widths = choose_widths(digits, plan.memory_bits(), plan.block_bits(), chunk_bits);
  bool const tiled = digits.size() == 2;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    fft_pass const pass(digits, i, digits[i] + widths[i]);
    unsigned const load_bits = floor_log2(pass.records_per_load());
    // Whole rows of the load's, or of the last pass whole columns.
    unsigned const least = floor_log2(pass.is_last() ? pass.shape().count : pass.row_records());
    unsigned const chunk =
        tiled ? widths[0] + widths[1]
              : std::min(load_bits,
                         std::max(chunk_bits, least + (pass.is_last() ? plan.block_bits() : 0)));
    loads.passes.emplace_back(pass, chunk, tiled);
  }
  auto const part = limits.memory_bytes / 8;
  std::uint64_t scratch = 1;
  for (auto const& p : loads.passes) scratch = std::max(scratch, scratch_bytes(p.pass()));
  loads.workers = std::clamp<std::uint64_t>(part / scratch, 1, limits.threads);
  loads.transposers = std::clamp<std::uint64_t>(
      part / (loads.passes.back().chunk_records() * record_bytes), 1, limits.threads);
  return loads;
}

unsigned checked_block_bits(std::size_t block_bytes) {
  if (block_bytes == 0) return usual_block_bits;
  if (!std::has_single_bit(block_bytes) || block_bytes < record_bytes)
    throw std::invalid_argument(fmt::format(
        "FFT: blocks of {} bytes, need a power of two of at least {}", block_bytes, record_bytes));
  return floor_log2(block_bytes / record_bytes);
}

}  // namespace

std::uint64_t fft_loads::kernel_bytes(std::size_t pass) const {
  auto const& p = passes[pass];
  if (passes.size() == 1) return 0;
  std::uint64_t const scratch = workers * scratch_bytes(p.pass());
  if (p.pass().is_last()) return scratch;
  return scratch + fft_twiddles::table_bytes(floor_log2(p.chunk_count() * p.chunk_records()));
}

std::uint64_t fft_loads::side_bytes(std::size_t pass) const {
  auto const& p = passes[pass];
  bool const transposes = p.pass().is_last() && passes.size() > 1;
  return kernel_bytes(pass) +
         (transposes ? transposers * in_pages(p.chunk_records() * record_bytes) : 0);
}

std::uint64_t fft_loads::least_pool_bytes(std::size_t pass) const {
  auto const& p = passes[pass];
  std::uint64_t const chunk = in_pages(p.chunk_records() * record_bytes);
  if (passes.size() == 1) return chunk;
  // Half a load more is about what is read while a load is transformed.
  return (p.chunks_per_load() + std::max<std::uint64_t>(2, p.chunks_per_load() / 2)) * chunk;
}

std::size_t fft_loads::pool_count(std::size_t pass, std::uint64_t memory_bytes) const {
  auto const& p = passes[pass];
  if (passes.size() == 1) return 1;
  std::uint64_t const fit =
      (memory_bytes - side_bytes(pass)) / in_pages(p.chunk_records() * record_bytes);
  return std::min({fit, 3 * p.chunks_per_load(), p.chunk_count()});
}

fft_loads choose_fft_loads(fft_limits const& limits) {
  unsigned const block_bits = checked_block_bits(limits.block_bytes);
  std::uint64_t least_need = std::numeric_limits<std::uint64_t>::max();
  unsigned const most_bits =
      std::min(limits.record_bits, floor_log2(limits.memory_bytes / record_bytes));
  for (unsigned m = std::max(most_bits, std::min(limits.record_bits, 2U));; --m) {
    fft_loads loads = loads_for(limits, {m, block_bits});
    std::uint64_t need = 0;
    for (std::size_t i = 0; i < loads.passes.size(); ++i)
      need = std::max(need, loads.side_bytes(i) + loads.least_pool_bytes(i));
    if (need <= limits.memory_bytes) return loads;
    least_need = std::min(least_need, need);
    if (m <= 2) break;
  }
  throw budget_error("FFT", limits.memory_bytes, least_need);
}

}  // namespace outsize::numeric
