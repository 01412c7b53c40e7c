// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The items of each member of a communicator in a buffer. Keeps their types, and needs the arrays
// of the program no more. Freestanding. One thread. Layer: bsp.

#include <cstdint>
#include <utility>

#include "datatype.hpp"

namespace outsize::bsp::mpi {

class layout {
 public:
  layout() = default;
  layout(layout&& other) noexcept
      : members_(std::exchange(other.members_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  layout& operator=(layout&& other) noexcept {
    std::swap(members_, other.members_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~layout() {
    for (int i = 0; i < size_; ++i) release(const_cast<datatype&>(*members_[i].type));
    ::free(members_);
  }

  /// The items of one.
  static layout one(items const& all) {
    layout made(1, "MPI");
    made.set(0, all);
    return made;
  }
  /// `each` items of every member, one after the other.
  static layout even(void const* buffer, std::int64_t each, MPI_Datatype type, int members,
                     char const* call) {
    layout made(members, call);
    datatype const& of = committed_type(type, call);
    for (int i = 0; i < members; ++i) {
      std::int64_t const place = product(product(each, i, call), of.extent, call);
      made.set(i, items_of(address(buffer, place), each, type, call));
    }
    return made;
  }
  /// Counts and places in items, of either of MPI's forms. No places: one after the other.
  template <typename Count, typename Place>
  static layout uneven(void const* buffer, Count const* counts, Place const* places,
                       MPI_Datatype type, int members, char const* call) {
    layout made(members, call);
    datatype const& of = committed_type(type, call);
    std::int64_t next = 0;
    for (int i = 0; i < members; ++i) {
      std::int64_t const item = places != nullptr ? places[i] : next;
      std::int64_t const place = counts[i] == 0 ? 0 : product(item, of.extent, call);
      made.set(i, items_of(address(buffer, place), counts[i], type, call, i));
      next = sum(next, counts[i], call);
    }
    return made;
  }
  /// The same with a type for each member, and places in bytes.
  template <typename Count, typename Place>
  static layout mixed(void const* buffer, Count const* counts, Place const* places,
                      MPI_Datatype const* types, int members, char const* call) {
    layout made(members, call);
    for (int i = 0; i < members; ++i) {
      std::int64_t const place = counts[i] == 0 ? 0 : places[i];
      made.set(i, items_of(address(buffer, place), counts[i], types[i], call, i));
    }
    return made;
  }

  int size() const { return size_; }
  items const& at(int member) const { return members_[member]; }

 private:
  layout(int size, char const* call)
      : members_(static_cast<items*>(::calloc(static_cast<std::size_t>(size), sizeof(items)))) {
    if (members_ == nullptr) refuse("%s: no memory for %d counts", call, size);
  }

  static void const* address(void const* buffer, std::int64_t place) {
    return reinterpret_cast<void const*>(reinterpret_cast<std::intptr_t>(buffer) + place);
  }
  /// Members are set in order.
  void set(int member, items const& all) {
    members_[member] = all;
    ++const_cast<datatype*>(all.type)->references;
    size_ = member + 1;
  }

  items* members_ = nullptr;
  int size_ = 0;
};

}  // namespace outsize::bsp::mpi
