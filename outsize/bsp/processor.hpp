// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A virtual processor, as its own function sees it: its rank, its memory, and its exchanges with
// the others.
//
//   bsp::run(store, 64, [](bsp::processor& p) {
//     bsp::vector<std::uint64_t> mine(n / p.count());
//     …
//     auto received = p.all_to_all(std::move(buckets));     // waits; others compute meanwhile
//   });
//
// Every call that waits ends a superstep of the processor: its memory may go to disk, and comes
// back to the same addresses. Pointers stay valid. Operations of a group are collective: all
// members call the same ones in the same order. Results depend neither on the number of workers nor
// on memory: reductions fold in the order of ranks.
//
// Bounds are for all processors together, with N bytes exchanged by one operation. Messages that do
// not fit into their share of memory are written once and read once: 2·N/B I/Os. Parts of 256 KiB
// and more, from the arena, are read in their sender's context once contexts are being moved: of
// these N + d bytes are moved, of which d had changed since they were written last. Contexts that
// are moved come on top: virtual_processors.hpp.
//
// Threads: a processor is used by its own function only. Errors of functions that wait:
// `cancelled` if another processor has failed; bsp_error if members of a group call different
// operations, or if all processors wait (bsp::run throws it); io_error, out_of_space of the disks.
// Layer: bsp. Source: Nikseresht, Hutchinson, Maheshwari: PEMS, 2007, section 3 (EM System
// Interface). Checked: processor_test.cpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <typeinfo>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/bsp/allocator.hpp>
#include <outsize/bsp/bsp_error.hpp>
#include <outsize/bsp/detail/member.hpp>

namespace outsize::bsp {

/// Items, and the number of them that go to, or have come from, each member of a group: those of
/// member 0 first.
template <external_item T>
struct parts {
  vector<T> items;
  vector<std::uint64_t> counts;

  /// The items of each member.
  std::vector<std::span<T>> split() {
    std::vector<std::span<T>> all;
    std::span<T> rest(items);
    for (std::uint64_t const count : counts) {
      all.push_back(rest.first(count));
      rest = rest.subspan(count);
    }
    return all;
  }
};

/// An exchange that has begun: see processor::begin_all_to_all().
template <external_item T>
class exchange {
  friend class processor;
  explicit exchange(std::uint64_t number) : number_(number) {}
  std::uint64_t number_;
};

/// Sender and tag of a message that was received.
struct message_origin {
  std::uint32_t source = 0;
  std::uint32_t tag = 0;
};

class processor {
 public:
  explicit processor(detail::member mine) : mine_(std::move(mine)) {}
  /// For other faces, which begin as it does.
  detail::member const& as_member() const noexcept { return mine_; }

  /// Its number, from 0 to count() - 1; in a group made by split() the number there.
  std::uint32_t rank() const noexcept { return mine_.rank(); }
  std::uint32_t count() const noexcept { return mine_.count(); }

  // ---- memory ----

  /// Uninitialised items in its arena, until free() or the end.
  /// @throws budget_error, which names the processor and the option to raise.
  template <external_item T>
  std::span<T> allocate(std::size_t items) {
    return {allocator<T>().allocate(items), items};
  }
  template <external_item T>
  void free(std::span<T> memory) noexcept {
    detail::free_in_arena(memory.data());
  }

  // ---- all members together ----

  /// Waits until every member is here.
  void barrier() { mine_.barrier(); }

  /// Sends `counts[i]` of the items, which lie one member after the other, to member i. Returns the
  /// items that came. If `out` is moved, its memory is free while the processor waits.
  template <external_item T>
  parts<T> all_to_all(parts<T> const& out) {
    return end_all_to_all(begin_all_to_all(out));
  }
  template <external_item T>
  parts<T> all_to_all(parts<T>&& out) {
    return end_all_to_all(begin_all_to_all(std::move(out)));
  }

