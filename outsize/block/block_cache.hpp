// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A fixed number of buffers that hold the blocks used last, or whatever a policy keeps: for data
// that is read and changed here and there, such as the nodes of a tree or the pages of a vector.
//
//                 ┌──────────── taken back ────────────┐
//                 ▼                                    │
//   free ──▶ kept: pinned ⇄ may leave ──(changed)──▶ leaving: being written ──▶ free
//                 │                └────(unchanged)──────────────────────────▶ free
//                 └ its content may still be on its way from the disk
//
// A block that is pinned stays where it is and can be used through its handle. When a block comes
// into a full cache, the policy (replacement.hpp) chooses one that is not pinned to leave; if that
// was changed it is written, while the new one is read into one of the spare buffers. Until it is
// on disk it can be had back without I/O. That is why no write_queue writes it: of a block that is
// under way the cache must know where it is, and of one whose write failed the content must stay.
//
// Changed blocks that lie beside one that leaves can be written with it, by one request, from a
// copy; they stay, and are not changed any more if it succeeds.
//
// A pinned block can be given another buffer (renew_memory). What is in the old one stays for a
// while, for those who refer into it: these former buffers are no block's, and are used in turn.
//
// The memory of buffers can come and go (least_count): then there are fewer of them at times, of
// those for blocks that are kept and the spare ones in proportion.
//
// Invariants: a block is in one buffer at most; free + kept + leaving are the buffers that have
// memory, block_count + spare_count at most; a block comes in only if kept < capacity, which is
// block_count if all have memory, and leaving <= spare_count + 1 then; a changed block is in the
// cache until a write of it has succeeded or it is dropped; at most one transfer of a block is
// under way. One thread at a time uses a cache and its handles.
// Layer: block. Source: STXXL 2008, sections 4 and 5.1.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/circular_buffer.hpp>

#include <outsize/base/detail/process_mark.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/memory_holder.hpp>
#include <outsize/block/block_device.hpp>
#include <outsize/block/block_id.hpp>
#include <outsize/block/buffer_pool.hpp>
#include <outsize/block/replacement.hpp>

namespace outsize::block {

class block_cache;

/// Keeps a block in its cache, and gives access to its content, as long as it lives. Movable; the
/// cache must outlive it. Several may pin one block.
class pinned_block {
 public:
  /// Pins nothing.
  pinned_block() = default;
  pinned_block(pinned_block&& other) noexcept
      : cache_(std::exchange(other.cache_, nullptr)), slot_(other.slot_) {}
  pinned_block& operator=(pinned_block&& other) noexcept;
  ~pinned_block() { release(); }

  /// Whether it pins a block; all that follows but release() needs one.
  explicit operator bool() const noexcept { return cache_ != nullptr; }
  block_id id() const noexcept;
  /// The content, id().length_bytes long, aligned to 64 bytes.
  std::span<std::byte const> bytes() const noexcept;
  /// The same, to be changed: the block will be written before it leaves the cache. Changes may be
  /// made as long as the block is pinned, through any of its handles.
  std::span<std::byte> change() noexcept;
  /// Lets go of the block, as the destructor does.
  void release() noexcept;

 private:
  friend class block_cache;
  pinned_block(block_cache& cache, std::size_t slot) noexcept : cache_(&cache), slot_(slot) {}

