// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Complete or not there at all, written in any order.

#include <outsize/io/output_file.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::io {
namespace {

class output_files : public testing::Test {
 protected:
  std::string path(char const* name) const { return folder_.path() + "/" + name; }
  static std::string text_of(std::string const& file_path) {
    std::ifstream in(file_path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t entries() const {
    auto const all = std::filesystem::directory_iterator(folder_.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  /// Writes two blocks of letters, the second one first.
  void write_blocks(output_file& out) {
    buffer const block = grant_.allocate(2 * block_bytes);
    std::fill_n(block.data(), block_bytes, std::byte{'b'});
    std::fill_n(block.data() + block_bytes, block_bytes, std::byte{'a'});
    out.contents().write(block_bytes, block.bytes().first(block_bytes))->wait();
    out.contents().write(0, block.bytes().last(block_bytes))->wait();
  }

  static constexpr std::size_t block_bytes = 4096;
  scratch::directory folder_;
  std::unique_ptr<request_queue> queue_ = make_request_queue();
  memory_budget memory_{1 << 20};
  grant grant_ = memory_.take(1 << 20, "test");
};

TEST_F(output_files, appear_when_they_are_committed) {
  {
    output_file out(path("x"), block_bytes + 7, *queue_);
    write_blocks(out);
    EXPECT_FALSE(std::filesystem::exists(path("x")));
    out.commit(block_bytes + 7);
  }
  EXPECT_EQ(text_of(path("x")), std::string(block_bytes, 'a') + std::string(7, 'b'));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(output_files, may_be_written_front_to_back_over_what_they_held) {
  std::unique_ptr<output_stream> stream;
  {
    output_file out(path("x"), 3 * block_bytes, *queue_);
    write_blocks(out);
    buffer const block = grant_.allocate(block_bytes);
    out.contents_through(*queue_)->read(block_bytes, block.bytes())->wait();
    EXPECT_EQ(block.data()[0], std::byte{'b'});
    stream = out.as_stream(*queue_, {});
  }
  EXPECT_EQ(entries(), 0U);
  buffer const window = grant_.allocate(block_bytes);
  std::ranges::fill(window.bytes(), std::byte{'c'});
  stream->write(window.bytes());
  stream->wait(window.bytes());
  stream->commit();
  EXPECT_EQ(text_of(path("x")), std::string(block_bytes, 'c'));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(output_files, are_written_directly_or_not_by_all_queues) {
  output_file out(path("x"), block_bytes, *queue_);
  std::unique_ptr<request_queue> mapped;
  try {
    mapped = make_request_queue(backend::mmap);
  } catch (io_error const&) {
    GTEST_SKIP() << "no mappings here";
  }
  auto const guest = out.contents_through(*mapped);
  EXPECT_EQ(guest->alignment_bytes(), out.contents().alignment_bytes())
      << "whether I/O is direct is a matter of the file that both have open";
}

TEST_F(output_files, leave_what_was_there_when_they_are_given_up) {
  std::ofstream(path("x")) << "before";
  {
    output_file out(path("x"), 2 * block_bytes, *queue_);
    write_blocks(out);
  }
  EXPECT_EQ(text_of(path("x")), "before");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(output_files, may_be_empty) {
  output_file(path("x"), 0, *queue_).commit(0);
  EXPECT_EQ(text_of(path("x")), "");
}

TEST_F(output_files, refuse_what_cannot_be_replaced) {
  EXPECT_THROW(output_file(folder_.path(), 1, *queue_), io_error);
  EXPECT_THROW(output_file(path("no/such"), 1, *queue_), io_error);
  EXPECT_THROW(output_file("/dev/null", 1, *queue_), io_error);
}

}  // namespace
}  // namespace outsize::io
