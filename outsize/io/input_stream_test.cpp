// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/input_stream.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::io {
namespace {

std::string text_of(std::size_t bytes) {
  std::string made;
  for (std::size_t i = 0; made.size() < bytes; ++i) made += std::to_string(i * 7919) + '\n';
  made.resize(bytes);
  return made;
}

std::string all_of(input_stream& stream) {
  std::string found;
  for (auto view = stream.next(); !view.empty(); view = stream.next()) {
    found.append(reinterpret_cast<char const*>(view.data()), view.size());
  }
  return found;
}

// Puts another file in the place of standard input for as long as it lives.
class replaced_standard_input {
 public:
  explicit replaced_standard_input(int number) : saved_(::dup(0)) {
    ::dup2(number, 0);
    ::close(number);
  }
  ~replaced_standard_input() {
    ::dup2(saved_, 0);
    ::close(saved_);
  }

 private:
  int saved_;
};

class input_stream_test : public testing::TestWithParam<backend> {
 protected:
  void SetUp() override {
    try {
      queue_ = make_request_queue(GetParam(), 8);
    } catch (std::exception const& refused) {
      GTEST_SKIP() << refused.what();
    }
  }

  std::unique_ptr<input_stream> open(std::string const& path) {
    return open_input(path, *queue_, memory_,
                      {.block_bytes = 8_KiB, .depth = 3, .counter = &counter_});
  }

  scratch::directory directory_;
  memory_budget budget_{1_MiB};
  grant memory_ = budget_.take(512_KiB, "test");
  statistics counter_;
  std::unique_ptr<request_queue> queue_;
};

TEST_P(input_stream_test, reads_regular_files_of_any_length) {
  for (std::size_t size : {0UL, 1UL, 4095UL, 4096UL, 8191UL, 8192UL, 8193UL, 100'001UL}) {
    auto const content = text_of(size);
    auto const path = directory_.path(std::to_string(size));
    scratch::write_file(path, content);
    auto const before = counter_.snapshot();

    auto const stream = open(path);
    EXPECT_EQ(stream->remaining_bytes(), size);
    EXPECT_EQ(stream->name(), path);
    EXPECT_EQ(all_of(*stream), content);
    EXPECT_EQ((counter_.snapshot() - before).read_bytes, size);

    auto const again = open(path);
    auto target = memory_.allocate(200'000);
    ASSERT_EQ(again->read(target.bytes()), size);
    EXPECT_EQ(std::memcmp(target.data(), content.data(), size), 0);
  }
}

TEST_P(input_stream_test, reads_a_pipe_to_its_end) {
  auto const path = directory_.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  auto const content = text_of(300'000);
  std::thread writer([&] { scratch::write_file(path, content); });
  auto const stream = open(path);
  EXPECT_EQ(stream->remaining_bytes(), std::nullopt);
  std::string found(100'000, ' ');
  EXPECT_EQ(stream->read(std::as_writable_bytes(std::span(found))), found.size());
  found += all_of(*stream);
  writer.join();
  EXPECT_EQ(found, content);
  EXPECT_EQ(stream->remaining_bytes(), 0U);
  EXPECT_EQ(counter_.snapshot().read_bytes, content.size());
  EXPECT_GT(counter_.snapshot().wait_ns, 0U);
}

TEST_P(input_stream_test, waits_for_a_pipe_that_is_set_to_non_blocking) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  replaced_standard_input in(ends[0]);
  std::thread writer([&] {
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      EXPECT_EQ(::write(ends[1], "abc", 3), 3);
    }
    ::close(ends[1]);
  });
  EXPECT_EQ(all_of(*open("-")), "abcabcabc");
  writer.join();
}

TEST_P(input_stream_test, goes_on_where_standard_input_stands) {
  auto const content = text_of(50'000);
  scratch::write_file(directory_.path("file"), content);
  int const number = ::open(directory_.path("file").c_str(), O_RDONLY);
  ASSERT_EQ(::lseek(number, 777, SEEK_SET), 777);
  replaced_standard_input in(number);
  auto const stream = open("-");
  EXPECT_EQ(stream->remaining_bytes(), content.size() - 777);
  EXPECT_EQ(stream->name(), "-");
  EXPECT_EQ(all_of(*stream), content.substr(777));
  EXPECT_EQ(all_of(*open("-")), "");  // it stands at the end now, as for any reader after us
}

TEST_P(input_stream_test, reads_files_that_pretend_to_be_empty) {
  auto const stream = open("/proc/self/status");
  EXPECT_NE(all_of(*stream).find("Umask:"), std::string::npos);
  EXPECT_EQ(open("/dev/null")->next().size(), 0U);
}

TEST_P(input_stream_test, reads_files_that_pretend_to_be_longer) {
  auto const path = "/sys/kernel/mm/transparent_hugepage/enabled";  // says it has a page
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "it is not there";
  EXPECT_NE(all_of(*open(path)).find("never"), std::string::npos);
}

TEST_P(input_stream_test, names_what_cannot_be_opened) {
  auto code_for = [&](std::string const& path) {
    try {
      open(path);
    } catch (io_error const& error) {
      EXPECT_EQ(error.path(), path);
      return error.code().value();
    }
    return 0;
  };
  EXPECT_EQ(code_for(directory_.path()), EISDIR);
  EXPECT_EQ(code_for(directory_.path("missing")), ENOENT);
  EXPECT_EQ(code_for(directory_.path("missing/file")), ENOENT);
  EXPECT_EQ(code_for(""), ENOENT);
}

INSTANTIATE_TEST_SUITE_P(backends, input_stream_test,
                         testing::Values(backend::uring, backend::threads), [](auto const& tested) {
                           return tested.param == backend::uring ? "uring" : "threads";
                         });

}  // namespace
}  // namespace outsize::io
