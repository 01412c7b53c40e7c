// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Random graphs with little memory: run, compared with their models, and made anew with more memory
// only if that was too little. Layer: testing.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/pipeline/network.hpp>

namespace outsize::models {

inline storage_options little_storage(std::size_t threads, std::uint64_t memory_bytes) {
  return {.disks = {disk_options(
              "memory", [](io::request_queue&) { return io::make_memory_file("memory", 1_GiB); })},
          .memory_bytes = memory_bytes,
          .threads = threads};
}

/// Runs what has grown, and checks it. Returns whether the memory was enough.
template <typename Grown>
bool has_enough(Grown& r) {
  try {
    r.all().run();
    r.check();
    return true;
  } catch (budget_error const&) {
    return false;
  } catch (pipeline::stage_error const& e) {
    EXPECT_THROW(e.rethrow_nested(), budget_error) << e.what();
    return false;
  }
}

/// Has `make(store, seed)` make something that grow()s by chance, has a graph all(), and can
/// check() its results, for each seed.
template <typename Make>
void try_all(std::uint64_t first_seed, std::size_t count, Make const& make) {
  auto const is_enough = [&make](std::uint64_t seed, std::uint64_t memory_bytes) {
    storage store(little_storage(std::array{1U, 2U, 8U}[seed % 3], memory_bytes));
    bool enough = false;
    {
      auto r = make(store, seed);
      r.grow();
      SCOPED_TRACE(r.all().explain());
      enough = has_enough(r);
    }
    EXPECT_EQ(store.allocated_bytes(), 0U);
    return enough;
  };
  for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    SCOPED_TRACE(seed);
    std::uint64_t memory_bytes = 1_MiB << (seed % 5);
    while (!is_enough(seed, memory_bytes)) {
      ASSERT_LT(memory_bytes, 64_MiB);
      memory_bytes *= 2;
    }
  }
}

}  // namespace outsize::models
