// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Mapped memory that nobody uses at the moment, kept because the system takes long to clear pages
// anew: stretches of addresses, of which those side by side are one.
//
//   | in use | spare | in use | spare                 |        ◀─ buffers that went
//                             | taken again | spare   |        ◀─ a buffer that came
//
// Invariant: stretches are disjoint, mapped, and not adjacent. One thread at a time.
// Layer: base.

#include <cstddef>
#include <map>

namespace outsize::detail {

class spare_pages {
 public:
  spare_pages() = default;
  spare_pages(spare_pages const&) = delete;
  spare_pages& operator=(spare_pages const&) = delete;
  /// Gives everything back to the system.
  ~spare_pages() { keep_at_most(0); }

  /// Keeps a mapping, of whole pages.
  void put(std::byte* place, std::size_t bytes);
  /// A part of what is kept, of whole pages, or nullptr if no stretch is so long.
  std::byte* take(std::size_t bytes);
  /// Gives whole pages back to the system until no more than `bytes` are left.
  void keep_at_most(std::size_t bytes) noexcept;

  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::map<std::byte*, std::size_t> stretches_;  // to their lengths
  std::size_t bytes_ = 0;
};

}  // namespace outsize::detail
