// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A list of disks means what it says, or is refused with the place of the first word that is wrong;
// the environment is read in the order documented.

#include <outsize/block/disk_options.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

/// Gives variables of the environment values, and at the end the ones they had.
class environment {
 public:
  environment() {
    for (char const* name : {"OUTSIZE_DISKS", "OUTSIZE_TMPDIR", "TMPDIR"}) {
      char const* const value = std::getenv(name);
      before_.push_back(
          {name, value != nullptr ? std::optional<std::string>(value) : std::nullopt});
      ::unsetenv(name);
    }
  }
  environment(environment const&) = delete;
  environment& operator=(environment const&) = delete;
  ~environment() {
    for (auto const& [name, value] : before_)
      value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
  }
  void set(char const* name, std::string const& value) { ::setenv(name, value.c_str(), 1); }

 private:
  struct variable {
    char const* name;
    std::optional<std::string> value;
  };
  std::vector<variable> before_;
};

std::string refusal_of(std::string_view text) {
  try {
    parse_disks(text, "disks");
  } catch (format_error const& e) {
    return e.what();
  }
  return "accepted";
}

// ---- the text ----

TEST(disk_options, are_read_one_from_each_line) {
  auto const disks = parse_disks(
      "# my disks\n"
      "\n"
      "/mnt/a capacity=100GiB backend=uring direct=no depth=32 raw=no read=2GiB/s write=1500M/s\n"
      "\t\"/mnt/my disk\"  backend=threads direct=yes # the slow one\r\n"
      "  # nothing here\n"
      "/dev/sd#1 raw=yes backend=automatic force=yes",
      "disks");
  ASSERT_EQ(disks.size(), 3U);
  EXPECT_EQ(disks[0].path, "/mnt/a");
  EXPECT_EQ(disks[0].capacity_bytes, 100_GiB);
  EXPECT_EQ(disks[0].backend, io::backend::uring);
  EXPECT_EQ(disks[0].direct, false);
  EXPECT_EQ(disks[0].depth, 32U);
  EXPECT_FALSE(disks[0].raw);
  EXPECT_EQ(disks[0].read_bytes_per_second, 2_GiB);
  EXPECT_EQ(disks[0].write_bytes_per_second, 1500_MiB);
  EXPECT_EQ(disks[1].path, "/mnt/my disk");
  EXPECT_EQ(disks[1].backend, io::backend::threads);
  EXPECT_EQ(disks[1].direct, true);
  EXPECT_EQ(disks[2].path, "/dev/sd#1");
  EXPECT_EQ(disks[2].backend, io::backend::automatic);
  EXPECT_TRUE(disks[2].raw);
  EXPECT_TRUE(disks[2].force);
}

TEST(disk_options, that_are_not_given_are_the_storages) {
  auto const disk = parse_disks("/mnt/a", "disks").at(0);
  EXPECT_EQ(disk.capacity_bytes, UINT64_MAX);
  EXPECT_FALSE(disk.raw);
  EXPECT_FALSE(disk.force);
  EXPECT_FALSE(disk.backend || disk.direct || disk.depth);
  EXPECT_EQ(disk.read_bytes_per_second, 0U);
  EXPECT_EQ(disk.write_bytes_per_second, 0U);
}

