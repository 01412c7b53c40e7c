// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/stream/sinks.hpp>

#include <algorithm>

#include <outsize/base/units.hpp>

namespace outsize::stream::detail {

std::size_t file_window_bytes(std::uint64_t memory_bytes, std::size_t item_bytes) noexcept {
  std::uint64_t const window = std::clamp<std::uint64_t>(memory_bytes / 16, 16_KiB, 4_MiB);
  // An item may begin anywhere in a page.
  return std::max<std::size_t>(round_up<std::size_t>(window, page_bytes()),
                               round_up<std::size_t>(item_bytes, page_bytes()) + page_bytes());
}

}  // namespace outsize::stream::detail
