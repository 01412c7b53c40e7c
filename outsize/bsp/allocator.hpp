// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Memory of a virtual processor's arena for standard containers, and the containers that use it.
//
//   bsp::vector<std::uint64_t> keys(n);   // within bsp::run: in the arena of this processor
//
// All other heap memory, and globals, are shared by all processors, stay in memory, and are not
// counted. Layer: bsp.

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace outsize::bsp {

namespace detail {

/// Memory of the processor that this thread runs now.
/// @throws budget_error if the processor may not have as much; cancelled if another one has failed
/// meanwhile. @pre within bsp::run.
void* allocate_in_arena(std::size_t bytes, std::size_t alignment);
/// @pre `memory` is of the processor that this thread runs now.
void free_in_arena(void* memory) noexcept;

}  // namespace detail

/// Allocates in the arena of the processor that calls. Items that are made without a value are left
/// as they are, if their type allows: clearing memory that is read into costs as much as a disk.
template <typename T>
class allocator {
 public:
  using value_type = T;
  using is_always_equal = std::true_type;

  allocator() = default;
  template <typename U>
  allocator(allocator<U> const& /*other*/) noexcept {}

  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(detail::allocate_in_arena(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* memory, std::size_t /*count*/) noexcept { detail::free_in_arena(memory); }

  template <typename U>
  void construct(U* place) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void*>(place)) U;
  }
  template <typename U, typename... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    std::construct_at(place, std::forward<Arguments>(arguments)...);
  }

  friend bool operator==(allocator const&, allocator const&) = default;
};

/// A std::vector in the arena; vector(n) leaves numbers without a value.
template <typename T>
using vector = std::vector<T, allocator<T>>;

}  // namespace outsize::bsp
