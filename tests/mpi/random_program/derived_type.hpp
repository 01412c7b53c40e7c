// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A random derived type with a model of its own: the offsets of all its basic items, by which
// memory is filled and read without MPI. All items are of one basic type, so types match whenever
// they have equally many items. The lower bound is 0 and no items overlap.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "items.hpp"

namespace random_program {

class derived_type {
 public:
  /// Draws a type of up to three nested constructors, commits it, and compares its size and extent.
  derived_type(item_type const& base, random_numbers& random);
  ~derived_type();
  derived_type(derived_type const&) = delete;
  derived_type& operator=(derived_type const&) = delete;

  MPI_Datatype handle() const { return handle_; }
  item_type const& base() const { return *base_; }
  int items() const { return static_cast<int>(offsets_.size()); }
  std::ptrdiff_t extent() const { return extent_; }
  std::vector<std::ptrdiff_t> const& offsets() const { return offsets_; }

 private:
  item_type const* base_;
  MPI_Datatype handle_;
  std::vector<std::ptrdiff_t> offsets_;  // in bytes, in the order of the type map
  std::ptrdiff_t extent_;
};

/// Memory for some copies of a derived type; bytes between items hold a guard.
class derived_buffer {
 public:
  derived_buffer(derived_type const& type, int copies);

  void* data() { return bytes_.data(); }
  int copies() const { return copies_; }
  void fill(random_numbers random);
  /// The hash of the basic items in order, which a buffer of another type has alike.
  std::uint64_t hash() const;
  /// Checks that bytes between items are left alone.
  void check_gaps() const;

 private:
  derived_type const* type_;
  int copies_;
  std::vector<std::byte> bytes_;
};

/// A type of numbers without padding between them.
item_type const& draw_number_type(random_numbers& random);

}  // namespace random_program
