// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What a type must be for its values to be kept in blocks and files. Layer: base.

#include <cstddef>
#include <type_traits>
#include <vector>

#include <boost/align/aligned_allocator.hpp>

namespace outsize {

/// The most that a type may ask of addresses.
inline constexpr std::size_t most_item_alignment_bytes = 64;

/// What can lie on disk as it lies in memory: its bytes are its value. Pointers are excluded, since
/// what they point to is not stored with them. Text and other byte strings have record_sorter.
template <typename T>
concept external_item = std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> &&
                        !std::is_pointer_v<T> && !std::is_reference_v<T> && !std::is_const_v<T> &&
                        alignof(T) <= most_item_alignment_bytes;

/// Memory for items of a type that is not known.
using aligned_bytes =
    std::vector<std::byte,
                boost::alignment::aligned_allocator<std::byte, most_item_alignment_bytes>>;

}  // namespace outsize
