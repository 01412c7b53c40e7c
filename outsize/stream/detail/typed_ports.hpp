// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The ends of boundaries as segments use them: items into one, and items out of one.
//
//   items of one type   as they are
//   byte strings        bytes: | length, 32 bits | bytes | length | …, over the ends of pieces
//
// One thread at a time. Layer: stream, internal.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/stream/detail/boundary.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/element_stream.hpp>

namespace outsize::stream::detail {

/// The units in which items of type T go through a boundary.
template <typename T>
struct carried {
  using type = T;
};
template <>
struct carried<std::string_view> {
  using type = std::byte;
};
template <typename T>
using boundary_of = boundary<typename carried<stored_form_t<T>>::type>;

/// The end of a segment at a boundary, without the form of its items.
template <typename Unit>
class port_end {
 public:
  explicit port_end(std::shared_ptr<boundary<Unit>> to) : to_(std::move(to)) {}

  void begin(segment_context& c) {
    if (to_->replaced_by) to_ = to_->replaced_by;
    context_ = &c;
    writer_ = to_->open_writer(c);
  }
  /// Returns whether all has been sent on; as finish() does without waiting.
  bool finish_some() {
    if (!writer_->finish_some()) return false;
    to_->count = item_count::exactly(strings_ > 0 ? strings_ : writer_->size());
    writer_.reset();
    return true;
  }
  void finish() {
    while (!finish_some()) context_->ports().wait();
  }
  boundary_base& target() const noexcept { return to_->replaced_by ? *to_->replaced_by : *to_; }

 protected:
  std::shared_ptr<boundary<Unit>> to_;
  segment_context* context_ = nullptr;
  std::unique_ptr<boundary_writer<Unit>> writer_;
  std::uint64_t strings_ = 0;  // counted here: their writer counts bytes
};

/// Puts an item into the room of a writer. Returns whether more is wanted.
template <external_item T>
bool put_item(boundary_writer<T>& to, T const& item) {
  return to.push(item);
}
/// @throws format_error for a byte string of 4 GiB.
bool put_item(boundary_writer<std::byte>& to, std::string_view item);

/// Puts items of type T into a boundary.
template <typename T>
class port_sink : public port_end<typename carried<T>::type> {
 public:
  using port_end<typename carried<T>::type>::port_end;

  /// Returns whether more is wanted.
  bool push(T const& item) {
    if constexpr (byte_string<T>) ++this->strings_;
    return put_item(*this->writer_, item);
  }
};

/// The items that a reader shows.
template <typename T>
class items_of {
 public:
  using value_type = T;
  using unit = T;

  explicit items_of(boundary_reader<T>* from = nullptr) : reader_(from) {}

  bool empty() { return reader_->empty(); }
  T const& operator*() const noexcept { return **reader_; }
  items_of& operator++() noexcept {
    ++*reader_;
    return *this;
  }
  std::span<T const> pull() { return reader_->pull(); }
  void skip(std::size_t count) noexcept { reader_->skip(count); }

 private:
  boundary_reader<T>* reader_;
};

template <>
class items_of<std::string_view> {
 public:
  using value_type = std::string_view;
  using unit = std::byte;

  explicit items_of(boundary_reader<std::byte>* from = nullptr) : reader_(from) {}

  bool empty() { return !has_item_ && !next_item(); }
  std::string_view operator*() const noexcept { return item_; }
  items_of& operator++() noexcept {
    has_item_ = false;
    return *this;
  }

 private:
  bool next_item() {
    reader_->skip(std::exchange(passed_, 0));
    auto const piece = reader_->pull();
    if (piece.empty()) return false;
    std::uint32_t bytes;
    if (piece.size() >= sizeof bytes) {
      std::memcpy(&bytes, piece.data(), sizeof bytes);
      if (piece.size() - sizeof bytes >= bytes) {
        item_ = {reinterpret_cast<char const*>(piece.data()) + sizeof bytes, bytes};
        passed_ = sizeof bytes + bytes;
        return has_item_ = true;
      }
    }
    // It goes on in the next piece, where this one may not be any more.
    copy(&bytes, sizeof bytes);
    gathered_.resize(bytes);
    copy(gathered_.data(), bytes);
    item_ = gathered_;
    return has_item_ = true;
  }
  void copy(void* to, std::size_t bytes) {
    auto* at = static_cast<std::byte*>(to);
    while (bytes > 0) {
      auto const piece = reader_->pull();
      OUTSIZE_ASSERT(!piece.empty());
      std::size_t const count = std::min(piece.size(), bytes);
      std::memcpy(at, piece.data(), count);
      at += count;
      bytes -= count;
      reader_->skip(count);
    }
  }

  boundary_reader<std::byte>* reader_;
  std::string_view item_;
  std::size_t passed_ = 0;  // of the piece, once another item is needed
  bool has_item_ = false;
  std::string gathered_;
};

/// The items of a boundary: the begin of an expression.
template <typename T>
class port_source : public items_of<T> {
 public:
  explicit port_source(std::shared_ptr<boundary_of<T>> from) : from_(std::move(from)) {}

  port_source& operator++() noexcept {
    items_of<T>::operator++();
    return *this;
  }

  void begin(segment_context& c) {
    reader_ = from_->open_reader(c);
    static_cast<items_of<T>&>(*this) = items_of<T>(reader_.get());
  }
  void describe(description& d) const { d.reads.push_back(from_.get()); }
  item_count size() const noexcept { return from_->count; }
  std::shared_ptr<boundary_of<T>> const& origin() const noexcept { return from_; }

 private:
  std::shared_ptr<boundary_of<T>> from_;
  std::unique_ptr<boundary_reader<typename items_of<T>::unit>> reader_;
};

}  // namespace outsize::stream::detail
