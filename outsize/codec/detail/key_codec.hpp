// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorted integer keys in fewer bytes: differences of neighbours, packed in as many bits as the
// largest of a frame takes.
//
//   block:  | frame 0 | frame 1 | … | padding | … shape 1 | shape 0 | footer |
//   frame:  | differences of up to 256 keys | for items of two words: least other word, the rest |
//
// Of items of two words the second is kept as its distance from the least one of the frame, or as
// it is where that is no longer. Differences of more than 56 bits are kept whole, so that no value
// lies in more than eight bytes.
//
// Invariant: no frame is longer than its items. So a block whose last byte lies behind the memory
// for its items can be decoded into memory that it occupies itself. Pure functions of the items,
// the same bytes on every machine of one byte order. Layer: codec. Source: Lemire, Boytsov:
// Decoding billions of integers per second through vectorization, 2015 (frames of differences).

#include <cstddef>
#include <cstdint>
#include <span>

#include <outsize/kernel/detail/vector_sort.hpp>

namespace outsize::detail {

/// Fills one block with encoded items, which come in ascending order.
/// T: std::uint32_t, std::uint64_t, word_pair.
template <typename T>
class key_encoder {
 public:
  /// @param block       The place, of a multiple of `alignment` bytes.
  /// @param held_bytes  What may be used to decode the block in place, itself included.
  key_encoder(std::span<std::byte> block, std::size_t held_bytes, std::size_t alignment) noexcept
      : block_(block), held_bytes_(held_bytes), alignment_(alignment) {}

  /// The length of a block that takes at least one item, with an alignment of no more than that.
  static constexpr std::size_t least_block_bytes = 256;

  /// Takes as many of `sorted` as fit and returns their number; less than all of them: the block
  /// is full. @pre none of them comes before those of earlier calls.
  std::size_t append(std::span<T const> sorted) noexcept;

  std::size_t items() const noexcept { return items_; }

  /// Ends the block, and returns how many of its bytes are used: a multiple of the alignment.
  std::size_t close() noexcept;

 private:
  bool append_frame(std::span<T const> sorted) noexcept;

  std::span<std::byte> block_;
  std::size_t held_bytes_;
  std::size_t alignment_;
  std::size_t items_ = 0;
  std::size_t frames_ = 0;
  std::size_t payload_bytes_ = 0;
  std::uint64_t first_key_ = 0;
  std::uint64_t last_key_ = 0;
};

/// Decodes a whole block, as long as it was closed, into just as many items as it holds. Both may
/// lie in one piece of `held_bytes`, the items at its beginning and the block at its end. Returns
/// false, without having written anything, if the block is not such a one.
template <typename T>
[[nodiscard]] bool decode_keys(std::span<std::byte const> block, std::span<T> items);

/// About how many bytes encoding leaves of one, from a sample of some thousand items.
template <typename T>
double encoded_share(std::span<T const> sorted) noexcept;

extern template class key_encoder<std::uint32_t>;
extern template class key_encoder<std::uint64_t>;
extern template class key_encoder<word_pair>;

}  // namespace outsize::detail
