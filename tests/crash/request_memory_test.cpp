// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Requests that are issued when there is no memory: whichever allocation fails, a request is not
// made, or it moves its bytes.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/throttled_file.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/io/request.hpp>
#include <outsize/io/request_queue.hpp>
#include <outsize/testing/scratch_directory.hpp>

#include "scarce_memory.hpp"

namespace outsize::io {
namespace {

constexpr std::size_t block_bytes = 4096;
constexpr std::size_t blocks =
    3000;  // more than what a queue has noted fits in one piece of memory

TEST(requests_without_memory, move_their_bytes_or_are_not_made) {
  memory_budget budget(64_MiB);
  grant memory = budget.take(64_MiB, "test");
  buffer const content = memory.allocate(blocks * block_bytes);
  buffer const found = memory.allocate(blocks * block_bytes);
  for (backend const how : {backend::automatic, backend::threads, backend::mmap}) {
    scratch::directory folder;
    auto const queue = make_request_queue(how, 4);
    auto const file = make_temporary_file(folder.path(), *queue, false);
    file->resize(blocks * block_bytes);
    std::vector<request_ptr> writes(blocks);
    std::size_t refusals = 0;
    for (std::size_t i = 0; i < blocks; ++i) {
      auto const block = content.bytes().subspan(i * block_bytes, block_bytes);
      std::ranges::fill(block, static_cast<std::byte>(i));
      auto const write = [&] { writes[i] = file->write(i * block_bytes, block); };
      for (std::uint64_t some = 0; !crash::done_with_allocations(some, write); ++some) ++refusals;
    }
    for (auto const& each : writes) each->wait();
    EXPECT_GE(refusals, blocks) << queue->name();
    file->read(0, found.bytes())->wait();
    EXPECT_TRUE(std::ranges::equal(found.bytes(), content.bytes())) << queue->name();
  }
}

TEST(delayed_requests_without_memory, move_their_bytes_at_once) {
  auto const file = std::make_unique<throttled_file>(make_memory_file("memory"),
                                                     throttle{.bytes_per_second = 1'000'000'000});
  std::array<std::byte, 64> bytes{};
  file->resize(bytes.size());
  int refusals = 0;
  request_ptr write;
  auto const issue = [&] { write = file->write(0, bytes); };
  for (std::uint64_t some = 0; !crash::done_with_allocations(some, issue); ++some) ++refusals;
  EXPECT_EQ(write->wait(), bytes.size());
  EXPECT_GE(refusals, 1);
}

}  // namespace
}  // namespace outsize::io
