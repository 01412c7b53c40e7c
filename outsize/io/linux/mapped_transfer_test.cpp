// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/linux/mapped_transfer.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/posix/open_descriptor.hpp>

namespace outsize::io {
namespace {

using detail::open_descriptor;

struct mapped_transfer : testing::Test {
  void SetUp() override {
    try {
      check_mapping();
    } catch (io_error const& error) {
      GTEST_SKIP() << error.what();
    }
    queue = make_request_queue(backend::mmap, 4);
  }

  std::unique_ptr<request_queue> queue;
};

std::vector<std::byte> numbered(std::size_t bytes) {
  std::vector<std::byte> content(bytes);
  for (std::size_t i = 0; i < bytes; ++i) content[i] = static_cast<std::byte>(i * 7 + i / 4096);
  return content;
}

TEST_F(mapped_transfer, moves_through_many_windows_at_any_offset) {
  auto const target = make_temporary_file(testing::TempDir(), *queue);
  EXPECT_EQ(target->alignment_bytes(), 1U) << "never past the page cache";
  auto const content = numbered(3_MiB + 777);
  EXPECT_EQ(target->write(4095, content)->wait(), content.size());
  EXPECT_EQ(target->size_bytes(), 4095 + content.size());
  std::vector<std::byte> into(content.size() + 10'000, std::byte{1});
  EXPECT_EQ(target->read(4090, into)->wait(), content.size() + 5);
  EXPECT_TRUE(
      std::all_of(into.begin(), into.begin() + 5, [](auto b) { return b == std::byte{0}; }));
  EXPECT_TRUE(std::equal(content.begin(), content.end(), into.begin() + 5));
}

TEST_F(mapped_transfer, does_in_one_attempt_what_lies_in_the_file) {
  open_descriptor const file(::memfd_create("numbers", MFD_CLOEXEC));
  ASSERT_GE(file.number(), 0);
  auto content = numbered(5000);
  EXPECT_EQ(transfer_by_mapping(file.number(), {operation::write, 100, content.data(), 5000, {}}),
            5000);
  std::vector<std::byte> into(9000);
  EXPECT_EQ(transfer_by_mapping(file.number(), {operation::read, 1100, into.data(), 9000, {}}),
            4000);
  EXPECT_TRUE(std::equal(content.begin() + 1000, content.end(), into.begin()));
  EXPECT_EQ(transfer_by_mapping(file.number(), {operation::read, 5100, into.data(), 9000, {}}), 0);
}

TEST_F(mapped_transfer, loses_nothing_where_threads_extend_one_page) {
  std::array<std::byte, 2> bytes{};
  bytes.fill(std::byte{1});
  for (int round = 0; round < 200; ++round) {
    auto const target = make_temporary_file(testing::TempDir(), *queue);
    std::vector<request_ptr> requests;
    for (std::uint64_t i = 0; i < 32; ++i) requests.push_back(target->write((31 - i) * 2, bytes));
    wait_all(requests);
    std::array<std::byte, 64> into{};
    ASSERT_EQ(target->read(0, into)->wait(), 64U);
    ASSERT_EQ(std::ranges::count(into, std::byte{1}), 64) << "round " << round;
  }
}

TEST_F(mapped_transfer, leaves_what_cannot_be_mapped_to_system_calls) {
  std::array<std::byte, 16> bytes{};
  bytes.fill(std::byte{1});
  auto const zeros = open_file("/dev/zero", *queue);
  EXPECT_EQ(zeros->read(0, bytes)->wait(), 16U);
  EXPECT_EQ(bytes.back(), std::byte{0});
  auto const full = open_file("/dev/full", *queue, {.mode = access::read_write});
  EXPECT_EQ(full->write(0, bytes)->wait_outcome().error_number, ENOSPC);
}

TEST_F(mapped_transfer, a_file_that_may_not_be_written_is_an_error) {
  int const number = ::memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_GE(number, 0);
  auto const target = adopt_file(number, "sealed", *queue, false);
  std::array<std::byte, 16> bytes{};
  target->write(0, bytes)->wait();
  ASSERT_EQ(::fcntl(number, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW), 0);
  EXPECT_EQ(target->write(0, bytes)->wait_outcome().error_number, EPERM);
  EXPECT_EQ(target->write(16, bytes)->wait_outcome().error_number, EPERM);
  EXPECT_EQ(target->read(0, bytes)->wait(), 16U);
}

TEST_F(mapped_transfer, survives_a_file_that_is_cut_short_meanwhile) {
  open_descriptor const file(::memfd_create("cut", MFD_CLOEXEC));
  ASSERT_GE(file.number(), 0);
  std::atomic<bool> done = false;
  std::thread cutter([&] {
    while (!done) {
      EXPECT_EQ(::ftruncate(file.number(), 1_MiB), 0);
      EXPECT_EQ(::ftruncate(file.number(), 5000), 0);
    }
  });
  std::vector<std::byte> memory(1_MiB);
  for (int round = 0; round < 500; ++round) {
    auto const kind = round % 2 == 0 ? operation::read : operation::write;
    EXPECT_GE(transfer_by_mapping(file.number(), {kind, 0, memory.data(), memory.size(), {}}), 0);
  }
  done = true;
  cutter.join();
}

/// A file system of 64 KiB in memory, mounted nowhere; number() < 0 where the system forbids it.
open_descriptor make_small_file_system() {
  open_descriptor const context(::fsopen("tmpfs", FSOPEN_CLOEXEC));
  if (context.number() < 0) return open_descriptor(-1);
  ::fsconfig(context.number(), FSCONFIG_SET_STRING, "size", "64k", 0);
  ::fsconfig(context.number(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0);
  return open_descriptor(::fsmount(context.number(), FSMOUNT_CLOEXEC, 0));
}

TEST_F(mapped_transfer, a_full_disk_is_an_error_and_no_signal) {
  auto const disk = make_small_file_system();
  if (disk.number() < 0) GTEST_SKIP() << "may not make a file system";
  auto const directory = "/proc/self/fd/" + std::to_string(disk.number());
  auto const content = numbered(100'000);
  {
    auto const growing = make_temporary_file(directory, *queue);
    auto const how = growing->write(0, content)->wait_outcome();
    EXPECT_EQ(how.error_number, ENOSPC);
    EXPECT_EQ(how.bytes, 65'536U) << "what fits";
  }
  auto const sparse = make_temporary_file(directory, *queue);
  sparse->resize(100'000);
  auto const how = sparse->write(0, content)->wait_outcome();
  EXPECT_EQ(how.error_number, ENOSPC);
  EXPECT_EQ(how.bytes, 65'536U);
}

}  // namespace
}  // namespace outsize::io
