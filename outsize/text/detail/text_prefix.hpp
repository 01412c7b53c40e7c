// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The first eight bytes of a text as one number, for keys that compare as text. Layer: text. Pure
// functions, usable from any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <outsize/text/detail/byte_filter.hpp>

namespace outsize::text {

/// A code for a key: keys whose codes differ in the leading `bits` order as the codes do. If
/// `bits` < 64, keys whose codes agree there are equal, so the code of the next key may follow.
struct key_code {
  std::uint64_t code = 0;
  int bits = 64;
};

/// Returns the code of the text as seen through `filter` (nullptr: as it is): its first bytes and a
/// zero that ends it. Behind a zero byte of the text itself all bits are set, so that no other text
/// can be taken for a shorter one.
key_code terminated_prefix(std::string_view text, byte_filter const* filter) noexcept;

/// Returns how many bytes of such a code, from the uppermost, come before the first zero: so many
/// first bytes all texts with that code have.
std::size_t bytes_before_zero(std::uint64_t code) noexcept;

}  // namespace outsize::text
