// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/presorted/copy_network.hpp>

#include <gtest/gtest.h>

#include <outsize/io/memory_file.hpp>

namespace outsize::detail {
namespace {

storage_options of_threads(std::size_t threads) {
  return {.disks = {{"memory", [](io::request_queue&) { return io::make_memory_file("memory"); }}},
          .memory_bytes = 1_MiB,
          .threads = threads};
}

TEST(copy_network, has_two_threads_to_four) {
  for (std::size_t const threads : {1U, 2U, 3U, 9U}) {
    storage store(of_threads(threads));
    EXPECT_EQ(copy_threads(store), std::min<std::size_t>(threads, 4));
    auto const options = copy_network(store, "copy", {.trace = true});
    EXPECT_EQ(options.threads, std::clamp<std::size_t>(threads, 2, 4));
    EXPECT_EQ(options.name, "copy");
    EXPECT_TRUE(options.trace);
    EXPECT_FALSE(options.errors_name_stages);
  }
}

}  // namespace
}  // namespace outsize::detail
