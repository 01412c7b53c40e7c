// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/blocking_io.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::io::detail {
namespace {

TEST(blocking_io, tells_what_stands_behind_a_path) {
  scratch::directory directory;
  scratch::write_file(directory.path("file"), "text");
  EXPECT_EQ(status_of(directory.path("file")).kind, file_kind::regular);
  EXPECT_EQ(status_of(directory.path("file")).size_bytes, 4U);
  EXPECT_EQ(status_of(directory.path()).kind, file_kind::directory);
  EXPECT_EQ(status_of("/dev/null").kind, file_kind::sequential);
  EXPECT_THROW(status_of(directory.path("missing")), io_error);
  EXPECT_THROW(status_of(-1, "name"), io_error);
}

TEST(blocking_io, moves_all_bytes_through_a_pipe_that_does_not_block) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  open_descriptor const source(ends[0]);
  std::vector<std::byte> const sent(300'000, std::byte{42});
  std::thread writer(
      [&, target = open_descriptor(ends[1])] { write_all(target.number(), sent, "pipe"); });
  std::vector<std::byte> found;
  std::vector<std::byte> piece(10'000);
  while (found.size() < sent.size()) {
    auto const bytes = read_some(source.number(), piece, "pipe");
    ASSERT_GT(bytes, 0U);
    found.insert(found.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(bytes));
  }
  writer.join();
  EXPECT_EQ(found, sent);
}

TEST(blocking_io, claims_the_rest_of_a_file_and_reads_it_apart) {
  scratch::directory directory;
  scratch::write_file(directory.path("file"), "0123456789");
  auto const shared = open_for_reading(directory.path("file"), "file");
  std::vector<std::byte> some(3);
  EXPECT_EQ(read_some(shared.number(), some, "file"), 3U);

  open_descriptor const fresh(reopen_for_reading(shared.number(), "file"));
  open_descriptor const copy(duplicate(shared.number(), "file"));
  EXPECT_EQ(claim_rest(shared.number(), "file"), 3U);
  EXPECT_EQ(read_some(copy.number(), some, "file"), 0U);
  EXPECT_EQ(read_some(fresh.number(), some, "file"), 3U);
}

TEST(blocking_io, names_what_fails) {
  std::vector<std::byte> some(3);
  for (auto const& action : std::vector<std::function<void()>>{
           [&] { read_some(-1, some, "name"); }, [&] { write_all(-1, some, "name"); },
           [&] { duplicate(-1, "name"); }, [&] { claim_rest(-1, "name"); },
           [&] { open_for_writing("/missing/file", "name"); }}) {
    try {
      action();
      ADD_FAILURE() << "no error";
    } catch (io_error const& error) {
      EXPECT_EQ(error.path(), "name");
    }
  }
}

TEST(blocking_io, peeks_without_moving_on) {
  scratch::directory directory;
  scratch::write_file(directory.path("file"), "0123456789");
  auto const file = open_for_reading(directory.path("file"), "file");
  std::vector<std::byte> some(4);
  EXPECT_EQ(read_some(file.number(), some, "file"), 4U);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(peek(file.number(), some, "file"), 4U);
    EXPECT_EQ(some[0], std::byte{'4'});
  }
  some.resize(20);
  EXPECT_EQ(peek(file.number(), some, "file"), 6U);
  EXPECT_THROW(peek(-1, some, "name"), io_error);
}

}  // namespace
}  // namespace outsize::io::detail
