// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/sequential_output.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>

#include <outsize/base/error.hpp>
#include <outsize/io/posix/blocking_io.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::io::detail {
namespace {

TEST(sequential_output, has_written_when_write_returns) {
  scratch::directory directory;
  auto const path = directory.path("file");
  scratch::write_file(path, "old and longer");
  statistics counter;
  sequential_output stream(open_for_writing(path, path), path, {.counter = &counter});
  std::string text = "new";
  stream.write(std::as_writable_bytes(std::span(text)));
  EXPECT_EQ(scratch::read_file(path), "new and longer") << "it is not emptied";
  stream.wait(std::as_bytes(std::span(text)));
  stream.write({});
  stream.commit();
  EXPECT_EQ(scratch::read_file(path), "new and longer");
  EXPECT_EQ(stream.written_bytes(), 3U);
  EXPECT_EQ(counter.snapshot().write_bytes, 3U);
}

TEST(sequential_output, reports_a_reader_that_goes_in_the_middle) {
  auto* const saved = std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  sequential_output stream(open_descriptor(ends[1]), "pipe", {});
  std::thread reader([&, source = open_descriptor(ends[0])] {
    std::byte one;
    EXPECT_EQ(read_some(source.number(), std::span(&one, 1), "pipe"), 1U);
  });
  std::string text(1'000'000, 'x');
  try {
    stream.write(std::as_writable_bytes(std::span(text)));
    ADD_FAILURE() << "no error";
  } catch (io_error const& error) {
    EXPECT_EQ(error.code().value(), EPIPE);
    EXPECT_EQ(error.path(), "pipe");
  }
  reader.join();
  std::signal(SIGPIPE, saved);
}

TEST(sequential_output, reports_what_is_known_only_when_it_is_closed) {
  scratch::directory directory;
  auto const path = directory.path("file");
  scratch::write_file(path, "");
  auto target = open_for_writing(path, path);
  int const number = target.number();
  sequential_output stream(std::move(target), path, {});
  ASSERT_EQ(::close(number), 0);  // so that closing it fails
  try {
    stream.commit();
    ADD_FAILURE() << "no error";
  } catch (io_error const& error) {
    EXPECT_EQ(error.code().value(), EBADF);
    EXPECT_EQ(error.path(), path);
  }
}

}  // namespace
}  // namespace outsize::io::detail
