// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Boundaries: where items leave one segment and come into another.
//
//   segment ─▶ boundary_writer<T> ─▶ link<T>     a channel between threads, or a store on disk
//                                    sorting<T>  a sort     ─▶ boundary_reader<T> ─▶ segment
//
// Items go through memory that the boundary lends: a writer fills its room, a reader goes through
// its pieces, and only where one of these ends is there a virtual call. So segments do not depend
// on the kind of a boundary, which the planner may choose. Byte strings travel as bytes, each
// behind its length (typed_ports.hpp).
//
// Invariant: a boundary has one writer and one reader. One thread at a time uses each of the two.
// Layer: stream, internal.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/memory_division.hpp>
#include <outsize/stream/detail/context.hpp>
#include <outsize/stream/detail/expression.hpp>

namespace outsize::stream::detail {

class segment_base;

/// Takes items into memory that is lent.
template <external_item T>
class boundary_writer {
 public:
  boundary_writer() = default;
  boundary_writer(boundary_writer const&) = delete;
  boundary_writer& operator=(boundary_writer const&) = delete;
  virtual ~boundary_writer() = default;

  /// Adds an item. Returns whether more are wanted; this one has been lost if not.
  bool push(T const& item) {
    if (next_ == end_ && !more_room()) [[unlikely]]
      return false;
    std::construct_at(next_++, item);
    return true;
  }
  /// Adds all of a span.
  bool push(std::span<T const> items) {
    while (!items.empty()) {
      if (next_ == end_ && !more_room()) return false;
      std::size_t const count = std::min(items.size(), static_cast<std::size_t>(end_ - next_));
      std::memcpy(static_cast<void*>(next_), items.data(), count * sizeof(T));
      next_ += count;
      items = items.subspan(count);
    }
    return true;
  }

  /// Sends on the remaining items as far as possible without waiting for the reader. Returns
  /// whether none are left; the input of the boundary has ended then.
  virtual bool finish_some() = 0;
  /// Returns the number of items that were added.
  std::uint64_t size() const noexcept { return gone_ + filled().size(); }

 protected:
  std::span<T const> filled() const noexcept { return {begin_, next_}; }
  void lend(std::span<T> room) noexcept {
    gone_ += filled().size();
    begin_ = next_ = room.data();
    end_ = begin_ + room.size();
  }
  /// Sends on the filled room, and lends room for at least one item. Returns false if the reader
  /// wants no more.
  virtual bool more_room() = 0;

 private:
  T* begin_ = nullptr;
  T* next_ = nullptr;
  T* end_ = nullptr;
  std::uint64_t gone_ = 0;  // items of rooms that were lent before
};

/// Shows the items of a boundary in pieces: a batch_stream.
template <external_item T>
class boundary_reader {
 public:
  boundary_reader() = default;
  boundary_reader(boundary_reader const&) = delete;
  boundary_reader& operator=(boundary_reader const&) = delete;
  virtual ~boundary_reader() = default;

  bool empty() { return next_ == end_ && !more(); }
  /// @pre !empty() was returned for it.
  T const& operator*() const noexcept { return *next_; }
  boundary_reader& operator++() noexcept {
    ++next_;
    return *this;
  }
  std::span<T const> pull() { return empty() ? std::span<T const>() : std::span(next_, end_); }
  void skip(std::size_t count) noexcept { next_ += count; }

 protected:
  void show(std::span<T const> items) noexcept {
    next_ = items.data();
    end_ = next_ + items.size();
  }
  /// Shows the next items, at least one; or returns that there are none. Those shown before are not
  /// needed any more.
  virtual bool more() = 0;

 private:
  T const* next_ = nullptr;
  T const* end_ = nullptr;
};

/// The part of a boundary that does not depend on its items.
class boundary_base : public std::enable_shared_from_this<boundary_base> {
 public:
  enum class kind : std::uint8_t { channel, store, sorter };

  boundary_base(kind k, std::string name, std::source_location place)
      : name_(std::move(name)), place_(place), kind_(k) {}
  boundary_base(boundary_base const&) = delete;
  boundary_base& operator=(boundary_base const&) = delete;
  virtual ~boundary_base() = default;

  kind what() const noexcept { return kind_; }
  /// Returns whether the reader begins only when the writer has ended.
  bool is_cut() const noexcept { return kind_ != kind::channel; }
  std::string const& name() const noexcept { return name_; }
  std::source_location const& place() const noexcept { return place_; }
  virtual std::size_t item_bytes() const noexcept = 0;  ///< 0: byte strings.

  /// Before the phase in which it is written, and before the one in which it is read: takes memory,
  /// on the thread that runs the graph.
  virtual void begin_writing(storage&, std::stop_token const&) {}
  virtual void begin_reading(storage&, [[maybe_unused]] std::uint64_t share_bytes) {}
  /// Returns the memory that it can use while it is written, or read, as far as its items are
  /// known.
  virtual memory_claim writing_claim(storage&) const { return {}; }
  virtual memory_claim reading_claim(storage&) const { return {}; }
  /// Returns the memory that it has between these.
  virtual std::uint64_t held_bytes() const noexcept { return 0; }
  /// When its reader has ended: frees all that it has.
  virtual void end_reading() noexcept {}
  /// Returns whether it is a link, which can be a store in place of a channel.
  virtual bool can_be_store() const noexcept { return false; }
  virtual void become_store() noexcept {}
  /// Sets the number of segments that work side by side at a deal.
  virtual void set_lanes(std::size_t) noexcept {}
  /// Returns the report of a sorter, complete after end_reading().
  virtual sort_report const* report() const noexcept { return nullptr; }

  // For the graph.
  segment_base* writer = nullptr;
  segment_base* reader = nullptr;
  std::size_t lanes = 1;  // side by side, of a deal
  item_count count;       // that goes through: foreseen, and in the end counted
  std::optional<std::uint64_t> expected_bytes = {};  // likewise, if the count is not known
  bool is_fork_output = false;
  bool is_used = false;             // by a flow behind it
  std::uint64_t granted_bytes = 0;  // its greatest share of the memory
  std::uint64_t spilled_items = 0;  // that a channel kept on disk, so that nobody waits for ever

 protected:
  void become(kind k) noexcept { kind_ = k; }

 private:
  std::string name_;
  std::source_location place_;
  kind kind_;
};

/// A boundary through which items of type T go.
template <external_item T>
class boundary : public boundary_base {
 public:
  using boundary_base::boundary_base;

  virtual std::unique_ptr<boundary_writer<T>> open_writer(segment_context& c) = 0;
  virtual std::unique_ptr<boundary_reader<T>> open_reader(segment_context& c) = 0;

  /// Stands in its place: the sort behind an output of a fork, which needs no link.
  std::shared_ptr<boundary> replaced_by;
};

}  // namespace outsize::stream::detail
