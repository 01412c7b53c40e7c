// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items that a pass over a file that is nearly in order finds far from their places, and keeps in
// memory until the others are in order in a file.
//
//   late    must stand in front of what is in the file already
//   early   must stand behind most of what a whole buffer has brought after them
//
// Then they are merged into the file, from its end to the place of the smallest: what is written
// never lies where something is still to be read. One thread at a time. Layer: algorithm.

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>

#include <outsize/algorithm/detail/sort/presorted/passing_order.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/io/file.hpp>
#include <outsize/pipeline/network.hpp>

namespace outsize::detail {

/// Items put aside, which remain in the order of the file.
class aside {
 public:
  /// @param grows_down  Whether what comes later is in front in the file.
  aside(grant& memory, std::size_t capacity_bytes, bool grows_down)
      : memory_(memory.allocate(capacity_bytes)),
        capacity_(capacity_bytes),
        grows_down_(grows_down) {}

  /// Returns false, and keeps what it had, if there is no room.
  bool put(std::span<std::byte const> items);
  /// Takes away the last of them.
  void drop_last(std::size_t bytes) noexcept;

  std::span<std::byte> items() const noexcept { return memory_.bytes().subspan(begin(), used_); }

 private:
  std::size_t begin() const noexcept { return grows_down_ ? capacity_ - used_ - dropped_ : 0; }

  buffer memory_;
  std::size_t capacity_;
  std::size_t used_ = 0;
  std::size_t dropped_ = 0;
  bool grows_down_;
};

class outliers {
 public:
  /// Takes `memory_bytes` from the budget, for all that it does but for the buffers of merge_into.
  outliers(memory_budget& budget, std::uint64_t memory_bytes, item_operations const& operations,
           bool from_the_end);

  /// For how many bytes of each kind there is room.
  static std::size_t capacity_bytes(std::uint64_t memory_bytes, item_operations const& operations);

  bool put_late(std::span<std::byte const> items) { return late_.put(items); }
  bool put_early(std::span<std::byte const> items) { return early_.put(items); }
  std::uint64_t bytes() const noexcept { return late_.items().size() + early_.items().size(); }

  /// Merges them into the items in the first `ordered_bytes` of the file, of which nothing is left
  /// over here then. @throws io_error, cancelled.
  ///
  /// I/Os:  Reads the file from the place of the first of them, and writes that and their bytes.
  pipeline::network_report merge_into(io::file& file, std::uint64_t ordered_bytes,
                                      memory_budget& budget,
                                      pipeline::network_options const& options,
                                      std::size_t buffer_bytes, std::stop_token stop);

 private:
  void sort_all();
  bool last_is_late();
  std::span<std::byte const> last();
  std::size_t behind_last(std::span<std::byte const> ordered);
  void merge(pipeline::ports& p, std::uint64_t ordered_bytes, std::size_t buffer_bytes);

  item_operations const& operations_;
  passing_order order_;
  grant memory_;
  aside late_, early_;
};

}  // namespace outsize::detail
