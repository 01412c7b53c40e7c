// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// New pages at the end of a page_row, written past its cache by requests of many pages, while the
// next ones are filled.
//
// Invariant: pages handed out and not written yet are those of the current buffer. One thread at a
// time, the one that changes the row. Layer: page.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/request.hpp>
#include <outsize/page/detail/page_row.hpp>

namespace outsize::detail {

/// Appends pages to a row, which nobody else uses meanwhile.
///
/// I/Os:   a write for each run_bytes of pages that lie side by side.
/// Memory: buffer_count · run_bytes, from the grant.
/// Errors: io_error of a write from next() or finish(), out_of_space, budget_error from next(); the
///         row has pages then whose content is not known.
class page_run_writer {
 public:
  static constexpr std::size_t buffer_count = 8;

  page_run_writer(page_row& row, grant& memory, std::size_t run_bytes);
  /// What it takes from its grant.
  static std::size_t memory_bytes(std::size_t page_bytes, std::size_t run_bytes) {
    return round_up(buffer_count * std::max(round_down(run_bytes, page_bytes), page_bytes),
                    outsize::page_bytes());
  }
  page_run_writer(page_run_writer const&) = delete;
  page_run_writer& operator=(page_run_writer const&) = delete;
  /// Waits; what was not finished is lost.
  ~page_run_writer();

  /// The number that the next page will have in the row, where it is not yet.
  std::uint64_t next_number() const noexcept { return first_ + filled_; }
  /// The memory of that page. It can be changed until the next call.
  std::span<std::byte> next();
  /// Writes the rest. @throws io_error.
  void finish();

 private:
  void write_full();
  void wait(std::size_t index);

  page_row& row_;
  std::size_t run_pages_;
  buffer memory_;
  std::array<std::vector<io::request_ptr>, buffer_count> writes_;
  std::size_t current_ = 0;  // buffer
  std::size_t filled_ = 0;   // pages of it
  std::uint64_t first_;      // number of its first page
};

}  // namespace outsize::detail
