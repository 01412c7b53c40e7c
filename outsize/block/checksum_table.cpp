// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/checksum_table.hpp>

#include OUTSIZE_XXHASH_HEADER
#include <iterator>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::block {
namespace {

constexpr std::uint64_t step_bytes = 64_KiB;
constexpr char asker[] = "checksums of blocks";

}  // namespace

std::uint64_t checksum_of(std::span<std::byte const> written) noexcept {
  return XXH3_64bits(written.data(), written.size());
}

checksum_table::checksum_table(memory_budget& memory, std::uint64_t reserve_bytes)
    : budget_(memory), reserved_(memory.take(reserve_bytes, asker)) {}

void checksum_table::set(std::span<checked_piece const> pieces) {
  std::lock_guard const lock(mutex_);
  for (auto const& piece : pieces) erase(piece.offset_bytes, piece.length_bytes);
  reserve(pieces_.size() + pieces.size());
  try {
    for (auto const& piece : pieces)
      pieces_.emplace(piece.offset_bytes, content{piece.length_bytes, piece.checksum});
  } catch (...) {
    for (auto const& piece : pieces) erase(piece.offset_bytes, piece.length_bytes);
    throw;
  }
}

/// Has the memory of so many, and at most one step that is not needed.
void checksum_table::reserve(std::uint64_t pieces) {
  std::uint64_t const bytes = pieces * piece_bytes;
  auto const had = [&] { return reserved_.total_bytes() + more_.size() * step_bytes; };
  // Others give nothing back for it: what they wrote would have its checksums here, too.
  while (had() < bytes) {
    auto taken = budget_.try_take(step_bytes, asker);
    if (!taken) throw budget_error(asker, budget_.free_bytes(), step_bytes);
    more_.push_back(std::move(*taken));
  }
  while (!more_.empty() && had() >= bytes + 2 * step_bytes) more_.pop_back();
}

std::vector<checked_piece> checksum_table::within(std::uint64_t offset_bytes,
                                                  std::uint64_t length_bytes) const {
  std::lock_guard const lock(mutex_);
  std::vector<checked_piece> found;
  std::uint64_t const end = offset_bytes + length_bytes;
  for (auto at = pieces_.lower_bound(offset_bytes);
       at != pieces_.end() && at->first + at->second.length_bytes <= end; ++at)
    found.push_back({at->first, at->second.length_bytes, at->second.checksum});
  return found;
}

void checksum_table::forget(std::uint64_t offset_bytes, std::uint64_t length_bytes) noexcept {
  std::lock_guard const lock(mutex_);
  erase(offset_bytes, length_bytes);
  reserve(pieces_.size());  // takes none
  if (pieces_.empty()) more_.clear();
}

void checksum_table::erase(std::uint64_t offset_bytes, std::uint64_t length_bytes) noexcept {
  auto at = pieces_.lower_bound(offset_bytes);
  if (at != pieces_.begin()) {
    auto const before = std::prev(at);
    if (before->first + before->second.length_bytes > offset_bytes) at = before;
  }
  while (at != pieces_.end() && at->first < offset_bytes + length_bytes) at = pieces_.erase(at);
}

std::size_t checksum_table::size() const {
  std::lock_guard const lock(mutex_);
  return pieces_.size();
}

}  // namespace outsize::block
