// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Handles of objects that the program makes, and objects that are freed with their last user.
//
//   bits 40…63: how often the place was used | 4…39: place + 0x100 | 0…3: kind of object
//
// Freestanding. One thread. Layer: bsp.

#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "child.hpp"

namespace outsize::bsp::mpi {

/// An object is freed when the last of its references goes.
struct counted {
  std::uint32_t references = 1;
};

/// A new object with one reference, the caller's.
template <typename T, typename... Arguments>
T& make(Arguments&&... arguments) {
  void* const memory = ::malloc(sizeof(T));
  if (memory == nullptr) refuse("no memory for an object of %zu bytes", sizeof(T));
  return *::new (memory) T(std::forward<Arguments>(arguments)...);
}

/// Frees an object that make() made.
template <typename T>
void destroy(T& object) {
  object.~T();
  ::free(&object);
}

/// Drops a reference.
template <typename T>
void release(T& object) {
  if (--object.references == 0) destroy(object);
}

/// A reference to a counted object.
template <typename T>
class kept {
 public:
  kept() = default;
  explicit kept(T& object) : object_(&object) { ++object.references; }
  kept(kept const& other) : object_(other.object_) {
    if (object_ != nullptr) ++object_->references;
  }
  kept(kept&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  kept& operator=(kept other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~kept() {
    if (object_ != nullptr) release(*object_);
  }
  /// Takes over the caller's reference.
  static kept take(T& object) {
    kept made;
    made.object_ = &object;
    return made;
  }

  explicit operator bool() const { return object_ != nullptr; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  T* object_ = nullptr;
};

/// The kinds of objects that have handles of this form.
enum class handle_kind : std::uintptr_t { communicator = 1, request, type, operation, group };

/// Objects by their handles. A handle is not valid any more once its object was removed.
template <typename T, typename Handle, handle_kind Kind>
class handle_table {
 public:
  /// Gives an object a handle, which takes over the caller's reference.
  Handle add(T& object) {
    if (free_ == none) grow();
    std::size_t const place = free_;
    free_ = entries_[place].next_free;
    entries_[place].object = &object;
    return reinterpret_cast<Handle>(entries_[place].uses << use_shift |
                                    (first_place + place) << kind_bits |
                                    static_cast<std::uintptr_t>(Kind));
  }
  /// nullptr: it is not a handle of this table.
  T* find(Handle handle) const noexcept {
    std::size_t const place = place_of(handle);
    return place < size_ ? entries_[place].object : nullptr;
  }
  /// Takes an object out, with its handle's reference. @pre find() has found it.
  T& remove(Handle handle) noexcept {
    entry& left = entries_[place_of(handle)];
    left.next_free = free_;
    free_ = static_cast<std::size_t>(&left - entries_);
    ++left.uses;
    return *std::exchange(left.object, nullptr);
  }

 private:
  static constexpr std::size_t none = SIZE_MAX;
  static constexpr std::uintptr_t kind_bits = 4, use_shift = 40, first_place = 0x100;

  struct entry {
    T* object;
    std::uintptr_t uses;
    std::size_t next_free;
  };

  std::size_t place_of(Handle handle) const noexcept {
    auto const number = reinterpret_cast<std::uintptr_t>(handle);
    std::uintptr_t const place =
        ((number & ((std::uintptr_t{1} << use_shift) - 1)) >> kind_bits) - first_place;
    bool const is_mine = (number & ((1U << kind_bits) - 1)) == static_cast<std::uintptr_t>(Kind);
    return is_mine && place < size_ &&
                   (entries_[place].uses & (UINTPTR_MAX >> use_shift)) == number >> use_shift
               ? place
               : none;
  }
  void grow() {
    std::size_t const larger = size_ == 0 ? 16 : 2 * size_;
    void* const moved = ::realloc(entries_, larger * sizeof(entry));
    if (moved == nullptr) refuse("no memory for handles");
    entries_ = static_cast<entry*>(moved);
    for (std::size_t place = larger; place-- > size_;) {
      entries_[place] = {.object = nullptr, .uses = 0, .next_free = free_};
      free_ = place;
    }
    size_ = larger;
  }

  entry* entries_ = nullptr;
  std::size_t size_ = 0;
  std::size_t free_ = none;
};

/// Memory for as long as a call lasts.
class temporary {
 public:
  temporary(std::uint64_t bytes, char const* call) : memory_(::malloc(bytes + 1)) {
    if (memory_ == nullptr) refuse("%s: no memory for %lu bytes", call, bytes);
  }
  temporary(temporary const&) = delete;
  temporary& operator=(temporary const&) = delete;
  ~temporary() { ::free(memory_); }
  std::byte* data() const { return static_cast<std::byte*>(memory_); }

 private:
  void* memory_;
};

}  // namespace outsize::bsp::mpi
