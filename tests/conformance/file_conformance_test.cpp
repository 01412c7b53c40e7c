// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What every io::file promises, held to on every back-end inside every decorator.
//
// Random tests print their seed on failure; OUTSIZE_TEST_SEED repeats one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <outsize/base/config.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/counting_file.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/decorators/simulated_file.hpp>
#include <outsize/io/decorators/throttled_file.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/io/simulation/flash_disk.hpp>
#include <outsize/io/simulation/rotating_disk.hpp>
#include <outsize/testing/loop_device.hpp>

namespace outsize::io {
namespace {

using namespace std::chrono_literals;

enum class place {
  uring_direct,
  uring_buffered,
  threads_direct,
  threads_buffered,
  mmap,
  uring_device,
  threads_device,
  mmap_device,
  memory
};
enum class wrapper {
  none,
  counting,
  short_transfers,
  delays,
  throttled,
  simulated,
  simulated_in_real_time
};

constexpr std::array place_names{"uring_direct",     "uring_buffered", "threads_direct",
                                 "threads_buffered", "mmap",           "uring_device",
                                 "threads_device",   "mmap_device",    "memory"};
constexpr std::array wrapper_names{"none",      "counting",  "short_transfers",       "delays",
                                   "throttled", "simulated", "simulated_in_real_time"};

std::uint64_t chosen_seed() {
  char const* const given = std::getenv("OUTSIZE_TEST_SEED");
  return given != nullptr ? std::stoull(given) : std::random_device{}();
}

backend backend_of(place where) {
  if (where == place::mmap || where == place::mmap_device) return backend::mmap;
  bool const uring = where == place::uring_direct || where == place::uring_buffered ||
                     where == place::uring_device;
  return uring ? backend::uring : backend::threads;
}

bool is_device(place where) {
  return where == place::uring_device || where == place::threads_device ||
         where == place::mmap_device;
}

/// A queue of `where`, or none for memory and where the kernel has no such queue.
std::unique_ptr<request_queue> make_queue(place where) {
  auto const kind = backend_of(where);
  if (where == place::memory || (kind == backend::uring && !has_uring)) return nullptr;
  try {
    return make_request_queue(kind, 4);
  } catch (io_error const&) {
    return nullptr;
  }
}

file_ptr make_plain_file(place where, request_queue* queue, scratch::loop_device const* device) {
  if (where == place::memory) return make_memory_file("memory", UINT64_MAX, {.own_thread = true});
  if (device != nullptr) return open_file(device->path(), *queue, {.mode = access::read_write});
  bool const direct = where == place::uring_direct || where == place::threads_direct;
  return make_temporary_file(testing::TempDir(), *queue, direct);
}

file_ptr on_simulated_disk(file_ptr inner, std::unique_ptr<disk_model> model, disk_pace pace) {
  return std::make_unique<simulated_file>(std::move(inner),
                                          std::make_shared<simulated_disk>(std::move(model), pace));
}

file_ptr wrap(file_ptr inner, wrapper how, std::uint64_t seed) {
  switch (how) {
    case wrapper::none:
      return inner;
    case wrapper::counting:
      return std::make_unique<counting_file>(std::move(inner));
    case wrapper::short_transfers: {
      fault_odds const odds{.seed = seed, .interrupt = 0.2, .shorten = 0.5};
      return std::make_unique<faulty_file>(std::move(inner), std::make_shared<fault_plan>(odds));
    }
    case wrapper::delays: {
      fault_odds const odds{.seed = seed, .hold = 0.5, .max_delay = 300us};
      return std::make_unique<faulty_file>(std::move(inner), std::make_shared<fault_plan>(odds));
    }
    case wrapper::throttled:
      return std::make_unique<throttled_file>(std::move(inner),
                                              throttle{.bytes_per_second = 1_GiB, .latency = 20us});
    case wrapper::simulated:
      return on_simulated_disk(std::move(inner), std::make_unique<rotating_disk>(),
                               disk_pace::no_waiting);
    case wrapper::simulated_in_real_time:
      return on_simulated_disk(std::move(inner), std::make_unique<flash_disk>(),
                               disk_pace::real_time);
  }
  return nullptr;
}

class file_conformance : public testing::TestWithParam<std::tuple<place, wrapper>> {
 protected:
  void SetUp() override {
    auto const [where, how] = GetParam();
    queue_ = make_queue(where);
    if (!queue_ && where != place::memory) GTEST_SKIP() << "no such queue here";
    if (is_device(where)) {
      device_ = std::make_unique<scratch::loop_device>(1_MiB);
      if (!device_->refusal().empty()) GTEST_SKIP() << device_->refusal();
    }
    target_ = wrap(make_plain_file(where, queue_.get(), device_.get()), how, seed_);
    unit_ = target_->alignment_bytes();
    first_size_ = target_->size_bytes();
  }

