// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The memory of the pages of containers: a block_cache, and the pages touched last, which stay
// where they are. A page_row that is alone has one for itself; those of a page_pool share one.
//
//   row A:   0 1 2 3 …   row B:   0 1 2 …   row C:   0 1 …
//   cache:   A2 A3 B0 C1                                     which ones: a replacement policy
//   live:    C1 ◀ A3                                         pinned; the first was touched last
//
// So that whoever has touched a page can go on using it without asking, the row at work is told
// when another one takes its place.
//
// Unless its memory was named, it has next to none as long as no page is here, then what live pages
// need and what it gets beyond that, which it gives back to others who need it more
// (memory_holder.hpp).
//
// Invariant: live pages are pinned; the first is one of the row at work, if there is one. Whoever
// calls a function holds the mutex. Layer: page. Source: STXXL 2008, sections 5.1 and 5.2
// (shared pools).

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <outsize/base/memory_budget.hpp>
#include <outsize/base/memory_holder.hpp>
#include <outsize/block/block_cache.hpp>
#include <outsize/block/replacement.hpp>

namespace outsize::detail {

class page_row;
class page_runs;

struct page_cache_options {
  std::size_t page_bytes = 0;   ///< Of the longest page that will be used.
  std::size_t cache_pages = 0;  ///< At least page_cache::fewest_pages.
  std::size_t spare_pages = 0;  ///< Buffers for changed pages on their way to disk.
  /// So much memory is taken at once and kept. Else it is what can be used, and comes and goes.
  bool is_named = true;
  /// Of cache_pages and spare_pages: as many as it gets memory for while pages follow on their
  /// neighbours, as more does not help then. It gets more while they are read at random. 0: all.
  std::size_t usual_pages = 0;
  /// Changed pages that lie side by side are written together, so many bytes at most.
  std::size_t write_bytes = 0;
  /// Pages touched last that stay; at most page_cache::most_live_pages. 0: a third of the
  /// cache's, 2 at least.
  std::size_t live_pages = 0;
  /// That it has memory for, at least, if that is not named. 0: the live ones, and two beside those
  /// that are held.
  std::size_t least_pages = 0;
  /// Read behind a page that follows on its neighbour; as far as the cache has room for them.
  std::size_t read_ahead_pages = 0;
  /// Read at the same time for operations on many items; as far as the cache has room for them.
  std::size_t batch_pages = 1;
  /// Buffers of pages that were live when their items moved (page_row::renew()).
  std::size_t former_pages = 0;
  /// Held to be changed at once beside the live ones, by who holds fewer than all
  /// (page_row::hold_to_renew()); one needs nothing.
  std::size_t held_pages = 1;

  /// What is written together of short pages in a cache of so many bytes: all that are under way
  /// at once are an eighth of it at most.
  static std::size_t group_bytes(std::size_t cache_bytes) noexcept {
    return std::min(cache_bytes / 8 / block::block_cache::group_count, std::size_t{512} << 10);
  }
};

/// See the top of this file.
class page_cache {
 public:
  static constexpr std::size_t fewest_pages = 4;
  static constexpr std::size_t most_live_pages = 8;

  struct live_page {
    page_row* row = nullptr;
    std::uint64_t number = 0;
    block::pinned_block block = {};
    bool is_changed = false;  // so that it lies where it may be written
    bool is_lent = true;      // touched since it came into its buffer: references may go there
  };

  /// Takes memory_bytes() from `memory`: (cache_pages + spare_pages) · page_bytes, and four times
  /// write_bytes, if that is named; else `memory` is empty, and grows. `device` must outlive it.
  /// @throws budget_error.
  page_cache(block::block_device& device, grant memory, page_cache_options const& options,
             std::unique_ptr<block::replacement> policy);
  page_cache(page_cache const&) = delete;
  page_cache& operator=(page_cache const&) = delete;
  ~page_cache();

  /// A cache whose memory is of `budget`. @throws budget_error, also if what it needs at least is
  /// more than all of it.
  static std::shared_ptr<page_cache> make(memory_budget& budget, std::string asker,
                                          block::block_device& device,
                                          page_cache_options const& options,
                                          std::unique_ptr<block::replacement> policy);
  /// What it takes from its grant, if that is named.
  static std::size_t memory_bytes(block::block_device& device, page_cache_options const& options);

  /// To be held by who calls what follows. Whoever asks for memory meanwhile, and is where pages
  /// may leave, says so by a memory_holder::safe_point.
  memory_holder& mutex() noexcept { return holder_; }

