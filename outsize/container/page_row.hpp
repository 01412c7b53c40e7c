// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The pages of a container that is used like an array: some are in memory, as a block_cache keeps
// them, and those touched last stay there for sure.
//
//   pages:   0   1   2   3   4   5   6   7 …
//   cache:       1       3   4   5              which ones: a replacement policy
//   live:                    5 ◀ 4              pinned; what refers into them stays valid
//
// Whoever changes pages is alone (change(), reach(), flush()); whoever only reads may have company
// (read(), pin(), prefetch()), as the cache is guarded. Pages that nothing has been written to hold
// zeros, and are nowhere until they are changed. Going from a page to its neighbour begins to read
// those behind it.
//
// Invariant: a page is blank or has been in the cache or on disk; only blank ones hold nothing.
// Layer: container. Source: STXXL 2008, section 5.1.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/block/block_cache.hpp>
#include <outsize/block/replacement.hpp>
#include <outsize/container/page_runs.hpp>
#include <outsize/container/page_space.hpp>
#include <outsize/io/request.hpp>

namespace outsize::detail {

class page_row;

/// Keeps a page in memory to be read, as long as it lives, wherever it is destroyed. Movable.
class page_pin {
 public:
  page_pin() = default;
  page_pin(page_pin&& other) noexcept = default;
  page_pin& operator=(page_pin&& other) noexcept;
  ~page_pin() { release(); }

  explicit operator bool() const noexcept { return static_cast<bool>(block_); }
  std::span<std::byte const> bytes() const noexcept { return block_.bytes(); }
  void release() noexcept;

 private:
  friend class page_row;
  page_pin(std::shared_ptr<page_row const> row, block::pinned_block block) noexcept
      : row_(std::move(row)), block_(std::move(block)) {}

  std::shared_ptr<page_row const> row_;
  block::pinned_block block_;
};

struct page_row_options {
  std::size_t page_bytes = 0;
  std::size_t cache_pages = 0;  ///< At least page_row::least_cache_pages.
  std::size_t spare_pages = 0;  ///< Buffers for changed pages on their way to disk.
  /// Pages touched last that stay; at most page_row::most_live_pages. 0: a quarter of the cache's,
  /// 2 at least.
  std::size_t live_pages = 0;
  /// Read behind a page that follows on its neighbour; as far as the cache has room for them.
  std::size_t read_ahead_pages = 0;
  /// How much of pages side by side expect() reads at once, and how often. 0: page by page.
  std::size_t run_bytes = 0;
  std::size_t run_count = 0;
};

/// See the top of this file. Made by make_shared: pins share it.
class page_row : public std::enable_shared_from_this<page_row> {
 public:
  static constexpr std::size_t least_cache_pages = 4;
  static constexpr std::size_t most_live_pages = 8;

  /// Takes memory_bytes() from `memory`: (cache_pages + spare_pages) · page_bytes and
  /// run_count · run_bytes.
  /// @throws budget_error.
  page_row(std::unique_ptr<page_space> space, grant memory, page_row_options const& options,
           std::unique_ptr<block::replacement> policy);

  /// What it takes from its grant.
  static std::size_t memory_bytes(block::block_device& device, page_row_options const& options);

  std::size_t page_bytes() const noexcept { return page_bytes_; }
  /// The number of the first page, and of the one behind the last.
  std::uint64_t begin() const noexcept { return space_->begin(); }
  std::uint64_t end() const noexcept { return space_->end(); }
  /// Pages touched last by change() and show() whose bytes stay where they are.
  std::size_t live_pages() const noexcept { return live_pages_; }
  std::size_t cache_pages() const noexcept { return cache_pages_; }
  /// Whether nothing was written to a page, or it was vacated.
  bool is_blank(std::uint64_t page) const { return blank_[page - space_->begin()]; }

  // ---- alone ----

  /// Adds blank pages at the ends, or gives up those there and their space, until it has pages
  /// `begin` to `end` - 1. @pre begin <= end, and there is no gap to what it has now.
  /// @throws as page_space::append(); what could be added has been.
  void reach(std::uint64_t begin, std::uint64_t end);
  enum class content : std::uint8_t { kept, replaced };
  /// The bytes of a page, to be read and changed until live_pages() - 1 others have been touched.
  /// If all of it will be replaced, it is not read; what it holds is not known then.
  /// @throws io_error, of its read or of the write of another that must leave.
  std::span<std::byte> change(std::uint64_t page, content old = content::kept);
  /// The same, only to be read. @pre something was written to the page.
  std::span<std::byte const> show(std::uint64_t page);
  /// Begins to write pages that nothing has been written to, past the cache; they must not be used
  /// before the requests have ended, nor if one has failed. `bytes` must stay until then.
  /// @throws out_of_space, io_error; nothing is written.
  std::vector<io::request_ptr> write_past_cache(std::uint64_t first,
                                                std::span<std::byte const> bytes);
  /// Gives up what is in a page, and its place if it can be had again.
  void vacate(std::uint64_t page) noexcept;
  /// Writes all that was changed. If the pages' space keeps what was settled, change() must be
  /// called again for what will be changed. @throws io_error of the first that failed; nothing is
  /// lost.
  void flush();

  // ---- in company ----

  /// Copies bytes out of a page. @throws io_error.
  void read(std::uint64_t page, std::size_t offset_bytes, std::span<std::byte> into) const;
  /// The page, to be read as long as it is pinned; nothing if it is blank, or if the cache has no
  /// room for another pin: read() then. @param before  The page that was pinned before, or any
  /// other. @throws io_error.
  page_pin pin(std::uint64_t page, std::uint64_t before) const;
  /// Begins to read a page that will be touched soon, if there is room.
  void prefetch(std::uint64_t page) const;
  /// The same of pages that will be touched in this order; those that are side by side on disk are
  /// read together, beside the cache. At most run_bytes() · run_count of them are kept.
  void expect(std::span<std::uint64_t const> pages) const;

  block::block_cache_counts counts() const;

 private:
  friend class page_pin;
  static constexpr std::uint64_t no_page = UINT64_MAX;

  struct live_page {
    std::uint64_t number = no_page;
    block::pinned_block block = {};
    bool is_changed = false;  // so that it lies where it may be written
  };

  block::pinned_block pin_old(std::uint64_t page) const;
  live_page& touch(std::uint64_t page, content old);
  block::pinned_block pin_blank(std::uint64_t page, content old);
  block::pinned_block pin_to_replace(std::uint64_t page);
  void move_to_change(std::uint64_t page, block::pinned_block const& block);
  void forget(std::uint64_t page) noexcept;
  std::size_t find_live(std::uint64_t page) const noexcept;
  void make_first(std::size_t place) noexcept;
  void end_life(live_page& page) noexcept;
  void read_ahead(std::uint64_t page, bool backward) const;
  void seal(live_page const& page);
  bool is_as_sealed(live_page const& page) const;

  std::size_t page_bytes_;
  std::size_t cache_pages_;
  std::size_t live_pages_;
  std::size_t read_ahead_pages_;
  grant memory_;
  std::unique_ptr<page_space> space_;
  mutable std::mutex mutex_;  // guards what follows, against others who read
  mutable block::block_cache cache_;
  mutable page_runs runs_;
  std::deque<bool> blank_;                                  // of each page
  std::array<live_page, most_live_pages> live_;             // the one touched last is the first
  mutable std::size_t shared_pins_ = 0;                     // that pin() has given
  std::unordered_map<std::uint64_t, std::uint64_t> seals_;  // of pages that were live: see seal()
};

}  // namespace outsize::detail
