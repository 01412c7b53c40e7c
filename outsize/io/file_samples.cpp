// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/file_samples.hpp>

#include <xxhash.h>

#include <algorithm>
#include <bit>

#include <outsize/base/detail/aligned_memory.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/file.hpp>

namespace outsize::io {
namespace {

constexpr std::uint64_t sample_bytes = 4096, most_samples = 1024;

std::uint64_t digest_of(std::span<std::byte const> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size()) | 1;  // 0 stands for none
}

}  // namespace

file_samples::file_samples(std::uint64_t file_bytes)
    : file_bytes_(file_bytes),
      stride_bytes_(std::max(sample_bytes, std::bit_ceil(div_up(file_bytes, most_samples)))),
      digests_(static_cast<std::size_t>(div_up(file_bytes, stride_bytes_)) + 1) {}

file_samples::place file_samples::place_of(std::size_t sample) const noexcept {
  bool const is_last = sample + 1 == digests_.size();
  std::uint64_t const begin =
      is_last ? round_down(std::max<std::uint64_t>(file_bytes_, 1) - 1, sample_bytes)
              : sample * stride_bytes_;
  return {begin, static_cast<std::size_t>(std::min(sample_bytes, file_bytes_ - begin))};
}

std::size_t file_samples::sample_at_or_behind(std::uint64_t offset_bytes) const noexcept {
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(div_up(offset_bytes, stride_bytes_), digests_.size() - 1));
}

void file_samples::note(std::uint64_t offset_bytes, std::span<std::byte const> read) noexcept {
  auto const note_one = [&](std::size_t sample) {
    auto const [begin, length] = place_of(sample);
    if (begin < offset_bytes || begin + length > offset_bytes + read.size()) return;
    auto const bytes = read.subspan(static_cast<std::size_t>(begin - offset_bytes), length);
    digests_[sample].store(digest_of(bytes), std::memory_order_relaxed);
  };
  std::uint64_t const end = offset_bytes + read.size();
  std::size_t const last = digests_.size() - 1;
  for (std::size_t s = sample_at_or_behind(offset_bytes); s < last && s * stride_bytes_ < end; ++s)
    note_one(s);
  note_one(last);
}

bool file_samples::are_in(file& source) const {
  std::size_t const unit = std::max<std::size_t>(source.alignment_bytes(), sample_bytes);
  auto const memory = outsize::detail::allocate_aligned<std::byte>(unit, unit);
  for (std::size_t s = 0; s < digests_.size(); ++s) {
    std::uint64_t const noted = digests_[s].load(std::memory_order_relaxed);
    if (noted == 0) continue;
    auto const [begin, length] = place_of(s);
    std::uint64_t const aligned = round_down(begin, std::uint64_t{unit});
    auto const reading = source.read_now(aligned, {memory.get(), unit});
    auto const skipped = static_cast<std::size_t>(begin - aligned);
    if (reading->wait() < skipped + length) return false;
    if (digest_of({memory.get() + skipped, length}) != noted) return false;
  }
  return true;
}

}  // namespace outsize::io