TEST(disk_options, are_refused_with_line_word_and_reason) {
  EXPECT_EQ(refusal_of("/a\n/b depth=0\n/c depth=0"),
            "disks:2: 'depth=0': a number from 1 to 4096 is expected");
  EXPECT_EQ(refusal_of("/a depth=4097"),
            "disks:1: 'depth=4097': a number from 1 to 4096 is expected");
  EXPECT_EQ(refusal_of("/a depth=8x"), "disks:1: 'depth=8x': a number from 1 to 4096 is expected");
  for (std::string const size : {"12Q", "", "-1", "0", "9999999P"})
    EXPECT_EQ(refusal_of("# disks\n\n/a capacity=" + size),
              "disks:3: 'capacity=" + size + "': a size such as 100GiB is expected");
  for (std::string const speed : {"2GiB", "/s", "fast", "0/s"})
    EXPECT_EQ(refusal_of("/a write=" + speed),
              "disks:1: 'write=" + speed + "': a speed such as 2GiB/s is expected");
  EXPECT_EQ(refusal_of("/a backend=aio"),
            "disks:1: 'backend=aio': automatic, uring, threads or mmap is expected");
  EXPECT_EQ(refusal_of("/a direct=1"), "disks:1: 'direct=1': yes or no is expected");
  EXPECT_EQ(refusal_of("/a raw=y"), "disks:1: 'raw=y': yes or no is expected");
  EXPECT_EQ(refusal_of("/a raw=no raw=no"), "disks:1: 'raw=no': given twice");
  EXPECT_EQ(
      refusal_of("/a size=1G"),
      "disks:1: 'size=1G': no such key; there are capacity, backend, direct, raw, force, depth, "
      "read, write");
  EXPECT_EQ(refusal_of("/my disk"),
            "disks:1: 'disk': key=value is expected; a path with blanks is put in quotes");
  EXPECT_EQ(refusal_of("\"/my disk raw=no"),
            "disks:1: '\"/my disk raw=no': the quote is not closed");
  EXPECT_EQ(refusal_of("\"/my disk\"raw=no"), "disks:1: 'raw=no': a blank is expected before it");
  EXPECT_EQ(refusal_of("\"\" raw=no"), "disks:1: '\"\"': a path is expected");
  EXPECT_EQ(refusal_of("# none\n"), "disks: names no disk");
}

// ---- where it is found ----

TEST(disk_options, are_read_from_a_file_that_messages_name) {
  scratch::directory folder;
  auto const path = folder.path("disks.txt");
  scratch::write_file(path, "/mnt/a\n/mnt/b depth=7");
  auto const disks = read_disks(path);
  ASSERT_EQ(disks.size(), 2U);
  EXPECT_EQ(disks[1].depth, 7U);

  scratch::write_file(path, "/mnt/a\n/mnt/b depth\n");
  try {
    read_disks(path);
    FAIL() << "a malformed line was accepted";
  } catch (format_error const& e) {
    EXPECT_TRUE(std::string_view(e.what()).starts_with(path + ":2: 'depth'")) << e.what();
  }
  for (auto const& [missing, error_number] :
       {std::pair(folder.path("missing"), ENOENT), std::pair(folder.path(), EISDIR)}) {
    try {
      read_disks(missing);
      FAIL() << "what is no file was read";
    } catch (io_error const& e) {
      EXPECT_EQ(e.code().value(), error_number);
      EXPECT_EQ(e.path(), missing);
    }
  }
}

TEST(disk_options, come_from_the_environment_if_from_nowhere_else) {
  scratch::directory const folder;  // first: it asks for TMPDIR itself
  environment variables;
  EXPECT_EQ(default_disks().at(0).path, ".");
  variables.set("TMPDIR", "/t");
  EXPECT_EQ(default_disks().at(0).path, "/t");
  variables.set("OUTSIZE_TMPDIR", "/o");
  EXPECT_EQ(default_disks().at(0).path, "/o");
  variables.set("OUTSIZE_DISKS", "");
  EXPECT_EQ(default_disks().at(0).path, "/o");

  variables.set("OUTSIZE_DISKS", "/a depth=3;/b # with a remark;");
  auto const disks = default_disks();
  ASSERT_EQ(disks.size(), 2U);
  EXPECT_EQ(disks[0].depth, 3U);
  EXPECT_EQ(disks[1].path, "/b");
  variables.set("OUTSIZE_DISKS", "/a;/b depth=none");
  try {
    default_disks();
    FAIL() << "a malformed list was accepted";
  } catch (format_error const& e) {
    EXPECT_TRUE(std::string_view(e.what()).starts_with("OUTSIZE_DISKS:2: 'depth=none'"))
        << e.what();
  }

  scratch::write_file(folder.path("disks"), "/c\n");
  variables.set("OUTSIZE_DISKS", folder.path("disks"));
  EXPECT_EQ(default_disks().at(0).path, "/c");
  variables.set("OUTSIZE_DISKS", folder.path());  // a disk itself needs a `;`
  EXPECT_THROW(default_disks(), io_error);
}

// ---- bandwidths ----

