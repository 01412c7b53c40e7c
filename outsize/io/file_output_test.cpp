// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/file_output.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/counting_file.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::io {
namespace {

using bytes = std::vector<std::byte>;

constexpr std::size_t unit = 512;

bytes content_of(file& source) {
  memory_budget budget(1_GiB);
  auto const size = static_cast<std::size_t>(source.size_bytes());
  auto memory = budget.take(round_up(size + unit, page_bytes()), "test");
  auto buffer = memory.allocate(size + unit);
  source.read(0, buffer.bytes().first(round_up(size, unit)))->wait();
  return {buffer.data(), buffer.data() + size};
}

// A stream into memory whose content is seen at the moment of publication.
struct opened {
  explicit opened(std::size_t alignment_bytes, std::optional<std::uint64_t> expected_bytes = {},
                  std::uint64_t capacity_bytes = 1_GiB)
      : plan(std::make_shared<fault_plan>(fault_odds{.seed = 7,
                                                     .interrupt = 0.1,
                                                     .shorten = 0.2,
                                                     .hold = 0.3,
                                                     .max_delay = std::chrono::microseconds(50)})) {
    auto made = make_memory_file("made", capacity_bytes,
                                 {.alignment_bytes = alignment_bytes, .own_thread = true});
    auto& target = *made;
    stream = std::make_unique<file_output>(
        std::make_unique<faulty_file>(std::move(made), plan), "/",
        output_stream_options{
            .block_bytes = 4 * unit, .expected_bytes = expected_bytes, .counter = &counter},
        [this, &target] { published = content_of(target); });
  }

  // Where the next window's data starts in memory that is aligned.
  std::span<std::byte> window(std::size_t size) const {
    return memory.bytes().subspan(stream->lead_bytes(), size);
  }

