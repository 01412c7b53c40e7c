// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The hash is compiled into this file, which makes it several times faster for short strings.
#include <tools/outsize/multiset_checksum.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>

namespace outsize::tool {

void multiset_checksum::add(std::string_view bytes) noexcept {
  std::uint64_t const hash = XXH3_64bits(bytes.data(), bytes.size());
  ++count;
  sum += hash;
  parity ^= hash * 0x9e3779b97f4a7c15U;  // spreads carries, so that the two do not err together
}

std::string multiset_checksum::text() const { return fmt::format("{:016x}{:016x}", sum, parity); }

}  // namespace outsize::tool
