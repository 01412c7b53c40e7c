// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/cache_lines.hpp>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

namespace outsize {

// HWY_ATTR: on arm64 the instructions that Highway takes for granted are more than the compiler's.
HWY_ATTR void zero_past_caches(std::span<std::byte> memory) noexcept {
  namespace hn = hwy::HWY_NAMESPACE;
  hn::ScalableTag<std::uint8_t> const lanes;
  std::size_t const step = hn::Lanes(lanes);
  std::size_t const before = -reinterpret_cast<std::uintptr_t>(memory.data()) % step;
  if (memory.size() < before + step) {
    std::ranges::fill(memory, std::byte{0});
    return;
  }
  auto* const to = reinterpret_cast<std::uint8_t*>(memory.data());
  std::size_t at = before;
  for (; at + step <= memory.size(); at += step) hn::Stream(hn::Zero(lanes), lanes, to + at);
  std::ranges::fill(memory.first(before), std::byte{0});
  std::ranges::fill(memory.subspan(at), std::byte{0});
  hwy::FlushStream();
}

}  // namespace outsize
