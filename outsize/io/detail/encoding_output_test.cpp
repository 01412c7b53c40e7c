// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/detail/encoding_output.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/detail/decoding_input.hpp>
#include <outsize/io/input_form.hpp>
#include <outsize/io/input_stream.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::io {
namespace {

std::string random_text(std::size_t count, std::mt19937_64& random) {
  std::string made(count, '\n');
  for (auto& one : made) one = static_cast<char>('a' + random() % 20);
  return made;
}

class encoding_output_test : public testing::TestWithParam<compression> {
 protected:
  std::unique_ptr<output_stream> open(std::string const& name) {
    return open_output(folder.path(name), *queue, {.compress = GetParam()});
  }
  std::string read(std::string const& name) {
    auto const stream = open_input(folder.path(name), *queue, memory, {.decompress = true});
    std::string found;
    for (auto view = stream->next(); !view.empty(); view = stream->next())
      found.append(reinterpret_cast<char const*>(view.data()), view.size());
    return found;
  }
  // Gives `content` to a stream in random stretches.
  void write(std::string const& name, std::string content, std::size_t most_bytes) {
    auto const stream = open(name);
    ASSERT_EQ(stream->alignment_bytes(), 1U);
    auto rest = std::as_writable_bytes(std::span(content));
    while (!rest.empty()) {
      ASSERT_EQ(stream->lead_bytes(), 0U);
      auto const data = rest.first(std::min(rest.size(), 1 + random() % most_bytes));
      stream->write(data);
      stream->wait(data);
      std::ranges::fill(data, std::byte{});  // it is the caller's again
      rest = rest.subspan(data.size());
    }
    EXPECT_EQ(stream->written_bytes(), content.size());
    stream->commit();
  }

  std::uint64_t const seed = std::random_device{}();
  std::mt19937_64 random{seed};
  testing::ScopedTrace const trace{__FILE__, __LINE__, "seed " + std::to_string(seed)};
  scratch::directory folder;
  std::unique_ptr<request_queue> queue = make_request_queue();
  memory_budget budget{16_MiB};
  grant memory = budget.take(16_MiB, "test");
};

TEST_P(encoding_output_test, makes_files_that_are_read_again) {
  for (std::size_t const size : {0, 1, 1000, 131'072, 2'000'000}) {
    auto const content = random_text(size, random);
    write("a", content, 300'000);
    EXPECT_EQ(form_of_file(folder.path("a"), {.decompress = true})->packed, GetParam());
    EXPECT_TRUE(read("a") == content) << size;
  }
}

TEST_P(encoding_output_test, makes_equal_files_however_it_is_written_to) {
  auto const content = random_text(700'000, random);
  write("a", content, 300'000);
  write("b", content, 1000);
  EXPECT_TRUE(scratch::read_file(folder.path("a")) == scratch::read_file(folder.path("b")));
}

TEST_P(encoding_output_test, leaves_nothing_without_commit) {
  auto content = random_text(1'000'000, random);
  open("a")->write(std::as_writable_bytes(std::span(content)));
  EXPECT_FALSE(std::filesystem::exists(folder.path("a")));
}

TEST_P(encoding_output_test, reports_that_the_target_is_full) {
  auto content = random_text(1'000'000, random);
  auto const stream = open_output("/dev/full", *queue, {.compress = GetParam()});
  auto const write_all = [&] {
    stream->write(std::as_writable_bytes(std::span(content)));
    stream->commit();
  };
  EXPECT_THROW(write_all(), io_error);
}

TEST_P(encoding_output_test, counts_what_its_library_allocates) {
  memory_budget codecs(encoding_memory_bytes(GetParam()));
  output_stream_options const counted{.compress = GetParam(), .codec_memory = &codecs};
  auto const one = open_output(folder.path("a"), *queue, counted);
  EXPECT_EQ(codecs.free_bytes(), 0U);
  EXPECT_THROW(open_output(folder.path("b"), *queue, counted), budget_error);
  one->commit();
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a"});
}

INSTANTIATE_TEST_SUITE_P(all, encoding_output_test,
                         testing::Values(compression::gzip, compression::zstd, compression::lz4,
                                         compression::xz, compression::bzip2),
                         [](auto const& row) { return std::string(name_of(row.param)); });

}  // namespace
}  // namespace outsize::io
