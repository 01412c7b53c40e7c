// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// One run of virtual processors, without the way in which they are made to run: their contexts and
// the pager, messages, groups, and the steps that make up collective operations.
//
//   face:   fibers of this process (fiber_run)      …each calls, and is resumed, by its rank
//   core:   engine ─┬─ board: scheduler, waits, failure
//                   ├─ contexts ── pager
//                   └─ message_store, mailboxes
//
// A step is a call by a processor that runs: it copies bytes of its own memory to the store or
// back, and waits by `suspend`, which a face provides. So nobody touches the memory of a processor
// that does not run. Collective operations of a group are numbered; each member names the operation
// that it calls, and all must name the same.
//
// Threads: each rank's own worker. Layer: bsp.
// Source: Nikseresht, Hutchinson, Maheshwari: PEMS, 2007, section 3.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <outsize/block/storage.hpp>
#include <outsize/bsp/detail/board.hpp>
#include <outsize/bsp/detail/lender.hpp>
#include <outsize/bsp/detail/mailbox.hpp>
#include <outsize/bsp/detail/member.hpp>
#include <outsize/bsp/detail/message_store.hpp>
#include <outsize/bsp/detail/pager.hpp>
#include <outsize/bsp/detail/processor_context.hpp>
#include <outsize/bsp/run_plan.hpp>

namespace outsize::bsp::detail {

/// Processors that communicate with one another; all processors are group 0.
struct group {
  std::uint32_t number = 0;
  std::vector<std::uint32_t> members;  ///< Their ranks among all processors.
  std::uint32_t arrived = 0;           ///< At the present barrier. Guarded by the run's lock.
  std::uint64_t barriers = 0;          ///< Passed so far. Guarded likewise.
};

/// Bytes of a processor that runs, which may lie in several places.
struct sent_bytes {
  static constexpr std::uint64_t elsewhere = ~std::uint64_t{0};
  std::span<std::span<std::byte const> const> pieces = {};
  std::uint64_t arena_offset = elsewhere;  ///< In its arena, if they lie there side by side.

  std::uint64_t length_bytes() const noexcept {
    std::uint64_t sum = 0;
    for (std::span<std::byte const> const piece : pieces) sum += piece.size();
    return sum;
  }
};

/// A part of a collective operation, for some members of the group.
struct outgoing {
  std::span<std::uint32_t const> to = {};
  sent_bytes bytes = {};
};

/// Which operation a member of a group calls; all members must agree.
struct collective_call {
  std::string name = {};
  std::uint32_t root = 0;
  std::uint64_t item_bytes = 0;
  std::uint64_t items = 0;       ///< If all must have the same number.
  std::string operation = {};    ///< The type of a reduction's function.
  bool ends_when_begun = false;  ///< Members may wait until all have begun it.

  bool operator==(collective_call const& other) const;
  std::string text() const;
};

class engine {
 public:
  /// @param make_memory  Makes the memory of a rank's arena.
  /// @param suspend  Stops the calling rank until its worker resumes it.
  engine(storage& store, run_plan const& plan,
         std::function<std::unique_ptr<arena_memory>(std::uint32_t)> const& make_memory,
         std::function<void(std::uint32_t)> suspend);
  ~engine();
  engine(engine const&) = delete;
  engine& operator=(engine const&) = delete;

  board& shared() noexcept { return shared_; }
  context& context_of(std::uint32_t rank) noexcept { return *contexts_[rank]; }
  std::shared_ptr<group> const& everybody() const noexcept { return everybody_; }
  run_plan const& plan() const noexcept { return plan_; }

  // ---- steps of a processor that runs; @throws cancelled if another one has failed ----

  /// Begins a collective operation, the `number`th of its group. @throws bsp_error if another
  /// member calls another one.
  void begin(std::uint32_t rank, group const& of, std::uint64_t number,
             collective_call const& call);
  /// Waits until all members of the group are here.
  void barrier(std::uint32_t rank, group& of);
  /// Sends parts of an operation. If contexts are being moved, long parts are brought to disk in
  /// the sender's context, and read there (lender.hpp); others are copied.
  void put_parts(std::uint32_t rank, group const& of, std::uint64_t number, std::uint32_t source,
                 std::span<outgoing const> parts);
  /// Waits for `count` parts of an operation, and takes them, by source.
  std::vector<incoming> take_parts(std::uint32_t rank, group const& of, std::uint64_t number,
                                   std::size_t count, char const* call);
  /// Sends a message to a member. Returns 0, or if it `is_synchronous` the number of its receipt.
  std::uint64_t send(std::uint32_t rank, group const& of, std::uint32_t source, std::uint32_t to,
                     std::int64_t tag, sent_bytes const& bytes, bool is_synchronous = false);
  /// Tells of the receives that a processor has under way: they take messages even while it waits
  /// for something else.
  void post(std::uint32_t rank, std::vector<message_filter> receives);
  /// Returns true if a synchronous message was taken; waits for it if `waits`.
  bool is_taken(std::uint32_t rank, std::uint64_t receipt, bool waits, char const* call);
  /// Waits until one of some messages is there, one of some synchronous ones was taken, or one of
  /// some operations has ended. Returns the filter's index, or their number.
  std::size_t wait_for(std::uint32_t rank, std::span<message_filter const> wanted, char const* call,
                       std::span<std::uint64_t const> receipts = {},
                       std::span<awaited_operation const> operations = {});
  /// Returns true if an operation that the member has begun has ended.
  bool has_ended(std::uint32_t rank, awaited_operation const& operation);
  /// The first message that matches and that no receive under way will take: it stays. nullopt:
  /// there is none, and it does not wait.
  std::optional<envelope> probe(std::uint32_t rank, message_filter const& wanted, bool waits,
                                char const* call);
  /// The receives under way for which a message has come, by their places in the list.
  std::vector<std::size_t> matched(std::uint32_t rank);
  /// Waits for a message, and takes it.
  envelope receive(std::uint32_t rank, message_filter const& wanted, char const* call);
  void get(message_store::ticket const& message, std::span<std::span<std::byte> const> into) {
    messages_.get(message, into);
  }
  void get(message_store::ticket const& message, std::span<std::byte> into) {
    messages_.get(message, into);
  }
  void drop(message_store::ticket const& message) noexcept { messages_.drop(message); }
  /// Begins to read a message that will be taken soon.
  void prefetch(message_store::ticket const& message) noexcept { messages_.prefetch(message); }
  /// The bytes that a processor should have under way.
  std::uint64_t prefetch_bytes() const noexcept;

