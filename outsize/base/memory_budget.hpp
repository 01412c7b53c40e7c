// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Memory that is counted: a budget, grants taken from it, and buffers taken from grants.
//
//   memory_budget  one per storage; all that the library holds in large pieces comes out of it
//     └─ grant     what one part of the work asked for, by name; gives the rest back when it ends
//          └─ buffer   page-aligned bytes from the system, ready for direct I/O
//
// A grant can belong to a memory_holder, which gives back what others need more
// (memory_holder.hpp): who asks for more than is free has it do so, before he is refused.
//
// Invariant: the bytes of all live grants never exceed the budget, the bytes of a grant's live
// buffers, and of pages that it keeps for further ones, never exceed the grant. A budget, and a
// grant's take and release, may be used from any thread. Layer: base.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <outsize/base/detail/process_mark.hpp>
#include <outsize/base/memory_division.hpp>

namespace outsize {

class grant;

namespace detail {
class memory_registry;
}

/// A grant as a report shows it.
struct memory_share {
  std::string asker;
  std::uint64_t has_bytes = 0;
  /// Fixed at what it has, unless a memory_holder has claimed otherwise; its least is what it would
  /// give down to before somebody is refused.
  memory_claim claim = {};
};

/// How a budget is divided at some moment.
struct memory_report {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::vector<memory_share> shares = {};  ///< The longest-lived first.

  /// As text: a line for all, and one for each that has something or claims to need it.
  std::string explain() const;
};

/// A limit in bytes on what its grants hold together.
class memory_budget {
 public:
  explicit memory_budget(std::uint64_t total_bytes);
  memory_budget(memory_budget const&) = delete;
  memory_budget& operator=(memory_budget const&) = delete;
  /// @pre every grant is gone: its owner would use memory that is not counted any more, of a
  /// storage that is not there any more. Asserted, but in a process that comes from a fork.
  ~memory_budget();

  std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  std::uint64_t free_bytes() const noexcept { return total_bytes_ - used_bytes_.load(); }
  /// The most that was ever granted at once.
  std::uint64_t peak_bytes() const noexcept { return peak_bytes_.load(); }
  /// How many grants there are, also of no bytes.
  std::size_t grant_count() const noexcept { return grant_count_.load(); }

  /// Sets `bytes` aside for `asker`. If less is free, holders give back what they do not need at
  /// least, and the call waits for those that other threads are using.
  /// @throws budget_error naming asker, have and need, and all who have memory, with what they need
  /// at least; the budget is unchanged then.
  grant take(std::uint64_t bytes, std::string asker);
  /// Sets aside what a division among all holders gives to the claim, its least at least.
  /// @throws as take(claim.least, asker).
  grant take(memory_claim const& claim, std::string asker);

  /// Sets bytes aside if they are free.
  std::optional<grant> try_take(std::uint64_t bytes, std::string asker);
  /// @throws budget_error as take(), if so much could not be had; takes nothing.
  void require(std::uint64_t bytes, std::string const& asker) const;
  /// What a division among all holders would give to the claim now; perhaps less than its least.
  std::uint64_t share_of(memory_claim const& claim) const;
  /// The same of one who can use all memory, and keeps nothing for those to come.
  std::uint64_t fair_bytes() const;
  /// What take() could get at most, with what holders would give back; what threads that work on
  /// them need meanwhile may be less or more.
  std::uint64_t obtainable_bytes() const;

  memory_report report() const;

 private:
  friend class grant;
  friend class memory_holder;
  friend class detail::memory_registry;
  grant granted(std::uint64_t bytes, std::string asker);
  bool try_reserve(std::uint64_t bytes) noexcept;
  void release(std::uint64_t bytes) noexcept;

  std::uint64_t total_bytes_;
  std::atomic<std::uint64_t> used_bytes_{0};
  std::atomic<std::uint64_t> peak_bytes_{0};
  std::atomic<std::size_t> grant_count_{0};
  detail::process_mark process_;
  std::unique_ptr<detail::memory_registry> registry_;
};

class buffer;

/// A part of a budget. The budget must outlive it, it must outlive its buffers. Movable.
class grant {
 public:
  grant();
  grant(grant&& other) noexcept;
  grant& operator=(grant&& other) noexcept;
  ~grant();

  std::uint64_t total_bytes() const noexcept;
  std::uint64_t free_bytes() const noexcept;
  std::string const& asker() const noexcept;

  /// Maps `bytes` (rounded up to whole pages, and counted so) of zeroed memory.
  /// @throws budget_error if the grant has less left; std::bad_alloc if the system refuses.
  buffer allocate(std::size_t bytes);
  /// The same, but the memory holds anything: that of buffers which are gone, if it keeps their
  /// pages and these lie side by side.
  buffer allocate_for_overwrite(std::size_t bytes);

  /// Addresses for `bytes` (rounded up likewise), all of whose pages are released: nothing of it is
  /// counted, nor may be used, until buffer::restore_pages(). @throws std::bad_alloc.
  buffer allocate_released(std::size_t bytes);

  /// From now on keeps the pages of buffers that go, as far as there is room in the grant for what
  /// is needed, and as long as it lives: to be given pages again that it had takes the system
  /// longer than some disks take to fill them.
  void keep_pages() noexcept;
  /// From now on charge() takes what the grant has too little of from what is free of the budget.
  /// It still never waits, and never makes others give.
  void charge_beyond() noexcept;

  /// Takes as many bytes more from the budget, as memory_budget::take() does. @throws likewise.
  void extend(std::uint64_t bytes);
  /// Gives back to the budget what is free in it, no more than `bytes`. Returns how much.
  std::uint64_t shrink(std::uint64_t bytes) noexcept;

  /// Counts memory that is held elsewhere (an index in a vector, say) against the grant.
  /// @throws budget_error if the grant has less left.
  void charge(std::uint64_t bytes);
  void discharge(std::uint64_t bytes) noexcept;

 private:
  friend class memory_budget;
  friend class memory_holder;
  friend class detail::memory_registry;
  friend class buffer;
  class account;
  explicit grant(std::unique_ptr<account> a);
  std::unique_ptr<account> account_;
};

/// Page-aligned memory of its own; large ones ask for huge pages. Returns itself when
/// destroyed.
class buffer {
 public:
  buffer() = default;
  buffer(buffer&& other) noexcept;
  buffer& operator=(buffer&& other) noexcept;
  ~buffer();

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  explicit operator bool() const noexcept { return data_ != nullptr; }
  std::span<std::byte> bytes() const noexcept { return {data_, size_}; }

  /// Gives the memory of some pages back to the system and to the grant; their addresses stay, not
  /// to be used. @pre whole pages, none of them released.
  void release_pages(std::size_t offset_bytes, std::size_t bytes) noexcept;
  /// Such pages are to be used again, and hold zeros. @throws budget_error if the grant has less
  /// left. @pre whole pages, all of them released.
  void restore_pages(std::size_t offset_bytes, std::size_t bytes);
  /// Releases all that are not.
  void release_all_pages() noexcept;

 private:
  friend class grant;
  buffer(std::byte* data, std::size_t size, grant::account* owner, std::size_t released_bytes = 0)
      : data_(data), size_(size), released_bytes_(released_bytes), owner_(owner) {}

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t released_bytes_ = 0;
  grant::account* owner_ = nullptr;
};

/// The size of a page of this machine in bytes.
std::size_t page_bytes() noexcept;

}  // namespace outsize
