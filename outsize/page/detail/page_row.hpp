// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The pages of a container that is used like an array: some are in memory, as a page_cache keeps
// them, which rows may share; those touched last stay there for sure.
//
//   pages:   0   1   2   3   4   5   6   7 …
//   cache:       1       3   4   5              which ones: a replacement policy
//   live:                    5 ◀ 4              pinned; what refers into them stays valid
//
// Whoever changes pages is alone with all rows of the cache (change(), reach(), flush()); whoever
// only reads may have company (read(), pin(), expect()), as the cache is guarded. Who waits for a
// page to be read by itself keeps nobody out, unless he was alone when he began: then those who
// come meanwhile wait for that read, too. Who waits for a run keeps others out. Pages that nothing
// has been written to hold zeros, and are nowhere until they are changed. Going on from a page to
// its neighbour begins to read those behind it.
//
// Invariant: a page is blank or has been in the cache or on disk; only blank ones hold nothing.
// Layer: page. Source: STXXL 2008, section 5.1.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/block/block_cache.hpp>
#include <outsize/io/request.hpp>
#include <outsize/page/detail/page_cache.hpp>
#include <outsize/page/detail/page_runs.hpp>
#include <outsize/page/detail/page_space.hpp>

namespace outsize {
class storage;
}

namespace outsize::detail {

class page_row;

/// Replaces all pages of a row: as long as it lives, the row has the new ones, none to begin with.
/// Then it has the old ones again, as they were, unless keep() has given them up. A file keeps what
/// was settled meanwhile, and must not be settled. Disk: both. The row outlives it.
class page_renewal {
 public:
  /// Ends the lives of pages. @throws io_error (EACCES); what page_space::swap_aside() throws.
  explicit page_renewal(page_row& row);
  page_renewal(page_renewal const&) = delete;
  page_renewal& operator=(page_renewal const&) = delete;
  ~page_renewal();

  void keep() noexcept;

 private:
  void give_up() noexcept;

  page_row& row_;
  std::deque<bool> old_blank_;
  bool is_kept_ = false;
};

/// What copies of pages are made of, to be aligned as pages in the cache are.
struct alignas(block::block_cache::buffer_alignment_bytes) page_line {
  std::array<std::byte, block::block_cache::buffer_alignment_bytes> bytes;
};

/// Keeps a page in memory, as long as it lives, wherever it is destroyed. Movable.
class page_pin {
 public:
  page_pin() = default;
  page_pin(page_pin&& other) noexcept = default;
  page_pin& operator=(page_pin&& other) noexcept;
  ~page_pin() { release(); }

  explicit operator bool() const noexcept { return static_cast<bool>(block_); }
  std::span<std::byte const> bytes() const noexcept { return block_.bytes(); }
  /// The same, to be changed by who is alone. @pre page_row::hold_to_change() gave it.
  std::span<std::byte> change() noexcept { return block_.change(); }
  void release() noexcept;

 private:
  friend class page_row;
  page_pin(std::shared_ptr<page_row const> row, block::pinned_block block) noexcept
      : row_(std::move(row)), block_(std::move(block)) {}

  std::shared_ptr<page_row const> row_;
  block::pinned_block block_;
};

/// Keeps pages of a run where they are, as long as it lives, wherever it is destroyed. Movable.
class run_pin {
 public:
  run_pin() = default;
  run_pin(run_pin&& other) noexcept
      : row_(std::move(other.row_)), held_(std::exchange(other.held_, {})) {}
  run_pin& operator=(run_pin&& other) noexcept;
  ~run_pin() { release(); }

  explicit operator bool() const noexcept { return row_ != nullptr; }
  /// The number of the first page, and the bytes of all.
  std::uint64_t first() const noexcept { return held_.first; }
  std::span<std::byte const> bytes() const noexcept { return held_.bytes; }
  void release() noexcept;

 private:
  friend class page_row;
  run_pin(std::shared_ptr<page_row const> row, page_runs::hold held) noexcept
      : row_(std::move(row)), held_(held) {}

