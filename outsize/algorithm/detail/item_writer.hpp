// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items to an output that is not a sort's: one at a time, or windows of them.
//
// One thread at a time. Layer: algorithm.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include <outsize/algorithm/detail/item_scan.hpp>
#include <outsize/algorithm/detail/record_output.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/io/output_stream.hpp>

namespace outsize::detail {

/// Items written to an output iterator, one by one or by windows.
template <external_item T, typename Out>
class item_writer {
 public:
  /// Takes a window of `window_bytes` from `memory` when room() is called first.
  item_writer(storage&, grant& memory, Out out, std::size_t window_bytes,
              io::output_stream_options const&)
      : out_(std::move(out)), memory_(&memory), window_bytes_(window_bytes) {}
  void put(T const& item) { *out_++ = item; }

  /// A place for items, at least one. @throws budget_error.
  std::span<std::byte> room() {
    if (window_.size() == 0) window_ = memory_->allocate(window_bytes_);
    return window_.bytes();
  }
  /// The first `bytes` of room() are filled.
  void used(std::size_t bytes) {
    out_ = copy_items<T>(window_.bytes().first(bytes), std::move(out_));
  }
  void finish() {}

 private:
  Out out_;
  grant* memory_;
  std::size_t window_bytes_;
  buffer window_;
};

/// Items written to a file, which appears with finish().
template <external_item T>
class item_writer<T, output_path> {
 public:
  /// Takes two windows of `window_bytes`, whole pages, from `memory`. @throws io_error if the file
  /// cannot be made.
  item_writer(storage& store, grant& memory, output_path const& out, std::size_t window_bytes,
              io::output_stream_options const& writing)
      : stream_(block::open_output(store, out.path, writing)),
        output_(*stream_, memory, window_bytes) {}

  void put(T const& item) {
    std::memcpy(static_cast<void*>(&some_[count_++]), &item, sizeof item);
    if (count_ == most_gathered) hand_over();
  }
  /// A place for items, at least one if a window holds that. @throws io_error.
  std::span<std::byte> room() {
    hand_over();
    return output_.room(sizeof(T));
  }
  /// The first `bytes` of room() are filled.
  void used(std::size_t bytes) noexcept { output_.used(bytes); }
  /// @throws io_error of any write.
  void finish() {
    hand_over();
    output_.finish();
  }

 private:
  static constexpr std::size_t most_gathered = std::max<std::size_t>(1, 1024 / sizeof(T));

  void hand_over() {
    if (count_ == 0) return;
    output_.append({reinterpret_cast<char const*>(some_.get()), count_ * sizeof(T)});
    count_ = 0;
  }

  std::unique_ptr<io::output_stream> stream_;
  record_output output_;
  std::unique_ptr<T[]> some_ = std::make_unique_for_overwrite<T[]>(most_gathered);
  std::size_t count_ = 0;
};

}  // namespace outsize::detail
