// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Flows of byte strings become the lines of a text, which appears when it is complete.
#include <outsize/stream/text_sinks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/compression.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>
#include <outsize/stream/text_sources.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::stream {
namespace {

using strings = std::vector<std::string>;

struct written_texts : testing::Test {
  storage store{{.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 64_MiB);
                                        })},
                 .memory_bytes = 4_MiB,
                 .threads = 2}};
  scratch::directory directory;
  std::string const path = directory.path("text");
};

TEST_F(written_texts, have_a_line_for_each_item) {
  strings all;
  std::string expected;
  for (std::size_t i = 0; i < 30'000; ++i) {
    all.push_back(i == 7'777 ? std::string(300'000, 'x') : std::string(i % 70, 'a'));
    expected += all.back() + '\n';
  }
  run(store, from(all) | into_lines(path));
  EXPECT_EQ(scratch::read_file(path), expected);
  EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
}

TEST_F(written_texts, are_sorted_and_written_as_lines) {
  strings expected;
  std::string text;
  for (std::uint64_t i = 0; i < 30'000; ++i) {
    expected.push_back(std::to_string(i * 7919 % 10'007));
    text += expected.back() + '\n';
  }
  scratch::write_file(path, text);
  std::ranges::sort(expected);
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  std::string sorted;
  for (auto const& line : expected) sorted += line + '\n';
  run(store, lines(path) | sort_unique() | into_lines(directory.path("sorted")));
  EXPECT_EQ(scratch::read_file(directory.path("sorted")), sorted);
}

TEST_F(written_texts, may_be_written_to_the_file_that_is_read) {
  scratch::write_file(path, "b\na\n");
  run(store, lines(path) | sort() | into_lines(path));
  EXPECT_EQ(scratch::read_file(path), "a\nb\n");
}

TEST_F(written_texts, are_written_with_a_delimiter_and_compressed) {
  strings const all{"one", "", "three"};
  std::string const other = directory.path("other");
  run(store, from(all) | into_lines(other, {.delimiter = '\0'}));
  EXPECT_EQ(scratch::read_file(other), std::string("one\0\0three\0", 11));
  run(store, from(strings()) | into_lines(other));
  EXPECT_EQ(scratch::read_file(other), "");
  run(store, from(all) | into_lines(other, {.compress = io::compression::gzip}));
  EXPECT_NE(scratch::read_file(other).substr(0, 3), "one");
  strings read;
  run(store, lines(other, {.decompress = true}) | into(read));
  EXPECT_EQ(read, all);
}

TEST_F(written_texts, that_fail_leave_the_old_file) {
  scratch::write_file(path, "old\n");
  strings const all(5000, "new");
  auto const fail = [n = 0](std::string const& s) mutable -> std::string const& {
    return ++n < 4000 ? s : throw std::runtime_error("broken");
  };
  EXPECT_THROW(run(store, from(all) | transform(fail) | into_lines(path)), flow_error);
  EXPECT_EQ(scratch::read_file(path), "old\n");
  EXPECT_EQ(directory.names(), strings{"text"});
  EXPECT_THROW(run(store, from(all) | into_lines(directory.path("none/text"))), flow_error);
}

}  // namespace
}  // namespace outsize::stream

// Both namespaces at once, as programs have them.
namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::stream;

TEST(written_texts_names, are_not_ambiguous) {
  storage store({.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 16_MiB);
                                        })},
                 .memory_bytes = 4_MiB});
  scratch::directory const directory;
  scratch::write_file(directory.path("a"), "1,2\n3,4\n");
  run(store, lines(directory.path("a")) | into_lines(directory.path("b")));
  EXPECT_EQ(scratch::read_file(directory.path("b")), "1,2\n3,4\n");
}

}  // namespace
}  // namespace user_code