  std::shared_ptr<page_row const> row_;
  page_runs::hold held_;
};

/// See the top of this file. Made by make_shared: pins share it.
class page_row : public std::enable_shared_from_this<page_row> {
 public:
  /// Pages of `page_bytes` each, which is no more than the cache's. If the space is not on a
  /// storage's disks, the cache is no other row's, and goes with it.
  page_row(storage& store, std::unique_ptr<page_space> space, std::shared_ptr<page_cache> cache,
           std::size_t page_bytes);
  /// The same, with buffers for runs of pages, which it takes from `memory`. @throws budget_error.
  page_row(storage& store, std::unique_ptr<page_space> space, std::shared_ptr<page_cache> cache,
           std::size_t page_bytes, grant memory, page_run_options const& runs);
  page_row(page_row const&) = delete;
  page_row& operator=(page_row const&) = delete;
  ~page_row();

  /// Whose memory and threads work on the pages.
  storage& store() const noexcept { return store_; }
  std::size_t page_bytes() const noexcept { return page_bytes_; }
  /// The number of the first page, and of the one behind the last.
  std::uint64_t begin() const noexcept { return space_->begin(); }
  std::uint64_t end() const noexcept { return space_->end(); }
  /// Pages touched last by change() and show(), of all rows of the cache, whose bytes stay where
  /// they are.
  std::size_t live_pages() const noexcept { return cache_->live_pages(); }
  std::size_t cache_pages() const noexcept { return cache_->cache_pages(); }
  /// How many pages the cache has room for that have been expected and are not used yet.
  std::size_t batch_pages() const noexcept { return cache_->batch_pages(); }

  // ---- alone ----

  /// Has `call` called, or nothing more, when another row of the cache is at work: what the user
  /// knows of live pages may then end without his doing. It throws nothing.
  void call_at_rest(std::function<void()> call) { at_rest_ = std::move(call); }
  /// Adds blank pages at the ends, or gives up those there and their space, until it has pages
  /// `begin` to `end` - 1. @pre begin <= end, and there is no gap to what it has now.
  /// Asks for the space first if more than one is added, and takes that of a page when the page is
  /// changed first. @throws out_of_space, budget_error, io_error; what was to be given up is gone
  /// then, and nothing is added.
  void reach(std::uint64_t begin, std::uint64_t end);
  /// Only asks for the space of pages begin to end - 1. @throws likewise.
  void require_room(std::uint64_t begin, std::uint64_t end);
  /// Takes the space of pages begin to end - 1 now, if they are on disks. @throws out_of_space,
  /// io_error; nothing is taken then.
  void take_places(std::uint64_t begin, std::uint64_t end);
  enum class content : std::uint8_t { kept, replaced };
  /// The bytes of a page, to be read and changed until live_pages() - 1 others have been touched.
  /// If all of it will be replaced, it is not read; what it holds is not known then.
  /// @throws io_error, of its read or of the write of another that must leave.
  std::span<std::byte> change(std::uint64_t page, content old = content::kept);
  /// The same, only to be read. @pre something was written to the page.
  std::span<std::byte const> show(std::uint64_t page);
  /// Touches a live page, and moves it to another buffer, whose bytes are to be written. The old
  /// ones stay as they are, for references into them, until as many pages have been moved so as the
  /// cache has former_pages.
  std::span<std::byte> renew(std::uint64_t page);
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

  // ---- alone with many pages, as loops are that know what they will need ----

  /// Ends the lives of all pages of the cache, so that all of it can be held: references end.
  void end_lives() const;
  /// Pages of the cache that can still be held, with all memory that is its share.
  /// @throws budget_error, io_error.
  std::size_t free_pages() const;
  /// Whether nothing has been written to the page, or it was vacated: it holds zeros.
  bool holds_zeros(std::uint64_t page) const;
  /// Begins to read a page that will be held soon, as block_cache::prefetch() does. To say so again
  /// keeps it from leaving for others. @throws io_error, of the write of another that must leave.
  void expect(std::uint64_t page) const;
  /// The page to be read, as long as it is held; nothing if it holds zeros.
  /// @throws io_error; budget_error if there are no free_pages().
  page_pin hold(std::uint64_t page) const;
  /// The page to be changed likewise. A page that is live stays so; no other life ends.
  page_pin hold_to_change(std::uint64_t page, content old = content::kept);
  /// The same of a page whose items are about to move or to be replaced: see renew(). However often
  /// it is called, a page leaves one buffer behind until it is touched again.
  page_pin hold_to_renew(std::uint64_t page, content old = content::kept);

  // ---- in company ----

