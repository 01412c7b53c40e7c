// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Who has memory and gives it back when others need it more.
//
//   asker ──take, extend──▶ budget ──give_back──▶ holder ──shrink──▶ its grant
//                              ▲                    │ gate: entered by whoever works on the holder
//                              └────────────────────┘
//
// A holder's memory is divided as it claims (memory_division.hpp). Its gate is the mutex of what it
// guards. Who asks for memory enters gates that are free and has their holders give: first what
// they have beyond their share, then what they do not need at least; first what is unused, then
// what can be read again, then what must be written. A gate in which another thread is gets a wish,
// which that thread fulfils when it leaves; the asker waits for that. Only who would be refused
// otherwise has holders give what costs work done again, down to what they need to go on.
//
// Why nobody waits for ever: a gate is held for computing, for I/O, and for asks. Gates are tried,
// never waited for. Whoever waits in an ask has nothing beyond his least: within a gate only asks
// that may take from its own holder (safe_point) may wait. So a wait leads to a thread in a gate
// that does not wait for memory, which leaves it; if there is none, nothing more can come, and the
// asker is refused.
//
// A use of a holder costs a mutex, a load and a store; claims and asks cost more. Any thread.
// Layer: base. Decision: docs/decisions/0066-memory-that-divides-itself.md.

#include <atomic>
#include <cstdint>

#include <outsize/base/detail/process_locks.hpp>
#include <outsize/base/memory_budget.hpp>

namespace outsize {

/// What it costs to give memory back.
enum class give_cost : std::uint8_t {
  unused,   ///< Nothing is in it.
  reread,   ///< What is in it is on disk, too.
  written,  ///< What is in it must be written first.
};

/// What gives memory back.
class memory_giver {
 public:
  /// Shrinks the holder's grant by `bytes`, or a little more, of what costs no more than `most`; or
  /// by as much as it can. Called within the holder's gate, by any thread. Takes no memory of the
  /// budget. @throws io_error: what cannot be written stays, and the asker gets the error, unless
  /// others give enough.
  virtual void give_back(std::uint64_t bytes, give_cost most) = 0;

 protected:
  ~memory_giver() = default;
};

/// The registration of one who gives memory back; the last member of its class, so that it ends
/// first. A Lockable: its gate, to be locked by whoever works on what it guards.
class memory_holder {
 public:
  /// `memory` is what is divided; it and `giver` outlive the holder. @pre the claim's least is no
  /// more than it has.
  memory_holder(grant& memory, memory_giver& giver, memory_claim const& claim);
  memory_holder(memory_holder const&) = delete;
  memory_holder& operator=(memory_holder const&) = delete;
  /// Waits for askers who are in the gate. What it has stays in the grant. @pre it is not locked.
  ~memory_holder();

  // ---- the gate ----

  /// Counts as a use, too: who is not used while others move as much as the whole budget counts as
  /// one that needs its least.
  void lock();
  void unlock() noexcept;

  // ---- within the gate ----

  /// From now on it is to be divided so. @pre as in the constructor.
  void claim(memory_claim const& now) { claim(now, now.least); }
  /// The same; but it gives its least back, too, down to `in_need_bytes`, to who would be refused
  /// otherwise: some of its work must be done again then. @pre in_need_bytes <= now.least.
  void claim(memory_claim const& now, std::uint64_t in_need_bytes);
  /// What a division among all holders gives to it, if it claims so.
  std::uint64_t share_of(memory_claim const& claim) const;
  /// Says that it has moved so many bytes in or out.
  void note_moved(std::uint64_t bytes) noexcept;
  /// Makes the grant longer by `bytes` if they are its share: of what is free, or of what others
  /// have beyond theirs. Never waits for a thread. Is refused at once if nothing has changed since
  /// it was refused.
  bool grow(std::uint64_t bytes);

  /// As long as it lives, asks of this thread may take from the holder, though it is in its gate.
  class safe_point {
   public:
    explicit safe_point(memory_holder& holder) noexcept;
    safe_point(safe_point const&) = delete;
    safe_point& operator=(safe_point const&) = delete;
    ~safe_point();

   private:
    memory_holder* before_;
  };

 private:
  friend class detail::memory_registry;
  void note_use() noexcept;

  detail::memory_registry& registry_;
  memory_giver& giver_;
  grant::account& account_;
  detail::process_mutex mutex_;
  std::atomic<void const*> owner_{nullptr};  // the thread that is in the gate
  std::atomic<std::uint64_t> wish_{0};       // bytes to be given back by who leaves the gate
  std::atomic<std::uint64_t> used_at_{0};    // by the registry's clock
  std::uint64_t refused_at_ = 0;             // grow(), likewise;
  std::uint64_t refused_in_ = UINT64_MAX;    // in this generation of claims
};

}  // namespace outsize
