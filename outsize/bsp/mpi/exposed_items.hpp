// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items where the engine can read or write their bytes: in place if they are a run of bytes that it
// reaches, or else packed in memory of the arena. Freestanding. One thread. Layer: bsp.

#include <cstdint>

#include "child.hpp"
#include "datatype.hpp"

namespace outsize::bsp::mpi {

/// The address by which the engine reaches the bytes of items; 0: they are to be packed.
inline std::uint64_t address_in_place(items const& all) noexcept {
  return all.is_dense() ? reachable(all.first()) : 0;
}

/// Items for the engine to read.
class outgoing_items {
 public:
  outgoing_items(items const& from, char const* call) : bytes_(from.bytes()) {
    if (bytes_ == 0) return;
    address_ = address_in_place(from);
    if (address_ != 0) return;
    copy_ = static_cast<std::byte*>(::malloc(bytes_));
    if (copy_ == nullptr) refuse("%s: no memory for %lu bytes", call, bytes_);
    pack(from, copy_);
    address_ = reinterpret_cast<std::uint64_t>(copy_);
  }
  outgoing_items(outgoing_items const&) = delete;
  outgoing_items& operator=(outgoing_items const&) = delete;
  ~outgoing_items() { ::free(copy_); }

  std::uint64_t address() const noexcept { return address_; }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::uint64_t bytes_;
  std::uint64_t address_ = 0;
  std::byte* copy_ = nullptr;
};

/// Items for the engine to write.
class incoming_items {
 public:
  incoming_items(items const& into, char const* call) : into_(into) {
    if (bytes() == 0) return;
    address_ = address_in_place(into);
    if (address_ != 0) return;
    copy_ = static_cast<std::byte*>(::malloc(bytes()));
    if (copy_ == nullptr) refuse("%s: no memory for %lu bytes", call, bytes());
    address_ = reinterpret_cast<std::uint64_t>(copy_);
  }
  incoming_items(incoming_items const&) = delete;
  incoming_items& operator=(incoming_items const&) = delete;
  ~incoming_items() { ::free(copy_); }

  std::uint64_t address() const noexcept { return address_; }
  /// The most bytes that may come.
  std::uint64_t bytes() const noexcept { return into_.bytes(); }
  /// The first bytes have come.
  void finish(std::uint64_t bytes) const {
    if (copy_ != nullptr) unpack(copy_, bytes, into_);
  }

 private:
  items into_;
  std::uint64_t address_ = 0;
  std::byte* copy_ = nullptr;
};

}  // namespace outsize::bsp::mpi