  block_cache* cache_ = nullptr;
  std::size_t slot_ = 0;
};

/// How large a cache is.
struct block_cache_options {
  std::size_t block_bytes = std::size_t{64} << 10;  ///< Of the longest block that will be used.
  std::size_t block_count = 16;  ///< Blocks kept, the most that can be pinned at once; at least 1.
  /// Further buffers, for changed blocks on their way to disk. With none, whoever brings in a block
  /// waits for the write of the changed block that leaves.
  std::size_t spare_count = 1;
  /// Changed blocks that lie side by side on disk are written together, so many bytes at most; less
  /// than two blocks: each by itself.
  std::size_t write_bytes = 0;
  /// Further buffers, which renew_memory() leaves as they are. With none it does nothing.
  std::size_t former_count = 0;
  /// 0: all buffers have memory, always. Else none has in the beginning, and then, as grow() and
  /// shrink() say, at least so many, at most block_count + spare_count.
  std::size_t least_count = 0;
  /// Up to so many buffers with memory, those for blocks and the spare ones are in proportion:
  /// spare_count of usual_count are spare. What is beyond them is for blocks. 0: all buffers.
  std::size_t usual_count = 0;
};

/// What a cache has done since it was made.
struct block_cache_counts {
  std::uint64_t hits = 0;         ///< Pins of blocks that were in the cache or on their way to it.
  std::uint64_t misses = 0;       ///< Pins that had to read.
  std::uint64_t prefetches = 0;   ///< Reads begun by prefetch().
  std::uint64_t write_backs = 0;  ///< Writes begun, repeated ones included.
  friend bool operator==(block_cache_counts const&, block_cache_counts const&) = default;
};

/// Blocks of a device in memory, of any lengths up to a limit.
///
///     block_cache cache(store, memory, {.block_bytes = 16_KiB, .block_count = 100});
///     pinned_block node = cache.pin(id);
///     typed_block<entry const> entries(node.bytes());
///     … typed_block<entry>(node.change())[0] = e; …
///     cache.flush();
///
/// I/Os:    misses + prefetches reads, at most write_backs writes. Each block that was changed is
///          written once when it leaves, not once for each change, or together with another one
///          that leaves; with LRU, pinning one block after the other of n that lie on disk takes n
///          reads.
/// Memory:  (block_count + spare_count + former_count) · block_bytes, rounded up to 64 and to the
///          disks' alignment, and group_count · write_bytes, from the grant; if it changes, of what
///          was counted out to it last, with write_bytes only while half of all blocks can be kept.
/// Errors:  io_error of a read from the pin() of that block. io_error of a write from the pin(),
///          pin_new() or flush() that needs it to be done; the block remains, changed, and the next
///          of these calls writes it again. After any error the cache is as usable as before.
/// Misuse:  where AddressSanitizer watches, memory of blocks that are neither pinned nor under way
///          is closed: who reads or changes it is stopped (closed_memory.hpp). Debug builds stop if
///          a buffer was changed after renew_memory().
/// Checked: block_cache_test.cpp, tests/conformance/replacement_conformance_test.cpp.
class block_cache {
 public:
  /// Addresses of contents are multiples of it, and of the disks' alignment.
  static constexpr std::size_t buffer_alignment_bytes = 64;
  /// Writes of several blocks that can be under way.
  static constexpr std::size_t group_count = 4;

  /// Takes its buffers from `memory`, which must outlive it, as `device` must.
  /// @throws budget_error; io_error (the disks' files cannot be made).
  block_cache(block_device& device, grant& memory, block_cache_options const& options,
              std::unique_ptr<replacement> policy = make_lru_replacement());
  /// What it takes from its grant. @throws io_error.
  static std::size_t memory_bytes(block_device& device, block_cache_options const& options);
  block_cache(block_cache const&) = delete;
  block_cache& operator=(block_cache const&) = delete;
  /// Waits for transfers under way. Changes that were not flushed are lost: call flush() to keep
  /// the blocks and to learn of errors. @pre nothing is pinned.
  ~block_cache();

  /// Pins a block that has been written once, here or elsewhere; waits until it is in memory.
  /// @pre id.length_bytes is at most that of the options.
  /// @throws io_error, of the block's read or of the write of another that must leave;
  /// budget_error if block_count others are pinned. Nothing is pinned then, nothing is lost.
  pinned_block pin(block_id id);
  /// Pins a block that was just allocated, all zero and counted as changed. No I/O but the write of
  /// another that must leave. @pre the block is not in the cache. @throws as pin().
  pinned_block pin_new(block_id id);
  /// The same of a block, new or not, whose content will be replaced: what it holds is not known.
  pinned_block pin_to_replace(block_id id);
  /// Pins one whose content has been read elsewhere, and not changed since. No I/O but the write of
  /// another that must leave; counted as a prefetch and a hit. @pre and @throws as pin_new().
  pinned_block pin_copy(block_id id, std::span<std::byte const> content);
  /// Whether pin() would find the block here, or on its way to or from the disk.
  bool holds(block_id id) const noexcept { return slot_of_.contains(id); }
  /// Begins to read a block that will be pinned soon. If it is here already, this counts as a use
  /// of it, so that blocks that are expected do not leave for each other. Waits for writes of
  /// blocks that leave, as pin() would do later, with nothing under way then; does nothing if the
  /// one that would leave now is being read, or all are pinned. Errors of the read come out of its
  /// pin(). @throws io_error of a write; nothing is read then.
  void prefetch(block_id id) { begin_prefetch(id, true); }
  /// The same for a block that may be pinned soon: does nothing, either, if it would have to wait.
  void try_prefetch(block_id id) { begin_prefetch(id, false); }

