// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/cache_lines.hpp>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

namespace outsize {

void zero_past_caches(std::span<std::byte> memory) noexcept {
  namespace hn = hwy::HWY_NAMESPACE;
  hn::ScalableTag<std::uint8_t> const lanes;
  std::size_t const step = hn::Lanes(lanes);
  std::size_t const before = -reinterpret_cast<std::uintptr_t>(memory.data()) % step;
  if (memory.size() < before + step) {
    std::memset(memory.data(), 0, memory.size());
    return;
  }
  std::memset(memory.data(), 0, before);
  auto* const to = reinterpret_cast<std::uint8_t*>(memory.data());
  std::size_t at = before;
  for (; at + step <= memory.size(); at += step) hn::Stream(hn::Zero(lanes), lanes, to + at);
  std::memset(to + at, 0, memory.size() - at);
  hwy::FlushStream();
}

}  // namespace outsize
