// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the sorting engine asks of items of one size whose C++ type it does not know: everything
// that looks into them, many at a time.
//
//   sort(…), merge(…): compiled for each type and order ◀── item_kernel ──▶ engine: compiled once
//
// The engine moves bytes; a kernel compares them. A call is for thousands of items, but for less(),
// which the engine asks of few: where rounds are cut, and which block comes next. A kernel is
// immutable, and used by many threads at once; a user's function may throw through it. Layer:
// kernel. What makes one: typed_kernel.hpp. What uses it: kernel_items.hpp.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace outsize::detail {

/// Where merged items go: one place of memory after another.
class merge_places {
 public:
  /// The contiguous place for the next items, never empty while items are left.
  virtual std::span<std::byte> room() = 0;
  /// Its first `bytes` are filled.
  virtual void used(std::size_t bytes) = 0;

 protected:
  ~merge_places() = default;
};

/// Places for items of a type in places for bytes, which have room() and used() as merge_places do.
template <typename T, typename Places>
class typed_places {
 public:
  explicit typed_places(Places& to) : to_(to) {}
  std::span<T> room() {
    auto const bytes = to_.room();
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  void used(std::size_t count) { to_.used(count * sizeof(T)); }

 private:
  Places& to_;
};

/// Sorted items in pieces of memory that follow each other in order; none is empty.
using sorted_pieces = std::vector<std::span<std::byte const>>;

/// What makes one item of equal ones. Used by many threads at once.
class item_reducer {
 public:
  item_reducer() = default;
  item_reducer(item_reducer const&) = delete;
  item_reducer& operator=(item_reducer const&) = delete;
  virtual ~item_reducer() = default;

  /// Makes equal ones of sorted items one each; returns the bytes of those left, in front.
  virtual std::size_t reduce(std::span<std::byte> items) const = 0;
  /// Puts the second of two equal items into the first.
  virtual void combine(std::byte* first, std::byte const* second) const = 0;
};

/// What does not change, asked once.
struct item_traits {
  std::size_t item_bytes = 0;
  bool sorts_out_of_place = false;  ///< sort() fills other memory than it reads.
  bool combines = false;            ///< Of equal items one is left.
};

class item_kernel : public item_reducer {
 public:
  explicit item_kernel(item_traits traits) noexcept : traits_(traits) {}

  item_traits const& traits() const noexcept { return traits_; }

  /// Whether the first item comes before the second.
  virtual bool less(std::byte const* a, std::byte const* b) const = 0;
  /// Sorts items stably: into `to`, which is as long, or where they lie if that is empty, as
  /// sorts_out_of_place says.
  virtual void sort(std::span<std::byte> items, std::span<std::byte> to) const = 0;
  /// Merges the sources; of items that compare equal, those of the first one come first.
  virtual void merge(std::vector<sorted_pieces> const& sources, merge_places& out) const = 0;
  /// Whether sorting would leave these items where they are; or for `descending` turn them round
  /// exactly.
  virtual bool in_order(std::span<std::byte const> items, bool descending) const = 0;
  /// Copies them to `to` in the opposite order.
  virtual void reverse(std::span<std::byte const> items, std::byte* to) const = 0;

 private:
  item_traits traits_;
};

/// Longer items are not sorted so: their index could not tell how long they are.
inline constexpr std::size_t most_keyed_bytes = (std::size_t{1} << 20) - 2;

/// The order of large items that a word of each decides: then the engine sorts an index of words,
/// and moves each item once.
class item_words {
 public:
  explicit item_words(std::size_t item_bytes) noexcept : item_bytes_(item_bytes) {}
  item_words(item_words const&) = delete;
  item_words& operator=(item_words const&) = delete;
  virtual ~item_words() = default;

  std::size_t item_bytes() const noexcept { return item_bytes_; }
  /// word(a) < word(b) exactly if a comes before b.
  virtual std::uint64_t word(std::byte const* item) const = 0;

 private:
  std::size_t item_bytes_;
};

}  // namespace outsize::detail