  /// The read of a block that is on its way; nothing if it is here, or nobody has asked for it. Any
  /// thread may wait for it, while others use the cache.
  io::request_ptr reading(block_id id) const;

  /// Writes all changed blocks, in the order of their places, and waits until they are on disk.
  /// They stay in the cache; those that are pinned count as changed still, as their users may go
  /// on. @throws io_error of the first failed one, when all others have been written.
  void flush();
  /// Gives a pinned block another place of the same length: from now on it is what lies at `to`,
  /// and counts as changed. What its old place holds stays there. @pre no block in the cache is at
  /// `to`.
  void move(pinned_block const& block, block_id to);
  /// Moves a pinned block to another buffer. The old buffer keeps its bytes, so that references
  /// into it can still be read, until as many blocks have been moved so as options.former_count
  /// says. The content moves along if `keeps_content`; otherwise what the block holds is not known.
  void renew_memory(pinned_block const& block, bool keeps_content) noexcept;
  /// Forgets a block and its changes, if it is here: to be called before its space is freed. Who
  /// pins it keeps the content as it is, and the buffer, until he lets go.
  void drop(block_id id) noexcept;

  block_cache_counts const& counts() const noexcept { return counts_; }
  /// Blocks that are pinned now.
  std::size_t pinned_count() const noexcept { return pinned_; }
  /// Blocks that can be kept now. May be asked by any thread.
  std::size_t capacity() const noexcept { return capacity_; }

  // ---- with options.least_count ----

  /// Has `need` called when memory would help: before a block leaves for another, and when the
  /// first one comes in. It may call grow(). With `must` the block cannot come in otherwise.
  void call_when_full(std::function<void(bool must)> need) { need_ = std::move(need); }
  /// Buffers that have memory.
  std::size_t buffer_count() const noexcept { return buffers_; }
  /// Blocks that are here, or on their way to the disk.
  std::size_t held_count() const noexcept { return slot_of_.size(); }
  /// What grow() takes from the grant; 0 if all buffers have memory.
  std::size_t growth_bytes() const noexcept;
  /// Gives some more buffers memory; to begin with, as many as there are at least.
  /// @throws budget_error if the grant has less free.
  void grow();
  /// Gives so many bytes back to the grant, or a little more, by memory of buffers: of what costs
  /// no more than `most`, of blocks that are not pinned, and never of the last least_count ones;
  /// but of all if no block is here.
  /// @throws io_error of a write; the block stays then.
  void shrink(std::size_t bytes, give_cost most);

 private:
  friend class pinned_block;

  enum class state : std::uint8_t {
    fresh,          ///< No block, and the memory has never been used.
    free,           ///< No block.
    reading,        ///< `transfer` reads it; clean then.
    clean,          ///< As it is on disk. change(): changed.
    changed,        ///< To be written. Written beside another: copied. Chosen to leave: leaving.
    copied,         ///< `transfer` writes a copy of it; clean then. change(): changed_again.
    changed_again,  ///< `transfer` writes a copy of what it was before; changed then.
    writing,        ///< `transfer` writes it from here, and flush() waits for that; clean then.
    leaving,        ///< `transfer` writes it, or has failed and is gone; free then, or taken back.
    dropped,        ///< Pinned, but no block any more; free when it is released.
  };

  struct slot {
    frame memory;
    block_id id = {};
    io::request_ptr transfer = nullptr;  // that may be under way
    std::size_t pins = 0;
    state is = state::fresh;

    bool holds_block() const noexcept { return is >= state::reading && is != state::dropped; }
    bool has_copy_under_way() const noexcept {
      return is == state::copied || is == state::changed_again;
    }
    /// What is on disk is not what is here.
    bool must_be_written() const noexcept {
      return is == state::changed || is == state::changed_again || is == state::writing ||
             is == state::leaving;
    }
    void change() noexcept {
      if (is == state::clean) is = state::changed;
      if (is == state::copied) is = state::changed_again;
    }
  };
  struct hash_of_id {
    std::size_t operator()(block_id const& id) const noexcept;
  };

