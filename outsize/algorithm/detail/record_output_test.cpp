// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// What goes in record by record comes out as one text, whatever the windows and the kind of stream.

#include <outsize/algorithm/detail/record_output.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>

#include <outsize/io/request_queue.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::detail {
namespace {

class record_output_test : public testing::Test {
 protected:
  scratch::directory folder_;
  std::unique_ptr<io::request_queue> queue_ = io::make_request_queue();
  memory_budget budget_{1 << 20};
  grant memory_ = budget_.take(1 << 20, "test");
};

TEST_F(record_output_test, lays_records_one_behind_the_other) {
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (bool const lines : {false, true}) {
    std::string expected;
    auto const stream = io::open_output(folder_.path("out"), *queue_, {.block_bytes = 4096});
    item_framing framing;
    if (lines) framing.how = item_framing::kind::terminator;
    record_output out(*stream, memory_, 2 * page_bytes(), framing);
    for (int i = 0; i < 500; ++i) {
      std::string const record(random() % (i % 50 == 0 ? 40'000 : 300),
                               static_cast<char>('a' + i % 26));
      out.append(record);
      expected += record;
      if (lines) expected += '\n';
    }
    out.finish();
    EXPECT_TRUE(scratch::read_file(folder_.path("out")) == expected);
  }
}

TEST_F(record_output_test, an_empty_output_is_an_empty_file) {
  auto const stream = io::open_output(folder_.path("out"), *queue_);
  record_output(*stream, memory_, page_bytes()).finish();
  EXPECT_EQ(scratch::read_file(folder_.path("out")), "");
}

TEST_F(record_output_test, without_finish_nothing_appears) {
  {
    auto const stream = io::open_output(folder_.path("out"), *queue_, {.block_bytes = 4096});
    record_output out(*stream, memory_, page_bytes());
    out.append(std::string(100'000, 'x'));
  }
  EXPECT_EQ(folder_.names(), std::vector<std::string>{});
}

}  // namespace
}  // namespace outsize::detail
