// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How much a test does: enough to find what is rare where that is cheap, less where assertions are
// heavy, as in builds under sanitizers, which take ten times as long and look for something else.
// Layer: testing.

#include <concepts>

#include <outsize/base/assert.hpp>

namespace outsize::scratch {

/// Random operations: `most` in a release build, a tenth of it in others.
constexpr auto operations(std::integral auto most) noexcept {
  return detail::heavy_assertions ? (most + 9) / 10 : most;
}

/// Of all cases of an exhaustive test each one in a release build, every `most`-th in others.
constexpr auto one_of(std::integral auto most) noexcept {
  return detail::heavy_assertions ? most : 1;
}

}  // namespace outsize::scratch
