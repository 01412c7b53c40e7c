// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Assertions for programmer errors; they are never thrown and have no side effects.
//
// OUTSIZE_ASSERT is O(1) and on by default, in release builds too; OUTSIZE_ASSERT_HEAVY may cost
// O(n) and is on in debug builds only. -DOUTSIZE_ASSERTS=0 removes both. Operating failures are
// exceptions (error.hpp), not assertions. Any thread. Layer: base.

namespace outsize::detail {

/// Prints the failed condition and its place on stderr and aborts.
[[noreturn]] void assertion_failed(char const* condition, char const* file, int line) noexcept;

}  // namespace outsize::detail

#ifndef OUTSIZE_ASSERTS
#define OUTSIZE_ASSERTS 1
#endif

#if OUTSIZE_ASSERTS
#define OUTSIZE_ASSERT(condition) \
  ((condition) ? void(0) : ::outsize::detail::assertion_failed(#condition, __FILE__, __LINE__))
#else
#define OUTSIZE_ASSERT(condition) void(sizeof(!(condition)))
#endif

#if OUTSIZE_ASSERTS && !defined(NDEBUG)
#define OUTSIZE_ASSERT_HEAVY(condition) OUTSIZE_ASSERT(condition)
#define OUTSIZE_HEAVY_ASSERTIONS true
#else
#define OUTSIZE_ASSERT_HEAVY(condition) void(sizeof(!(condition)))
#define OUTSIZE_HEAVY_ASSERTIONS false
#endif

namespace outsize::detail {

/// Whether OUTSIZE_ASSERT_HEAVY checks anything, for what must be noted to be checked.
inline constexpr bool heavy_assertions = OUTSIZE_HEAVY_ASSERTIONS;

}  // namespace outsize::detail

#undef OUTSIZE_HEAVY_ASSERTIONS
