// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The file of an output that is to come, as the place of the runs that it is merged from.
//
//   file:    | lead | blocks of runs, each where the merge is likely to need it | slack |
//   merge:   reads ──────────────▶
//            writes ─────▶
//
// A merge of runs whose items are spread alike reads them side by side, so a block that begins at
// the middle of its run is needed when half of the output has been written: it is put behind the
// middle of the file, and so far behind that it has been read when the output gets there. Whether
// that holds for all blocks is known when their triggers are (run_order.hpp); if not, the output is
// another file. (docs/decisions/0051-runs-in-the-room-of-their-output.md)
//
// Invariant: blocks in a room are disjoint. Blocks may be allocated and freed by any thread, all
// else belongs to one. Layer: algorithm.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <outsize/algorithm/sort_plan.hpp>
#include <outsize/block/block_device.hpp>
#include <outsize/block/guest_disk.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/output_file.hpp>
#include <outsize/io/output_stream.hpp>

namespace outsize::detail {

/// How a room is divided, in bytes.
struct room_layout {
  std::uint64_t lead = 0;    ///< In front of the first block of any run.
  std::uint64_t spread = 0;  ///< Over which the beginnings of a run's blocks are spread.
  std::uint64_t length = 0;  ///< Of it all, the output's length or more.
  /// What blocks are put at multiples of behind the lead, so that they leave no gaps: the length
  /// of a full one.
  std::uint64_t slot = 1;

  friend bool operator==(room_layout const&, room_layout const&) = default;
};

/// A block full of items of one length that are not encoded.
struct full_block {
  std::size_t items;
  std::size_t item_bytes;
  std::size_t disk_bytes;  ///< What all of them take on a disk.
};

/// The layout for an output of so many bytes that is sorted as planned, in runs of such blocks: in
/// front, with room for a block of each run and for what chance does to runs of so many items; and
/// for a block of each at the end. Nothing if nothing goes to a disk, if a merge is not the last
/// one, or if that is much more room than the output's.
std::optional<room_layout> lay_out_room(sort_plan const& plan, full_block const& full,
                                        std::uint64_t output_bytes) noexcept;

class output_room {
 public:
  /// Makes a file that is to become `output`, and allocates it. @throws as io::output_file;
  /// io_error if it asks for more alignment than the disks. @pre `store` has one disk.
  output_room(storage& store, room_layout const& layout, std::string const& output);
  output_room(output_room const&) = delete;
  output_room& operator=(output_room const&) = delete;
  /// @pre its blocks are free.
  ~output_room() = default;

  /// A block of at least so many bytes for what comes in its run after such a share of the items,
  /// in the slot of that share or behind; nothing if there is no place left there.
  std::optional<block::block_id> allocate(std::size_t length_bytes, double share_before);
  bool holds(block::block_id id) const noexcept { return guest_->holds(id); }
  /// The room's blocks, and those of the storage.
  block::block_space& space() noexcept { return *guest_; }

  std::uint64_t length_bytes() const noexcept { return layout_.length; }
  std::size_t alignment_bytes() noexcept { return file_.contents().alignment_bytes(); }
  /// The output, written over what is here. Once. @throws io_error.
  std::unique_ptr<io::output_stream> output(io::output_stream_options options);

 private:
  storage& store_;
  room_layout layout_;
  io::output_file file_;
  std::optional<block::guest_disk> guest_;
};

/// The places of the blocks of one run: on the disks of the storage, in the room of the output, or
/// where a container keeps its blocks.
class run_places {
 public:
  /// Of a run of so many items, in `room` if there is one.
  run_places(storage& store, output_room* room, std::uint64_t items)
      : store_(store),
        placement_(store.new_placement()),
        room_(items > 0 ? room : nullptr),
        items_(items) {}
  explicit run_places(storage& store) : run_places(store, nullptr, 0) {}
  /// Where a container keeps its blocks: they have checksums, whatever the storage says.
  run_places(storage& store, block::block_allocator& kept) : store_(store), kept_(&kept) {}

  /// What these places are in.
  block::block_space& space() const noexcept {
    if (kept_ != nullptr) return *kept_;
    if (room_ != nullptr) return room_->space();
    return store_;
  }
  bool have_checksums() const noexcept {
    return kept_ != nullptr || store_.options().checksums == block_checksums::of_runs;
  }
  /// That of a block after so many items. @throws out_of_space.
  block::block_id allocate(std::size_t length_bytes, std::uint64_t items_before);

 private:
  storage& store_;
  block::block_allocator* kept_ = nullptr;
  std::unique_ptr<block::placement> placement_ = {};  // of blocks on the disks
  output_room* room_ = nullptr;
  std::uint64_t items_ = 0;
};

}  // namespace outsize::detail
