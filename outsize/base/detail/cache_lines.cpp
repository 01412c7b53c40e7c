// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/cache_lines.hpp>

#include <algorithm>
#include <cstdint>

#include <hwy/cache_control.h>

// Compiled once for each instruction set, as far as HWY_AFTER_NAMESPACE: the least one that there
// can be has no such stores in Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "outsize/base/detail/cache_lines.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace outsize::detail::HWY_NAMESPACE {
namespace {

void zero_past_caches(std::span<std::byte> memory) {
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

}  // namespace
}  // namespace outsize::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace outsize::detail {

HWY_EXPORT(zero_past_caches);

void zero_past_caches(std::span<std::byte> memory) noexcept {
  HWY_DYNAMIC_DISPATCH(zero_past_caches)(memory);
}

}  // namespace outsize::detail
#endif
