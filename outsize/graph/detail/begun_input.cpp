// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/graph/detail/begun_input.hpp>

#include <algorithm>
#include <utility>

namespace outsize::graphs::detail {

/// Adds a view to those so far; the first one is gone when the stream is asked for another.
bool begun_input::go_on() {
  if (copied_.empty()) copied_ = text_of(first_);
  auto const more = in_->next();
  copied_ += text_of(more);
  first_ = std::as_bytes(std::span(copied_));
  return !more.empty();
}

std::span<std::byte const> begun_input::next() {
  return first_.empty() ? in_->next() : std::exchange(first_, {});
}

std::size_t begun_input::read(std::span<std::byte> into) {
  std::size_t const count = std::min(first_.size(), into.size());
  std::copy_n(first_.begin(), count, into.begin());
  first_ = first_.subspan(count);
  return count == into.size() ? count : count + in_->read(into.subspan(count));
}

std::optional<std::uint64_t> begun_input::remaining_bytes() const {
  auto const bytes = in_->remaining_bytes();
  return bytes ? std::optional(*bytes + first_.size()) : std::nullopt;
}

}  // namespace outsize::graphs::detail
