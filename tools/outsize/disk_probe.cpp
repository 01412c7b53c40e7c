// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The probe's steps. A stream keeps `depth` requests under way on one file and waits for the
// oldest; two streams at once have a thread each, which only issues and waits.
#include <tools/outsize/disk_probe.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/io/disk_file.hpp>

namespace outsize::tool {
namespace {

/// One direction over one file, with buffers of its own, side by side as those of programs that
/// move much: in single ones, shorter than the long pages of a system, requests have so many pieces
/// that a disk takes twice as long.
class stream {
 public:
  stream(io::file& file, io::operation kind, disk_probe_options const& options, grant& memory)
      : file_(file),
        kind_(kind),
        block_bytes_(kind == io::operation::read ? options.read_block_bytes
                                                 : options.write_block_bytes),
        stride_bytes_(round_up(block_bytes_, page_bytes())),
        depth_(options.depth),
        memory_(memory.allocate(depth_ * stride_bytes_)) {
    fill(memory_.bytes());
  }

  /// Moves the first `file_bytes` of the file. Returns the seconds. Errors: io_error.
  double run(std::uint64_t file_bytes) {
    auto const begin = std::chrono::steady_clock::now();
    std::vector<io::request_ptr> under_way(depth_);
    try {
      std::size_t slot = 0;
      for (std::uint64_t offset = 0; offset < file_bytes; offset += block_bytes_) {
        if (under_way[slot]) under_way[slot]->wait();
        under_way[slot] =
            issue(offset, memory_.bytes().subspan(slot * stride_bytes_, block_bytes_));
        slot = (slot + 1) % depth_;
      }
      for (auto& request : under_way) {
        if (request) request->wait();
      }
    } catch (...) {
      // The buffers belong to the back-end until the last request has ended.
      for (auto& request : under_way) {
        if (request) request->wait_outcome();
      }
      throw;
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  io::request_ptr issue(std::uint64_t offset, std::span<std::byte> bytes) {
    return kind_ == io::operation::read ? file_.read(offset, bytes) : file_.write(offset, bytes);
  }

  /// Random, so that no disk gets away with compressing.
  static void fill(std::span<std::byte> bytes) {
    std::mt19937_64 random(bytes.size());
    for (std::size_t i = 0; i + sizeof(std::uint64_t) <= bytes.size(); i += sizeof(std::uint64_t)) {
      std::uint64_t const word = random();
      std::memcpy(bytes.data() + i, &word, sizeof word);
    }
  }

  io::file& file_;
  io::operation kind_;
  std::size_t block_bytes_, stride_bytes_, depth_;
  buffer memory_;
};

/// Runs both to their end. Returns the seconds until the later one ended.
double run_at_once(stream& reader, stream& writer, std::uint64_t file_bytes) {
  std::exception_ptr failure;
  auto const begin = std::chrono::steady_clock::now();
  {
    std::jthread const other([&] {
      try {
        writer.run(file_bytes);
      } catch (...) {
        failure = std::current_exception();
      }
    });
    reader.run(file_bytes);
  }
  if (failure) std::rethrow_exception(failure);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void check_options(disk_probe_options const& options) {
  if (options.file_bytes == 0 || options.read_block_bytes == 0 || options.write_block_bytes == 0 ||
      options.depth == 0) {
    throw std::invalid_argument("the probe's size, block and depth must not be 0");
  }
}

void check_space(std::string const& directory, std::uint64_t needed_bytes) {
  auto const free_bytes = io::free_space_bytes(directory);
  if (free_bytes < needed_bytes) throw out_of_space(directory, free_bytes, needed_bytes);
}

void check_alignment(std::size_t block_bytes, std::size_t alignment_bytes) {
  if (block_bytes % alignment_bytes == 0) return;
  throw std::invalid_argument(
      fmt::format("a block of {} bytes is no multiple of {}, as direct I/O asks", block_bytes,
                  alignment_bytes));
}

}  // namespace

disk_speed probe_disk(disk_probe_options const& options) {
  check_options(options);
  auto const file_bytes = round_up<std::uint64_t>(
      options.file_bytes, std::lcm(options.read_block_bytes, options.write_block_bytes));
  check_space(options.directory, 2 * file_bytes);

  auto const queue = io::make_request_queue(options.backend, 2 * options.depth);
  auto const a = io::make_temporary_file(options.directory, *queue, options.direct);
  auto const b = io::make_temporary_file(options.directory, *queue, options.direct);
  check_alignment(options.read_block_bytes, a->alignment_bytes());
  check_alignment(options.write_block_bytes, a->alignment_bytes());
  a->allocate(0, file_bytes);
  b->allocate(0, file_bytes);

  memory_budget budget(options.depth *
                       (round_up<std::uint64_t>(options.read_block_bytes, page_bytes()) +
                        2 * round_up<std::uint64_t>(options.write_block_bytes, page_bytes())));
  grant memory = budget.take(budget.total_bytes(), "disk probe");
  stream writer(*b, io::operation::write, options, memory);

  // Blocks that were allocated but never written read as zeros without the disk, so `a` is written
  // first; `b` is not, as nothing that a sort writes to has been written before.
  double const seconds_first_write =
      stream(*a, io::operation::write, options, memory).run(file_bytes);
  stream reader(*a, io::operation::read, options, memory);
  double const seconds_read = reader.run(file_bytes);
  double const seconds_mixed = run_at_once(reader, writer, file_bytes);
  double const seconds_write = writer.run(file_bytes);

  auto const per_second = [&](double seconds) {
    return static_cast<double>(file_bytes) / std::max(seconds, 1e-9);
  };
  return {.first_write_bytes_per_second = per_second(seconds_first_write),
          .read_bytes_per_second = per_second(seconds_read),
          .write_bytes_per_second = per_second(seconds_write),
          .mixed_bytes_per_second = per_second(seconds_mixed),
          .file_bytes = file_bytes,
          .backend = std::string(queue->name()),
          .alignment_bytes = a->alignment_bytes()};
}

}  // namespace outsize::tool
