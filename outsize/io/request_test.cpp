// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The logic of requests against a file whose attempts end when, and as, the test says.
#include <outsize/io/request.hpp>

#include <sys/mman.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/file.hpp>

namespace outsize::io {
namespace {

/// Keeps attempts until the test ends them, or ends them inside start() with what `at_once`
/// returns.
class manual_file final : public file {
 public:
  ~manual_file() override { drain(); }

  std::uint64_t size_bytes() const override { return size; }
  void resize(std::uint64_t bytes) override { size = bytes; }
  void allocate(std::uint64_t, std::uint64_t) override {}
  void sync() override {}
  std::size_t alignment_bytes() const noexcept override { return alignment; }
  std::string const& name() const noexcept override { return path; }

  void start(attempt work) noexcept override {
    ++started;
    if (at_once) return work.owner->attempt_ended(at_once(work));
    waiting.push_back(std::move(work));
  }
  bool withdraw(request const& owner) noexcept override {
    return std::erase_if(waiting, [&](attempt const& a) { return a.owner.get() == &owner; }) > 0;
  }

  /// Ends the oldest attempt; returns what it had asked for.
  attempt end(std::int64_t result) {
    attempt const work = std::move(waiting.front());
    waiting.pop_front();
    work.owner->attempt_ended(result);
    return work;
  }