  /// The group of those members of `of` that split it with `color` in operation `number`. @throws
  /// bsp_error if a member names others.
  std::shared_ptr<group> split(std::uint32_t rank, group const& of, std::uint64_t number,
                               std::int64_t color, std::vector<std::uint32_t> const& members);

  /// Counts what has come for a rank: to be noted before it looks in vain.
  std::uint64_t arrivals(std::uint32_t rank);
  /// Lets others run, as it has polled in vain: until something comes, or all others wait. Returns
  /// at once if something has come since `noted`.
  /// @param does_more  It does other things between its polls, so they are no sign of a deadlock.
  void yield(std::uint32_t rank, std::uint64_t noted, char const* call, bool does_more = false);

  // ---- memory of a processor that runs ----

  /// Makes pages usable. Waits for frames. Returns false if the processor may not have as many, or
  /// another one has failed.
  bool enter(std::uint32_t rank, std::uint64_t first_page, std::uint64_t pages) noexcept;
  /// Pages hold nothing any more. @pre they are not in use.
  void leave(std::uint32_t rank, std::uint64_t first_page, std::uint64_t pages) noexcept;

  /// Bytes of its arena need not be moved: whole grains of them become zeros, if contexts are being
  /// moved.
  void discard_contents(std::uint32_t rank, std::span<std::byte> bytes) noexcept;

  // ---- ends ----

  /// The memory of a processor that ends goes back.
  void discard(std::uint32_t rank) noexcept;

  /// Counts of each rank so far. Any thread.
  std::vector<processor_counts> counts() const;
  std::uint64_t stored_written_bytes() const { return messages_.written_bytes(); }
  std::uint64_t stored_read_bytes() const { return messages_.read_bytes(); }

 private:
  /// A group that not all of its members have yet.
  struct split_group {
    std::shared_ptr<group> made;
    std::size_t taken = 0;
  };
  struct open_call {
    collective_call call;
    std::uint32_t begun = 0;
  };

  template <typename Condition>
  void wait_until(std::uint32_t rank, wait_note const& what, Condition const& is_over);
  void check_run() const;
  static bool may_lend(context const& of, sent_bytes const& bytes);
  message_store::ticket stored(std::uint32_t rank, std::uint32_t receiver, sent_bytes const& bytes,
                               bool is_lent, std::size_t readers);
  bool is_over(std::uint32_t rank, awaited_operation const& operation) const;
  bool is_of_all(group const& of) const noexcept { return of.members.size() == plan_.count; }
  void note_loan(std::uint32_t rank, message_store::ticket const& message) noexcept;
  void note_part(std::uint32_t rank, group const& of, superstep_counts const& more) noexcept;
  void release(std::uint64_t receipt);
  bool take_frames(std::uint32_t rank, std::vector<std::size_t> const& pieces);

  storage& store_;
  run_plan const plan_;
  std::function<void(std::uint32_t)> suspend_;
  grant memory_;  // frames
  board shared_;
  std::vector<std::unique_ptr<context>> contexts_;
  message_store messages_;
  lender lender_;
  std::shared_ptr<group> everybody_;

  // With the lock of the run:
  std::vector<mailbox> mailboxes_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, open_call> calls_;
  std::map<std::pair<std::pair<std::uint32_t, std::uint64_t>, std::int64_t>, split_group> splits_;
  std::uint32_t groups_ = 1;
  std::uint64_t receipts_ = 0;
  std::map<std::uint64_t, std::uint32_t> untaken_;  // receipts, and the senders that wait for them
  std::vector<std::uint64_t> arrivals_;             // of messages for each rank, and of receipts

  std::unique_ptr<pager> pager_;
};

}  // namespace outsize::bsp::detail