  /// Buffers of runs, whose memory comes and goes with the cache's; they end before it.
  void add_runs(page_runs& runs);
  void remove_runs() noexcept;
  /// Gives them memory, if there is enough. Returns whether they have any.
  bool give_runs_memory();
  block::block_cache& blocks() noexcept { return blocks_; }
  std::size_t page_bytes() const noexcept { return page_bytes_; }
  /// As many as it keeps now; before the first page came, as many as it needs.
  std::size_t cache_pages() const noexcept { return std::max(blocks_.capacity(), least_kept()); }
  std::size_t live_pages() const noexcept { return live_pages_; }
  /// More would push each other out, beside the live ones, the current one and one that is read.
  std::size_t read_ahead_pages() const noexcept {
    return std::min(read_ahead_pages_, cache_pages() - live_pages_ - 2);
  }
  /// As many that have been used must be in the cache, so that under LRU these leave for others
  /// before those that are expected.
  std::size_t batch_pages() const noexcept {
    return std::clamp<std::size_t>(batch_pages_, 1,
                                   std::max<std::size_t>((cache_pages() - live_pages_) / 2, 2) - 1);
  }

  bool is_live(page_row const& row, std::uint64_t page) const noexcept {
    return find(row, page) < live_pages_;
  }
  /// The page, now the first of those that live; nullptr if it is none of them.
  live_page* touch(page_row& row, std::uint64_t page) noexcept;
  /// Ends the life of the page touched longest ago, if there are as many as may be.
  void make_room();
  /// Makes a page the first of those that live. @pre make_room() was called.
  live_page& add(page_row& row, std::uint64_t page, block::pinned_block block,
                 bool is_changed) noexcept;
  /// Ends all lives: whoever wants the whole cache does this first.
  void end_lives();
  /// Moves a page to another buffer, if it is live and references may go into the one that it has
  /// (block_cache::renew_memory()).
  void renew(page_row const& row, std::uint64_t page, bool keeps_content) noexcept;
  /// Ends the life of a page that is to be given up; what it holds can be read as after renew().
  void forget(page_row const& row, std::uint64_t page) noexcept;
  /// Forgets all that it knows of a row, which is to be destroyed.
  void forget(page_row const& row) noexcept;

  /// Takes all memory that is its share, for who wants all pages that there can be.
  /// @throws budget_error, io_error if it has none and cannot have what it needs at least.
  void take_share();
  /// To be called when pages were given up: without any, it needs no memory.
  void note_fewer_pages();
  /// To be called before a page is read that is not in the cache.
  /// @param follows  Whether it is a neighbour of the one that was read before.
  void note_miss(bool follows);

  /// Somebody who is in a function that others may be in, or waits for the mutex there.
  class visit {
   public:
    explicit visit(page_cache& cache) noexcept : cache_(cache) { ++cache_.visitors_; }
    visit(visit const&) = delete;
    visit& operator=(visit const&) = delete;
    ~visit() { --cache_.visitors_; }

    bool is_alone() const noexcept { return cache_.visitors_ == 1; }

   private:
    page_cache& cache_;
  };

  /// Whether one page more can be pinned by those who share it for reading: there must be room for
  /// the live pages, and for one that is read or those that are held.
  bool can_share() const noexcept {
    return shared_pins_ + live_pages_ + held_pages_ < cache_pages();
  }
  void count_shared_pin() noexcept { ++shared_pins_; }
  void discount_shared_pin() noexcept { --shared_pins_; }

 private:
  // Gives memory back, as the holder's gate is entered.
  class giver final : public memory_giver {
   public:
    explicit giver(page_cache& cache) noexcept : cache_(cache) {}
    void give_back(std::uint64_t bytes, give_cost most) override;

   private:
    page_cache& cache_;
  };

  std::size_t find(page_row const& row, std::uint64_t page) const noexcept;
  void make_first(std::size_t place) noexcept;
  void end_life(live_page& page);
  std::size_t least_kept() const noexcept { return least_buffers_ == 0 ? 0 : least_buffers_ - 1; }
  bool is_named() const noexcept { return least_buffers_ == 0; }
  void claim_from(std::uint64_t least);
  void take_memory(bool must);
  std::uint64_t most_now() const noexcept;

  std::size_t page_bytes_;
  std::size_t live_pages_;
  std::size_t read_ahead_pages_;
  std::size_t batch_pages_;
  std::size_t held_pages_;
  std::size_t least_buffers_;  // 0: all, always
  grant memory_;
  std::atomic<std::size_t> visitors_{0};
  block::block_cache blocks_;                    // from here on guarded by the holder
  std::array<live_page, most_live_pages> live_;  // the one touched last is the first
  page_row* at_work_ = nullptr;
  std::size_t shared_pins_ = 0;
  page_runs* runs_ = nullptr;
  bool needs_memory_ = false;  // its claim says so
  std::uint64_t least_bytes_;  // 0: named
  std::uint64_t most_bytes_;
  std::size_t usual_buffers_;  // 0: all
  std::uint64_t beyond_usual_bytes_ = 0;
  unsigned random_misses_ = 0;  // of late
  bool is_at_random_ = false;
  giver giver_;
  memory_holder holder_;  // last: it ends first
};

}  // namespace outsize::detail
