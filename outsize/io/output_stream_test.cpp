// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/output_stream.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/input_stream.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::io {
namespace {

using names = std::vector<std::string>;

std::string text_of(std::size_t bytes) {
  std::string made;
  for (std::size_t i = 0; made.size() < bytes; ++i) made += std::to_string(i * 6007) + '\n';
  made.resize(bytes);
  return made;
}

struct stat status_of(std::string const& path) {
  struct stat found {};
  EXPECT_EQ(::lstat(path.c_str(), &found), 0) << path;
  return found;
}

int code_of(auto&& action) {
  try {
    action();
  } catch (io_error const& error) {
    return error.code().value();
  }
  return 0;
}

class output_stream_test : public testing::TestWithParam<backend> {
 protected:
  void SetUp() override {
    try {
      queue_ = make_request_queue(GetParam(), 8);
    } catch (std::exception const& refused) {
      GTEST_SKIP() << refused.what();
    }
  }

  std::unique_ptr<output_stream> open(std::string const& path,
                                      std::optional<std::uint64_t> expected_bytes = {}) {
    return open_output(path, *queue_, {.block_bytes = 8_KiB, .expected_bytes = expected_bytes});
  }

  // Writes `text` in windows of about `piece` bytes, without commit.
  void put(output_stream& stream, std::string_view text, std::size_t piece = 30'001) {
    for (std::size_t done = 0; done < text.size(); done += piece) {
      auto const part = text.substr(done, piece);
      auto const data = memory_.bytes().subspan(stream.lead_bytes(), part.size());
      std::memcpy(data.data(), part.data(), part.size());
      stream.write(data);
      stream.wait(data);
    }
  }

  void save(std::string const& path, std::string_view text) {
    auto const stream = open(path);
    put(*stream, text);
    stream->commit();
    EXPECT_EQ(stream->written_bytes(), text.size());
    EXPECT_EQ(stream->name(), path);
  }

  scratch::directory directory_;
  memory_budget budget_{1_MiB};
  grant grant_ = budget_.take(1_MiB, "test");
  buffer memory_ = grant_.allocate(64_KiB);
  std::unique_ptr<request_queue> queue_;
};

TEST_P(output_stream_test, makes_files_of_any_length) {
  for (std::size_t size : {0UL, 1UL, 4095UL, 4096UL, 4097UL, 8192UL, 100'000UL}) {
    auto const path = directory_.path(std::to_string(size));
    save(path, text_of(size));
    EXPECT_EQ(scratch::read_file(path), text_of(size));
  }
}

TEST_P(output_stream_test, shows_nothing_before_commit_and_leaves_nothing_without) {
  auto const text = text_of(50'000);
  {
    auto const stream = open(directory_.path("new"), text.size());
    put(*stream, text);
    EXPECT_FALSE(std::filesystem::exists(directory_.path("new")));
  }
  EXPECT_EQ(directory_.names(), names{});
}

TEST_P(output_stream_test, asserts_that_nothing_is_written_after_commit) {
  for (auto const kind : {compression::none, compression::gzip}) {
    auto const stream = open_output(directory_.path("file"), *queue_, {.compress = kind});
    put(*stream, "some");
    stream->commit();
    EXPECT_DEATH(put(*stream, "more"), "written to after commit");
    EXPECT_DEATH(stream->commit(), "commit\\(\\) was called twice");
  }
}

TEST_P(output_stream_test, gives_new_files_the_mode_that_the_umask_leaves) {
  auto const saved = ::umask(027);
  save(directory_.path("new"), "text\n");
  ::umask(saved);
  EXPECT_EQ(status_of(directory_.path("new")).st_mode & 07777U, 0640U);
}

TEST_P(output_stream_test, keeps_mode_and_owner_of_a_file_it_replaces) {
  auto const path = directory_.path("old");
  scratch::write_file(path, "old\n");
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path.c_str(), 1234, 5678), 0);
  }
  ASSERT_EQ(::chmod(path.c_str(), 04751), 0);
  auto const before = status_of(path);
  {
    auto const stream = open(path);
    put(*stream, "new\n");
    EXPECT_EQ(scratch::read_file(path), "old\n");
    stream->commit();
  }
  auto const after = status_of(path);
  EXPECT_EQ(scratch::read_file(path), "new\n");
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(after.st_uid, before.st_uid);
  EXPECT_EQ(after.st_gid, before.st_gid);
  EXPECT_EQ(directory_.names(), names{"old"});
}

