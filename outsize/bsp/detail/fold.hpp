// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The reductions that MPI names, by operation and type of number: for
// faces that take types at run time.
//
// It links nothing, so that it serves in child processes too. Pure functions. Layer: bsp.
// Source: MPI: A Message-Passing Interface Standard, section 6.9 (predefined operations and the
// groups of types that each allows).

#include <cstdint>

namespace outsize::bsp::detail {

enum class number_type : std::uint8_t {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  float_long,  // long double
  boolean,     // one byte
  complex32,
  complex64,
  complex_long,  // pairs of float, double, long double
  byte,
  float_int,
  double_int,
  long_int,
  two_int,
  short_int,
  long_double_int,  // value and index
};

enum class fold_operation : std::uint8_t {
  max,
  min,
  sum,
  product,
  logical_and,
  logical_or,
  logical_xor,
  bit_and,
  bit_or,
  bit_xor,
  max_place,
  min_place,  // the least index among equal values
};

/// Sets each into[i] to `into[i] op from[i]`.
using fold_function = void (*)(void* into, void const* from, std::uint64_t count) noexcept;

/// The function of an operation for a type; nullptr: MPI does not define it.
fold_function fold_of(fold_operation operation, number_type type) noexcept;

/// Bytes of a number as C lays it out.
std::uint32_t bytes_of(number_type type) noexcept;
/// Its alignment in a struct.
std::uint32_t alignment_of(number_type type) noexcept;

}  // namespace outsize::bsp::detail
