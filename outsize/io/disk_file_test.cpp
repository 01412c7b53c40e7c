// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/disk_file.hpp>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/loop_device.hpp>

namespace outsize::io {
namespace {

namespace fs = std::filesystem;

/// An empty directory of its own, removed at the end.
struct disk_file : testing::Test {
  disk_file() {
    std::string pattern = testing::TempDir() + "/outsize-disk-file-XXXXXX";
    directory = ::mkdtemp(pattern.data());
  }
  ~disk_file() override { fs::remove_all(directory); }

  std::string path(char const* name) const { return (directory / name).string(); }

  fs::path directory;
  std::unique_ptr<request_queue> queue = make_request_queue(backend::automatic, 4);
  open_options const fresh{.mode = access::read_write, .create = true, .truncate = true};
};

/// Runs `work`, which must throw an io_error that has this errno and names this path.
void expect_error(int error_number, std::string const& path, std::function<void()> const& work) {
  try {
    work();
    ADD_FAILURE() << "did not throw";
  } catch (io_error const& error) {
    EXPECT_EQ(error.code().value(), error_number);
    EXPECT_EQ(error.path(), path);
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
  }
}

TEST_F(disk_file, creates_reads_back_and_truncates) {
  memory_budget budget(1_MiB);
  grant memory = budget.take(1_MiB, "test");
  buffer const page = memory.allocate(page_bytes());
  std::fill(page.bytes().begin(), page.bytes().end(), std::byte{42});
  {
    auto const made = open_file(path("data"), *queue, fresh);
    EXPECT_EQ(made->name(), path("data"));
    EXPECT_EQ(page_bytes() % made->alignment_bytes(), 0U);
    made->write(0, page.bytes())->wait();
    made->resize(100);
  }
  struct stat about {};
  ASSERT_EQ(::stat(path("data").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  auto const again = open_file(path("data"), *queue);
  EXPECT_EQ(again->size_bytes(), 100U);
  buffer const into = memory.allocate(page_bytes());
  EXPECT_EQ(again->read(0, into.bytes())->wait(), 100U);
  EXPECT_EQ(into.bytes()[99], std::byte{42});
  EXPECT_EQ(open_file(path("data"), *queue, fresh)->size_bytes(), 0U);
}

TEST_F(disk_file, is_made_only_if_it_is_new_where_that_is_asked) {
  auto must_be_new = fresh;
  must_be_new.must_be_new = true;
  open_file(path("new"), *queue, must_be_new);
  EXPECT_TRUE(fs::exists(path("new")));
  expect_error(EEXIST, path("new"), [&] { open_file(path("new"), *queue, must_be_new); });
  dev_t const nothing = ::makedev(240, 0);  // for experiments
  if (::mknod(path("device").c_str(), S_IFBLK | 0600, nothing) != 0) GTEST_SKIP() << "no rights";
  expect_error(EEXIST, path("device"), [&] { open_file(path("device"), *queue, must_be_new); });
}

TEST_F(disk_file, refuses_what_it_cannot_open_and_names_it) {
  expect_error(ENOENT, path("missing"), [&] { open_file(path("missing"), *queue); });
  expect_error(EISDIR, directory.string(), [&] { open_file(directory.string(), *queue); });
  expect_error(EISDIR, directory.string(),
               [&] { open_file(directory.string(), *queue, {.mode = access::read_write}); });
  expect_error(ENOTDIR, "/dev/null/x", [&] { open_file("/dev/null/x", *queue); });
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  expect_error(ESPIPE, path("pipe"),
               [&] { open_file(path("pipe"), *queue, {.mode = access::read_write}); });
}

TEST_F(disk_file, writing_to_a_file_opened_for_reading_fails_at_the_wait) {
  open_file(path("data"), *queue, fresh);
  auto const target = open_file(path("data"), *queue, {.direct = false});
  std::array<std::byte, 8> bytes{};
  auto const r = target->write(0, bytes);
  expect_error(EBADF, path("data"), [&] { r->wait(); });
  expect_error(EINVAL, path("data"), [&] { target->resize(10); });
}

TEST_F(disk_file, reads_what_is_waited_for_at_once) {
  memory_budget budget(1_MiB);
  grant memory = budget.take(1_MiB, "test");
  buffer const page = memory.allocate(page_bytes());
  for (auto const kind : {backend::automatic, backend::threads}) {
    auto const some = make_request_queue(kind, 1);
    auto const file = open_file(path("items"), *some, fresh);
    statistics counter;
    file->count_into(&counter);
    std::fill(page.bytes().begin(), page.bytes().end(), std::byte{42});
    file->write(0, page.bytes())->wait();
    std::fill(page.bytes().begin(), page.bytes().end(), std::byte{0});
    auto const before = counter.snapshot();
    auto const reading = file->read_now(0, page.bytes());
    EXPECT_TRUE(reading->poll());
    EXPECT_EQ(reading->wait(), page_bytes());
    EXPECT_EQ(page.bytes().back(), std::byte{42});
    auto const moved = counter.snapshot() - before;
    EXPECT_EQ(moved.read_count, 1U);
    EXPECT_GT(moved.wait_ns, 0U);
  }
}

TEST_F(disk_file, temporary_files_have_no_name) {
  auto const target = make_temporary_file(directory.string(), *queue, false);
  std::array<std::byte, 8> bytes{};
  target->write(0, bytes)->wait();
  EXPECT_EQ(target->size_bytes(), 8U);
  EXPECT_TRUE(fs::is_empty(directory));
  expect_error(ENOENT, path("missing"), [&] { make_temporary_file(path("missing"), *queue); });
}

TEST_F(disk_file, adopts_an_open_descriptor_and_closes_it) {
  int const number = ::open(path("data").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(number, 0);
  {
    auto const target = adopt_file(number, "output", *queue, false);
    EXPECT_EQ(target->name(), "output");
    EXPECT_EQ(target->alignment_bytes(), 1U);
    target->allocate(0, 10'000);
    EXPECT_GE(target->size_bytes(), 10'000U);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST_F(disk_file, allocating_more_than_any_disk_has_fails_and_names_the_file) {
  auto const target = make_temporary_file(directory.string(), *queue);
  try {
    target->allocate(0, std::uint64_t{1} << 60);
  } catch (io_error const& error) {
    EXPECT_TRUE(error.code().value() == ENOSPC || error.code().value() == EFBIG) << error.what();
    EXPECT_EQ(error.path(), target->name());
    return;
  }
  EXPECT_EQ(target->size_bytes(), 0U) << "only where the file system has no such call";
}

open_options const for_writing{.mode = access::read_write};

TEST_F(disk_file, a_device_has_its_size_and_the_alignment_of_its_sectors) {
  for (std::uint32_t sector_bytes : {512U, 4096U}) {
    scratch::loop_device const device(1_MiB, sector_bytes);
    if (!device.refusal().empty()) GTEST_SKIP() << device.refusal();
    auto const target = open_file(device.path(), *queue, for_writing);
    EXPECT_EQ(target->size_bytes(), 1_MiB);
    EXPECT_EQ(target->alignment_bytes(), sector_bytes);
    EXPECT_EQ(target->name(), device.path());
  }
}

TEST_F(disk_file, a_device_keeps_its_content_and_its_length) {
  scratch::loop_device const device(1_MiB);
  if (!device.refusal().empty()) GTEST_SKIP() << device.refusal();
  memory_budget budget(1_MiB);
  grant memory = budget.take(1_MiB, "test");
  buffer const page = memory.allocate(4096);
  std::ranges::fill(page.bytes(), std::byte{42});
  open_file(device.path(), *queue, for_writing)->write(8192, page.bytes())->wait();

  auto const again = open_file(device.path(), *queue, fresh);
  EXPECT_EQ(again->size_bytes(), 1_MiB) << "create and truncate are for files";
  std::ranges::fill(page.bytes(), std::byte{0});
  EXPECT_EQ(again->read(8192, page.bytes())->wait(), 4096U);
  EXPECT_EQ(page.bytes()[4095], std::byte{42});
  expect_error(EINVAL, device.path(), [&] { again->resize(8192); });
  EXPECT_EQ(again->size_bytes(), 1_MiB);
}

TEST_F(disk_file, a_device_is_full_at_its_end) {
  scratch::loop_device const device(1_MiB);
  if (!device.refusal().empty()) GTEST_SKIP() << device.refusal();
  memory_budget budget(1_MiB);
  grant memory = budget.take(1_MiB, "test");
  buffer const page = memory.allocate(4096);
  auto const target = open_file(device.path(), *queue, for_writing);
  target->allocate(4096, 1_MiB - 4096);
  expect_error(ENOSPC, device.path(), [&] { target->allocate(4096, 1_MiB); });
  expect_error(ENOSPC, device.path(), [&] { target->allocate(2_MiB, 1); });
  auto const how = target->write(1_MiB - 1024, page.bytes())->wait_outcome();
  EXPECT_EQ(how.error_number, ENOSPC);
  EXPECT_EQ(how.bytes, 1024U) << "what fits";
  EXPECT_EQ(target->read(1_MiB - 1024, page.bytes())->wait(), 1024U);
  EXPECT_EQ(target->read(1_MiB, page.bytes())->wait(), 0U);
}

TEST_F(disk_file, that_is_locked_is_written_by_one_or_read_by_many) {
  open_options writing = fresh, reading;
  writing.truncate = false;
  writing.lock = reading.lock = true;
  auto const refused = [&](open_options const& how) {
    expect_error(EBUSY, path("data"), [&] { open_file(path("data"), *queue, how); });
  };
  {
    auto const writer = open_file(path("data"), *queue, writing);
    writer->resize(7);
    refused(writing);
    refused(reading);
    open_options truncating = writing;
    truncating.truncate = true;
    refused(truncating);
    EXPECT_EQ(writer->size_bytes(), 7U) << "who is refused changes nothing";
    EXPECT_NO_THROW(open_file(path("data"), *queue)) << "who does not lock is not asked";
  }
  {
    auto const reader = open_file(path("data"), *queue, reading);
    auto const another = open_file(path("data"), *queue, reading);
    refused(writing);
  }
  writing.truncate = true;
  EXPECT_EQ(open_file(path("data"), *queue, writing)->size_bytes(), 0U);
}

TEST_F(disk_file, that_is_locked_is_waited_for_as_its_last_io_may_be_under_way) {
  open_options writing = fresh;
  writing.lock = true;
  auto first = open_file(path("data"), *queue, writing);
  std::jthread const ends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    first.reset();
  });
  EXPECT_NO_THROW(open_file(path("data"), *queue, writing));
}

TEST_F(disk_file, has_a_name_that_can_be_made_durable) {
  open_file(path("data"), *queue, fresh);
  EXPECT_NO_THROW(sync_name(path("data")));
  auto const before = fs::current_path();
  fs::current_path(directory);
  EXPECT_NO_THROW(sync_name("data")) << "in the working directory";
  fs::current_path(before);
  expect_error(ENOENT, path("none/data"), [&] { sync_name(path("none/data")); });
}

TEST_F(disk_file, a_device_is_written_by_one_only) {
  scratch::loop_device const device(1_MiB);
  if (!device.refusal().empty()) GTEST_SKIP() << device.refusal();
  auto const target = open_file(device.path(), *queue, for_writing);
  expect_error(EBUSY, device.path(), [&] { open_file(device.path(), *queue, for_writing); });
  EXPECT_EQ(open_file(device.path(), *queue)->size_bytes(), 1_MiB) << "reading is open to all";
}

TEST_F(disk_file, a_device_that_is_too_small_is_refused) {
  scratch::loop_device const device(1_MiB);
  if (!device.refusal().empty()) GTEST_SKIP() << device.refusal();
  open_options how = for_writing;
  how.least_device_bytes = 1_MiB;
  EXPECT_EQ(open_file(device.path(), *queue, how)->size_bytes(), 1_MiB);
  how.least_device_bytes = 1_MiB + 1;
  EXPECT_THROW(open_file(device.path(), *queue, how), out_of_space);
  how.mode = access::read_only;
  EXPECT_THROW(open_file(device.path(), *queue, how), out_of_space);
}

TEST_F(disk_file, tells_the_free_space) {
  EXPECT_GT(free_space_bytes(directory.string()), 0U);
  expect_error(ENOENT, path("missing"), [&] { free_space_bytes(path("missing")); });
}

}  // namespace
}  // namespace outsize::io
