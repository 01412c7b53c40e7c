// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How a sort divides its memory, and what it is going to do: computed before the first I/O.
//
//   forming runs:  | input stream | chunk | chunk | chunk | scratch | write buffers | index |
//   merging:       | input stream | chunks kept | held blocks | ahead | ahead | output | index |
//
// Chunks take turns: one is filled, others are sorted, one is written out. The last ones stay in
// memory if the merge of all runs can do without theirs. Pure functions. Layer: algorithm. Source:
// STXXL 2008, section 6.1 (run length, fan-in, buffers).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>

namespace outsize {

/// What the lengths of blocks are multiples of on disks that ask for no alignment: tables and items
/// inside of them stay aligned.
inline constexpr std::size_t least_block_unit_bytes = 64;

/// The least memory for a sort with blocks of the default size.
inline constexpr std::size_t min_sort_memory_bytes = 2_MiB;
/// The fewest blocks in memory with which two runs can be merged.
inline constexpr std::size_t least_merge_blocks = 8;

/// @throws budget_error naming have and need if `memory_bytes` is below the minimum.
void require_sort_memory(std::uint64_t memory_bytes);

/// Throws the budget_error that an item is too long for a sort that has `memory_bytes` of `budget`:
/// it says what would do, and whether others have some of it.
[[noreturn]] void throw_too_long_for(std::string const& asker, std::uint64_t item_bytes,
                                     std::uint64_t memory_bytes, memory_budget const& budget);

/// Options for a sort that is a part of something larger, and may use `memory_bytes`: these may be
/// less than the minimum, and then blocks are as short as they can be.
/// @param coming_bytes  About how much it will get, if known. It is taken into account where it is
///                      so much that the index of blocks matters.
sort_options with_memory(sort_options options, std::uint64_t memory_bytes,
                         std::optional<std::uint64_t> coming_bytes = {});

/// What a plan is made from.
struct sort_job {
  std::uint64_t memory_bytes = 0;                 ///< For everything, the input stream included.
  std::uint64_t input_stream_bytes = 0;           ///< Of memory_bytes, what the input stream holds.
  std::uint64_t left_bytes = 0;                   ///< Of them, what the output leaves to others.
  std::optional<std::uint64_t> input_bytes = {};  ///< Payload to be sorted, if known.
  std::size_t item_bytes = 0;                     ///< 0: records of varying length.
  std::size_t chunk_entry_bytes = 0;              ///< Beside each item in a chunk.
  std::size_t index_entry_bytes = 64;             ///< Memory for each block on disk.
  bool out_of_place = false;                      ///< Chunks are sorted into further memory.
  std::size_t block_bytes = 0;                    ///< 0: chosen.
  run_codec codec = run_codec::none;
  bool key_codec = false;  ///< Encoded blocks take half as much again when decoded.
  std::size_t threads = 1;
  std::size_t most_fan_in = 0;  ///< 0: as many runs as the memory allows.
};

/// Buffers of one merge, in blocks.
struct merge_shape {
  std::size_t fan_in;  ///< Runs merged at once; a held block for each.
  std::size_t ahead;  ///< Half the blocks being read, taken for a round or kept until it is merged.
  std::size_t output;  ///< Blocks being filled and written.
};

/// Divides `memory_bytes` among a merge's buffers of `block_bytes`; fan_in 0 if there is too little
/// for any. If `most_fan_in` is not 0 the fan-in is no more than that, and the rounds are longer
/// for it.
merge_shape shape_merge(std::uint64_t memory_bytes, std::size_t block_bytes, std::size_t threads,
                        std::size_t most_fan_in = 0);

/// Returns the least memory with which shape_merge() merges `runs` at once.
std::uint64_t memory_of_merge(std::size_t runs, std::size_t block_bytes, std::size_t threads);

/// A sort's division of memory, and its prediction if the size of the input is known. Sizes of
/// records are not known before they are read: for varying lengths the prediction assumes 64 bytes
/// each.
struct sort_plan {
  std::uint64_t memory_bytes = 0;
  std::optional<std::uint64_t> input_bytes = {};  ///< As in the job.
  std::size_t block_bytes = 0;
  std::size_t held_bytes = 0;         ///< A block in a merge: longer, if it may be an encoded one.
  run_codec codec = run_codec::none;  ///< The job's; none where blocks are too short for one.
  std::size_t chunk_bytes = 0;        ///< Of each of the chunks.
  std::size_t run_bytes = 0;          ///< Of the items of a chunk, which its run consists of.
  std::size_t chunks = 3;             ///< Memory that is filled, sorted and written out in turn.
  std::size_t sorts_at_once = 1;      ///< Chunks sorted at the same time.
  std::size_t scratch_chunks = 0;     ///< Of the size of a chunk: what chunks are sorted into.
  std::size_t write_buffers = 0;
  std::uint64_t index_bytes = 0;
  std::uint64_t merge_bytes = 0;  ///< For the buffers of a merge, while no chunk is kept.
  std::size_t threads = 1;        ///< As in the job.
  std::size_t most_fan_in = 0;    ///< As in the job.
  sort_job job = {};              ///< What it was made from.

  std::uint64_t runs = 0;             ///< On disk; 0: the input fits in memory.
  std::size_t kept_chunks = 0;        ///< The last ones, never written to disk, if there are runs.
  std::uint64_t passes = 0;           ///< Merges that each item goes through; 0 likewise.
  std::uint64_t peak_disk_bytes = 0;  ///< Temporary space at once, beyond input and output.
  /// Of it what cannot be less: none where runs may be encoded, as nobody knows how short they get.
  std::uint64_t least_disk_bytes = 0;
  /// Where runs are to lie in the file of the output: what that takes beyond the output. Then
  /// peak_disk_bytes are needed only if they turn out to be in its way. 0: they are not to.
  std::uint64_t room_bytes = 0;
  std::uint64_t read_bytes = 0;     ///< Input and blocks, as long as none is encoded.
  std::uint64_t written_bytes = 0;  ///< Blocks and output, likewise.
};

/// How much memory a sort can use, the input stream included.
struct sort_needs {
  std::uint64_t least_bytes = 0;  ///< With less there is no plan.
  std::uint64_t knee_bytes = 0;   ///< From here on one merge takes all runs.
  std::uint64_t most_bytes = 0;   ///< From here on nothing goes to disk.
};

/// Those of a job, whatever its memory_bytes; of an input whose size is not known, only the least,
/// and 2^62 otherwise. To within a 64th.
sort_needs needs_of(sort_job job);

/// @throws budget_error naming have and need if the memory is below the minimum, or too small for
/// the number of blocks that the input makes; std::invalid_argument for a fan-in of 1.
sort_plan plan_sort(sort_job const& job);

/// How many of the last of `chunks` chunks can stay in memory while the runs of the others, whose
/// blocks take `held_bytes` each, are merged with them at once, in rounds as long as without them.
std::size_t chunks_beside_merge(sort_plan const& plan, std::uint64_t chunks,
                                std::size_t held_bytes) noexcept;

/// What it takes to decode an encoded block of up to `block_bytes`, in whole units: half as much
/// again, so that blocks of keys that lose a third of their length are full.
std::size_t held_bytes_for(std::size_t block_bytes,
                           std::size_t unit_bytes = least_block_unit_bytes) noexcept;

}  // namespace outsize
