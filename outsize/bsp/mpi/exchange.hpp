// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// One collective operation of a communicator: members put parts for one another, and take those
// that have come for them.
//
// A part of a member for itself is copied at once. Parts that are not runs of bytes in the arena
// are packed and unpacked a few at a time, so that a member needs no second buffer of the whole
// size. Freestanding. One thread. Layer: bsp.

#include <cstdint>

#include "communicators.hpp"
#include "folding.hpp"
#include "layout.hpp"

namespace outsize::bsp::mpi {

/// The arguments in which all members must agree.
struct agreed {
  int root = 0;
  std::uint64_t item_bytes = 0;
  std::uint64_t items = 0;       ///< If all have the same number.
  std::uint64_t fold = 0;        ///< The operation that folds.
  bool ends_when_begun = false;  ///< It has ended once all members have begun it.
};

class exchange {
 public:
  /// Begins the next operation of a communicator.
  exchange(communicator& comm, char const* call, agreed const& with = {});

  communicator& comm() const { return *comm_; }
  int rank() const { return comm_->rank; }
  int size() const { return comm_->size; }
  char const* call() const { return call_; }
  std::uint64_t number() const { return number_; }

  void put(int to, items const& from) const;
  /// Puts the same for the members `first` to `end`, but not for `without`.
  void put_to_some(items const& from, int first, int end, int without = -1) const;
  void put_to_all(items const& from, int without = -1) const {
    put_to_some(from, 0, size(), without);
  }
  /// Puts each member's items, but not those of `without`.
  void put_each(layout const& out, int without = -1) const;
  /// Copies the part that this member has for itself.
  void keep(items const& from, items const& into) const;

  /// Waits for one part, and takes it.
  void take_one(items const& into) const;
  /// Waits for a part of each other member, and takes all.
  void take_each(layout const& in) const;
  /// Waits for parts of `count` members, and folds them in the order of ranks.
  void take_folded(int count, folding& into) const;

 private:
  void wait(int count) const;
  void discard_old(layout const& in) const;
  int take_some(int first, layout const& in) const;
  int put_some(int first, layout const& out, int without) const;
  void check_length(int source, std::uint64_t sent, std::uint64_t bytes) const;
  /// The place of a member's part among those that come.
  int part_of(int member) const { return member < comm_->rank ? member : member - 1; }

  kept<communicator> comm_;
  char const* call_;
  std::uint64_t number_;
};

/// An operation that a member has begun, and the parts that it still has to take. It has ended when
/// they have come; finish() waits for them.
class started : public counted {
 public:
  /// Nothing is left to do.
  explicit started(exchange&& all) : all_(std::move(all)) {}
  /// All members are to have begun it.
  static started until_begun(exchange&& all);
  static started one(exchange&& all, items const& into);
  static started each(exchange&& all, layout&& in);
  static started folded(exchange&& all, int parts, folding&& into);

  bool is_over() const { return rest_ == rest::nothing; }
  communicator const& comm() const { return all_.comm(); }
  std::uint64_t number() const { return all_.number(); }
  /// How many parts it waits for; 0: for the others to begin.
  int parts() const { return parts_; }
  void finish();

 private:
  enum class rest : std::uint8_t { nothing, begun, one, each, folded };

  started(exchange&& all, rest what, int parts)
      : all_(std::move(all)), rest_(what), parts_(parts) {}

  exchange all_;
  rest rest_ = rest::nothing;
  int parts_ = 0;
  layout in_;
  folding fold_;
};

}  // namespace outsize::bsp::mpi
