// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The engine's steps of memory: pages that a processor takes into use and gives back.

#include <outsize/bsp/detail/bsp_engine.hpp>

#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/bsp/detail/arena_heap.hpp>

namespace outsize::bsp::detail {

namespace {

constexpr std::uint64_t page = arena_heap::page_bytes;

}  // namespace

bool engine::enter(std::uint32_t rank, std::uint64_t first_page, std::uint64_t pages) noexcept {
  context& of = *contexts_[rank];
  arena_shape const& shape = of.shape();
  try {
    of.want(first_page, pages);
    std::vector<std::size_t> fresh;
    std::size_t const first = first_page * page / shape.piece_bytes;
    std::size_t const last = ((first_page + pages) * page - 1) / shape.piece_bytes;
    std::unique_lock held(shared_.mutex);
    for (std::size_t piece = first; piece <= last; ++piece) {
      if (of.state_of(piece) == context::state::absent) fresh.push_back(piece);
    }
    if (fresh.empty()) {
      of.want_nothing();
      return true;
    }
    bool const fits = of.used_pieces() * shape.piece_bytes <= shape.context_bytes;
    if (!fits || shared_.has_failed()) {
      of.want_nothing();
      return false;
    }
    held.unlock();
    return take_frames(rank, fresh);
  } catch (std::bad_alloc const&) {
    of.want_nothing();
    return false;
  } catch (...) {  // no space for its frames
    of.want_nothing();
    std::lock_guard const held(shared_.mutex);
    shared_.fail(std::current_exception(), rank);
    return false;
  }
}

bool engine::take_frames(std::uint32_t rank, std::vector<std::size_t> const& pieces) {
  context& of = *contexts_[rank];
  std::uint64_t const piece_bytes = of.shape().piece_bytes;
  std::unique_lock held(shared_.mutex);
  if (shared_.free_frame_bytes < pieces.size() * piece_bytes) {
    shared_.waits[rank] = {.call = "allocation"};
    shared_.ranks.need_memory(rank);
    held.unlock();
    suspend_(rank);  // the pager brings all that is wanted
    held.lock();
    return !shared_.has_failed();
  }
  shared_.free_frame_bytes -= pieces.size() * piece_bytes;
  for (std::size_t const piece : pieces) of.set_state(piece, context::state::present);
  held.unlock();
  try {
    of.memory().populate(pieces.front(), pieces.back() + 1 - pieces.front());
  } catch (...) {
    held.lock();
    for (std::size_t const piece : pieces) of.set_state(piece, context::state::absent);
    shared_.free_frame_bytes += pieces.size() * piece_bytes;
    throw;
  }
  of.want_nothing();
  return true;
}

void engine::leave(std::uint32_t rank, std::uint64_t first_page, std::uint64_t pages) noexcept {
  context& of = *contexts_[rank];
  std::uint64_t const piece_bytes = of.shape().piece_bytes;
  std::uint64_t freed = 0;
  std::size_t const first = first_page * page / piece_bytes;
  std::size_t const last = ((first_page + pages) * page - 1) / piece_bytes;
  for (std::size_t piece = first; piece <= last; ++piece) {
    if (of.is_used(piece)) continue;
    of.forget(piece);
    of.memory().drop(piece);
    freed += piece_bytes;
  }
  if (freed == 0) return;
  std::lock_guard const held(shared_.mutex);
  for (std::size_t piece = first; piece <= last; ++piece) {
    if (!of.is_used(piece)) of.set_state(piece, context::state::absent);
  }
  shared_.free_frame_bytes += freed;
  shared_.pager_wakes.notify_one();
}

void engine::discard_contents(std::uint32_t rank, std::span<std::byte> bytes) noexcept {
  context& of = *contexts_[rank];
  std::optional<std::uint64_t> const offset = of.memory().offset_of(bytes);
  if (!offset || !shared_.has_swapped.load()) return;
  std::uint64_t const grain = of.shape().grain_bytes;
  std::uint64_t const first = round_up(*offset, grain);
  std::uint64_t const end = (*offset + bytes.size()) / grain * grain;
  if (first < end) std::memset(bytes.data() + (first - *offset), 0, end - first);
}

void engine::discard(std::uint32_t rank) noexcept {
  context& of = *contexts_[rank];
  std::uint64_t const piece_bytes = of.shape().piece_bytes;
  std::uint64_t freed = 0;
  for (std::size_t piece = 0; piece < of.piece_count(); ++piece) {
    of.forget(piece);
    if (of.state_of(piece) != context::state::present) continue;
    of.memory().drop(piece);
    freed += piece_bytes;
  }
  std::lock_guard const held(shared_.mutex);
  for (std::size_t piece = 0; piece < of.piece_count(); ++piece) {
    of.set_state(piece, context::state::absent);
  }
  shared_.free_frame_bytes += freed;
  shared_.pager_wakes.notify_one();
}

}  // namespace outsize::bsp::detail
