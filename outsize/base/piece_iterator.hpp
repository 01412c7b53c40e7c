// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Streams of pieces as ranges: pull() shows some items where they lie, skip() goes past them, and
// an iterator goes over one after the other between the two.
//
// Invariant: the stream is at the piece that the iterator is in. Thread rule: the stream's. Layer:
// base.

#include <cstddef>
#include <iterator>
#include <span>

namespace outsize {

/// Goes once over what is left of a stream, item by item: what `for (auto const& item : stream)`
/// uses. A loop that is left early leaves the stream at the beginning of the piece that it was in.
/// Errors: those of pull(), from the step to another piece; the iterator has come to its end then.
/// @tparam is_backward  Whether a piece ends with the item that comes first.
template <typename Stream, typename T, bool is_backward>
class piece_iterator {
 public:
  using value_type = T;
  using difference_type = std::ptrdiff_t;

  piece_iterator() = default;
  explicit piece_iterator(Stream& in) : in_(&in) { look(); }
  value_type const& operator*() const noexcept { return is_backward ? *(at_ - 1) : *at_; }
  value_type const* operator->() const noexcept { return &**this; }
  piece_iterator& operator++() {
    at_ = is_backward ? at_ - 1 : at_ + 1;
    if (at_ == end_) {
      in_->skip(in_->pull().size());
      look();
    }
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(piece_iterator const& i, std::default_sentinel_t) noexcept {
    return i.at_ == i.end_;
  }

 private:
  void look() {
    auto const some = in_->empty() ? std::span<value_type const>() : in_->pull();
    at_ = is_backward ? some.data() + some.size() : some.data();
    end_ = is_backward ? some.data() : some.data() + some.size();
  }

  Stream* in_ = nullptr;
  value_type const* at_ = nullptr;
  value_type const* end_ = nullptr;
};

}  // namespace outsize