  std::deque<attempt> waiting;
  std::function<std::int64_t(attempt const&)> at_once;
  std::size_t started = 0;
  std::uint64_t size = 1_MiB;
  std::size_t alignment = 1;
  std::string path = "manual";
};

struct request_logic : testing::Test {
  alignas(64) std::array<std::byte, 256> memory{};
  statistics counter;
  manual_file target;
};

TEST_F(request_logic, completes_with_the_bytes_moved) {
  auto const r = target.read(64, memory);
  EXPECT_FALSE(r->poll());
  auto const asked = target.end(256);
  EXPECT_EQ(asked.offset_bytes, 64U);
  EXPECT_EQ(asked.data, memory.data());
  EXPECT_EQ(asked.length_bytes, 256U);
  EXPECT_TRUE(r->poll());
  EXPECT_EQ(r->wait(), 256U);
  EXPECT_EQ(r->wait(), 256U) << "any number of times";
}

TEST_F(request_logic, continues_short_transfers_where_they_stopped) {
  auto const r = target.write(10, memory);
  target.end(100);
  EXPECT_FALSE(r->poll());
  auto const second = target.end(156);
  EXPECT_EQ(second.offset_bytes, 110U);
  EXPECT_EQ(second.data, memory.data() + 100);
  EXPECT_EQ(second.length_bytes, 156U);
  EXPECT_EQ(r->wait(), 256U);
}

TEST_F(request_logic, continues_short_direct_transfers_from_an_aligned_position) {
  target.alignment = 64;
  auto const r = target.read(64, memory);
  target.end(100);
  auto const second = target.end(192);
  EXPECT_EQ(second.offset_bytes, 128U);
  EXPECT_EQ(second.length_bytes, 192U);
  EXPECT_EQ(r->wait(), 256U);
}

TEST_F(request_logic, ends_a_read_at_the_end_of_the_file) {
  target.size = 100;
  auto const partly = target.read(0, memory);
  target.end(100);
  EXPECT_EQ(partly->wait(), 100U);
  auto const beyond = target.read(512, memory);
  target.end(0);
  EXPECT_EQ(beyond->wait(), 0U);
  EXPECT_TRUE(target.waiting.empty());
}

TEST_F(request_logic, a_direct_read_at_the_end_of_the_file_reports_all_its_bytes) {
  target.alignment = 64;
  target.size = 100;
  auto const r = target.read(0, memory);
  target.end(100);
  EXPECT_EQ(r->wait(), 100U);
}

TEST_F(request_logic, tries_again_after_interruptions) {
  auto const r = target.read(0, memory);
  target.end(-EINTR);
  target.end(50);
  target.end(-EAGAIN);
  auto const last = target.end(206);
  EXPECT_EQ(last.offset_bytes, 50U);
  EXPECT_EQ(last.owner->attempt_count(), 4U);
  EXPECT_EQ(r->wait(), 256U);
}

TEST_F(request_logic, gives_up_when_no_attempt_ever_moves_anything) {
  target.at_once = [](attempt const&) { return -EINTR; };
  EXPECT_EQ(target.read(0, memory)->wait_outcome().error_number, EINTR);
  target.alignment = 64;
  target.at_once = [](attempt const&) { return 63; };
  EXPECT_EQ(target.write(0, memory)->wait_outcome().error_number, EIO);
}

TEST_F(request_logic, has_patience_with_a_file_as_long_as_it_gets_on) {
  int calls = 0;
  target.at_once = [&](attempt const& work) -> std::int64_t {
    if (++calls % 3 != 0) return -EAGAIN;
    return std::min<std::int64_t>(32, static_cast<std::int64_t>(work.length_bytes));
  };
  EXPECT_EQ(target.read(0, memory)->wait(), 256U);
  EXPECT_EQ(calls, 3 * 8);
}

TEST_F(request_logic, reports_errors_with_all_there_is_to_know) {
  auto const r = target.write(64, memory);
  target.end(128);
  target.end(-ENOSPC);
  EXPECT_EQ(r->wait_outcome().bytes, 128U);
  try {
    r->wait();
    FAIL() << "did not throw";
  } catch (io_error const& error) {
    EXPECT_EQ(error.code().value(), ENOSPC);
    EXPECT_EQ(error.operation(), "write");
    EXPECT_EQ(error.path(), "manual");
    EXPECT_EQ(error.offset_bytes(), 64U);
    EXPECT_EQ(error.length_bytes(), 256U);
  }
}

TEST_F(request_logic, a_write_that_moves_nothing_is_an_error) {
  auto const r = target.write(0, memory);
  target.end(0);
  EXPECT_EQ(r->wait_outcome().error_number, EIO);
}

TEST_F(request_logic, small_pieces_at_once_do_not_recurse) {
  std::vector<std::byte> large(300'000);
  target.at_once = [](attempt const&) { return 1; };
  target.size = large.size() + 1;
  EXPECT_EQ(target.read(0, large)->wait(), large.size());
  EXPECT_EQ(target.started, large.size());
}

TEST_F(request_logic, asks_for_less_than_the_system_moves_at_once) {
  void* const place =
      ::mmap(nullptr, 3_GiB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  target.size = 4_GiB;
  target.at_once = [](attempt const& work) {
    EXPECT_LT(work.length_bytes, 2_GiB);
    return static_cast<std::int64_t>(work.length_bytes);
  };
  EXPECT_EQ(target.read(0, {static_cast<std::byte*>(place), 3_GiB})->wait(), 3_GiB);
  ::munmap(place, 3_GiB);
}

TEST_F(request_logic, calls_back_once_before_it_is_complete_and_then_drops_the_callback) {
  auto const held = std::make_shared<int>(0);
  auto const r = target.read(0, memory, [held](request const& self, outcome how) {
    ++*held;
    EXPECT_FALSE(self.poll());
    EXPECT_EQ(how.bytes, 256U);
    EXPECT_TRUE(how.ok());
  });
  EXPECT_EQ(held.use_count(), 2);
  target.end(100);
  EXPECT_EQ(*held, 0);
  target.end(156);
  EXPECT_EQ(*held, 1);
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(request_logic, a_callback_may_issue_the_next_request) {
  request_ptr second;
  auto const first = target.read(
      0, memory, [&](request const& self, outcome) { second = self.target().read(256, memory); });
  target.end(256);
  ASSERT_NE(second, nullptr);
  target.end(256);
  EXPECT_EQ(second->wait(), 256U);
}

TEST_F(request_logic, lives_without_its_issuer) {
  bool called = false;
  target.read(0, memory, [&](request const&, outcome) { called = true; });
  target.end(256);
  EXPECT_TRUE(called);
}

TEST_F(request_logic, cancel_takes_back_what_has_not_begun) {
  outcome seen;
  auto const r = target.read(0, memory, [&](request const&, outcome how) { seen = how; });
  EXPECT_TRUE(r->cancel());
  EXPECT_EQ(seen.error_number, ECANCELED);
  EXPECT_TRUE(r->poll());
  EXPECT_THROW(r->wait(), cancelled);
  EXPECT_FALSE(r->cancel()) << "it has completed";
}

TEST_F(request_logic, cancel_leaves_what_is_under_way) {
  auto const r = target.read(0, memory);
  attempt const begun = std::move(target.waiting.front());
  target.waiting.clear();
  EXPECT_FALSE(r->cancel());
  begun.owner->attempt_ended(256);
  EXPECT_EQ(r->wait(), 256U);
}

TEST_F(request_logic, wait_any_returns_a_completed_one) {
  std::array const requests{target.read(0, memory), target.read(0, memory), target.read(0, memory)};
  EXPECT_EQ(poll_any(requests), std::nullopt);
  std::thread ender([&] {
    attempt const second = target.waiting[1];
    second.owner->attempt_ended(-EIO);
  });
  EXPECT_EQ(wait_any(requests), 1U) << "whether or not it failed";
  ender.join();
  EXPECT_EQ(poll_any(requests), 1U);
  EXPECT_EQ(wait_any(requests), 1U);
  target.waiting.erase(target.waiting.begin() + 1);
  target.end(256);
  target.end(256);
}

TEST_F(request_logic, wait_all_waits_for_all_and_throws_the_first_error) {
  std::array const requests{target.read(0, memory), target.write(0, memory),
                            target.read(8, memory)};
  target.end(256);
  target.end(-ENOSPC);
  std::thread ender([&] { target.end(-EIO); });
  try {
    wait_all(requests);
    ADD_FAILURE() << "did not throw";
  } catch (io_error const& error) {
    EXPECT_EQ(error.code().value(), ENOSPC);
  }
  ender.join();
  EXPECT_TRUE(requests[2]->poll());
  wait_all({});
}

TEST_F(request_logic, counts_requests_bytes_and_waiting) {
  target.count_into(&counter);
  auto const read = target.read(0, memory);
  target.end(100);
  target.end(156);
  auto const write = target.write(0, memory);
  std::thread ender([&] { target.end(256); });
  read->wait();
  write->wait();
  ender.join();
  EXPECT_TRUE(target.read(0, memory)->cancel());
  auto const seen = counter.snapshot();
  EXPECT_EQ(seen.read_count, 1U) << "not one for each attempt, none for a cancelled one";
  EXPECT_EQ(seen.read_bytes, 256U);
  EXPECT_EQ(seen.write_count, 1U);
  EXPECT_GT(seen.write_time_ns, 0U);
}

TEST_F(request_logic, an_error_is_still_told_when_the_file_is_gone) {
  request_ptr r;
  {
    manual_file gone;
    gone.path = "gone";
    r = gone.read(0, memory);
    gone.end(-EIO);
  }
  try {
    r->wait();
    FAIL() << "did not throw";
  } catch (io_error const& error) {
    EXPECT_EQ(error.path(), "gone");
  }
}

}  // namespace
}  // namespace outsize::io
