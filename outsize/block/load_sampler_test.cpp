// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Every byte that disks moved while a sampler ran is in its series, and no other.

#include <outsize/block/load_sampler.hpp>

#include <gtest/gtest.h>

#include <cstddef>

#include <outsize/base/units.hpp>
#include <outsize/block/block_list.hpp>
#include <outsize/block/block_writer.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::block {
namespace {

storage_options in_memory() {
  storage_options options{.memory_bytes = 1_MiB, .threads = 1};
  options.disks.emplace_back("memory",
                             [](io::request_queue&) { return io::make_memory_file("memory"); });
  return options;
}

void write_blocks(storage& store, std::size_t count) {
  grant memory = store.memory().take(256_KiB, "test");
  block_list blocks(store, memory);
  block_writer out(blocks, memory, {.block_bytes = 4096, .buffer_count = 2});
  for (std::size_t i = 0; i < count; ++i) {
    out.buffer();
    out.write(4096);
  }
  out.finish();
}

TEST(load_sampler, sees_all_bytes_of_its_time) {
  storage store(in_memory());
  write_blocks(store, 3);
  io::load_series load;
  {
    load_sampler sampler(store, load);
    write_blocks(store, 5);
    EXPECT_EQ(sampler.finish().disk_bytes, 5 * 4096U);
    EXPECT_EQ(sampler.finish().file_bytes, 0U);
    write_blocks(store, 1);
  }
  double written = 0, read = 0;
  for (io::load_totals const& bin : load.bins()) {
    written += bin.written_bytes;
    read += bin.read_bytes;
  }
  EXPECT_NEAR(written, 5 * 4096, 1e-6);
  EXPECT_EQ(read, 0);
}

TEST(load_sampler, takes_the_time_of_processors_from_elsewhere) {
  storage store(in_memory());
  io::load_series load;
  double busy = 0;
  {
    load_sampler sampler(store, load, [&busy] { return ++busy; });
    sampler.finish();
  }
  double seconds = 0;
  for (io::load_totals const& bin : load.bins()) seconds += bin.cpu_seconds;
  EXPECT_NEAR(seconds, busy - 1, 1e-6);  // the first moment is where it begins
}

}  // namespace
}  // namespace outsize::block
