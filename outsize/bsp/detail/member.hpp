// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A virtual processor as a member of a group: the exchanges of bytes on which every face builds
// (processor.hpp, em.h). All functions are called by the processor itself while it runs; errors
// as those of the engine's steps. Layer: bsp.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <outsize/bsp/detail/message_ticket.hpp>

namespace outsize::bsp::detail {

class engine;
struct group;
struct sent_bytes;

/// A part of an operation, or a message, that has come and is to be taken.
struct incoming {
  std::uint32_t source = 0;  ///< The sender's rank in the group.
  std::uint32_t turn = 0;    ///< Among the parts of an operation: the order in which they came.
  std::int64_t tag = 0;
  message_ticket bytes;

  std::uint64_t length_bytes() const noexcept { return bytes.length_bytes; }
};

class member {
 public:
  /// `global_rank` is its number among all processors, `rank` that in the group.
  member(engine& run, std::shared_ptr<group> of, std::uint32_t global_rank, std::uint32_t rank);
  /// The member of the group of all processors.
  member(engine& run, std::uint32_t global_rank);

  std::uint32_t rank() const noexcept { return rank_; }
  std::uint32_t global_rank() const noexcept { return global_rank_; }
  std::uint32_t count() const noexcept;

  // ---- steps of collective operations ----

  /// Begins the next operation of the group, and returns its number. All members must say the same:
  /// root, length of an item, the number of items where all have the same, the fold.
  std::uint64_t begin(char const* name, std::uint32_t root, std::size_t item_bytes,
                      std::uint64_t items = 0, char const* fold = "");
  /// Sends a part to each of `to`.
  void put(std::uint64_t number, std::span<std::uint32_t const> to,
           std::span<std::byte const> bytes);
  void put(std::uint64_t number, std::uint32_t to, std::span<std::byte const> bytes) {
    put(number, std::span(&to, 1), bytes);
  }
  /// Sends a part to each member, by rank.
  void put_each(std::uint64_t number, std::span<std::span<std::byte const> const> parts);
  /// Sends a part to every member but `without`.
  void put_to_all(std::uint64_t number, std::span<std::byte const> bytes,
                  std::optional<std::uint32_t> without = {});
  /// Waits for `count` parts, and returns them by source; each is to be taken.
  std::vector<incoming> wait_for_parts(std::uint64_t number, std::size_t count, char const* name);
  /// Copies a part, or a message, to its place. @pre into.size() is its length.
  void take(incoming const& part, std::span<std::byte> into);
  /// Copies parts to their places: those that came first before others, as they lie side by side.
  /// @param place  Of part number i.
  void take_all(std::span<incoming const> parts,
                std::function<std::span<std::byte>(std::size_t)> const& place);
  void drop(incoming const& part) noexcept;

  // ---- whole operations ----

  void barrier();
  /// Gives all the bytes of `root`.
  void broadcast(std::span<std::byte> bytes, std::uint32_t root, std::size_t item_bytes);
  /// The members that give the same color, by key, then by rank.
  member split(std::int64_t color, std::int64_t key);

  // ---- memory ----

  /// The bytes will be overwritten before they are read, or not be read at all: if contexts are
  /// being moved, they become zeros, which are not. Spans that follow one another count as one.
  void discard(std::span<std::span<std::byte> const> bytes) noexcept;

  // ---- messages ----

  void send(std::uint32_t to, std::int64_t tag, std::span<std::byte const> bytes);
  /// Waits for a message; nullopt: from any member, with any tag. It is to be taken.
  incoming receive(std::optional<std::uint32_t> from, std::optional<std::int64_t> tag);

 private:
  sent_bytes bytes_to_send(std::span<std::byte const> const& bytes) const;

  engine* run_;
  std::shared_ptr<group> group_;
  std::uint32_t global_rank_;
  std::uint32_t rank_;
  std::uint64_t next_number_ = 0;  // of the group's operations
};

}  // namespace outsize::bsp::detail
