// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/linux/local_arena.hpp>

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

local_arena::local_arena(arena_shape const& shape, arena_owner const& owner)
    : piece_bytes_(shape.piece_bytes),
      range_(shape.arena_bytes, shape.piece_bytes >= 2_MiB),
      tables_(round_up(arena_heap::table_bytes(shape.arena_bytes), page_bytes()), false),
      heap_(range_.data(), range_.size(), opened(tables_), owner) {}

void local_arena::populate(std::size_t first_piece, std::size_t pieces) {
  range_.open((first_piece + pieces) * piece_bytes_);
  range_.populate(first_piece * piece_bytes_, pieces * piece_bytes_);
}

std::optional<std::uint64_t> local_arena::offset_of(
    std::span<std::byte const> bytes) const noexcept {
  auto const begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  auto const arena = reinterpret_cast<std::uintptr_t>(range_.data());
  if (begin < arena || begin - arena > range_.size() - bytes.size()) return std::nullopt;
  return begin - arena;
}

void local_arena::drop(std::size_t piece) noexcept {
  range_.drop(piece * piece_bytes_, piece_bytes_);
}

}  // namespace outsize::bsp::detail
