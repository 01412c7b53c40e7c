// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Ready stages move files through networks, completely or with an error.

#include <outsize/pipeline/file_stages.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/detail/aligned_memory.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/fault_plan.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/io/request_queue.hpp>
#include <outsize/pipeline/network.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::pipeline {
namespace {

std::vector<std::byte> random_bytes(std::size_t count) {
  std::mt19937 random(count);
  std::vector<std::byte> bytes(count);
  for (auto& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

/// All bytes, whatever the file's alignment.
std::vector<std::byte> contents_of(io::file& f) {
  std::size_t const unit = f.alignment_bytes(), bytes = f.size_bytes();
  auto const memory = outsize::detail::allocate_aligned<std::byte>(round_up(bytes + 1, unit), unit);
  if (bytes > 0) f.read(0, {memory.get(), round_up(bytes, unit)})->wait();
  return {memory.get(), memory.get() + bytes};
}

/// Writes at the front of a file, and cuts or extends it to that length.
void fill(io::file& f, std::span<std::byte const> bytes) {
  std::size_t const unit = f.alignment_bytes(), rounded = round_up(bytes.size(), unit);
  auto const memory = outsize::detail::allocate_aligned<std::byte>(rounded + unit, unit);
  std::ranges::copy(bytes, memory.get());
  if (!bytes.empty()) f.write(0, {memory.get(), rounded})->wait();
  f.resize(bytes.size());
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
      EXPECT_EQ(contents_of(*out),
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
  auto const result = contents_of(*out);
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
std::string copy_with_a_fault(io::fault_point where, std::uint64_t which, bool own_thread,
                              std::size_t out_alignment = 1) {
  auto const bytes = random_bytes(40'000);
  auto const plan = std::make_shared<io::fault_plan>(), none = std::make_shared<io::fault_plan>();
  plan->script(where, which, io::fault::fail(EIO));
  io::memory_file_options const options{.own_thread = own_thread};
  auto inner = io::make_memory_file("in", UINT64_MAX, options);
  fill(*inner, bytes);
  io::faulty_file in(std::move(inner), where == io::fault_point::read ? plan : none);
  io::faulty_file out(
      io::make_memory_file("out", UINT64_MAX,
                           {.alignment_bytes = out_alignment, .own_thread = own_thread}),
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
    EXPECT_EQ(contents_of(out), bytes);
  }
  return failed;
}

TEST(file_stages, end_with_an_error_or_the_right_bytes_whatever_request_fails) {
  for (bool own_thread : {false, true}) {
    for (std::uint64_t which = 0; which < 12; ++which) {
      bool const fails = which < 10;  // so many buffers there are
      EXPECT_EQ(copy_with_a_fault(io::fault_point::write, which, own_thread), fails ? "write" : "");
      EXPECT_EQ(copy_with_a_fault(io::fault_point::read, which, own_thread), fails ? "read" : "");
      // The last 3136 bytes are written in two parts, the second when all else has ended.
      EXPECT_EQ(copy_with_a_fault(io::fault_point::write, which, own_thread, 512),
                which < 11 ? "write" : "");
    }
  }
}

// ---- any lengths, in files that ask for alignment too

constexpr std::size_t buffer_bytes = 4096;

/// Files of all kinds: in memory, and on a disk by each back-end that there is.
struct any_files : testing::Test {
  using maker = std::function<io::file_ptr()>;
  struct kind {
    std::string name;
    maker make;
  };

  scratch::directory folder;
  std::vector<std::unique_ptr<io::request_queue>> queues;
  std::vector<kind> kinds;

  any_files() {
    for (std::size_t const alignment : {1U, 512U, 4096U})
      kinds.push_back({"memory, " + std::to_string(alignment), [alignment] {
                         return io::make_memory_file(
                             "memory", UINT64_MAX,
                             {.alignment_bytes = alignment, .own_thread = alignment == 4096});
                       }});
    for (auto const backend : {io::backend::uring, io::backend::threads, io::backend::mmap}) try {
        queues.push_back(io::make_request_queue(backend));
        for (bool const direct : {true, false})
          kinds.push_back({std::string(queues.back()->name()) + (direct ? ", direct" : ""),
                           [this, direct, &queue = *queues.back()] {
                             return io::make_temporary_file(folder.path(), queue, direct);
                           }});
      } catch (std::exception const&) {  // not here
      }
  }
};

/// Drops each byte whose number is a multiple of `every`, of all together; 0: none.
stage drop_each(std::size_t every) {
  return stage("filter", [every, index = std::size_t{0}](pooled_buffer& b) mutable {
    std::size_t kept = 0;
    for (std::byte const byte : b.bytes())
      if (every == 0 || index++ % every != 0) b.memory()[kept++] = byte;
    b.resize(kept);
    return kept == 0 && every == 3 ? verdict::drop : verdict::convey;
  });
}

std::vector<std::byte> without_each(std::size_t every, std::vector<std::byte> bytes) {
  if (every == 0) return bytes;
  std::vector<std::byte> kept;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (i % every != 0) kept.push_back(bytes[i]);
  return kept;
}

TEST_F(any_files, get_what_filters_leave_and_that_length) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (kind const& each : kinds) {
    for (std::size_t const every : {0U, 1U, 2U, 3U, 1000U}) {
      for (std::size_t length : {std::size_t{0}, std::size_t{1}, buffer_bytes - 1, buffer_bytes,
                                 buffer_bytes + 1, std::size_t{random() % (20 * buffer_bytes)}}) {
        SCOPED_TRACE(testing::Message() << each.name << ", each " << every << " of " << length);
        auto const bytes = random_bytes(length), expected = without_each(every, bytes);
        auto const in = io::make_memory_file("in");
        auto const out = each.make();
        fill(*in, bytes);
        memory_budget memory(1_MiB);
        network n(memory, {.threads = 2});
        std::vector<std::byte> behind;
        n.buffers({.buffer_bytes = buffer_bytes, .count = 1 + random() % 4}) |
            read_from(*in, {0, length}) | drop_each(every) | write_to(*out) |
            stage("look", [&](pooled_buffer& b) {
              behind.insert(behind.end(), b.bytes().begin(), b.bytes().end());
            });
        n.run();
        ASSERT_EQ(out->size_bytes(), expected.size());
        ASSERT_EQ(contents_of(*out), expected);
        ASSERT_EQ(behind, expected) << "buffers behind the stage are as they were in front of it";
      }
    }
  }
}

TEST_F(any_files, keep_what_lies_before_and_behind_what_is_written) {
  for (kind const& each : kinds) {
    for (std::size_t const length : {1U, 5000U, 8192U, 13'000U, 14'000U, 32'000U}) {
      SCOPED_TRACE(testing::Message() << each.name << ", " << length);
      auto expected = random_bytes(length < 13'000 ? 40'960 : length < 14'000 ? 22'000 : 24'576);
      auto const file = each.make();
      fill(*file, expected);
      auto const bytes = random_bytes(length);
      expected.resize(std::max(expected.size(), 8192 + length));
      std::ranges::copy(bytes, expected.begin() + 8192);
      auto const in = io::make_memory_file("in");
      fill(*in, bytes);
      memory_budget memory(1_MiB);
      network n(memory, {.threads = 2});
      n.buffers({.buffer_bytes = buffer_bytes}) | read_from(*in, {0, length}) |
          write_to(*file, 8192);
      n.run();
      ASSERT_EQ(contents_of(*file), expected);
    }
  }
}

TEST_F(any_files, are_written_by_several_stages) {
  for (kind const& each : kinds) {
    for (std::size_t const second : {5000U, 8192U, 100U, 0U}) {
      SCOPED_TRACE(testing::Message() << each.name << ", " << second);
      auto const bytes = random_bytes(5000 + second);
      auto const file = each.make(), in = io::make_memory_file("in");
      fill(*in, bytes);
      memory_budget memory(1_MiB);
      network n(memory, {.threads = 2});
      n.buffers({.name = "a", .buffer_bytes = buffer_bytes}) | read_from(*in, {5000, second}) |
          write_to(*file, 8192, {.name = "behind"});
      n.buffers({.name = "b", .buffer_bytes = buffer_bytes}) | read_from(*in, {0, 5000}) |
          write_to(*file, 0, {.name = "before"});
      n.run();
      auto expected = bytes;
      if (second > 0) expected.insert(expected.begin() + 5000, 3192, std::byte{0});
      ASSERT_EQ(contents_of(*file), expected);
    }
  }
}

TEST_F(any_files, are_read_from_anywhere_in_whole_items) {
  for (kind const& each : kinds) {
    auto const bytes = random_bytes(50'000);
    auto const file = each.make();
    fill(*file, bytes);
    for (std::size_t const begin : {0U, 1U, 500U, 4096U, 5000U}) {
      for (std::size_t const item : {1U, 8U, 24U, 1000U, 3000U}) {
        std::size_t const length = (bytes.size() - begin) / item * item;
        SCOPED_TRACE(testing::Message() << each.name << ", " << begin << ", items of " << item);
        std::vector<std::byte> seen;
        memory_budget memory(1_MiB);
        network n(memory, {.threads = 2});
        n.buffers({.buffer_bytes = 2 * buffer_bytes, .count = 3}) |
            read_from(*file, {begin, length}, {.item_bytes = item}) |
            stage("look", [&](pooled_buffer& b) {
              EXPECT_EQ(b.size_bytes() % item, 0U);
              EXPECT_GT(b.size_bytes(), 0U);
              seen.insert(seen.end(), b.bytes().begin(), b.bytes().end());
            });
        n.run();
        ASSERT_EQ(seen, std::vector(bytes.begin() + static_cast<long>(begin),
                                    bytes.begin() + static_cast<long>(begin + length)));
      }
    }
  }
}

TEST_F(any_files, get_pieces_of_any_length) {
  for (kind const& each : kinds) {
    SCOPED_TRACE(each.name);
    for (std::size_t const length : {0U, 5 * 4096U, 5 * 4096 + 50U, 5 * 4096 + 200U, 6 * 4096U}) {
      auto const file = each.make();
      auto expected = random_bytes(length);
      fill(*file, expected);
      auto const pieces = random_bytes(7 * 4096);
      memory_budget memory(1_MiB);
      network n(memory, {.threads = 2});
      // 100 bytes of each buffer to places from the last to the first, the last one behind the end.
      n.buffers({.buffer_bytes = 4096, .rounds = 6}) | stage("fill", [&](pooled_buffer& b) {
        b.resize(4096);
        std::copy_n(pieces.begin() + static_cast<long>(b.round() * 4096), 4096, b.bytes().begin());
      }) | write_pieces(*file, [](pooled_buffer const& b) {
        return std::vector<file_piece>{{(5 - b.round()) * 4096, 0, 100}};
      });
      n.run();
      expected.resize(std::max<std::size_t>(length, 5 * 4096 + 100));
      for (std::size_t i = 0; i < 6; ++i)
        std::copy_n(pieces.begin() + static_cast<long>(i * 4096), 100,
                    expected.begin() + static_cast<long>((5 - i) * 4096));
      EXPECT_EQ(contents_of(*file), expected);
    }
  }
}

TEST_F(any_files, are_read_and_written_by_a_network_again) {
  for (kind const& each : kinds) {
    SCOPED_TRACE(each.name);
    auto const bytes = random_bytes(10'001);
    auto const in = io::make_memory_file("in"), out = each.make();
    fill(*in, bytes);
    memory_budget memory(1_MiB);
    network n(memory);
    n.buffers({.buffer_bytes = buffer_bytes}) | read_from(*in, {0, bytes.size()}) | write_to(*out);
    for (int run = 0; run < 2; ++run) {
      out->resize(0);
      n.run();
      ASSERT_EQ(contents_of(*out), bytes);
    }
  }
}

/// The name of the stage that refuses, and what it says.
std::pair<std::string, std::string> refusal(std::function<void(network&)> const& describe) {
  memory_budget memory(1_MiB);
  network n(memory, {.threads = 2});
  describe(n);
  try {
    n.run();
  } catch (stage_error const& e) {
    return {e.stage_name(), e.what()};
  }
  return {};
}

TEST(file_stages, refuse_what_cannot_work_and_name_the_stage) {
  using testing::HasSubstr;
  using testing::Pair;
  auto const file = io::make_memory_file("aligned", UINT64_MAX, {.alignment_bytes = 512});
  file->resize(100'000);
  pool_options const pool{.buffer_bytes = 4096, .rounds = 3};
  auto const filled = [](pooled_buffer& b) { b.resize(4096); };
  EXPECT_THAT(refusal([&](network& n) {
                n.buffers(pool) | stage("fill", filled) | write_to(*file, 100, {.name = "out"});
              }),
              Pair("out", HasSubstr("aligned: cannot write at offset 100: not a multiple of 512")));
  for (file_piece const piece : {file_piece{100, 0, 512}, file_piece{512, 100, 512},
                                 file_piece{512, 0, 5000}, file_piece{512, 8192, 512}}) {
    auto const named = [&](pooled_buffer const&) { return std::vector{piece}; };
    EXPECT_THAT(refusal([&](network& n) {
                  n.buffers(pool) | stage("fill", filled) | write_pieces(*file, named);
                }),
                Pair("write", HasSubstr("aligned: cannot write")));
    EXPECT_THAT(refusal([&](network& n) {
                  n.buffers(pool) | read_pieces(*file, named) | stage("look", filled);
                }),
                Pair("read", HasSubstr("aligned: cannot read")));
  }
  EXPECT_THAT(
      refusal([&](network& n) {
        n.buffers(pool) | read_from(*file, {0, 1000}, {.item_bytes = 24}) | stage("look", filled);
      }),
      Pair("read", HasSubstr("1000 bytes are not a whole number of items of 24 bytes")));
  EXPECT_THAT(refusal([&](network& n) {
                n.buffers(pool) | read_from(*file, {0, 10'000}, {.item_bytes = 5000}) |
                    stage("look", filled);
              }),
              Pair("read", HasSubstr("buffers of 4096 bytes hold no item of 5000 bytes")));
}

}  // namespace
}  // namespace outsize::pipeline
