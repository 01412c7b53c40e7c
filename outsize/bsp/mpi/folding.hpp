// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Reductions: items folded from left to right by an operation, MPI's or the program's.
//
// A function of the program sets each of its second items to `first op second`, so the folded items
// are its first argument, and the result is where the next items were. Its buffers are laid out as
// the type says; gaps are zero at first.
//
// Freestanding. One thread. Layer: bsp.

#include <cstdint>
#include <utility>

#include "datatype.hpp"

namespace outsize::bsp::mpi {

/// An operation of the program.
struct user_operation : counted {
  MPI_User_function* small = nullptr;
  MPI_User_function_c* large = nullptr;
  bool commutes = false;
};

/// Zeroed memory for items, laid out as their type says.
class item_memory {
 public:
  item_memory() = default;
  item_memory(std::int64_t count, datatype const& type, char const* call);
  item_memory(item_memory&& other) noexcept { swap(other); }
  item_memory& operator=(item_memory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~item_memory() { ::free(memory_); }
  void swap(item_memory& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(buffer_, other.buffer_);
  }
  /// The address of the first item.
  void* buffer() const { return buffer_; }

 private:
  void* memory_ = nullptr;
  void* buffer_ = nullptr;
};

class folding {
 public:
  folding() = default;
  /// @param result  Gets the folded items by finish(), and may hold them before.
  folding(MPI_Op operation, MPI_Datatype type, std::int64_t count, void* result, char const* call);

  /// Tells operations apart: all members must use the same.
  std::uint64_t identity() const { return identity_; }
  datatype const& type() const { return *type_; }
  std::int64_t count() const { return count_; }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(count_ * type_->size); }

  /// Folds items from the right: the first ones are the beginning.
  void add(items const& more);
  void add_packed(std::byte const* more);
  /// The folded items.
  items folded() const { return {.buffer = sum_, .count = count_, .type = &*type_}; }
  /// Copies the folded items to the result, if they are not there.
  void finish();

 private:
  void* begin();
  void combine(void const* with);
  void call_user();

  char const* call_ = "";
  std::uint64_t identity_ = 0;
  detail::fold_function fold_ = nullptr;
  kept<user_operation> user_;
  kept<datatype> type_;
  std::int64_t count_ = 0;
  void* result_ = nullptr;
  void* sum_ = nullptr;
  item_memory own_sum_, next_;
  bool has_begun_ = false;
};

}  // namespace outsize::bsp::mpi
