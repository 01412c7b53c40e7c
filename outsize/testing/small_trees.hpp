// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// B+-trees of numbers with pages so short that a few hundred entries make several levels, on a disk
// in memory. One thread at a time. Layer: testing.

#include <cstdint>
#include <functional>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/detail/tree/btree.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::scratch {

using tree = detail::btree<std::uint64_t, std::uint64_t, std::less<>>;

struct small_trees {
  storage store{{.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 1_GiB);
                                        })},
                 .memory_bytes = 4_MiB,
                 .threads = 1}};

  /// One of leaves of 13 entries, and nodes of 13 children.
  tree make(bool is_unique) {
    map_options const options{
        .leaf_bytes = 128, .node_bytes = 224, .leaf_cache_bytes = 1, .node_cache_bytes = 1};
    return {
        detail::tree_pages::on_disks(store, tree::layout({"set", {8}}), options), {}, is_unique};
  }
};

}  // namespace outsize::scratch
