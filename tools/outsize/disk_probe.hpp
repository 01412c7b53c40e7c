// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Measures what a disk can do with nothing else to do: the figures against which sorts are held.
// Layer: tools.
//
//   files    a ████████████   b ░░░░░░░░░░░░     unnamed, pre-allocated, in one directory
//   steps    1  write a
//            2  read a
//            3  read a and write b at once: what a phase of an external sort asks of the disk
//            4  write b again, over what is there
//
// Bandwidths measured one at a time do not add up, so step 3 is the one to compute floors from. Its
// writes are the first ones to their place, as those of every phase are: a file system or a virtual
// disk may take twice as long for them as for others (docs/decisions/0019).
// Nothing stays behind, however the process ends. Memory: depth blocks of each stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <outsize/base/units.hpp>
#include <outsize/io/request_queue.hpp>

namespace outsize::tool {

struct disk_probe_options {
  std::string directory = ".";
  std::uint64_t file_bytes = 1_GiB;  ///< Of each of the two files; rounded up to whole blocks.
  /// Of each request; multiples of the file system's alignment.
  std::size_t read_block_bytes = 2_MiB;
  std::size_t write_block_bytes = 2_MiB;
  std::size_t depth = 4;  ///< Requests under way in each direction.
  io::backend backend = io::backend::automatic;
  bool direct = true;  ///< Past the page cache, where the file system can.
};

/// Bytes per second of each step. `mixed` counts the bytes read while as many were written.
struct disk_speed {
  double first_write_bytes_per_second = 0;
  double read_bytes_per_second = 0;
  double write_bytes_per_second = 0;
  double mixed_bytes_per_second = 0;
  std::uint64_t file_bytes = 0;
  std::string backend;
  std::size_t alignment_bytes =
      0;  ///< 1: the file system has no direct I/O, the page cache took part.
};

/// Runs the four steps; 3 * file_bytes written and 2 * file_bytes read.
///
/// Errors:  std::invalid_argument for a size, block or depth of 0 or a block that direct I/O cannot
///          take; out_of_space if the directory cannot hold both files; io_error.
disk_speed probe_disk(disk_probe_options const& options);

}  // namespace outsize::tool
