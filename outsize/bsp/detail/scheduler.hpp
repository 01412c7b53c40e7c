// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Which virtual processor runs next, whose memory comes in, and whose goes out. A table of states
// and their orders: it starts nothing and moves nothing.
//
//                start_next()               park(), woken, or in need of memory
//      ready ───────────────▶ running ────────────────────────────────────────▶ ready
//        ▲                       │  park()
//        ╰──── wake() ── waiting ◀╯                        end() ──▶ ended
//
//   memory:  absent ── incoming() ──▶ coming ── arrived() ──▶ present ── losing() ──▶ absent
//
// Those whose memory is present run first, in the order in which they became ready: after a barrier
// those that were resident last in a superstep are the first in the next, and are not moved at all.
// A processor belongs to one worker (fibers cannot change threads). A worker whose processor needs
// memory starts no other one: else all would begin, grow, and push one another out.
//
// Invariant: a running processor is present. A processor is in each queue below exactly when its
// state says so. Not thread-safe: whoever uses it holds the lock of the run. Layer: bsp.
// Source: Nikseresht, Hutchinson, Maheshwari: PEMS, 2007, section 2 (the simulation's loop over
// virtual processors).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace outsize::bsp::detail {

class scheduler {
 public:
  enum class activity : std::uint8_t { ready, running, waiting, ended };
  enum class presence : std::uint8_t { absent, coming, present };

  /// `count` processors, ready and absent; number i belongs to worker i mod `workers`.
  scheduler(std::uint32_t count, std::uint32_t workers);

  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(entries_.size()); }
  std::uint32_t worker_of(std::uint32_t rank) const noexcept { return rank % workers(); }
  activity activity_of(std::uint32_t rank) const noexcept { return entries_[rank].doing; }
  presence presence_of(std::uint32_t rank) const noexcept { return entries_[rank].memory; }

  // ---- running ----

  /// Starts the next of `worker`'s processors that may run now.
  std::optional<std::uint32_t> start_next(std::uint32_t worker);
  /// The processor of `worker` that runs, or that needs memory to go on.
  std::optional<std::uint32_t> active_of(std::uint32_t worker) const { return active_[worker]; }
  std::uint32_t workers() const noexcept { return static_cast<std::uint32_t>(active_.size()); }
  /// A running processor has stopped until wake(); it is ready at once if that came in the
  /// meantime, or if it needs memory.
  void park(std::uint32_t rank);
  /// A running processor polls in vain: at its next park() it waits, until wake() or
  /// wake_pollers().
  void poll(std::uint32_t rank) { entries_[rank].polls = true; }
  bool is_polling(std::uint32_t rank) const noexcept { return entries_[rank].polls; }
  /// Makes all processors ready that wait because they polled. Returns false if there is none.
  bool wake_pollers();
  /// Makes a waiting processor ready; a running one at its next park(). Waiters look again whether
  /// all that they waited for is there.
  void wake(std::uint32_t rank);
  /// A running processor has ended; its memory is gone.
  void end(std::uint32_t rank);
  /// A processor that needs memory goes on without.
  void resume_in_need(std::uint32_t rank);
  /// An absent processor will never run again.
  void abandon(std::uint32_t rank);
  /// Returns true if a processor of `worker` has not ended.
  bool has_work(std::uint32_t worker) const noexcept { return unended_[worker] != 0; }
  /// Returns true if some have not ended, but all of these wait.
  bool is_stuck() const noexcept;

  // ---- memory ----

  /// A running processor needs more memory than it has: it counts as absent from its park() on.
  void need_memory(std::uint32_t rank) { entries_[rank].needs_memory = true; }
  /// Chooses a processor that needs memory to go on.
  std::optional<std::uint32_t> incoming_in_need();
  /// Chooses another ready and absent processor whose memory is to come in: of the worker that has
  /// the fewest ready to run, one with memory left, or the first that became ready.
  std::optional<std::uint32_t> incoming();
  /// Returns true if a processor is to run that does not run yet.
  bool has_ready() const noexcept { return ready_ != 0; }
  /// Returns true if a processor runs, may run, or needs memory to go on.
  bool can_run() const;
  /// All the memory of a coming processor is there.
  void arrived(std::uint32_t rank);
  /// Chooses the processor whose memory goes out next: of those that wait, the one that has waited
  /// longest; if there is none, and one in need is to come in, the last that is ready.
  std::optional<std::uint32_t> victim(bool is_for_one_in_need) const;
  /// Some memory of a victim goes out; @param is_last  no more is left then.
  void losing(std::uint32_t rank, bool is_last);

 private:
  using order = std::pair<std::uint64_t, std::uint32_t>;  // turn, rank
  using queue = std::set<order>;

  struct entry {
    activity doing = activity::ready;
    presence memory = presence::absent;
    bool woken = false;
    bool needs_memory = false;
    bool polls = false;
    bool has_memory = false;  ///< Some of it, perhaps all.
    std::uint64_t turn = 0;   ///< When its activity changed last.
  };

  order order_of(std::uint32_t rank) const { return {entries_[rank].turn, rank}; }
  /// The queue of a processor by its state; nullptr: it is in none.
  queue* queue_of(std::uint32_t rank);
  std::uint32_t come(std::uint32_t rank);
  template <typename Change>
  void change(std::uint32_t rank, Change const& how);

  std::vector<entry> entries_;
  std::vector<queue> ready_present_, ready_absent_;   // for each worker
  queue waiting_;                                     // with memory
  std::vector<std::optional<std::uint32_t>> active_;  // for each worker
  std::vector<std::uint32_t> unended_;                // for each worker
  std::uint32_t running_ = 0, ready_ = 0, left_;
  std::uint64_t turn_ = 0;
};

}  // namespace outsize::bsp::detail
