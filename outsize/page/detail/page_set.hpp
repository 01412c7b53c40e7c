// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The pages of a row of which any can be free: leaves and nodes of trees, the overflow of hash
// tables.
//
//   row:   | used | free | used | used | free | used |      taken next: the first one that is free
//
// Invariant: free pages hold nothing, and the last page is used. Threads: as page_row's, alone.
// Layer: page.

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include <outsize/page/detail/page_row.hpp>

namespace outsize::detail {

/// Pages of one kind, any of which can be free.
class page_set {
 public:
  explicit page_set(std::shared_ptr<page_row> row);

  page_row& row() noexcept { return *row_; }
  page_row const& row() const noexcept { return *row_; }
  /// The number of a page that is blank: the lowest one that is free. @throws as page_row::reach().
  std::uint64_t take();
  /// Gives some back.
  void give(std::span<std::uint64_t const> pages) noexcept;
  void give(std::uint64_t page) noexcept { give({&page, 1}); }
  /// Gives all back.
  void clear() {
    row_->reach(0, 0);
    free_.clear();
  }
  std::uint64_t used() const noexcept { return row_->end() - free_.size(); }
  class renewal;

 private:
  std::shared_ptr<page_row> row_;
  std::set<std::uint64_t> free_;
};

/// Replaces all pages, as a page_renewal does those of a row.
class page_set::renewal {
 public:
  /// @throws as page_renewal.
  explicit renewal(page_set& set)
      : set_(set), row_(set.row()), old_free_(std::exchange(set.free_, {})) {}
  renewal(renewal const&) = delete;
  renewal& operator=(renewal const&) = delete;
  ~renewal() {
    if (!is_kept_) set_.free_.swap(old_free_);
  }

  void keep() noexcept {
    row_.keep();
    is_kept_ = true;
  }

 private:
  page_set& set_;
  page_renewal row_;
  std::set<std::uint64_t> old_free_;
  bool is_kept_ = false;
};

}  // namespace outsize::detail