TEST_P(output_stream_test, replaces_the_target_of_a_symbolic_link) {
  std::filesystem::create_directory(directory_.path("sub"));
  scratch::write_file(directory_.path("sub/file"), "old\n");
  std::filesystem::create_symlink("sub/second", directory_.path("first"));
  std::filesystem::create_symlink("file", directory_.path("sub/second"));
  save(directory_.path("first"), "new\n");
  EXPECT_EQ(scratch::read_file(directory_.path("sub/file")), "new\n");
  EXPECT_TRUE(S_ISLNK(status_of(directory_.path("first")).st_mode));
  EXPECT_TRUE(S_ISLNK(status_of(directory_.path("sub/second")).st_mode));

  std::filesystem::create_symlink("sub/fresh", directory_.path("dangling"));
  save(directory_.path("dangling"), "fresh\n");
  EXPECT_TRUE(S_ISLNK(status_of(directory_.path("dangling")).st_mode));
  EXPECT_EQ(scratch::read_file(directory_.path("sub/fresh")), "fresh\n");

  std::filesystem::create_symlink("loop", directory_.path("loop"));
  EXPECT_EQ(code_of([&] { open(directory_.path("loop")); }), ELOOP);
}

TEST_P(output_stream_test, lets_the_input_be_the_output) {
  auto const path = directory_.path("file");
  auto const text = text_of(80'000);
  scratch::write_file(path, text);
  auto const in = open_input(path, *queue_, grant_, {.block_bytes = 8_KiB, .depth = 2});
  auto const out = open(path);
  std::size_t total_bytes = 0;
  for (auto view = in->next(); !view.empty(); view = in->next()) {
    put(*out, {reinterpret_cast<char const*>(view.data()), view.size()});
    put(*out, "+");
    total_bytes += view.size() + 1;
  }
  EXPECT_EQ(scratch::read_file(path), text);
  out->commit();
  EXPECT_EQ(scratch::read_file(path).size(), total_bytes);
}

TEST_P(output_stream_test, writes_through_to_what_is_no_file) {
  save("/dev/null", text_of(20'000));
  EXPECT_TRUE(S_ISCHR(status_of("/dev/null").st_mode));
  auto const stream = open("/dev/null");
  EXPECT_EQ(stream->alignment_bytes(), 1U);
  EXPECT_EQ(stream->lead_bytes(), 0U);

  auto const path = directory_.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string found;
  std::thread reader([&] { found = scratch::read_file(path); });
  save(path, text_of(200'000));
  reader.join();
  EXPECT_EQ(found, text_of(200'000));
  EXPECT_EQ(code_of([&] { save("/dev/full", "text\n"); }), ENOSPC);
}

TEST_P(output_stream_test, tells_that_the_reader_of_a_pipe_has_gone) {
  auto* const saved = std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_EQ(code_of([&] { save("/dev/fd/" + std::to_string(ends[1]), "text\n"); }), EPIPE);
  ::close(ends[1]);
  std::signal(SIGPIPE, saved);
}

TEST_P(output_stream_test, writes_to_a_file_that_has_lost_its_name) {
  int const number = ::open(directory_.path("lost").c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_EQ(::unlink(directory_.path("lost").c_str()), 0);
  save("/dev/fd/" + std::to_string(number), "text\n");
  char found[8];
  EXPECT_EQ(::pread(number, found, sizeof found, 0), 5);
  ::close(number);
  EXPECT_EQ(directory_.names(), names{});
}

TEST_P(output_stream_test, goes_on_where_others_have_stopped_in_an_open_file) {
  int const number = ::open(directory_.path("open").c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_EQ(::write(number, "one\n", 4), 4);
  std::filesystem::create_symlink("/dev/fd/" + std::to_string(number), directory_.path("link"));
  save(directory_.path("link"), "text\n");
  ASSERT_EQ(::write(number, "two\n", 4), 4);
  ::close(number);
  EXPECT_EQ(scratch::read_file(directory_.path("open")), "one\ntext\ntwo\n");
}

TEST_P(output_stream_test, tells_of_a_mount_point_before_the_work) {
  auto const mounted = directory_.path("mounted");
  scratch::write_file(mounted, "text\n");
  if (::mount(mounted.c_str(), mounted.c_str(), nullptr, MS_BIND, nullptr) != 0)
    GTEST_SKIP() << "nothing can be mounted";
  try {
    open(mounted);
    ADD_FAILURE() << "opened";
  } catch (io_error const& error) {
    EXPECT_EQ(error.code().value(), EBUSY);
  }
  EXPECT_EQ(::umount(mounted.c_str()), 0);
}

TEST_P(output_stream_test, names_what_cannot_be_written) {
  auto code_for = [&](std::string const& path) {
    try {
      open(path);
    } catch (io_error const& error) {
      EXPECT_EQ(error.path(), path);
      return error.code().value();
    }
    return 0;
  };
  scratch::write_file(directory_.path("file"), "text\n");
  EXPECT_EQ(code_for(directory_.path()), EISDIR);
  EXPECT_EQ(code_for(directory_.path("missing/file")), ENOENT);
  EXPECT_EQ(code_for(directory_.path("missing/")), EISDIR);
  EXPECT_EQ(code_for(directory_.path("file/file")), ENOTDIR);
  EXPECT_EQ(code_for(""), ENOENT);

  ASSERT_EQ(::chmod(directory_.path("file").c_str(), 0444), 0);
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  bool const root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  auto const protected_file = code_for(directory_.path("file"));
  auto const protected_directory = root ? code_for(directory_.path("new")) : EACCES;
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_EQ(protected_file, EACCES);
  EXPECT_EQ(protected_directory, EACCES);
  EXPECT_EQ(directory_.names(), names{"file"});
}

TEST_P(output_stream_test, says_which_disk_is_full_and_leaves_nothing_there) {
  auto const mounted = directory_.path("small");
  std::filesystem::create_directory(mounted);
  if (::mount("tmpfs", mounted.c_str(), "tmpfs", 0, "size=256k") != 0) {
    GTEST_SKIP() << "mounting a small file system takes more rights";
  }
  auto const text = text_of(500'000);
  for (auto expected :
       {std::optional<std::uint64_t>{}, std::optional<std::uint64_t>{text.size()}}) {
    try {
      auto const stream = open(mounted + "/file", expected);
      put(*stream, text);
      stream->commit();
      ADD_FAILURE() << "no error";
    } catch (out_of_space const& error) {
      EXPECT_EQ(error.disk(), mounted);
      EXPECT_LT(error.free_bytes(), error.needed_bytes());
    }
    EXPECT_TRUE(std::filesystem::is_empty(mounted));
  }
  save(mounted + "/file", text_of(200'000));  // fits, once the others are gone
  EXPECT_EQ(scratch::read_file(mounted + "/file"), text_of(200'000));
  EXPECT_EQ(::umount2(mounted.c_str(), MNT_DETACH), 0);
}

INSTANTIATE_TEST_SUITE_P(backends, output_stream_test,
                         testing::Values(backend::uring, backend::threads), [](auto const& tested) {
                           return tested.param == backend::uring ? "uring" : "threads";
                         });

}  // namespace
}  // namespace outsize::io
