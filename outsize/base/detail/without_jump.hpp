// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Choices that the processor computes: one that it cannot foresee costs as much as twenty steps
// where it is a jump, and compilers make jumps of what looks like one. Pure functions. Layer: base.

#include <cstddef>

namespace outsize::detail {

/// 1 for true, 0 for false: a number of which the compiler knows nothing more, so that what depends
/// on it is computed. By comparisons that return in several places GCC jumps otherwise, and every
/// other jump is one that the processor did not expect.
inline std::size_t as_number(bool value) noexcept {
  std::size_t number = value ? 1 : 0;
  asm("" : "+r"(number));  // no instruction. NOLINT(hicpp-no-assembler)
  return number;
}

/// `a` for 0, `b` for any other number.
template <typename T>
T const* selected(std::size_t number, T const* a, T const* b) noexcept {
#if defined(__x86_64__)                 // one instruction, where GCC jumps again or takes four
  asm("testq %1, %1\n\tcmovneq %2, %0"  // NOLINT(hicpp-no-assembler)
      : "+r"(a)
      : "r"(number), "rm"(b)
      : "cc");
  return a;
#else
  return number != 0 ? b : a;
#endif
}

}  // namespace outsize::detail
