// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A writer that takes byte strings apart again, which travel as bytes, each behind its length.
//
//   room   | kept | filled ........... |      whole records go on, the beginning of one is kept
//
// One thread at a time. Layer: stream, internal.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/stream/detail/boundary.hpp>
#include <outsize/stream/detail/context.hpp>

namespace outsize::stream::detail {

class record_gatherer : public boundary_writer<std::byte> {
 public:
  explicit record_gatherer(segment_context& c) : context_(c), room_(64_KiB) {}

  bool finish_some() final {
    hand_over();
    context_.outside([this] { finish(); });
    return true;
  }

 private:
  /// Takes some records. Called outside of the segment's thread, as is finish().
  virtual void take(std::span<std::string_view const> records) = 0;
  virtual void finish() = 0;

  bool more_room() final {
    hand_over();
    // The rest is the beginning of one record: longer records need more room.
    if (kept_ > room_.size() / 2) room_.resize(2 * room_.size());
    lend(std::span(room_).subspan(kept_));
    return true;
  }
  void hand_over() {
    std::string_view rest(reinterpret_cast<char const*>(room_.data()), kept_ + filled().size());
    lend({});
    records_.clear();
    while (rest.size() >= sizeof(std::uint32_t)) {
      std::uint32_t bytes;
      std::memcpy(&bytes, rest.data(), sizeof bytes);
      if (rest.size() - sizeof bytes < bytes) break;
      records_.push_back(rest.substr(sizeof bytes, bytes));
      rest.remove_prefix(sizeof bytes + bytes);
    }
    if (!records_.empty()) context_.outside([this] { take(records_); });
    std::memmove(room_.data(), rest.data(), rest.size());
    kept_ = rest.size();
  }

  segment_context& context_;
  std::vector<std::byte> room_;
  std::size_t kept_ = 0;  // bytes of a record that goes on
  std::vector<std::string_view> records_;
};

}  // namespace outsize::stream::detail
