// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Transfers of many short pages at once: pages that lie side by side on disk are read, or written,
// by one request, as scans of trees and their bulk construction do.
//
//   pages expected:   3 4 5 6 | 17 18 19 | 30        ▶  three requests, into the buffers of runs
//   page 5 touched:   copied from its run into the cache, unless it is there
//
// Invariant: a page that is marked in a run has not been in the cache since the run's read was
// issued, so what is in the run is what is on disk. Threads: page_row's, which guards all. Layer:
// container.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/block/block_device.hpp>
#include <outsize/block/block_id.hpp>
#include <outsize/container/page_space.hpp>
#include <outsize/io/request.hpp>

namespace outsize::detail {

/// How much is read at once, and how often. By default no runs are used.
struct page_run_options {
  std::size_t bytes = 0;  ///< Of a run; a multiple of a page's.
  std::size_t count = 0;
};

/// Pages that have been asked for by runs, and not been touched yet.
class page_runs {
 public:
  /// Takes memory_bytes() from `memory`.
  page_runs(grant& memory, std::size_t page_bytes, page_run_options const& options);
  static std::size_t memory_bytes(page_run_options const& options);
  page_runs(page_runs const&) = delete;
  page_runs& operator=(page_runs const&) = delete;
  ~page_runs();

  /// Whether runs pay: two pages fit in one at least.
  bool are_used() const noexcept { return run_pages_ > 1; }
  /// Begins to read those of the pages, in this order, for which `is_wanted`; the runs used longest
  /// ago make room. Pages that are side by side in `space` become a run.
  void expect(page_space& space, std::span<std::uint64_t const> pages,
              std::function<bool(std::uint64_t)> const& is_wanted);
  /// Whether a page is marked in a run.
  bool has(std::uint64_t page) const noexcept;
  /// The bytes of a page, which is no longer marked; empty if it is in no run, or could not be
  /// read. Valid until the next call.
  std::span<std::byte const> take(page_space& space, std::uint64_t page);
  /// What a run holds of a page is not needed, or no longer right.
  void forget(std::uint64_t page) noexcept;

 private:
  struct run {
    std::span<std::byte> memory = {};
    std::uint64_t first = 0;
    std::vector<bool> marked = {};  // of pages first, first + 1, …
    block::block_id place = {};
    io::request_ptr reading = nullptr;
    bool is_marked(std::uint64_t page) const noexcept {
      return page - first < marked.size() && marked[page - first];
    }
  };

  run const* find(std::uint64_t page) const noexcept;
  void begin(page_space& space, std::uint64_t first, std::size_t count);
  static void end(run& of) noexcept;

  std::size_t page_bytes_;
  std::size_t run_pages_;
  buffer memory_;
  std::vector<run> runs_;
  std::size_t next_ = 0;  // the run used longest ago
};

}  // namespace outsize::detail
