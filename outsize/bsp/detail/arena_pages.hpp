// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Which pages of an arena are used, and which of its slabs have free objects: the tables of
// arena_heap, in memory outside of the arena.
//
//   | a bit a page: in use | a note a page | longest free runs | open slabs |
//   ◀ used_pages() ▶
//
// Entries lie in the order of the pages that they are about, so that most of the tables is never
// touched. Nothing but memcpy() and memset() is linked. One thread at a time. Layer: bsp.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace outsize::bsp::detail {

/// @pre bits != 0.
inline std::uint32_t lowest_bit(std::uint64_t bits) noexcept {
  return static_cast<std::uint32_t>(std::countr_zero(bits));
}

/// The object, or the first of a table, that lies so far from `begin`.
template <typename T>
T* at_offset(std::byte* begin, std::uint64_t offset_bytes) noexcept {
  return static_cast<T*>(static_cast<void*>(begin + offset_bytes));
}

/// Where the tables of an arena lie, in bytes from their beginning. The bits of used pages come
/// first.
struct arena_tables {
  static constexpr unsigned most_levels = 8;

  explicit arena_tables(std::uint64_t page_count) noexcept;

  std::uint64_t notes = 0;
  std::uint64_t longest_runs[most_levels] = {};
  std::uint64_t open_slabs[most_levels] = {};
  unsigned top_of_runs = 0;
  unsigned top_of_slabs = 0;
  std::uint64_t bytes = 0;
};

/// The pages of an arena, used and free, with a note for each.
///
/// A maximal run of free pages has its length as the notes of its first and its last page (not of
/// the arena's last one). All other notes of free pages are 0. A tree has the longest run that
/// begins in each 64 pages, and maxima of 16 such numbers above; so the lowest run of a length is
/// found in O(log pages).
class arena_runs {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// A place inside of a free run.
  struct place {
    std::uint32_t run = none;
    std::uint32_t first = none;
  };

  /// Begins with all pages free, in tables full of zeros. `base_page` is the address of the first
  /// page, in pages, for alignments.
  arena_runs(std::byte* tables, arena_tables const& at, std::uint32_t page_count,
             std::uint64_t base_page) noexcept;

  /// Finds `count` free pages, the first a multiple of `alignment` pages (a power of two), at the
  /// lowest place that fits. Tries at most 64 runs that would fit only unaligned; then a run that
  /// is long enough wherever it begins goes before the lowest place.
  place find(std::uint64_t count, std::uint64_t alignment) const noexcept;
  /// Makes pages of a free run used, with notes of 0.
  void take(place at, std::uint32_t count) noexcept;
  /// Makes used pages free; only the first one may have a note.
  void give(std::uint32_t first, std::uint32_t count) noexcept;

  bool is_free(std::uint32_t page) const noexcept {
    return (used_[page / 64] >> page % 64 & 1) == 0;
  }
  /// The number of free pages from one on that is behind a used one.
  std::uint32_t free_behind_used(std::uint64_t page) const noexcept {
    return page < page_count_ && is_free(static_cast<std::uint32_t>(page)) ? notes_[page] : 0;
  }
  /// The note of a page: of used ones, the user of this class chooses it.
  std::uint32_t& note(std::uint64_t page) noexcept { return notes_[page]; }
  std::uint32_t note(std::uint64_t page) const noexcept { return notes_[page]; }

  std::uint64_t used_count() const noexcept { return used_count_; }
  std::span<std::uint64_t const> used() const noexcept { return {used_, word_count()}; }

 private:
  std::uint32_t word_count() const noexcept { return (page_count_ + 63) / 64; }
  std::uint64_t free_bits(std::uint32_t word) const noexcept;
  std::uint64_t run_beginnings(std::uint32_t word) const noexcept;
  std::uint32_t next_run(std::uint32_t from_page, std::uint64_t count) const noexcept;
  std::uint32_t next_word(std::uint32_t from_word, std::uint64_t count) const noexcept;
  std::uint32_t run_in(std::uint32_t word, std::uint32_t from_page,
                       std::uint64_t count) const noexcept;
  void mark(std::uint32_t first, std::uint32_t count, bool is_used) noexcept;
  void note_free(std::uint32_t first, std::uint32_t count) noexcept;
  void refresh(std::uint32_t word) noexcept;

  std::uint64_t* used_;
  std::uint32_t* notes_;
  std::uint32_t* longest_[arena_tables::most_levels] = {};
  unsigned top_;
  std::uint32_t page_count_;
  std::uint64_t base_page_;
  std::uint64_t used_count_ = 0;
};

/// The slabs of each size class that have free objects: bits in levels, 64 to the bit above. The
/// classes of the same slabs lie side by side, so a small arena touches little.
class open_slabs {
 public:
  static constexpr std::uint32_t none = arena_runs::none;
  static constexpr std::uint32_t class_count = 59;

  /// Begins empty, in tables full of zeros.
  open_slabs(std::byte* tables, arena_tables const& at) noexcept;

  void add(std::uint32_t kind, std::uint32_t slab) noexcept;
  void remove(std::uint32_t kind, std::uint32_t slab) noexcept;
  /// The lowest one of a class, or `none`.
  std::uint32_t lowest(std::uint32_t kind) const noexcept;

 private:
  std::uint64_t& word(unsigned level, std::uint32_t kind, std::uint32_t index) const noexcept {
    return levels_[level][std::uint64_t{index} * class_count + kind];
  }

  std::uint64_t* levels_[arena_tables::most_levels] = {};
  unsigned top_;
};

}  // namespace outsize::bsp::detail
