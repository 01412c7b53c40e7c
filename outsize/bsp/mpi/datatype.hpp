// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Types of items in memory, as MPI describes them, and copies of items to and from a run of bytes.
//
// A type is a number of C, or a list of blocks that repeats at a distance:
//
//   vector      count × { block of items }            struct, indexed   1 × { block, block, … }
//   contiguous  1 × { block of items }                resized           1 × { one item }
//   subarray    count × { 1 × …{ row of items } }
//
// Blocks keep the types that they consist of. The order of blocks is that of the bytes on the way:
// packed items have no gaps, and gaps are neither sent nor written.
//
// Freestanding. One thread. Layer: bsp.
// Source: MPI: A Message-Passing Interface Standard, chapter 5.

#include <cstddef>
#include <cstdint>

#include <outsize/bsp/detail/fold.hpp>

#include "handle_table.hpp"
#include "mpi.h"

namespace outsize::bsp::mpi {

struct datatype : counted {
  /// `length` items of a type, one after the other by its extent.
  struct block {
    std::int64_t displacement;  ///< In bytes.
    std::int64_t length;
    datatype* type;
  };

  MPI_Datatype handle = MPI_DATATYPE_NULL;  ///< Null: the program has freed it.
  bool is_committed = false;
  bool has_number = false;      ///< It is predefined, and `number` is the type of C.
  bool has_own_bounds = false;  ///< They were set; those of types made from it are not rounded.
  bool is_run = false;          ///< One item is a run of bytes from true_lb.
  bool is_dense = false;        ///< Any number of items is a run of bytes from true_lb.
  detail::number_type number = {};

  std::int64_t repeats = 0, stride = 0;
  block* blocks = nullptr;
  std::size_t block_count = 0;

  std::int64_t size = 0;  ///< Bytes of data.
  std::int64_t lb = 0, extent = 0;
  std::int64_t true_lb = 0, true_extent = 0;
  std::int64_t alignment = 1;  ///< The largest of its numbers.
};

void destroy(datatype& type);

/// A type of blocks, `repeats` times at a distance of `stride` bytes. Blocks without data count
/// for nothing. Refuses, by the name of the call, a type whose sizes exceed 64 bits.
datatype& make_type(std::int64_t repeats, std::int64_t stride, datatype::block const* blocks,
                    std::size_t block_count, char const* call);
/// Sets bounds that replace the data's own.
void set_bounds(datatype& type, std::int64_t lb, std::int64_t extent);
/// Raises the upper bound to a multiple of the alignment, unless bounds were set.
void round_extent(datatype& type);

/// Once, by MPI_Init.
void make_predefined_types();
MPI_Datatype add_type(datatype& made);
/// Takes the handle away.
void remove_type(datatype& type);
bool is_predefined(datatype const& type);
/// Refuses, by the name of the call, a value that is not a type.
datatype& type_of(MPI_Datatype type, char const* call);
/// The same for a type that is not committed.
datatype& committed_type(MPI_Datatype type, char const* call);

/// A product or sum; refuses a type, or a number of items, that is too large.
std::int64_t product(std::int64_t a, std::int64_t b, char const* call);
std::int64_t sum(std::int64_t a, std::int64_t b, char const* call);

/// Items in the memory of the program.
struct items {
  void* buffer = nullptr;
  std::int64_t count = 0;
  datatype const* type = nullptr;

  std::uint64_t bytes() const { return static_cast<std::uint64_t>(count * type->size); }
  bool is_dense() const { return type->is_dense || (count == 1 && type->is_run); }
  /// The address of item number i.
  void* at(std::int64_t i) const {
    return reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(buffer) + i * type->extent);
  }
  /// The first byte of the data, if they are a run.
  void* first() const {
    return reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(buffer) + type->true_lb);
  }
};

/// Checks the count, the type, and that the buffer is one. @param member  Whose items they are, for
/// the message; -1: those of the call.
items items_of(void const* buffer, std::int64_t count, MPI_Datatype type, char const* call,
               int member = -1);

/// Copies items to a run of bytes.
void pack(items const& from, std::byte* into);
/// Copies a run of bytes to items: it may end within one of them.
void unpack(std::byte const* from, std::uint64_t bytes, items const& into);
/// Copies items to others of the same type.
void copy(items const& from, void* into);

}  // namespace outsize::bsp::mpi
