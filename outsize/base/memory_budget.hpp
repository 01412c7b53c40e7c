// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Memory that is counted: a budget, grants taken from it, and buffers taken from grants.
//
//   memory_budget  one per storage; all that the library holds in large pieces comes out of it
//     └─ grant     the bytes that one part of the work took, by name; returns them when it ends
//          └─ buffer   page-aligned bytes from the system, ready for direct I/O
//
// A grant can belong to a memory_holder, which gives memory back when others need it more
// (memory_holder.hpp). A request for more than is free makes holders give back before it fails.
//
// Invariant: the bytes of all live grants never exceed the budget. The bytes of a grant's live
// buffers, and of pages that it keeps for later buffers, never exceed the grant. Any thread may use
// a budget, and take and release bytes of a grant. Layer: base.

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

/// One grant in a report.
struct memory_share {
  std::string asker;
  std::uint64_t has_bytes = 0;
  /// Fixed at `has_bytes`, unless a memory_holder claims otherwise. Its least is the amount down to
  /// which the holder gives memory back before a request fails.
  memory_claim claim = {};
};

/// The division of a budget at one moment.
struct memory_report {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::vector<memory_share> shares = {};  ///< The longest-lived first.

  /// Returns text: a line for the budget, and one for each grant that has bytes or claims to need
  /// some.
  std::string explain() const;
};

/// Limits the bytes that its grants hold together.
class memory_budget {
 public:
  explicit memory_budget(std::uint64_t total_bytes);
  memory_budget(memory_budget const&) = delete;
  memory_budget& operator=(memory_budget const&) = delete;
  /// @pre every grant is gone: its owner would use memory that is no longer counted, of a storage
  /// that no longer exists. Asserted, except in a process that comes from a fork.
  ~memory_budget();

  std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  std::uint64_t free_bytes() const noexcept { return total_bytes_ - used_bytes_.load(); }
  /// Returns the most bytes that were ever granted at once.
  std::uint64_t peak_bytes() const noexcept { return peak_bytes_.load(); }
  /// Returns the number of grants, including those without bytes.
  std::size_t grant_count() const noexcept { return grant_count_.load(); }

  /// Sets `bytes` aside for `asker`. If less is free, holders give back memory beyond their least
  /// needs, and the call waits for holders that other threads are using. Holders whose work must
  /// then be done again give back last (memory_holder.hpp).
  /// @throws budget_error with asker, have and need, and the grants with their least needs (at most
  /// eight by name); io_error if a holder could not write out memory that it was to give back. Sets
  /// nothing aside then; holders may have given memory back.
  grant take(std::uint64_t bytes, std::string asker);
  /// Sets aside the claim's share in a division among all holders: less if the share cannot be had
  /// without waiting, but claim.least at least.
  /// @throws as take(claim.least, asker).
  grant take(memory_claim const& claim, std::string asker);

  /// Sets `bytes` aside if they are free; returns nothing if not.
  std::optional<grant> try_take(std::uint64_t bytes, std::string asker);
  /// @throws budget_error as take(), if `bytes` could not be had; takes nothing.
  void require(std::uint64_t bytes, std::string const& asker) const;
  /// Returns the claim's share in a division among all holders now; perhaps less than its least.
  std::uint64_t share_of(memory_claim const& claim) const;
  /// As share_of() for a claim that can use all memory, without a reserve for claims to come.
  std::uint64_t fair_bytes() const;
  /// Returns the free bytes and those that holders have beyond their least needs: the most that
  /// take() gets without work being done again. The needs of holders that threads work on may
  /// change meanwhile.
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

/// A part of a budget. Movable. The budget must outlive the grant; the grant must outlive its
/// buffers.
class grant {
 public:
  grant();
  grant(grant&& other) noexcept;
  grant& operator=(grant&& other) noexcept;
  ~grant();

  std::uint64_t total_bytes() const noexcept;
  std::uint64_t free_bytes() const noexcept;
  /// Returns the most bytes that were in use at once: of buffers, and charged.
  std::uint64_t peak_used_bytes() const noexcept;
  std::string const& asker() const noexcept;

  /// Maps `bytes` of zeroed memory, rounded up to whole pages and counted that way.
  /// @throws budget_error if the grant has less left; std::bad_alloc if the system refuses.
  buffer allocate(std::size_t bytes);
  /// As allocate(), but the contents are unspecified: reuses kept pages of destroyed buffers if
  /// enough of them are contiguous.
  buffer allocate_for_overwrite(std::size_t bytes);

  /// Maps addresses for `bytes` (rounded up likewise) with all pages released: they are not
  /// counted, and must not be used, until buffer::restore_pages(). @throws std::bad_alloc.
  buffer allocate_released(std::size_t bytes);

  /// From now on keeps the pages of a destroyed buffer, unless some are released, as far as the
  /// grant has bytes free and as long as it lives: the system takes longer to hand out pages again
  /// than some disks take to fill them.
  void keep_pages() noexcept;
  /// From now on charge() takes bytes that the grant lacks from the free bytes of the budget. It
  /// still never waits, and never makes holders give back.
  void charge_beyond() noexcept;
  /// Extends the grant by `bytes` that are free of the budget, if charge_beyond() was called.
  /// Returns whether it did. Never waits, and never makes others give.
  bool try_extend(std::uint64_t bytes) noexcept;

  /// Takes `bytes` more from the budget, as memory_budget::take() does. @throws likewise.
  void extend(std::uint64_t bytes);
  /// Gives free bytes of the grant back to the budget, at most `bytes`. Returns how many.
  std::uint64_t shrink(std::uint64_t bytes) noexcept;

  /// Counts memory held elsewhere (an index in a vector, say) against the grant, until discharge().
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

/// Owns page-aligned memory; large buffers ask for huge pages. Returns the memory when destroyed.
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

  /// Gives the memory of some pages back to the system and to the grant. Their addresses stay
  /// reserved and must not be used. @pre whole pages, none of them released.
  void release_pages(std::size_t offset_bytes, std::size_t bytes) noexcept;
  /// Makes released pages usable again, filled with zeros. @throws budget_error if the grant has
  /// less left. @pre whole pages, all of them released.
  void restore_pages(std::size_t offset_bytes, std::size_t bytes);
  /// Releases all pages that are not released yet.
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

/// Returns the size of a page of this machine in bytes.
std::size_t page_bytes() noexcept;

}  // namespace outsize
