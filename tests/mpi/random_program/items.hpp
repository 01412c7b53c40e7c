// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Typed buffers of the random program: each type knows how to make values that an operation folds
// to the same result in every order, and how to hash a value without its padding. Items that
// nothing wrote hold a guard byte.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "program.hpp"

namespace random_program {

enum class operation { sum, product, maximum, minimum, bit, logical, location };

struct item_type {
  MPI_Datatype handle;
  std::size_t bytes;
  void (*store)(std::byte* at, operation folded_by, random_numbers& random, int ranks);
  std::uint64_t (*hash)(std::byte const* at);
  std::vector<operation> operations;
};

item_type const& draw_type(random_numbers& random);

/// A type with an operation that is defined for it.
struct reduction {
  item_type const* type;
  operation kind;
  MPI_Op op;
};
reduction draw_reduction(random_numbers& random);

/// Places of blocks in a buffer: in random order, with random gaps, without overlap.
struct layout {
  std::vector<int> counts, places;
  int items = 0;  // up to the end of the last block

  layout() = default;
  layout(std::vector<int> const& block_counts, random_numbers& random);
};

/// Lengths of the messages of all pairs of ranks of a group; symmetric if the exchange is in place.
class pair_items {
 public:
  pair_items(scene& s, bool symmetric);

  int between(int source, int destination) const;
  std::vector<int> of_rank(int source) const;
  std::vector<int> to_rank(int destination) const;

 private:
  std::uint64_t key_;
  int ranks_, most_;
  bool symmetric_;
};

/// A row of items. All hold the guard byte until they are filled or received.
class buffer {
 public:
  buffer(item_type const& type, int items);

  void* data() { return bytes_.data(); }
  void* at(int item) { return bytes_.data() + static_cast<std::size_t>(item) * type_->bytes; }
  int items() const { return items_; }
  /// Values that an operation over `ranks` ranks folds without loss.
  void fill(random_numbers random, operation folded_by = operation::maximum, int ranks = 1);
  void fill_part(int first, int count, random_numbers random);
  std::uint64_t hash(int first, int count) const;
  std::uint64_t hash() const { return hash(0, items_); }
  std::uint64_t hash(layout const& blocks) const;
  /// Checks that items outside of the blocks hold the guard byte.
  void check_gaps(layout const& blocks) const;

 private:
  item_type const* type_;
  int items_;
  std::vector<std::byte> bytes_;
};

/// Checks that a send buffer is the same at the end of a scope.
class unchanged {
 public:
  explicit unchanged(buffer const& sent) : sent_(sent), before_(sent.hash()) {}
  ~unchanged() { check(sent_.hash() == before_, "a send buffer is left alone"); }
  unchanged(unchanged const&) = delete;
  unchanged& operator=(unchanged const&) = delete;

 private:
  buffer const& sent_;
  std::uint64_t before_;
};

}  // namespace random_program