  /// Copies bytes out of a page. @throws io_error.
  void read(std::uint64_t page, std::size_t offset_bytes, std::span<std::byte> into) const;
  /// The page, to be read as long as it is pinned; nothing if it is blank, or if the cache has no
  /// room for another pin: read() then. @param before  The page that was pinned before: if it is a
  /// neighbour, pages on the other side are read ahead; `page` itself stands for none.
  /// @throws io_error.
  page_pin pin(std::uint64_t page, std::uint64_t before) const;
  /// What one call of expect() may begin to read: so much that what it began before is not pushed
  /// out.
  struct ahead {
    std::size_t runs = 0;   ///< Requests of several pages.
    std::size_t pages = 0;  ///< Pages by themselves.
  };
  /// Begins to read pages that will be touched in this order. Those that are side by side on disk
  /// are read together, beside the cache, if the row has runs. Returns for how many of them, the
  /// first ones, there is nothing more to do.
  std::size_t expect(std::span<std::uint64_t const> pages, ahead most) const;
  /// Begins to read the first of pages that will surely be touched in this order, as expect(page)
  /// does; or several of them, if they are so near to each other on disk that it is faster to read
  /// them and what lies between by one request, beside the cache. Returns how many it was, or 0 if
  /// `most` has no room for that. Pages that are gone need nothing. @throws as expect(page).
  std::size_t expect_first(std::span<std::uint64_t const> pages, ahead most) const;
  /// A page that was expected, and those beside it, to be read where a run has them; nothing if it
  /// is in no run. They are as they are now: who changes a page has another copy.
  run_pin pin_run(std::uint64_t page) const;

  block::block_cache_counts counts() const;

 private:
  friend class page_pin;
  friend class page_renewal;
  friend class run_pin;
  friend class page_cache;
  static constexpr std::uint64_t no_page = UINT64_MAX - 1;  // nor has it neighbours
  // Fewer side by side are read faster by themselves, as more of them are under way.
  static constexpr std::size_t least_run_pages = 4;

  bool has_runs() const;
  bool must_be_read(std::uint64_t page) const;
  bool is_there(std::uint64_t page) const;
  page_runs::stretch_of_some near_the_first(std::span<std::uint64_t const> pages) const;
  bool is_blank(std::uint64_t page) const { return blank_[page - space_->begin()]; }
  void forget(std::uint64_t page) noexcept;
  block::block_id place_to_change(std::uint64_t page);
  void swap_aside(std::deque<bool>& blank);
  page_pin shared(block::pinned_block block) const;
  page_pin hold_now(std::uint64_t page, content old);
  block::pinned_block pin_old(std::uint64_t page) const;
  block::pinned_block pin_in_company(std::uint64_t page, page_cache::visit const& here,
                                     std::unique_lock<memory_holder>& lock) const;
  void note_miss(std::uint64_t page) const;
  block::pinned_block pin_blank(std::uint64_t page, content old);
  block::pinned_block pin_to_replace(std::uint64_t page);
  void move_to_change(std::uint64_t page, block::pinned_block const& block);
  page_cache::live_page& touch(std::uint64_t page, content old);
  void note_touch(std::uint64_t page) noexcept;
  bool is_near(std::uint64_t page) const noexcept;
  void read_ahead(std::uint64_t page, bool backward) const;
  void rest() noexcept;
  void seal(std::uint64_t page, std::span<std::byte const> bytes);
  bool is_as_sealed(std::uint64_t page, std::span<std::byte const> bytes) const;

  storage& store_;
  std::size_t page_bytes_;
  std::unique_ptr<page_space> space_;
  std::shared_ptr<page_cache> cache_;  // whose mutex guards what follows, against others who read
  grant memory_;                       // of the runs
  mutable page_runs runs_;
  bool runs_need_memory_;  // of the cache
  std::function<void()> at_rest_;
  std::deque<bool> blank_;           // of each page
  std::uint64_t touched_ = no_page;  // the last one,
  std::uint64_t touched_before_ = no_page;
  std::unordered_map<std::uint64_t, std::uint64_t> seals_;  // of pages that were live: see seal()
  mutable std::uint64_t missed_ = no_page;   // the last page that was read for who needs it now
  mutable std::uint64_t checked_ = no_page;  // the last page that was compared with its seal
};

}  // namespace outsize::detail
