// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/linux/local_arena.hpp>

#include <algorithm>

#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>

namespace outsize::bsp::detail {

namespace {

/// Opens the tables on the way to the heap that uses them.
std::byte* opened(arena_range& tables) {
  tables.open(tables.size());
  return tables.data();
}

}  // namespace

local_arena::local_arena(arena_shape const& shape, arena_owner const& owner, frame_stash* spare)
    : piece_bytes_(shape.piece_bytes),
      spare_(spare),
      has_frame_(shape.arena_bytes / shape.piece_bytes),
      range_(shape.arena_bytes, shape.piece_bytes >= 2_MiB),
      tables_(round_up(arena_heap::table_bytes(shape.arena_bytes), page_bytes()), false),
      heap_(range_.data(), range_.size(), opened(tables_), owner) {}

void local_arena::populate(std::size_t first_piece, std::size_t pieces) {
  populate_to_read(first_piece, pieces);
}

bool local_arena::populate_to_read(std::size_t first_piece, std::size_t pieces) {
  std::size_t const end = first_piece + pieces;
  range_.open(end * piece_bytes_);
  bool is_clear = true;
  std::size_t piece = first_piece;
  if (spare_ != nullptr) {
    for (; piece < end; ++piece) {
      if (has_frame_[piece] != 0) continue;
      if (!spare_->take(bytes_of(piece).data())) break;
      has_frame_[piece] = 1;
      is_clear = false;
    }
  }
  if (piece == end) return is_clear;
  range_.populate(piece * piece_bytes_, (end - piece) * piece_bytes_);
  std::fill(has_frame_.begin() + static_cast<std::ptrdiff_t>(piece),
            has_frame_.begin() + static_cast<std::ptrdiff_t>(end), std::uint8_t{1});
  return is_clear;
}

std::optional<std::uint64_t> local_arena::offset_of(
    std::span<std::byte const> bytes) const noexcept {
  auto const begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  auto const arena = reinterpret_cast<std::uintptr_t>(range_.data());
  if (begin < arena || begin - arena > range_.size() - bytes.size()) return std::nullopt;
  return begin - arena;
}

void local_arena::drop(std::size_t piece) noexcept {
  has_frame_[piece] = 0;
  if (spare_ != nullptr && spare_->put(bytes_of(piece).data())) return;
  range_.drop(piece * piece_bytes_, piece_bytes_);
}

}  // namespace outsize::bsp::detail