TEST(disk_options, divide_blocks_by_the_time_there_and_back) {
  auto const weights = [](std::string_view text) { return weights_of(parse_disks(text, "disks")); };
  using list = std::vector<std::uint64_t>;
  EXPECT_EQ(weights("a\nb depth=3"), (list{1, 1}));
  EXPECT_EQ(weights("a read=3G/s write=3G/s\nb read=1G/s write=1G/s"), (list{3_GiB, 1_GiB}));
  EXPECT_EQ(weights("a read=5/s\nb write=7/s"), (list{5, 7}));
  // A byte there takes a third of a second, back a sixth: two bytes a second make four a second.
  auto const read_speeds = [](std::string_view text) {
    return read_speeds_of(parse_disks(text, "disks"));
  };
  EXPECT_EQ(read_speeds("a read=6G/s write=1G/s\nb read=2G/s write=2G/s"), (list{6_GiB, 2_GiB}));
  EXPECT_EQ(read_speeds("a write=5/s\nb read=7/s"), (list{5, 7}));
  EXPECT_EQ(read_speeds("a\nb"), (list{1, 1}));
  EXPECT_EQ(weights("a read=3000/s write=6000/s\nb read=1000/s"), (list{4000, 1000}));
  // What no disk can do is as much as any can, but neither nothing nor unknown.
  EXPECT_EQ(weights("a read=18446744073709551615/s\nb read=1G/s"),
            (list{std::uint64_t{1} << 53, 1_GiB}));
  try {
    weights("a read=3G/s\nb capacity=3G");
    FAIL() << "a disk without bandwidth among others was accepted";
  } catch (std::invalid_argument const& e) {
    EXPECT_STREQ(e.what(), "b: no bandwidth is given, though others' are");
  }
}

TEST(disk_lists, describe_what_they_are_read_from) {
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::string list;
  std::vector<disk_options> disks;
  for (auto const* path :
       {"/mnt/a", "/mnt/my disk", "#1", "\"odd", "a\"b", "/dev/sdx", "rel#ative"})
    for (int i = 0; i < 20; ++i) {
      disk_options disk(path);
      if (random() % 2 == 0) disk.capacity_bytes = 1 + random() % (1024 * 1_GiB);
      if (random() % 2 == 0) disk.raw = true;
      if (random() % 2 == 0) disk.force = true;
      if (random() % 2 == 0) disk.backend = static_cast<io::backend>(random() % 4);
      if (random() % 2 == 0) disk.depth = 1 + random() % io::most_queue_depth;
      if (random() % 2 == 0) disk.direct = random() % 2 == 0;
      if (random() % 2 == 0) disk.read_bytes_per_second = (1 + random() % 9999) * 1_MiB;
      if (random() % 2 == 0) disk.write_bytes_per_second = (1 + random() % 9999) * 1_MiB;
      auto const line = describe_in_list(disk);
      bool const cannot_be = disk.path == "\"odd";
      ASSERT_EQ(line.has_value(), !cannot_be) << path;
      if (!line) continue;
      list += *line + '\n';
      disks.push_back(std::move(disk));
    }
  auto const read = parse_disks(list, "list");
  ASSERT_EQ(read.size(), disks.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].path, disks[i].path);
    EXPECT_EQ(read[i].capacity_bytes, disks[i].capacity_bytes);
    EXPECT_EQ(read[i].raw, disks[i].raw);
    EXPECT_EQ(read[i].force, disks[i].force);
    EXPECT_EQ(read[i].backend, disks[i].backend);
    EXPECT_EQ(read[i].depth, disks[i].depth);
    EXPECT_EQ(read[i].direct, disks[i].direct);
    EXPECT_EQ(read[i].read_bytes_per_second, disks[i].read_bytes_per_second);
    EXPECT_EQ(read[i].write_bytes_per_second, disks[i].write_bytes_per_second);
  }
  EXPECT_EQ(describe_in_list(disk_options("/mnt/a")), "/mnt/a");
  EXPECT_FALSE(describe_in_list(disk_options("a;b")));
  EXPECT_FALSE(describe_in_list(disk_options("a\nb")));
  EXPECT_FALSE(describe_in_list(disk_options("a \"b")));
}

}  // namespace
}  // namespace outsize
