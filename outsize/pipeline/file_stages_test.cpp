// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Ready stages move files through networks, completely or with an error.

#include <outsize/pipeline/file_stages.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/io/decorators/fault_plan.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/pipeline/network.hpp>

namespace outsize::pipeline {
namespace {

std::vector<std::byte> random_bytes(std::size_t count) {
  std::mt19937 random(count);
  std::vector<std::byte> bytes(count);
  for (auto& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

std::vector<std::byte> contents(io::file& f) {
  std::vector<std::byte> bytes(f.size_bytes());
  if (!bytes.empty()) f.read(0, bytes)->wait();
  return bytes;
}

void fill(io::file& f, std::span<std::byte const> bytes) {
  if (!bytes.empty()) f.write(0, bytes)->wait();
}

TEST(file_stages, copy_a_range_whatever_its_length) {
  for (std::size_t length : {0, 1, 4095, 4096, 4097, 50'000}) {
    for (std::size_t buffers : {1, 2, 7}) {
      auto const bytes = random_bytes(length + 100);
      auto const in = io::make_memory_file("in"), out = io::make_memory_file("out");
      fill(*in, bytes);
      memory_budget memory(1_MiB);
      network n(memory, {.threads = 2});
      n.buffers({.buffer_bytes = 4096, .count = buffers}) | read_from(*in, {50, length}) |
          stage("look", [](pooled_buffer& b) { EXPECT_GT(b.size_bytes(), 0U); }) | write_to(*out);
      n.run();
      EXPECT_EQ(contents(*out),
                std::vector(bytes.begin() + 50, bytes.begin() + 50 + static_cast<long>(length)));
    }
  }
}

TEST(file_stages, gather_and_scatter_pieces) {
  // A transposition of 16 x 16 pieces of 256 bytes, a row of pieces in each buffer.
  constexpr std::size_t piece = 256, rows = 16;
  auto const bytes = random_bytes(piece * rows * rows);
  auto const in = io::make_memory_file("in"), out = io::make_memory_file("out");
  fill(*in, bytes);
  memory_budget memory(1_MiB);
  network n(memory, {.threads = 2});
  n.buffers({.buffer_bytes = piece * rows, .count = 3}) |
      read_pieces(*in,
                  [&](pooled_buffer const& b) {
                    std::vector<file_piece> pieces;
                    for (std::size_t i = 0; i < rows && b.round() < rows; ++i)
                      pieces.push_back({(i * rows + b.round()) * piece, i * piece, piece});
                    return pieces;
                  }) |
      write_pieces(*out, [&](pooled_buffer const& b) {
        return std::vector<file_piece>{{b.round() * rows * piece, 0, b.size_bytes()}};
      });
  n.run();
  auto const result = contents(*out);
  ASSERT_EQ(result.size(), bytes.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < rows; ++c)
      EXPECT_TRUE(std::equal(result.begin() + static_cast<long>((r * rows + c) * piece),
                             result.begin() + static_cast<long>((r * rows + c + 1) * piece),
                             bytes.begin() + static_cast<long>((c * rows + r) * piece)));
}

TEST(file_stages, report_a_file_that_ends_too_early) {
  auto const in = io::make_memory_file("in");
  fill(*in, random_bytes(10'000));
  memory_budget memory(1_MiB);
  network n(memory);
  n.buffers({.buffer_bytes = 4096}) | read_from(*in, {0, 20'000}) |
      stage("drop", [](pooled_buffer&) {});
  try {
    n.run();
    ADD_FAILURE() << "the end went unnoticed";
  } catch (stage_error const& e) {
    EXPECT_EQ(e.stage_name(), "read");
    EXPECT_THROW(e.rethrow_nested(), io_error);
  }
}

/// Copies 40 000 bytes by buffers of 4096; the `which`-th request at `where` fails.
/// Returns the name of the stage that failed, if one did.
std::string copy_with_a_fault(io::fault_point where, std::uint64_t which, bool own_thread) {
  auto const bytes = random_bytes(40'000);
  auto const plan = std::make_shared<io::fault_plan>(), none = std::make_shared<io::fault_plan>();
  plan->script(where, which, io::fault::fail(EIO));
  io::memory_file_options const options{.own_thread = own_thread};
  auto inner = io::make_memory_file("in", UINT64_MAX, options);
  fill(*inner, bytes);
  io::faulty_file in(std::move(inner), where == io::fault_point::read ? plan : none);
  io::faulty_file out(io::make_memory_file("out", UINT64_MAX, options),
                      where == io::fault_point::write ? plan : none);
  memory_budget memory(1_MiB);
  network n(memory, {.threads = 2});
  n.buffers({.buffer_bytes = 4096, .count = 3}) | read_from(in, {0, 40'000}) | write_to(out);
  std::string failed;
  try {
    n.run();
  } catch (stage_error const& e) {
    failed = e.stage_name();
    EXPECT_THROW(e.rethrow_nested(), io_error);
  }
  EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
  if (failed.empty()) {
    EXPECT_EQ(contents(out), bytes);
  }
  return failed;
}

TEST(file_stages, end_with_an_error_or_the_right_bytes_whatever_request_fails) {
  for (bool own_thread : {false, true}) {
    for (std::uint64_t which = 0; which < 12; ++which) {
      bool const fails = which < 10;  // so many buffers there are
      EXPECT_EQ(copy_with_a_fault(io::fault_point::write, which, own_thread), fails ? "write" : "");
      EXPECT_EQ(copy_with_a_fault(io::fault_point::read, which, own_thread), fails ? "read" : "");
    }
  }
}

}  // namespace
}  // namespace outsize::pipeline
