// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Transfers of many short pages at once: pages that lie side by side on disk are read, or written,
// by one request, as scans of trees and their bulk construction do; and pages with few others
// between them are read with those, as large batches do.
//
//   pages expected:   3 4 5 6 | 17 18 19 | 30        ▶  three requests, into the buffers of runs
//   page 5 touched:   copied from its run into the cache, unless it is there
//   page 17 held:     used where it is, with those behind it
//
// Invariant: a page that is marked in a run has not been in the cache since the run's read was
// issued, so what is in the run is what is on disk; the buffer of a run that is held stays as it
// is. Threads: page_row's, which guards all. Layer: page.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/base/memory_holder.hpp>
#include <outsize/block/block_id.hpp>
#include <outsize/io/request.hpp>
#include <outsize/page/detail/page_space.hpp>

namespace outsize::detail {

/// How much is read at once, and how often. By default no runs are used.
struct page_run_options {
  std::size_t bytes = 0;  ///< Of a run; a multiple of a page's.
  std::size_t count = 0;
  bool is_named = true;  ///< Their memory is taken at once and kept; else it comes and goes.
};

/// Pages that have been asked for by runs, and not been touched yet.
class page_runs {
 public:
  /// Takes memory_bytes() from `memory`, if that is named.
  page_runs(grant& memory, std::size_t page_bytes, page_run_options const& options);
  static std::size_t memory_bytes(page_run_options const& options);
  page_runs(page_runs const&) = delete;
  page_runs& operator=(page_runs const&) = delete;
  ~page_runs();

  /// Whether runs pay: two pages fit in one at least.
  bool are_used() const noexcept { return run_pages_ > 1; }
  std::size_t memory_bytes() const noexcept { return runs_.size() * run_bytes_; }
  bool has_memory() const noexcept { return static_cast<bool>(memory_); }
  /// From now on runs can begin. @pre they have no memory, and the grant has memory_bytes() free.
  void take_memory(grant& memory);
  /// Gives it back to the grant, if it costs no more than `most` and none is held. Not if it is
  /// named.
  void give_memory(give_cost most) noexcept;

  /// How many pages from the front of `pages`, one after the other upward or downward, are side by
  /// side in `space` and `is_wanted`: at most as many as a run has room for. @pre the first is.
  template <typename Predicate>
  std::size_t stretch(page_space& space, std::span<std::uint64_t const> pages,
                      Predicate is_wanted) const {
    std::size_t count = 1;
    if (pages.size() < 2) return count;
    bool const down = pages[1] + 1 == pages[0];
    auto place = space.place(pages[0]);
    for (; count < std::min(pages.size(), run_pages_); ++count) {
      std::uint64_t const page = pages[count];
      if (page != pages[0] + (down ? -count : count) || !is_wanted(page)) break;
      auto const next = space.place(page);
      auto const& low = down ? next : place;
      auto const& high = down ? place : next;
      if (low.disk != high.disk || low.offset_bytes + page_bytes_ != high.offset_bytes) break;
      place = next;
    }
    return count;
  }
  /// Pages from the front of some, of which a few may be unwanted, but not the last.
  struct stretch_of_some {
    std::size_t count = 1;
    std::size_t wanted = 1;
  };
  /// Those that one request should read together with what lies between them, which must be there.
  /// @pre `pages` ascend; the first is wanted.
  template <typename Wanted, typename There>
  stretch_of_some stretch_with_gaps(page_space& space, std::span<std::uint64_t const> pages,
                                    Wanted is_wanted, There is_there) const {
    stretch_of_some found;
    std::uint64_t last = pages[0];  // wanted
    for (std::size_t i = 1; i < pages.size(); ++i) {
      std::uint64_t const page = pages[i];
      if (page <= last || page - last > most_gap_pages() + 1) break;
      if (page - pages[0] >= run_pages_) break;
      if (!is_wanted(page)) continue;
      for (; last < page && is_there(last + 1) && are_side_by_side(space, last); ++last) {
      }
      if (last < page) break;
      found = {i + 1, found.wanted + 1};
    }
    return found;
  }
  /// Begins to read pages `first`, first + 1, … that are side by side, of which some are marked,
  /// where the run used longest ago that is not held makes room. Returns whether there is one.
  /// @pre as many pages fit in a run; none of those is marked in another.
  bool begin(page_space& space, std::uint64_t first, std::vector<bool> marked);
  /// Whether a page is marked in a run.
  bool has(std::uint64_t page) const noexcept;
  /// The bytes of a page, which is no longer marked; empty if it is in no run, or could not be
  /// read. Valid until the next call.
  std::span<std::byte const> take(page_space& space, std::uint64_t page);

  /// Pages of a run, side by side.
  struct hold {
    std::size_t run = 0;
    std::uint64_t first = 0;
    std::span<std::byte const> bytes = {};  // empty if nothing is held
  };
  /// A page, if it is marked in a run, and those beside it that are, to be read until release().
  /// They stay marked. Nothing if they could not be read.
  hold hold_pages(page_space& space, std::uint64_t page);
  void release(hold const& held) noexcept { --runs_[held.run].holds; }
  /// What a run holds of a page is not needed, or no longer right.
  void forget(std::uint64_t page) noexcept;
  void forget_all() noexcept;

 private:
  struct run {
    std::span<std::byte> memory = {};
    std::uint64_t first = 0;
    std::vector<bool> marked = {};  // of pages first, first + 1, …
    block::block_id place = {};
    io::request_ptr reading = nullptr;
    std::size_t holds = 0;
    bool is_marked(std::uint64_t page) const noexcept {
      return page - first < marked.size() && marked[page - first];
    }
  };

  // To read so much more takes about as long as another request, on the disks that we measured.
  static constexpr std::size_t most_gap_bytes = std::size_t{16} << 10;
  std::size_t most_gap_pages() const noexcept { return most_gap_bytes / page_bytes_; }
  bool are_side_by_side(page_space& space, std::uint64_t page) const {
    auto const place = space.place(page), next = space.place(page + 1);
    return place.disk == next.disk && place.offset_bytes + page_bytes_ == next.offset_bytes;
  }

  run const* find(std::uint64_t page) const noexcept;
  run* oldest_free() noexcept;
  run* arrived(page_space& space, std::uint64_t page);
  static void end(run& of) noexcept;

  std::size_t page_bytes_;
  std::size_t run_pages_;
  std::size_t run_bytes_;
  bool is_named_;
  buffer memory_;
  std::vector<run> runs_;
  std::size_t next_ = 0;  // the run used longest ago
};

}  // namespace outsize::detail
