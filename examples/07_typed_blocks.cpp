// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Blocks of doubles are filled, and written to two disks while the program does something else.
//
// The second example of the STXXL paper (Dementiev, Kettner, Sanders 2008, Listing 2): 32 blocks of
// one megabyte, spread over the disks. Its first example is 04_async_io.cpp.

#include <cstddef>
#include <filesystem>
#include <iostream>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/block_list.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/block/typed_block.hpp>

int main() {
  using namespace outsize;
  using block_type = block::typed_block<double>;
  std::filesystem::create_directories("disk0");
  std::filesystem::create_directories("disk1");
  storage store({.disks = {"disk0", "disk1"}, .memory_bytes = 40_MiB});
  grant memory = store.memory().take(33_MiB, "example");

  // On disk, in turn; freed with the list.
  block::block_list places(store, memory,
                           store.new_placement({.kind = block::placement_kind::striping}));
  for (int i = 0; i < 32; ++i) places.append(1_MiB);

  std::vector<buffer> buffers;  // aligned for direct I/O
  for (int i = 0; i < 32; ++i) {
    block_type const block(buffers.emplace_back(memory.allocate(1_MiB)).bytes());
    for (std::size_t j = 0; j < block.size(); ++j) block[j] = i + 1.0 / static_cast<double>(j + 1);
  }

  std::vector<io::request_ptr> requests;
  for (std::size_t i = 0; i < places.size(); ++i)
    requests.push_back(store.write(places[i], buffers[i].bytes()));
  double meanwhile = 0;  // overlaps with the writing
  for (buffer const& b : buffers) meanwhile += block_type(b.bytes())[0];
  io::wait_all(requests);  // throws if one failed

  block_type const last(buffers[0].bytes());
  store.read(places.back(), last.bytes())->wait();
  std::cout << "sum of the first items " << meanwhile << '\n'
            << "block 31 begins with " << last[0] << ", " << last[1] << ", " << last[3] << '\n'
            << "each disk has written " << format_bytes(store.disk_statistics(0).write_bytes)
            << '\n';
}
