// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A vector read and written from one end to the other, page by page: the loops of algorithms that
// know that they scan.
//
// They use the pages of the vector's cache, so that what they write is seen by all else at once,
// and read ahead and write behind as it does. A reader is const access, a writer is not. One thread
// at a time uses a reader. Layer: container. Source: STXXL 2008, section 5.1.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <outsize/base/assert.hpp>
#include <outsize/container/detail/array/paged_readers.hpp>
#include <outsize/container/vector.hpp>

namespace outsize {

/// Reads a part of a vector, front to back.
///
///     for (auto const& item : vector_reader(v)) use(item);
///
/// I/Os, memory, errors: as paged_reader says.
/// Checked: vector_readers_test.cpp.
template <typename T>
class vector_reader : public paged_reader<T> {
 public:
  explicit vector_reader(vector<T> const& from) : vector_reader(from, 0, from.size()) {}
  /// Items begin to end - 1. @pre begin <= end <= from.size().
  vector_reader(vector<T> const& from, std::uint64_t begin, std::uint64_t end)
      : paged_reader<T>(detail::paged_access::items(from.begin()), begin, end) {
    OUTSIZE_ASSERT(begin <= end && end <= from.size());
  }
};

/// Reads a part of a vector, back to front; otherwise as vector_reader.
template <typename T>
class vector_reverse_reader : public paged_reverse_reader<T> {
 public:
  explicit vector_reverse_reader(vector<T> const& from)
      : vector_reverse_reader(from, 0, from.size()) {}
  vector_reverse_reader(vector<T> const& from, std::uint64_t begin, std::uint64_t end)
      : paged_reverse_reader<T>(detail::paged_access::items(from.begin()), begin, end) {
    OUTSIZE_ASSERT(begin <= end && end <= from.size());
  }
};

/// Writes items into a vector: behind its last one, or over a part of it.
///
///     vector_writer out(v);
///     while (…) out.push(item);
///     out.finish();                            // v has grown by as many
///
/// I/Os:    a write for each page, when it leaves the cache. Pages of which all items are replaced
///          are not read, unless they left for others that were touched meanwhile.
/// Memory:  the vector's.
/// Errors:  as vector::push_back(); what has been pushed before is there.
/// Checked: vector_readers_test.cpp.
template <typename T>
class vector_writer {
 public:
  /// Appends. Nobody else appends to the vector, or changes its size, until finish().
  explicit vector_writer(vector<T>& to) : vector_writer(to, to.size(), UINT64_MAX) {}
  /// Replaces items begin to end - 1, where the vector need not have them yet. Those that are not
  /// written have values that are not known. @pre begin <= to.size().
  vector_writer(vector<T>& to, std::uint64_t begin, std::uint64_t end)
      : to_(&to), position_(begin), end_(end), size_before_(to.size()) {
    OUTSIZE_ASSERT(begin <= end && begin <= to.size());
  }
  vector_writer(vector_writer const&) = delete;
  vector_writer& operator=(vector_writer const&) = delete;
  ~vector_writer() { finish(); }

  /// @pre not at `end`.
  void push(T const& item) {
    room().front() = item;
    used(1);
  }
  void push(std::span<T const> items) {
    while (!items.empty()) {
      std::size_t const count = std::min(items.size(), room().size());
      std::ranges::copy(items.first(count), room_.begin());
      items = items.subspan(count);
      used(count);
    }
  }

  /// Where the next items may be put, at least one; used() says how many have been. Valid as a
  /// reference into the vector is.
  std::span<T> room() {
    OUTSIZE_ASSERT(to_ != nullptr && "an item pushed after finish()");
    if (room_.empty())
      open_page();
    else  // the page may have left the cache, if others were touched
      room_ = {&(*to_)[position_], room_.size()};
    return room_;
  }
  /// @pre count <= room().size()
  void used(std::size_t count) {
    OUTSIZE_ASSERT(count <= room_.size());
    room_ = room_.subspan(count);
    position_ += count;
  }

  /// Gives the vector its size; the writer can only be destroyed then, and leaves the vector
  /// alone.
  void finish() {
    if (to_ == nullptr) return;
    room_ = {};
    if (std::uint64_t const size = std::max(size_before_, position_); to_->size() > size)
      to_->resize(size);
    to_ = nullptr;
  }

 private:
  void open_page() {
    OUTSIZE_ASSERT(position_ < end_);
    std::uint64_t const page_items = to_->page_items();
    std::uint64_t const page_end = (position_ / page_items + 1) * page_items;
    bool const is_replaced =
        position_ % page_items == 0 && end_ >= std::min(page_end, size_before_);
    if (to_->size() < page_end) to_->resize(std::max(to_->size(), std::min(page_end, end_)));
    room_ = is_replaced ? to_->replacing(position_) : to_->changing(position_);
    room_ = room_.first(
        static_cast<std::size_t>(std::min<std::uint64_t>(room_.size(), end_ - position_)));
  }

  vector<T>* to_;  // until finish()
  std::uint64_t position_;
  std::uint64_t end_;
  std::uint64_t size_before_;
  std::span<T> room_;
};

}  // namespace outsize