  memory_budget budget{1_MiB};
  grant lent = budget.take(1_MiB, "test");
  buffer memory = lent.allocate(1_MiB);
  statistics counter;
  std::shared_ptr<fault_plan> plan;
  std::optional<bytes> published;
  std::unique_ptr<file_output> stream;
};

int code_of(auto&& action) {
  try {
    action();
  } catch (io_error const& error) {
    return error.code().value();
  }
  return 0;
}

TEST(file_output, writes_windows_of_any_length_in_order) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    std::size_t const alignment = round % 3 == 0 ? 1 : unit;
    opened output(alignment, round % 2 ? std::optional(random() % 100'000) : std::nullopt);
    bytes model;
    // Two halves of the memory take turns, so that one is written while the other is filled.
    std::span<std::byte const> lent[2];
    for (std::size_t step = 0, steps = random() % 30; step < steps; ++step) {
      output.stream->wait(lent[step % 2]);
      auto const half = output.memory.bytes().subspan(step % 2 * 512_KiB, 512_KiB);
      auto const size = random() % 2 ? random() % 20'000 : random() % 40 * unit + random() % 2;
      auto const data = half.subspan(output.stream->lead_bytes(), size);
      EXPECT_LT(output.stream->lead_bytes(), alignment);
      for (auto& one : data) one = static_cast<std::byte>(random());
      model.insert(model.end(), data.begin(), data.end());
      output.stream->write(data);
      lent[step % 2] = data;
      EXPECT_EQ(output.stream->written_bytes(), model.size());
    }
    EXPECT_FALSE(output.published);
    output.stream->commit();
    ASSERT_TRUE(output.published);
    ASSERT_TRUE(*output.published == model) << "round " << round;
    EXPECT_EQ(output.counter.snapshot().write_bytes, round_up(model.size(), alignment));
    EXPECT_EQ(output.stream->written_bytes(), model.size());
  }
}

TEST(file_output, lends_memory_only_until_wait_returns) {
  opened output(unit);
  for (int i = 0; i < 50; ++i) {
    auto const data = output.window(5 * unit + 77);
    std::ranges::fill(data, static_cast<std::byte>(i));
    output.stream->write(data);
    output.stream->wait(data);
    std::ranges::fill(output.memory.bytes(), std::byte{0xee});
  }
  output.stream->commit();
  ASSERT_TRUE(output.published);
  EXPECT_EQ(std::ranges::count(*output.published, std::byte{0xee}), 0);
}

TEST(file_output, publishes_nothing_without_commit) {
  opened output(unit);
  output.stream->write(output.window(3000));
  output.stream.reset();
  EXPECT_FALSE(output.published);
}

TEST(file_output, throws_the_first_failure_from_then_on) {
  opened output(unit);
  output.plan->script(fault_point::write, 2, fault::fail(EIO));
  output.stream->write(output.window(40 * unit));
  auto const wait = [&] { output.stream->wait(output.window(40 * unit)); };
  EXPECT_EQ(code_of(wait), EIO);
  EXPECT_EQ(code_of(wait), EIO);
  EXPECT_EQ(code_of([&] { output.stream->write(output.window(1)); }), EIO);
  EXPECT_EQ(code_of([&] { output.stream->commit(); }), EIO);
  EXPECT_FALSE(output.published);
}

TEST(file_output, says_have_and_need_when_the_disk_fills) {
  opened output(unit, std::nullopt, 10 * unit);  // the step that is allocated ahead fails first
  output.stream->write(output.window(8 * unit));
  output.stream->wait(output.window(8 * unit));
  output.stream->write(output.window(8 * unit));
  try {
    output.stream->commit();
    FAIL() << "no error";
  } catch (out_of_space const& error) {
    EXPECT_EQ(error.disk(), "/");
    EXPECT_GE(error.needed_bytes(), 4 * unit);
  }
  EXPECT_FALSE(output.published);
}

TEST(file_output, fits_where_only_the_space_ahead_does_not) {
  opened output(unit, std::nullopt, 10 * unit);
  output.stream->write(output.window(10 * unit - 5));
  output.stream->commit();
  ASSERT_TRUE(output.published);
  EXPECT_EQ(output.published->size(), 10 * unit - 5);
}

TEST(file_output, fits_where_a_quota_has_no_room_ahead) {
  opened output(unit);
  output.plan->script(fault_point::allocate, 0, fault::fail(EDQUOT), 100);
  output.stream->write(output.window(10 * unit - 5));
  output.stream->commit();
  ASSERT_TRUE(output.published);
  EXPECT_EQ(output.published->size(), 10 * unit - 5);
}

TEST(file_output, says_what_quota_is_used_up) {
  opened output(unit, 11 * unit);
  output.plan->script(fault_point::allocate, 0, fault::fail(EDQUOT), 100);
  EXPECT_EQ(code_of([&] { output.stream->write(output.window(unit)); }), EDQUOT);
}

TEST(file_output, refuses_before_the_first_write_what_is_known_not_to_fit) {
  opened output(unit, 11 * unit, 10 * unit);
  EXPECT_THROW(output.stream->write(output.window(unit)), out_of_space);
  EXPECT_EQ(output.plan->calls(fault_point::write), 0U);
}

TEST(file_output, reports_failures_of_allocating_and_of_cutting) {
  for (auto point : {fault_point::allocate, fault_point::resize}) {
    opened output(unit);
    output.plan->script(point, 0, fault::fail(EIO));
    EXPECT_EQ(code_of([&] {
                output.stream->write(output.window(3000));
                output.stream->commit();
              }),
              EIO);
    EXPECT_FALSE(output.published);
  }
}

TEST(file_output, is_written_back_before_it_is_published_unless_it_was_direct) {
  for (bool const is_direct : {false, true}) {
    opened output(is_direct ? unit : 1);
    output.plan->script(fault_point::sync, 0, fault::fail(ENOSPC));
    output.stream->write(output.window(3000));
    EXPECT_EQ(code_of([&] { output.stream->commit(); }), is_direct ? 0 : ENOSPC);
    EXPECT_EQ(output.published.has_value(), is_direct);
  }
}

}  // namespace
}  // namespace outsize::io