  /// The size that the file must have after writes up to `end_bytes`: a device has all its bytes
  /// from the beginning.
  std::uint64_t size_after(std::uint64_t end_bytes) const {
    return std::max(first_size_, end_bytes);
  }

  /// Aligned memory, filled with one value.
  std::span<std::byte> filled(std::size_t bytes, int value) {
    buffers_.push_back(grant_.allocate(bytes));
    auto const place = buffers_.back().bytes().first(bytes);
    std::ranges::fill(place, static_cast<std::byte>(value));
    return place;
  }

  /// `count` requests that do not overlap: neighbours of `length` bytes.
  std::vector<request_ptr> write_side_by_side(std::size_t count, std::size_t length,
                                              completion const& done = {}) {
    std::vector<request_ptr> requests;
    for (std::size_t i = 0; i < count; ++i)
      requests.push_back(target_->write(i * length, filled(length, static_cast<int>(i) + 1), done));
    return requests;
  }

  std::uint64_t const seed_ = chosen_seed();
  testing::ScopedTrace const trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
  memory_budget budget_{64_MiB};
  grant grant_ = budget_.take(64_MiB, "test");
  std::vector<buffer> buffers_;  // the memory of requests outlives the file
  std::unique_ptr<scratch::loop_device> device_;
  std::unique_ptr<request_queue> queue_;
  file_ptr target_;
  std::size_t unit_ = 1;
  std::uint64_t first_size_ = 0;
};

TEST_P(file_conformance, random_extents_read_back_as_written) {
  std::mt19937_64 random(seed_);
  std::size_t const max_length = 24 * std::max<std::size_t>(unit_, 64);
  std::size_t const slots = 6;
  std::vector<std::byte> model(first_size_);
  auto const into = filled(max_length, 0);
  for (int round = 0; round < 25; ++round) {
    std::vector<request_ptr> writes;
    buffers_.resize(1);
    for (std::size_t slot = 0; slot < slots; ++slot) {
      std::size_t const begin = round_down(random() % (max_length / 2), unit_);
      std::size_t const length = round_down(random() % (max_length / 2 + 1), unit_);
      std::size_t const offset = slot * max_length + begin;
      auto const from = filled(std::max(length, unit_), static_cast<int>(random() % 256));
      writes.push_back(target_->write(offset, from.first(length)));
      if (length == 0) continue;
      model.resize(std::max(model.size(), offset + length));
      std::copy_n(from.begin(), length, model.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    wait_all(writes);
    ASSERT_EQ(target_->size_bytes(), model.size());

    std::size_t const offset = round_down(random() % (model.size() + max_length), unit_);
    std::size_t const length = round_down(random() % (max_length + 1), unit_);
    std::size_t const there = std::min(length, model.size() - std::min(model.size(), offset));
    auto const reading = round % 2 == 0 ? target_->read(offset, into.first(length))
                                        : target_->read_now(offset, into.first(length));
    ASSERT_EQ(reading->wait(), there);
    if (there == 0) continue;
    auto const expected = model.begin() + static_cast<std::ptrdiff_t>(offset);
    ASSERT_TRUE(
        std::equal(into.begin(), into.begin() + static_cast<std::ptrdiff_t>(there), expected))
        << "at " << offset << ", " << there << " bytes, round " << round;
  }
}

TEST_P(file_conformance, reads_end_where_the_file_ends) {
  if (device_) GTEST_SKIP() << "a device keeps its length";
  auto const bytes = filled(4 * unit_, 1);
  target_->write(0, bytes)->wait();
  target_->resize(3 * unit_ + unit_ / 2);
  EXPECT_EQ(target_->read(0, bytes)->wait(), 3 * unit_ + unit_ / 2);
  EXPECT_EQ(target_->read(3 * unit_, bytes)->wait(), unit_ / 2);
  EXPECT_EQ(target_->read(4 * unit_, bytes)->wait(), 0U);
  EXPECT_EQ(target_->read(400 * unit_, bytes)->wait(), 0U);
  EXPECT_EQ(target_->read_now(0, bytes)->wait(), 3 * unit_ + unit_ / 2);
  EXPECT_EQ(target_->read_now(400 * unit_, bytes)->wait(), 0U);
}

TEST_P(file_conformance, resize_cuts_and_extends_with_zeros) {
  if (device_) GTEST_SKIP() << "a device keeps its length";
  EXPECT_EQ(target_->size_bytes(), 0U);
  target_->write(0, filled(4 * unit_, 1))->wait();
  target_->resize(2 * unit_);
  EXPECT_EQ(target_->size_bytes(), 2 * unit_);
  target_->resize(4 * unit_);
  auto const into = filled(4 * unit_, 9);
  EXPECT_EQ(target_->read(0, into)->wait(), 4 * unit_);
  EXPECT_TRUE(std::ranges::all_of(into.first(2 * unit_), [](auto b) { return b == std::byte{1}; }));
  EXPECT_TRUE(std::ranges::all_of(into.last(2 * unit_), [](auto b) { return b == std::byte{0}; }));
}

TEST_P(file_conformance, what_was_written_is_there_after_sync) {
  target_->write(0, filled(2 * unit_, 3))->wait();
  target_->sync();
  auto const into = filled(2 * unit_, 9);
  EXPECT_EQ(target_->read(0, into)->wait(), 2 * unit_);
  EXPECT_EQ(into.back(), std::byte{3});
}

TEST_P(file_conformance, allocated_space_can_be_written) {
  target_->allocate(0, 8 * unit_);
  target_->write(4 * unit_, filled(2 * unit_, 5))->wait();
  EXPECT_GE(target_->size_bytes(), 6 * unit_);
  auto const into = filled(unit_, 9);
  target_->read(5 * unit_, into)->wait();
  EXPECT_EQ(into.front(), std::byte{5});
}

TEST_P(file_conformance, each_callback_runs_once_with_the_outcome_of_its_request) {
  std::size_t const length = 4 * unit_;
  std::atomic<std::uint64_t> offsets{0};
  std::atomic<int> calls{0};
  auto const requests = write_side_by_side(20, length, [&](request const& r, outcome how) {
    ++calls;
    offsets += r.offset_bytes();
    EXPECT_TRUE(how.ok());
    EXPECT_EQ(how.bytes, length);
  });
  for (auto const& r : requests) r->wait();
  EXPECT_EQ(calls, 20) << "all before their waiters woke";
  EXPECT_EQ(offsets, length * 190);
}

TEST_P(file_conformance, wait_any_and_poll_any_find_every_request_once) {
  auto requests = write_side_by_side(20, unit_);
  std::size_t found = 0;
  for (; !requests.empty(); ++found) {
    auto const ready = found % 2 == 0 ? wait_any(requests) : poll_any(requests).value_or(0);
    EXPECT_EQ(requests[ready]->wait(), unit_);
    requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(ready));
  }
  EXPECT_EQ(found, 20U);
  EXPECT_EQ(target_->size_bytes(), size_after(20 * unit_));
}

TEST_P(file_conformance, an_error_reaches_waiter_and_callback_and_nobody_else) {
  auto const plan = std::make_shared<fault_plan>();
  target_ = std::make_unique<faulty_file>(std::move(target_), plan);
  std::atomic<int> failures{0};
  auto const note = [&](request const&, outcome how) {
    if (how.error_number == ENOSPC) ++failures;
  };
  std::vector<request_ptr> requests;
  for (std::size_t i = 0; i < 8; ++i) {
    // By the calls so far: a request may take several attempts.
    if (i == 3)
      plan->script(fault_point::write, plan->calls(fault_point::write), fault::fail(ENOSPC));
    requests.push_back(target_->write(i * unit_, filled(unit_, 1), note));
    EXPECT_EQ(requests.back()->wait_outcome().ok(), i != 3);
  }
  try {
    wait_all(requests);
    FAIL() << "did not throw";
  } catch (io_error const& error) {
    EXPECT_EQ(error.code().value(), ENOSPC);
    EXPECT_EQ(error.path(), target_->name());
    EXPECT_EQ(error.operation(), "write");
    EXPECT_EQ(error.offset_bytes(), 3 * unit_);
    EXPECT_EQ(error.length_bytes(), unit_);
  }
  EXPECT_EQ(failures, 1);
}

TEST_P(file_conformance, what_is_cancelled_is_not_done_and_the_rest_is) {
  auto const plan = std::make_shared<fault_plan>();
  plan->script(fault_point::write, 0, fault::hold(1h));
  target_ = std::make_unique<faulty_file>(std::move(target_), plan);
  auto const held = target_->write(10 * unit_, filled(unit_, 1));
  auto const free = target_->write(0, filled(unit_, 2));
  EXPECT_TRUE(held->cancel());
  EXPECT_EQ(free->wait(), unit_);
  EXPECT_FALSE(free->cancel());
  EXPECT_THROW(held->wait(), cancelled);
  EXPECT_EQ(target_->size_bytes(), size_after(unit_));
}

TEST_P(file_conformance, a_cancelled_request_either_did_not_run_or_completed) {
  auto const requests = write_side_by_side(20, unit_);
  std::vector<bool> taken_back;
  for (auto const& r : requests) taken_back.push_back(r->cancel());
  for (std::size_t i = 0; i < requests.size(); ++i)
    EXPECT_EQ(requests[i]->wait_outcome().error_number, taken_back[i] ? ECANCELED : 0);
}

TEST_P(file_conformance, statistics_of_a_phase_are_a_difference_of_snapshots) {
  statistics counter;
  target_->count_into(&counter);
  wait_all(write_side_by_side(3, unit_));
  auto const before = counter.snapshot();
  wait_all(write_side_by_side(5, 2 * unit_));
  target_->read(0, filled(unit_, 0))->wait();
  auto const phase = counter.snapshot() - before;
  EXPECT_EQ(phase.write_count, 5U);
  EXPECT_EQ(phase.write_bytes, 10 * unit_);
  EXPECT_EQ(phase.read_count, 1U);
  EXPECT_EQ(phase.read_bytes, unit_);
  EXPECT_GT(phase.write_time_ns, 0U);
  target_->count_into(nullptr);
}

TEST_P(file_conformance, many_threads_may_issue_and_wait_at_once) {
  constexpr std::size_t per_thread = 30;
  std::size_t const length = 2 * unit_;
  std::vector<std::span<std::byte>> memory;
  for (int t = 0; t < 4; ++t) memory.push_back(filled(per_thread * length, t + 1));
  auto const into = filled(4 * per_thread * length, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<request_ptr> requests;
      for (std::size_t i = 0; i < per_thread; ++i)
        requests.push_back(
            target_->write((i * 4 + t) * length, memory[t].subspan(i * length, length)));
      wait_all(requests);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(target_->read(0, into)->wait(), into.size());
  for (std::size_t i = 0; i < into.size(); ++i)
    ASSERT_EQ(into[i], static_cast<std::byte>(i / length % 4 + 1)) << "byte " << i;
}

TEST_P(file_conformance, callbacks_may_keep_a_chain_of_requests_going) {
  auto const memory = filled(unit_, 7);
  std::atomic<int> left{30};
  completion next = [&](request const& r, outcome) {
    if (--left > 0) target_->write(r.offset_bytes() + unit_, memory, next);
  };
  auto const first = target_->write(0, memory, next);
  first->wait();
  while (left > 0) std::this_thread::yield();
  EXPECT_EQ(target_->size_bytes(), size_after(30 * unit_));
}

TEST_P(file_conformance, destruction_waits_for_requests_under_way) {
  std::atomic<int> calls{0};
  auto const requests =
      write_side_by_side(20, 2 * unit_, [&](request const&, outcome) { ++calls; });
  target_.reset();
  EXPECT_EQ(calls, 20);
  for (auto const& r : requests) EXPECT_EQ(r->wait(), 2 * unit_) << "still tells how it ended";
}

INSTANTIATE_TEST_SUITE_P(
    all, file_conformance,
    testing::Combine(testing::Values(place::uring_direct, place::uring_buffered,
                                     place::threads_direct, place::threads_buffered, place::mmap,
                                     place::uring_device, place::threads_device, place::mmap_device,
                                     place::memory),
                     testing::Values(wrapper::none, wrapper::counting, wrapper::short_transfers,
                                     wrapper::delays, wrapper::throttled, wrapper::simulated,
                                     wrapper::simulated_in_real_time)),
    [](auto const& tested) {
      return std::string(place_names[static_cast<std::size_t>(std::get<0>(tested.param))]) + "_" +
             wrapper_names[static_cast<std::size_t>(std::get<1>(tested.param))];
    });

}  // namespace
}  // namespace outsize::io