  /// The same in two steps. Only the second waits, so several exchanges can end in one superstep.
  /// Exchanges are ended in the order in which they were begun.
  template <external_item T>
  exchange<T> begin_all_to_all(parts<T> const& out) {
    OUTSIZE_ASSERT(out.counts.size() == count());
    std::uint64_t const number = mine_.begin("all_to_all", 0, sizeof(T));
    send_parts(number, std::as_bytes(std::span(out.items)), out.counts, sizeof(T));
    return exchange<T>(number);
  }
  template <external_item T>
  exchange<T> begin_all_to_all(parts<T>&& out) {
    parts<T> const gone = std::move(out);
    return begin_all_to_all(gone);
  }
  template <external_item T>
  parts<T> end_all_to_all(exchange<T> const& begun) {
    return receive_parts<T>(begun.number_, "all_to_all");
  }

  /// Gives all members the items of member `root`. All pass spans of one length.
  template <external_item T>
  void broadcast(std::span<T> items, std::uint32_t root = 0) {
    mine_.broadcast(std::as_writable_bytes(items), root, sizeof(T));
  }
  /// Returns the value of member `root`.
  template <external_item T>
  T broadcast(T value, std::uint32_t root = 0) {
    broadcast(std::span(&value, 1), root);
    return value;
  }

  /// Collects the items of all members, in the order of ranks, at `root`; others get nothing.
  template <external_item T>
  parts<T> gather(std::span<T const> items, std::uint32_t root = 0) {
    std::uint64_t const number = mine_.begin("gather", root, sizeof(T));
    mine_.put(number, root, std::as_bytes(items));
    if (rank() != root) return {};
    return receive_parts<T>(number, "gather");
  }
  /// Collects the items of all members, in the order of ranks, at every member.
  template <external_item T>
  parts<T> all_gather(std::span<T const> items) {
    std::uint64_t const number = mine_.begin("all_gather", 0, sizeof(T));
    mine_.put_to_all(number, std::as_bytes(items));
    return receive_parts<T>(number, "all_gather");
  }
  /// The value of each member, by rank.
  template <external_item T>
  vector<T> all_gather(T value) {
    return std::move(all_gather(std::span<T const>(&value, 1)).items);
  }

  /// Gives each member its part of the items of `root`; others pass nothing.
  template <external_item T>
  vector<T> scatter(parts<T> const& out, std::uint32_t root = 0) {
    std::uint64_t const number = mine_.begin("scatter", root, sizeof(T));
    if (rank() == root) {
      OUTSIZE_ASSERT(out.counts.size() == count());
      send_parts(number, std::as_bytes(std::span(out.items)), out.counts, sizeof(T));
    }
    return std::move(receive_from<T>(number, 1, "scatter").items);
  }

  /// Folds items of all members, each with those at the same place, in the order of ranks, at
  /// `root`; others get nothing. All pass spans of one length. `fold(a, b)` returns a value, and
  /// must be associative.
  template <external_item T, typename Fold>
  vector<T> reduce(std::span<T const> items, Fold fold, std::uint32_t root = 0) {
    std::uint64_t const number =
        mine_.begin("reduce", root, sizeof(T), items.size(), typeid(Fold).name());
    mine_.put(number, root, std::as_bytes(items));
    if (rank() != root) return {};
    return fold_parts<T>(number, count(), "reduce", fold);
  }
  /// The same, with the result at every member.
  template <external_item T, typename Fold>
  vector<T> all_reduce(std::span<T const> items, Fold fold) {
    vector<T> all = reduce(items, fold);
    all.resize(items.size());
    broadcast(std::span<T>(all));
    return all;
  }
  template <external_item T, typename Fold = std::plus<>>
  T all_reduce(T value, Fold fold = {}) {
    return all_reduce(std::span<T const>(&value, 1), fold).front();
  }

  /// Folds the values of the members before this one, in the order of ranks; the first gets
  /// nothing.
  template <external_item T, typename Fold = std::plus<>>
  std::optional<T> exclusive_scan(T value, Fold fold = {}) {
    std::uint64_t const number = mine_.begin("scan", 0, sizeof(T), 1, typeid(Fold).name());
    std::optional<T> before;
    if (rank() != 0) before = receive_from<T>(number, 1, "scan").items.front();
    T const with_mine = before ? fold(*before, value) : value;
    if (rank() + 1 < count()) {
      mine_.put(number, rank() + 1, std::as_bytes(std::span(&with_mine, 1)));
    }
    return before;
  }
  /// Folds the values of the members up to this one, in the order of ranks.
  template <external_item T, typename Fold = std::plus<>>
  T inclusive_scan(T value, Fold fold = {}) {
    std::optional<T> const before = exclusive_scan(value, fold);
    return before ? fold(*before, value) : value;
  }

