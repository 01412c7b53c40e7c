// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/detail/fft_plan.hpp>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include <outsize/base/assert.hpp>

namespace outsize::numeric {
namespace {

std::uint64_t power_of_two(unsigned bits) noexcept { return std::uint64_t{1} << bits; }

/// Joins the transfer to the last one if it continues it on both sides.
void append(std::vector<fft_transfer>& transfers, fft_transfer next) {
  if (!transfers.empty()) {
    auto& last = transfers.back();
    if (last.file_offset + last.length == next.file_offset &&
        last.buffer_offset + last.length == next.buffer_offset) {
      last.length += next.length;
      return;
    }
  }
  transfers.push_back(next);
}

/// lg N_1 … lg N_k: as few as can be, as equal as can be. The odd bits go to the last one, since
/// the width of an earlier pass counts twice, in reading and in writing, that of the last once.
std::vector<unsigned> split_bits(unsigned record_bits, fft_memory memory) {
  if (record_bits <= memory.memory_bits) return {record_bits};
  unsigned const per_pass = memory.memory_bits - memory.block_bits;
  unsigned const count = (record_bits + per_pass - 1) / per_pass;
  unsigned const last = std::max((record_bits + count - 1) / count, memory.block_bits);
  unsigned const others = record_bits - last;
  std::vector<unsigned> bits;
  for (unsigned i = 0; i + 1 < count; ++i)
    bits.push_back(others * (i + 1) / (count - 1) - others * i / (count - 1));
  bits.push_back(last);
  return bits;
}

}  // namespace

// -------------------------------------------------------------------------------------- pass

fft_pass::fft_pass(std::span<unsigned const> digit_bits, std::size_t index, unsigned memory_bits)
    : digit_bits_(digit_bits.begin(), digit_bits.end()), index_(index) {
  OUTSIZE_ASSERT(index < digit_bits.size());
  auto const place = digit_bits.begin() + static_cast<std::ptrdiff_t>(index);
  high_bits_ = std::accumulate(digit_bits.begin(), place, 0U);
  low_bits_ = std::accumulate(place + 1, digit_bits.end(), 0U);
  record_bits_ = high_bits_ + *place + low_bits_;
  load_bits_ = std::min(memory_bits, record_bits_);
  OUTSIZE_ASSERT(*place <= load_bits_);

  unsigned const width_bits =
      is_last() ? load_bits_ - *place : std::min(load_bits_ - *place, low_bits_);
  shape_.length = power_of_two(*place);
  shape_.count = power_of_two(width_bits);
  shape_.group_count = power_of_two(load_bits_ - *place - width_bits);
  shape_.group_distance = shape_.length * shape_.count;
  shape_.stride = is_last() ? 1 : shape_.count;
  shape_.distance = is_last() ? shape_.length : 1;
  shape_.output_stride = shape_.count;
  shape_.output_distance = 1;
}

std::uint64_t fft_pass::load_count() const noexcept {
  return power_of_two(record_bits_ - load_bits_);
}

std::vector<fft_transfer> fft_pass::gathers(std::uint64_t load) const {
  OUTSIZE_ASSERT(load < load_count());
  if (!is_last()) return row_transfers(load);
  std::vector<fft_transfer> transfers;
  for (std::uint64_t t = 0; t < shape_.count; ++t)
    append(transfers, {row_of_result(load * shape_.count + t) * shape_.length, t * shape_.length,
                       shape_.length});
  return transfers;
}

std::vector<fft_transfer> fft_pass::scatters(std::uint64_t load) const {
  OUTSIZE_ASSERT(load < load_count());
  if (!is_last()) return row_transfers(load);
  std::vector<fft_transfer> transfers;
  for (std::uint64_t e = 0; e < shape_.length; ++e)
    append(transfers, {(e << high_bits_) + load * shape_.count, e * shape_.count, shape_.count});
  return transfers;
}

/// The rows of an in-place pass.
std::vector<fft_transfer> fft_pass::row_transfers(std::uint64_t load) const {
  // Either a load is part of one group, that is of the numbers with equal high digits, or it
  // consists of whole ones.
  std::uint64_t const loads_per_group = power_of_two(low_bits_) / shape_.count;
  std::uint64_t const group_records = shape_.length << low_bits_;
  std::uint64_t const first_group = load / loads_per_group * shape_.group_count;
  std::vector<fft_transfer> transfers;
  for (std::uint64_t r = 0; r < row_count(); ++r) {
    std::uint64_t const group = first_group + r / shape_.length;
    std::uint64_t const row_begin = group * group_records + (r % shape_.length << low_bits_);
    append(transfers, {row_begin + first_low_index(load), r * shape_.count, shape_.count});
  }
  return transfers;
}

/// Where in the file, counted in rows of the last dimension, the digits k_1 … lie, given as
/// k_1 + N_1 (k_2 + …).
std::uint64_t fft_pass::row_of_result(std::uint64_t low_digits) const noexcept {
  std::uint64_t row = 0;
  for (std::size_t i = 0; i < index_; ++i) {
    row = row << digit_bits_[i] | (low_digits & (power_of_two(digit_bits_[i]) - 1));
    low_digits >>= digit_bits_[i];
  }
  return row;
}

std::uint64_t fft_pass::first_low_index(std::uint64_t load) const noexcept {
  OUTSIZE_ASSERT(!is_last());
  return load * shape_.count & (power_of_two(low_bits_) - 1);
}

std::uint64_t fft_pass::twiddle_step(std::uint64_t row) const noexcept {
  OUTSIZE_ASSERT(!is_last());
  // W of order N_i ⋯ N_k is W_N to the power of N_1 ⋯ N_{i-1}.
  return (row & (shape_.length - 1)) << high_bits_;
}

// -------------------------------------------------------------------------------------- plan

fft_plan::fft_plan(unsigned record_bits, fft_memory memory) : record_bits_(record_bits) {
  OUTSIZE_ASSERT(record_bits <= 62);
  memory_.memory_bits = std::min(memory.memory_bits, record_bits);
  memory_.block_bits = std::min(memory.block_bits, memory_.memory_bits / 2);
  if (memory_.memory_bits == 0 && record_bits > 0)
    throw std::invalid_argument(fmt::format(
        "FFT of 2^{} numbers: a memory load of one number, need at least two", record_bits));
  digit_bits_ = split_bits(record_bits, memory_);
  for (std::size_t i = 0; i < digit_bits_.size(); ++i)
    passes_.emplace_back(digit_bits_, i, memory_.memory_bits);
}

}  // namespace outsize::numeric
