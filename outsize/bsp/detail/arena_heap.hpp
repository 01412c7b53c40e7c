// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The allocator of one virtual processor's arena: small objects in slabs of one size class, larger
// ones in runs of whole pages, always at the lowest place, so that the pages in use stay few and
// contiguous. A virtual processor is swapped by moving its used pages; the tables stay.
//
//   arena:   | slab: head, objects | run: 5 pages | free | slab: head, objects | free          |
//   tables:  | a bit a page: in use | a note a page | longest free runs | open slabs           |
//            ◀ used_pages() ▶
//
// It also is the malloc of child processes: it throws nothing, takes no locks, calls no other
// allocator, and links nothing but memcpy() and memset().
//
// Invariant: between calls a page is in use exactly if its bit is set; other pages are neither read
// nor written. Threads: one at a time. Layer: bsp.

#include <cstddef>
#include <cstdint>
#include <span>

#include <outsize/bsp/detail/arena_pages.hpp>

namespace outsize::bsp::detail {

/// The functions by which a heap calls its owner: plain ones, so that C code can give them. None of
/// them may call the heap, except for used_pages() and used_bytes(). Pages count from the arena's
/// beginning.
struct arena_owner {
  void* context;
  /// Makes pages usable that are about to be used; their contents do not matter. Called while their
  /// bits are clear; may block. Returns false if there is no memory: the heap stays as it is.
  bool (*enter)(void* context, std::uint64_t first_page, std::uint64_t page_count) noexcept;
  /// Takes pages back that hold nothing any more. Called when their bits are clear.
  void (*leave)(void* context, std::uint64_t first_page, std::uint64_t page_count) noexcept;
  /// Reports a wrong pointer, given to free() or the like. Usually ends the process; if it returns,
  /// the call that it reports has no effect.
  void (*fail)(void* context, char const* reason) noexcept;
};

/// malloc() and its family over an arena.
///
/// CPU: O(1) for most requests up to 13 056 bytes; O(log pages) with a new slab, and for others.
/// Memory: objects up to 13 056 bytes take up to 1/8 more (1/6 above 8 KiB), or 15 bytes; others,
/// and those with alignments above 2048, less than a page more. A slab has one class, so
/// each class in use takes at least 64 KiB.
/// Checked: arena_heap_test.cpp
class arena_heap {
 public:
  static constexpr std::size_t page_bytes = 4096;
  static constexpr std::size_t slab_bytes = 16 * page_bytes;
  static constexpr std::uint64_t most_arena_bytes = std::uint64_t{1} << 40;

  /// Returns the size of the tables for an arena: 1/880 of it, most of it never touched, as
  /// entries lie in the order of the pages that they are about.
  static std::size_t table_bytes(std::uint64_t arena_bytes) noexcept;

  /// Makes a heap without objects; calls no function of the owner. `arena` is aligned to 64 KiB,
  /// `arena_bytes` a multiple of a page, at least one and at most `most_arena_bytes`. `tables` has
  /// table_bytes(), all zero, aligned to 64 bytes, and lies outside of the arena.
  arena_heap(std::byte* arena, std::uint64_t arena_bytes, std::byte* tables,
             arena_owner const& owner) noexcept;
  arena_heap(arena_heap const&) = delete;
  arena_heap& operator=(arena_heap const&) = delete;

  /// Returns uninitialised memory, aligned to `alignment` (a power of two) and at least to 16.
  /// Zero bytes give a pointer of their own. Returns nullptr if the arena has no such place, the
  /// owner refuses its pages, or `alignment` is not valid.
  void* allocate(std::size_t bytes, std::size_t alignment = 16) noexcept;
  /// Returns zeros for `count` items. Returns nullptr as allocate(), and if the size overflows.
  void* allocate_zeroed(std::size_t count, std::size_t item_bytes) noexcept;
  /// Has no effect for nullptr. A pointer that is not an allocation's is reported to the owner; one
  /// that was freed before is too, unless its memory is another allocation's by now.
  void free(void* p) noexcept;
  /// Makes an allocation larger or smaller, in place if the pages behind it allow, and returns its
  /// pointer, aligned to 16. nullptr is allocated; zero bytes are as in allocate(). Returns nullptr
  /// if there is no place, and `p` stays valid; a smaller size never fails.
  void* reallocate(void* p, std::size_t bytes) noexcept;
  /// Returns the size that the caller may use: at least the size asked for. 0 for nullptr.
  std::size_t usable_bytes(void const* p) const noexcept;

  /// Gives back the one empty slab that is kept (see below); returns false if there is none.
  bool trim() noexcept;

  /// Checks that `p` points into the arena.
  bool owns(void const* p) const noexcept { return offset_of(p) < arena_bytes_; }
  /// Returns the size of all pages in use. Without allocations: 0, or 64 KiB for the slab that was
  /// emptied last. It is kept, as a program that allocates and frees the same object time and again
  /// would enter and leave its pages each time; another slab that gets empty takes its place.
  std::uint64_t used_bytes() const noexcept { return runs_.used_count() * page_bytes; }
  /// Returns the bits of used pages, page 0 the lowest bit of the first word. They are the
  /// beginning of the tables, where another process may read them.
  std::span<std::uint64_t const> used_pages() const noexcept { return runs_.used(); }

 private:
  struct slab;
  struct target;

  std::uint64_t offset_of(void const* p) const noexcept {
    return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(arena_);
  }
  std::byte* page_at(std::uint32_t page) const noexcept {
    return arena_ + std::uint64_t{page} * page_bytes;
  }
  slab* slab_at(std::uint32_t index) const noexcept;
  std::uint32_t index_of(slab const* s) const noexcept {
    return static_cast<std::uint32_t>(offset_of(s) / slab_bytes);
  }
  target fault(char const* reason) const noexcept;
  target find(void const* p) const noexcept;
  target find_object(std::uint64_t offset, std::uint32_t kind) const noexcept;
  std::size_t bytes_of(target const& t) const noexcept;

  std::uint32_t take_pages(std::uint64_t count, std::uint64_t alignment) noexcept;
  void give_pages(std::uint32_t first, std::uint32_t count) noexcept;
  void* allocate_pages(std::size_t bytes, std::size_t alignment) noexcept;
  bool resize_pages(std::uint32_t first, std::size_t bytes) noexcept;
  void* allocate_object(std::uint32_t kind) noexcept;
  void free_object(target const& t) noexcept;
  slab* add_slab(std::uint32_t kind) noexcept;
  void remove_slab(std::uint32_t kind, slab* s) noexcept;
  void open(std::uint32_t kind, slab* s) noexcept;
  void close(std::uint32_t kind, slab* s) noexcept;

  std::byte* arena_;
  std::uint64_t arena_bytes_;
  arena_owner owner_;
  arena_runs runs_;
  open_slabs open_;
  slab* lowest_[open_slabs::class_count] = {};  // open ones
  slab* empty_ = nullptr;                       // the one that is kept, open too
};

}  // namespace outsize::bsp::detail