  /// Divides the group: members that give the same color are a group of their own, ordered by
  /// `key`, then rank. The result must not outlive this processor's function.
  processor split(std::int64_t color, std::int64_t key = 0) {
    return processor(mine_.split(color, key));
  }

  // ---- two members ----

  /// Sends items to member `to`. Returns when they are copied.
  template <external_item T>
  void send(std::uint32_t to, std::span<T const> items, std::uint32_t tag = 0) {
    mine_.send(to, tag, std::as_bytes(items));
  }
  /// Waits for a message of member `from` with this tag (nullopt: of any) and returns its items.
  /// Messages of one sender with one tag come in the order in which they were sent.
  /// @throws bsp_error if its length is no multiple of an item's.
  template <external_item T>
  vector<T> receive(std::optional<std::uint32_t> from = {}, std::optional<std::uint32_t> tag = {},
                    message_origin* origin = nullptr) {
    detail::incoming const message = mine_.receive(from, tag);
    if (message.length_bytes() % sizeof(T) != 0) refuse(message, sizeof(T));
    vector<T> items = memory_for<T>(message.length_bytes() / sizeof(T), std::span(&message, 1));
    mine_.take(message, std::as_writable_bytes(std::span(items)));
    if (origin != nullptr) *origin = {message.source, static_cast<std::uint32_t>(message.tag)};
    return items;
  }

 private:
  void send_parts(std::uint64_t number, std::span<std::byte const> items,
                  std::span<std::uint64_t const> counts, std::size_t item_bytes) {
    OUTSIZE_ASSERT(std::reduce(counts.begin(), counts.end()) * item_bytes == items.size());
    std::vector<std::span<std::byte const>> parts;
    for (std::uint64_t const each : counts) {
      parts.push_back(items.first(each * item_bytes));
      items = items.subspan(each * item_bytes);
    }
    mine_.put_each(number, parts);
  }

  /// Memory for what has come; if there is none, nothing of it is left over.
  template <typename T>
  vector<T> memory_for(std::size_t items, std::span<detail::incoming const> came) {
    try {
      return vector<T>(items);
    } catch (...) {
      for (detail::incoming const& each : came) mine_.drop(each);
      throw;
    }
  }

  [[noreturn]] void refuse(detail::incoming const& message, std::size_t item_bytes);

  template <typename T>
  parts<T> receive_parts(std::uint64_t number, char const* name) {
    return receive_from<T>(number, count(), name);
  }

  template <typename T>
  parts<T> receive_from(std::uint64_t number, std::size_t senders, char const* name) {
    std::vector<detail::incoming> const all = mine_.wait_for_parts(number, senders, name);
    parts<T> in;
    std::uint64_t items = 0;
    for (detail::incoming const& part : all) items += part.length_bytes() / sizeof(T);
    in.items = memory_for<T>(items, all);
    in.counts.reserve(all.size());
    std::vector<std::span<std::byte>> places;
    std::span<std::byte> rest = std::as_writable_bytes(std::span(in.items));
    for (detail::incoming const& part : all) {
      places.push_back(rest.first(part.length_bytes()));
      rest = rest.subspan(part.length_bytes());
      in.counts.push_back(part.length_bytes() / sizeof(T));
    }
    mine_.take_all(all, [&](std::size_t i) { return places[i]; });
    return in;
  }

  template <typename T, typename Fold>
  vector<T> fold_parts(std::uint64_t number, std::size_t senders, char const* name, Fold& fold) {
    std::vector<detail::incoming> const all = mine_.wait_for_parts(number, senders, name);
    std::size_t const items = all.front().length_bytes() / sizeof(T);
    vector<T> result = memory_for<T>(items, all);
    vector<T> next = memory_for<T>(items, all);
    mine_.take(all.front(), std::as_writable_bytes(std::span(result)));
    for (detail::incoming const& part : std::span(all).subspan(1)) {
      mine_.take(part, std::as_writable_bytes(std::span(next)));
      std::transform(result.begin(), result.end(), next.begin(), result.begin(), fold);
    }
    return result;
  }

  detail::member mine_;
};

}  // namespace outsize::bsp
