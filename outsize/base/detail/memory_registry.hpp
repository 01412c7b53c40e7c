// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Inside of a budget: its grants in the order in which they were taken, and the asks of those who
// need more than is free. How asks go, and why they end: memory_holder.hpp.
//
// Invariant: a grant is known here as long as it lives, a holder as long as it is registered.
// Order of locks: gates, the registry, accounts; within the registry gates are only tried.
// Any thread. Layer: base.

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <outsize/base/detail/process_locks.hpp>
#include <outsize/base/detail/process_mark.hpp>
#include <outsize/base/detail/spare_pages.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/memory_division.hpp>

namespace outsize {

class memory_holder;
enum class give_cost : std::uint8_t;

/// Shared by a grant and its buffers; at a fixed address, so that the grant can move.
class grant::account {
 public:
  memory_budget& budget;
  std::string const asker;

  account(memory_budget& b, std::uint64_t total, std::string name);

  detail::process_mark const& process() const noexcept { return process_; }
  std::uint64_t total_bytes() const noexcept;
  std::uint64_t free_bytes() const noexcept;
  std::uint64_t peak_used_bytes() const noexcept;
  void extend(std::uint64_t bytes) noexcept;
  std::uint64_t shrink(std::uint64_t bytes) noexcept;
  void keep_pages() noexcept;
  void charge_beyond() noexcept;
  bool try_extend(std::uint64_t bytes) noexcept;
  void take(std::uint64_t bytes);
  /// The same, but see grant::charge_beyond().
  void charge(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) noexcept;
  /// Pages that were kept, counted; nullptr if there are none, and then nothing is counted.
  std::byte* take_pages(std::size_t bytes);
  /// Of the pages, so many bytes are not counted.
  void give_pages_back(std::byte* pages, std::size_t bytes, std::size_t released_bytes) noexcept;

 private:
  friend class detail::memory_registry;
  void count(std::uint64_t bytes);

  detail::process_mark process_;
  mutable detail::process_mutex mutex_;
  std::uint64_t total_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t peak_used_bytes_ = 0;
  bool keeps_pages_ = false;
  bool charges_beyond_ = false;
  detail::spare_pages spare_;  // no more than is free

  // Of the registry:
  std::uint64_t serial_ = 0;
  memory_holder* holder_ = nullptr;
  memory_claim claim_ = {};    // of the holder
  std::uint64_t in_need_ = 0;  // likewise: of its least
};

namespace detail {

/// What a thread is doing; its address tells threads apart.
struct asking_state {
  memory_holder* safe = nullptr;  // of the innermost safe_point
  bool is_giving = false;         // within give_back(): asks do not make others give
};
inline thread_local asking_state this_thread;

class memory_registry {
 public:
  explicit memory_registry(memory_budget& budget) : budget_(budget) {}

  void add(grant::account& account);
  void remove(grant::account& account) noexcept;
  void add(memory_holder& holder, memory_claim const& claim);
  void remove(memory_holder& holder) noexcept;
  void set_claim(memory_holder& holder, memory_claim const& claim, std::uint64_t in_need);
  std::vector<memory_share> division() const;
  std::uint64_t obtainable_bytes() const;
  void require(std::uint64_t bytes, std::string const& asker) const;
  std::uint64_t share_of(memory_claim const& claim, std::uint64_t kept) const;
  std::uint64_t share_of(memory_holder const& holder, memory_claim const& claim) const;

  /// Whether memory is spoken for by somebody who waits.
  bool somebody_waits() const noexcept { return waiting_.load() > 0; }
  /// What is kept for those to come when others grow.
  std::uint64_t kept_bytes() const noexcept { return budget_.total_bytes() / 16; }
  /// To be called when memory has become free.
  void note_release() noexcept;

  /// Reserves bytes of what is free and not kept.
  bool reserve_free(std::uint64_t bytes) noexcept;
  /// Reserves bytes, whatever it takes. @throws budget_error as memory_budget::take().
  void reserve(std::uint64_t bytes, std::string const& asker);
  /// Reserves so much of `most_bytes` as is the share of a claim that has nothing yet; perhaps 0.
  std::uint64_t reserve_share(memory_claim const& claim);
  /// See memory_holder::grow(); reserves if true.
  bool reserve_to_grow(memory_holder& holder, std::uint64_t bytes);

  /// Called by who is in the gate and leaves it: gives what others wait for.
  void fulfil_wish(memory_holder& holder) noexcept;

  std::uint64_t clock() const noexcept { return clock_.load(std::memory_order_relaxed); }
  void advance_clock(std::uint64_t bytes) noexcept {
    clock_.fetch_add(bytes, std::memory_order_relaxed);
  }

 private:
  using lock_type = std::unique_lock<process_mutex>;
  using floors = std::map<std::uint64_t, std::uint64_t>;  // by serial numbers: what each may keep

  enum class entry : std::uint8_t { entered, mine, busy };
  entry try_enter(memory_holder& holder) noexcept;
  void leave(memory_holder& holder, entry how) noexcept;

  memory_claim claim_of(grant::account const& account) const noexcept;
  memory_share share_shown(grant::account const& account) const;
  std::optional<floors> shares(std::uint64_t asker, memory_claim const& asker_claim,
                               std::uint64_t kept) const;
  /// What holders give in the end: what they do not need for their work; or what they do not need
  /// to go on, at the price of work done again.
  enum class extent : std::uint8_t { beyond_least, beyond_need };
  std::uint64_t floor_of(grant::account const& account, extent how) const noexcept;
  floors lowest(extent how) const;
  using serials = std::set<std::uint64_t>;
  serials gather(lock_type& lock, std::uint64_t bytes, floors const& keep);
  void have_give(memory_holder& holder, std::uint64_t bytes, give_cost most) noexcept;
  void give_own(lock_type& lock);
  enum class outlook : std::uint8_t { nothing, now, later };
  outlook gather_all(lock_type& lock, std::uint64_t bytes, extent how);
  outlook wish_for(std::uint64_t bytes, serials const& asked, extent how);
  void end_wishes() noexcept;
  void await_event(lock_type& lock);
  class place_in_line;
  std::uint64_t sum_of_floors(extent how) const noexcept;
  [[noreturn]] void refuse(std::uint64_t bytes, std::string const& asker) const;
  std::string listing(std::uint64_t needed_bytes) const;

  memory_budget& budget_;
  mutable process_mutex mutex_;  // guards what follows
  process_condition changed_;
  std::uint64_t events_ = 0;
  std::uint64_t next_serial_ = 1;
  std::map<std::uint64_t, grant::account*> accounts_;
  std::deque<void const*> asking_;  // threads whose asks may wait, the first come first
  extent wished_ = extent::beyond_least;
  std::exception_ptr giving_error_;  // the first since somebody began to wait
  std::atomic<std::size_t> waiting_{0};
  std::atomic<std::uint64_t> generation_{0};  // of claims, and of what is free
  std::atomic<std::uint64_t> clock_{0};       // bytes that holders have moved
};

}  // namespace detail
}  // namespace outsize
