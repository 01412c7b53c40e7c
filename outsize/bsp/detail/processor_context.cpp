// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/processor_context.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include OUTSIZE_XXHASH_HEADER

#include <outsize/base/assert.hpp>
#include <outsize/base/units.hpp>
#include <outsize/bsp/detail/arena_heap.hpp>

namespace outsize::bsp::detail {

namespace {

constexpr std::uint64_t page = arena_heap::page_bytes;

/// Appends a grain to runs of grains in ascending order.
void append(std::vector<grain_run>& runs, std::uint32_t grain) {
  if (!runs.empty() && runs.back().first + runs.back().count == grain) {
    ++runs.back().count;
  } else {
    runs.push_back({grain, 1});
  }
}

grain_sum zero_sum(std::uint32_t grain_bytes) {
  static grain_sum const of_64_kib = sum_of(std::vector<std::byte>(64_KiB));
  OUTSIZE_ASSERT(grain_bytes == 64_KiB);
  return of_64_kib;
}

}  // namespace

arena_shape shape_of(std::uint64_t context_bytes) {
  std::uint64_t const piece =
      std::max(std::clamp<std::uint64_t>(std::bit_ceil(context_bytes / 64), 64_KiB, 2_MiB),
               std::bit_ceil(context_bytes / 16384));
  std::uint64_t const used = std::max(context_bytes / piece, std::uint64_t{1}) * piece;
  return {.context_bytes = used,
          .arena_bytes = round_up(used + used / 4, 1_GiB),
          .piece_bytes = static_cast<std::uint32_t>(piece),
          .grain_bytes = 64_KiB};
}

grain_sum sum_of(std::span<std::byte const> grain) noexcept {
  XXH128_hash_t const sum = XXH3_128bits(grain.data(), grain.size());
  return {sum.low64, sum.high64};
}

context::context(storage& store, arena_shape const& shape, std::unique_ptr<arena_memory> memory)
    : store_(store), shape_(shape), memory_(std::move(memory)), where_(store.new_placement()) {}

context::~context() {
  for (std::size_t piece = 0; piece < pieces_.size(); ++piece) forget(piece);
}

bool context::has_used_page(std::uint64_t first_page, std::uint64_t pages) const noexcept {
  std::span<std::uint64_t const> const used = memory_->used_pages();
  std::uint64_t const end = first_page + pages;
  if (first_page < wanted_end_ && wanted_first_ < end) return true;
  while (first_page < end) {  // pieces begin at multiples of 16 pages
    std::uint64_t const in_word = std::min(end - first_page, 64 - first_page % 64);
    std::uint64_t const mask = in_word == 64
                                   ? ~std::uint64_t{0}
                                   : ((std::uint64_t{1} << in_word) - 1) << (first_page % 64);
    if ((used[first_page / 64] & mask) != 0) return true;
    first_page += in_word;
  }
  return false;
}

bool context::is_used(std::size_t piece) const noexcept {
  std::uint64_t const pages = shape_.piece_bytes / page;
  return has_used_page(piece * pages, pages);
}

bool context::is_grain_used(std::size_t piece, std::uint32_t grain) const noexcept {
  std::uint64_t const pages = shape_.grain_bytes / page;
  return has_used_page(grain_index(piece, grain) * pages, pages);
}

std::size_t context::used_pieces() const noexcept {
  std::size_t count = 0;
  for (std::size_t piece = 0; piece < pieces_.size(); ++piece) count += is_used(piece) ? 1 : 0;
  return count;
}

void context::want(std::uint64_t first_page, std::uint64_t pages) {
  std::size_t const needed = div_up<std::uint64_t>((first_page + pages) * page, shape_.piece_bytes);
  if (needed > pieces_.size()) {
    sums_.resize(needed * shape_.grains_per_piece(), zero_sum(shape_.grain_bytes));
    pieces_.resize(needed);  // the last: it says how many there are
  }
  wanted_first_ = first_page;
  wanted_end_ = first_page + pages;
}

grain_sum context::sum_now(std::size_t piece, std::uint32_t grain) const noexcept {
  return sum_of(bytes_of(piece).subspan(grain * shape_.grain_bytes, shape_.grain_bytes));
}

std::vector<grain_run> context::changes(std::size_t piece) {
  grain_sum const zero = zero_sum(shape_.grain_bytes);
  std::vector<grain_run> changed;
  for (std::uint32_t grain = 0; grain < shape_.grains_per_piece(); ++grain) {
    std::size_t const index = grain_index(piece, grain);
    grain_sum const now = is_grain_used(piece, grain) ? sum_now(piece, grain) : zero;
    if (now == sums_[index]) continue;
    sums_[index] = now;
    if (now != zero) append(changed, grain);
  }
  if (changed.empty() || !is_read(piece)) return changed;
  pieces_[piece].place.reset();
  return stored(piece);
}

std::vector<grain_run> context::unsaved(std::size_t piece, grain_run wanted) {
  grain_sum const zero = zero_sum(shape_.grain_bytes);
  std::uint32_t const end = wanted.first + wanted.count;
  std::vector<grain_run> all;
  for (std::uint32_t grain = wanted.first; grain < end; ++grain) {
    grain_sum const now = sum_now(piece, grain);
    if (now != std::exchange(sums_[grain_index(piece, grain)], now) || now == zero) {
      append(all, grain);
    }
  }
  if (all.empty() || !is_read(piece)) return all;
  changes(piece);
  pieces_[piece].place.reset();
  all.clear();
  for (std::uint32_t grain = 0; grain < shape_.grains_per_piece(); ++grain) {
    bool const is_wanted = wanted.first <= grain && grain < end;
    bool const is_stored = sums_[grain_index(piece, grain)] != zero && is_grain_used(piece, grain);
    if (is_wanted || is_stored) append(all, grain);
  }
  return all;
}

bool context::is_saved(std::size_t piece, grain_run grains) const noexcept {
  grain_sum const zero = zero_sum(shape_.grain_bytes);
  for (std::uint32_t grain = grains.first; grain < grains.first + grains.count; ++grain) {
    grain_sum const& stored = sums_[grain_index(piece, grain)];
    if (stored == zero || stored != sum_now(piece, grain)) return false;
  }
  return true;
}

void context::lose(std::size_t piece, grain_run grains) noexcept {
  constexpr grain_sum no_sum{~std::uint64_t{0}, ~std::uint64_t{0}};
  auto const first = sums_.begin() + static_cast<std::ptrdiff_t>(grain_index(piece, grains.first));
  std::fill_n(first, grains.count, no_sum);
}

std::vector<grain_run> context::stored(std::size_t piece) const {
  grain_sum const zero = zero_sum(shape_.grain_bytes);
  std::vector<grain_run> there;
  for (std::uint32_t grain = 0; grain < shape_.grains_per_piece(); ++grain) {
    if (sums_[grain_index(piece, grain)] != zero && is_grain_used(piece, grain)) {
      append(there, grain);
    }
  }
  return there;
}

void context::clear_but(std::size_t piece, std::span<grain_run const> grains) const noexcept {
  std::span<std::byte> rest = bytes_of(piece);
  std::uint32_t at = 0;
  for (grain_run const run : grains) {
    std::memset(rest.data(), 0, std::size_t{run.first - at} * shape_.grain_bytes);
    rest = rest.subspan(std::size_t{run.first + run.count - at} * shape_.grain_bytes);
    at = run.first + run.count;
  }
  std::memset(rest.data(), 0, rest.size());
}

std::uint64_t context::used_bytes(std::size_t piece) const noexcept {
  if (!pieces_[piece].place) return 0;
  std::uint64_t bytes = 0;
  for (std::uint32_t grain = 0; grain < shape_.grains_per_piece(); ++grain) {
    if (is_grain_used(piece, grain)) bytes += shape_.grain_bytes;
  }
  return bytes;
}

block::block_id context::place_of(std::size_t piece, grain_run grains) {
  std::shared_ptr<shared_block const>& place = pieces_[piece].place;
  if (!place) {
    block::block_id const fresh = store_.allocate(shape_.piece_bytes, *where_);
    try {
      place = std::make_shared<shared_block>(store_, fresh);
    } catch (...) {
      store_.free(fresh);
      throw;
    }
  }
  return known_place_of(piece, grains);
}

block::block_id context::known_place_of(std::size_t piece, grain_run grains) const noexcept {
  OUTSIZE_ASSERT(pieces_[piece].place);
  block::block_id part = pieces_[piece].place->place();
  part.offset_bytes += std::uint64_t{grains.first} * shape_.grain_bytes;
  part.length_bytes = grains.count * shape_.grain_bytes;
  return part;
}

void context::forget(std::size_t piece) noexcept {
  pieces_[piece].place.reset();
  grain_sum const zero = zero_sum(shape_.grain_bytes);
  auto const first = sums_.begin() + static_cast<std::ptrdiff_t>(grain_index(piece, 0));
  std::fill_n(first, shape_.grains_per_piece(), zero);
}

}  // namespace outsize::bsp::detail
