// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The items of a priority queue that may be kept in a file.
//
// Invariant: the file of one that is kept is closed when this ends, unless that fails. One thread
// at a time. Layer: container.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <outsize/container/detail/priority/item_queue.hpp>
#include <outsize/container/detail/priority/queue_core.hpp>
#include <outsize/container/detail/priority/queue_file.hpp>
#include <outsize/page/kept_type.hpp>

namespace outsize::detail {

template <external_item T, typename Less>
class kept_queue : public item_queue<T, Less> {
  using base = item_queue<T, Less>;

 public:
  using base::base;

  /// One in a new file, at a path or in one that is open and empty. @throws as kept_file;
  /// budget_error.
  template <typename Where>
  static kept_queue create(storage& store, Where where, Less less, priority_queue_options options) {
    auto const items = leaving_order<T, Less>(less).kind();
    auto const block_bytes = queue_block_bytes(store, items, memory_of(options));
    auto file = queue_file::create(store, std::move(where), kind(), block_bytes);
    return with_file(store, std::move(file), std::move(less), options);
  }
  /// One that create() has made. @throws likewise, and format_error.
  template <typename Where>
  static kept_queue open(storage& store, Where where, Less less, priority_queue_options options) {
    auto file = queue_file::open(store, std::move(where), kind());
    return with_file(store, std::move(file), std::move(less), options);
  }

  kept_queue(kept_queue&& other) noexcept = default;
  kept_queue& operator=(kept_queue&& other) noexcept {
    if (this == &other) return *this;
    try_close();
    base::operator=(std::move(other));
    is_kept_ = std::move(other.is_kept_);
    return *this;
  }
  ~kept_queue() { try_close(); }

  bool is_kept() const noexcept { return *is_kept_ && this->has_core(); }
  /// Has no effect if it is not kept. @throws as queue_core::flush().
  void flush() {
    if (is_kept()) base::flush(false);
  }
  void close() {
    if (is_kept()) base::flush(true);
    abandon();
  }
  bool was_closed() const noexcept { return !is_kept() || base::was_closed(); }
  /// Ends it without closing the file.
  void abandon() noexcept {
    *is_kept_ = false;
    this->end();
  }

 private:
  static queue_memory memory_of(priority_queue_options const& options) noexcept {
    return {options.memory_bytes, options.block_bytes};
  }
  static kept_kind kind() {
    return {.container = "priority_queue",
            .item_bytes = {sizeof(T), 0},
            .rows = 2,
            .parts = {kept_item<T>("items"), kept_function<Less, T>("the order")}};
  }
  static kept_queue with_file(storage& store, queue_file file, Less less,
                              priority_queue_options options) {
    auto const items = leaving_order<T, Less>(less).kind();
    auto core = make_queue_core(store, items, memory_of(options), std::move(file));
    kept_queue made(store, std::move(less), options, std::move(core));
    *made.is_kept_ = true;
    return made;
  }
  void try_close() noexcept {
    if (!is_kept()) return;
    try {
      close();
    } catch (...) {  // close() tells
    }
  }

  moved_along<bool> is_kept_;
};

}  // namespace outsize::detail
