// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/detail/bmmc_loads.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/pipeline/file_stages.hpp>

namespace outsize::numeric {
namespace {

// A request costs as much time as moving so many bytes more: what solid-state disks show with more
// than a hundred requests under way.
constexpr double request_overhead_bytes = 16 << 10;

// How much longer a pass takes with so many buffers than with reading, permuting and writing fully
// overlapped, which takes one for each and the auxiliary one. Measured with two cores and a disk
// that moves 600 MiB/s both ways; more where the cores are slower or the disk is faster.
constexpr std::size_t max_buffer_count = 4;
constexpr std::array<double, max_buffer_count + 1> slowdown_by_buffers{0, 0, 1.2, 1.05, 1.0};

// Smaller loads are considered only if the memory forces them: their requests are too few to keep
// a disk busy.
constexpr std::uint64_t least_good_load_bytes = 16 << 20;

std::uint64_t load_bytes(bmmc_limits const& limits, unsigned memory_bits) {
  return round_up<std::uint64_t>(limits.record_bytes << memory_bits, page_bytes());
}

std::size_t request_bytes(std::uint64_t run_blocks, std::uint64_t block_records,
                          std::size_t record_bytes) {
  return std::min<std::size_t>(run_blocks * block_records * record_bytes,
                               pipeline::most_request_bytes);
}

/// In units of moving all records once in long requests.
double estimated_time(bmmc_plan const& plan, bmmc_limits const& limits, std::size_t buffer_count) {
  double time = 0;
  for (bmmc_pass const& pass : plan.passes()) {
    auto const side = [](std::size_t request) {
      return 1 + request_overhead_bytes / static_cast<double>(request);
    };
    // Reading the first load and writing the last one overlap with nothing.
    double const ends = 1.0 / static_cast<double>(pass.load_count());
    time += (slowdown_by_buffers[buffer_count] + ends) *
            (side(source_request_bytes(pass, limits.record_bytes)) +
             side(target_request_bytes(pass, limits.record_bytes)));
  }
  return time;
}

/// The least block, or the one asked for, as a logarithm of records.
unsigned least_block_bits(bmmc_limits const& limits, unsigned size) {
  std::size_t const least = std::max(limits.record_bytes, limits.alignment_bytes);
  std::size_t const block = limits.block_bytes == 0 ? least : limits.block_bytes;
  if (!std::has_single_bit(block) || block < least)
    throw std::invalid_argument(fmt::format(
        "permute: a block of {} bytes is not a power of two of at least {} bytes", block, least));
  return std::min(size, static_cast<unsigned>(std::bit_width(block / limits.record_bytes)) - 1);
}

}  // namespace

std::size_t source_request_bytes(bmmc_pass const& pass, std::size_t record_bytes) {
  return request_bytes(pass.source_run_blocks(), pass.records_per_block(), record_bytes);
}

std::size_t target_request_bytes(bmmc_pass const& pass, std::size_t record_bytes) {
  return request_bytes(pass.target_run_blocks(), pass.records_per_block(), record_bytes);
}

bmmc_loads choose_bmmc_loads(affine_map const& map, bmmc_limits const& limits) {
  unsigned const size = map.a.size();
  unsigned const least_block = least_block_bits(limits, size);
  auto const gamma_rank = [&](unsigned b) { return map.a.rank({b, size}, {0, b}); };
  auto const least_load = [&](unsigned b) { return gamma_rank(b) > 0 ? b + 1 : b; };

  std::uint64_t const need = 2 * load_bytes(limits, least_load(least_block));
  if (limits.memory_bytes < need) throw budget_error("permute", limits.memory_bytes, need);

  bmmc_loads best;
  double best_time = std::numeric_limits<double>::infinity();
  unsigned largest = size;
  while (2 * load_bytes(limits, largest) > limits.memory_bytes) --largest;
  unsigned const largest_block = limits.block_bytes == 0 ? largest : least_block;
  for (unsigned m = largest; m + 1 > least_load(least_block); --m) {
    bool const is_forced = m + 1 >= largest;
    if (!is_forced && load_bytes(limits, m) < least_good_load_bytes) break;
    auto const buffers = static_cast<std::size_t>(
        std::min<std::uint64_t>({max_buffer_count, limits.memory_bytes / load_bytes(limits, m),
                                 (std::uint64_t{1} << (size - m)) + 1}));
    for (unsigned b = least_block; b <= std::min(m, largest_block); ++b) {
      if (m < least_load(b)) continue;
      double const time = estimated_time(bmmc_plan(map, {m, b}), limits, buffers);
      if (time > best_time || (time == best_time && m != best.sizes.memory_bits)) continue;
      best = {{m, b}, buffers};
      best_time = time;
    }
    if (m == 0) break;
  }
  return best;
}

}  // namespace outsize::numeric