  /// A copy of blocks side by side, on its way to disk.
  struct group {
    frame memory = {};
    io::request_ptr write = nullptr;
  };

  /// A buffer that a block had before renew_memory().
  struct former {
    frame memory = {};
    std::uint64_t seal = 0;  // of its bytes, in debug builds
  };

  frame content(std::size_t s) const noexcept;
  bool is_as_left(former const& old) const noexcept;
  std::vector<std::size_t> changed_by_place() const;
  void note_use(std::size_t s) noexcept;
  std::size_t admit(block_id id);
  void make_room();
  std::size_t victim();
  void begin_prefetch(block_id id, bool may_wait);
  bool is_being_read(slot const& x) const noexcept;
  bool waits_for_write(slot const& x) const noexcept;
  void evict(std::size_t s);
  void take_back(std::size_t s);
  void write_first_leaving();
  void write_all_leaving();
  void free_written() noexcept;
  void forget(std::size_t s) noexcept;
  void end_transfer(slot& x) noexcept;
  void touch(std::size_t s) noexcept;
  void begin_read(std::size_t s);
  void read_now(std::size_t s);
  void end_read(std::size_t s);
  static void close_unpinned(slot const& x) noexcept;
  void begin_write(std::size_t s);
  void end_write(std::size_t s);
  bool can_join(block_id const& id) const noexcept;
  std::vector<std::size_t> beside(std::size_t s) const;
  void begin_group(group& with, std::span<std::size_t const> members);
  group& next_group() noexcept;
  void write_groups(std::span<std::size_t const> changed);
  void settle(std::size_t s) noexcept;
  void settle_if_ended(std::size_t s) noexcept;
  pinned_block add_pin(std::size_t s) noexcept;
  void remove_pin(std::size_t s) noexcept;
  std::size_t piece_of(std::size_t s) const noexcept;
  std::size_t piece_length(std::size_t piece) const noexcept;
  std::size_t next_pieces_bytes() const noexcept;
  bool has_groups_with(std::size_t more_bytes) const noexcept;
  bool lacks_room() const noexcept;
  void ask_for_memory(bool must);
  void restore(std::size_t offset, std::size_t bytes);
  std::size_t slot_without_memory() noexcept;
  void add_piece(std::size_t piece) noexcept;
  std::size_t remove_piece(std::size_t piece) noexcept;
  std::size_t remove_free_pieces(std::size_t bytes) noexcept;
  std::size_t remove_groups() noexcept;
  void remove_all() noexcept;
  bool can_shrink() const noexcept;
  bool let_go(std::size_t s, give_cost most);
  bool let_some_go(std::size_t count, give_cost most);
  void let_all_go(give_cost most);
  void set_capacity() noexcept;

  outsize::detail::process_mark process_;
  block_device& device_;
  std::size_t const block_count_;
  std::size_t const buffer_bytes_;
  std::size_t const group_bytes_;
  std::size_t const former_count_;
  std::size_t const former_offset_;  // in memory_
  std::size_t const groups_offset_;
  std::size_t const least_count_;  // of buffers; 0: all
  std::size_t const most_buffers_;
  std::size_t const usual_buffers_;
  std::size_t const piece_buffers_;  // that come and go together, as they are whole pages
  std::atomic<std::size_t> capacity_;
  buffer memory_;  // pieces of buffers, former ones, groups
  std::string asker_;
  std::unique_ptr<replacement> policy_;
  std::function<void(bool)> need_;
  std::vector<slot> slots_;                  // as many as ever had memory at once
  std::vector<bool> has_memory_;             // of each piece
  std::vector<std::size_t> without_memory_;  // slots
  std::size_t buffers_ = 0;
  std::unordered_map<block_id, std::size_t, hash_of_id> slot_of_;
  // The longest free first, as its memory is in no cache by then; with room for all slots.
  boost::circular_buffer<std::size_t> free_;
  std::vector<std::size_t> leaving_;  // the longest under way first
  std::vector<group> groups_;
  std::size_t next_group_ = 0;  // the longest under way
  std::vector<former> former_;
  std::size_t next_former_ = 0;  // the one whose bytes have stayed longest
  std::size_t kept_ = 0;
  std::size_t pinned_ = 0;  // of those kept
  block_cache_counts counts_;
};

}  // namespace outsize::block
