// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/sequential_input.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <random>
#include <thread>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/io/posix/blocking_io.hpp>

namespace outsize::io::detail {
namespace {

using bytes = std::vector<std::byte>;

struct opened {
  opened() : source_and_target(2) {
    EXPECT_EQ(::pipe(source_and_target.data()), 0);
    stream.emplace(open_descriptor(source_and_target[0]), "pipe", memory,
                   input_stream_options{.block_bytes = 4_KiB, .counter = &counter});
  }
  open_descriptor target() const { return open_descriptor(source_and_target[1]); }

  std::vector<int> source_and_target;
  memory_budget budget{1_MiB};
  grant memory = budget.take(1_MiB, "test");
  statistics counter;
  std::optional<sequential_input> stream;
};

TEST(sequential_input, gives_every_byte_however_it_is_asked) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  bytes sent(200'000);
  for (auto& one : sent) one = static_cast<std::byte>(random());

  opened input;
  std::thread writer([&, target = input.target()] { write_all(target.number(), sent, "pipe"); });
  bytes found;
  bytes into(20'000);
  for (;;) {
    if (random() % 2) {
      auto const view = input.stream->next();
      if (view.empty()) break;
      found.insert(found.end(), view.begin(), view.end());
    } else {
      auto const wish = random() % into.size();
      if (random() % 2) input.stream->look_ahead();
      auto const count = input.stream->read(std::span(into).first(wish));
      found.insert(found.end(), into.begin(), into.begin() + static_cast<std::ptrdiff_t>(count));
      if (count < wish) break;
    }
  }
  writer.join();
  EXPECT_TRUE(found == sent);
  EXPECT_EQ(input.counter.snapshot().read_bytes, sent.size());
}

TEST(sequential_input, knows_what_remains_only_at_the_end) {
  opened input;
  write_all(input.target().number(), bytes(3), "pipe");  // and closes
  EXPECT_EQ(input.stream->remaining_bytes(), std::nullopt);
  input.stream->look_ahead();
  EXPECT_EQ(input.stream->remaining_bytes(), std::nullopt);
  EXPECT_EQ(input.stream->next().size(), 3U);
  EXPECT_TRUE(input.stream->next().empty());
  EXPECT_EQ(input.stream->remaining_bytes(), 0U);
  EXPECT_TRUE(input.stream->next().empty());
}

}  // namespace
}  // namespace outsize::io::detail
