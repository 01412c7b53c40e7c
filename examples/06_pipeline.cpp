// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A pipeline of plain functions that the library runs at once, each on a buffer of its own.
//
// Figure 1 of the FG paper (Cormen, Davidson 2004): buffers are read, sorted, exchanged with other
// processors (here: with ourselves), permuted and written. 06_pipeline_by_hand.cpp does the same
// with threads.

#include <cstdint>
#include <iostream>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/pipeline/file_stages.hpp>
#include <outsize/pipeline/item_stages.hpp>

namespace {

using namespace outsize;
using namespace outsize::pipeline;
using item = std::uint32_t;

constexpr std::size_t buffer_bytes = 64_KiB, rounds = 32;

/// Fills a file with numbers that are not in order.
void make_input(io::file& file, memory_budget& memory) {
  network make(memory);
  make.buffers({.buffer_bytes = buffer_bytes, .rounds = rounds}) |
      stage("generate",
            [next = item{1}](pooled_buffer& b) mutable {
              b.resize(b.capacity_bytes());
              for (item& i : b.as<item>()) i = next = next * 1664525 + 1013904223;
            }) |
      write_to(file);
  make.run();
}

}  // namespace

int main() {
  storage store({.disks = {"."}, .memory_bytes = 4_MiB, .threads = 2});
  auto const in = io::make_temporary_file(".", store.file_queue());
  auto const out = io::make_temporary_file(".", store.file_queue());
  make_input(*in, store.memory());

  std::uint64_t exchanged = 0;
  network n(store.memory(), {.name = "figure 1"});
  n.buffers({.buffer_bytes = buffer_bytes, .count = 6}) |
      read_from(*in, {0, rounds * buffer_bytes}) | sort_items<item>() |
      stage("communicate", [&](pooled_buffer& b) { exchanged += b.size_bytes(); }) |
      permute_items<item>([](std::size_t i, std::size_t count) { return count - 1 - i; }) |
      write_to(*out);
  n.run();
  std::cout << "exchanged " << exchanged << " bytes\n";
}
