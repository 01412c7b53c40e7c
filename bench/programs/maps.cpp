// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The benchmarks of maps with outsize::map, kept in a file; called as map_program.hpp says.
//
// Of the memory, three quarters are a cache of leaves and a sixteenth one of nodes; the rest is for
// what is read ahead and written behind, and for the index of pages. Where there are to be
// insertions leaves are filled to 95 %, so that they have room.

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/map.hpp>

#include "map_program.hpp"

namespace {

using namespace map_workload;
using outsize::io::access;

/// The entries as a range, computed as they are asked for.
class entry_range {
 public:
  using item = outsize::map_item<std::uint64_t, value>;

  class iterator {
   public:
    using value_type = item;
    using difference_type = std::ptrdiff_t;
    explicit iterator(entry_cursor& at) : at_(&at) {}
    item operator*() const { return {(*at_)->key, (*at_)->data}; }
    iterator& operator++() {
      ++*at_;
      return *this;
    }
    void operator++(int) { ++*at_; }
    friend bool operator==(iterator const& i, std::default_sentinel_t) { return i.at_->done(); }

   private:
    entry_cursor* at_;
  };

  explicit entry_range(sorted_entries const& from) : at_(from) {}
  iterator begin() { return iterator(at_); }
  static std::default_sentinel_t end() { return {}; }

 private:
  entry_cursor at_;
};

class our_map {
  using map = outsize::map<std::uint64_t, value>;
  using item = map::value_type;
  static_assert(sizeof(item) == sizeof(entry));

 public:
  explicit our_map(job const& work)
      : work_(work),
        store_({.disks = {outsize::disk_options(work.directory)},
                .memory_bytes = work.memory_bytes,
                .threads = work.threads}) {
    std::string const path = work.directory + "/map";
    outsize::map_options const options{.leaf_cache_bytes = work.memory_bytes / 16 * 12,
                                       .node_cache_bytes = work.memory_bytes / 16};
    if (std::filesystem::exists(path))
      map_.emplace(map::open(path, store_, access::read_write, options));
    else
      map_.emplace(map::create(path, store_, options));
  }

  void bulk(sorted_entries const& from) {
    if (work_.is_bulk())
      map_->build_sorted(outsize::items<item>(work_.input));
    else
      map_->build_sorted(entry_range(from), work_.leaves_room() ? 0.95 : 1.0);
  }
  void insert(entry const& e) { map_->insert(item_of(e)); }
  void insert_many(std::vector<entry>& entries) {
    std::vector<item> items(entries.size());
    std::ranges::transform(entries, items.begin(), item_of);
    map_->insert_many(items);
  }
  void erase(std::uint64_t key) { map_->erase(key); }
  void erase_many(std::vector<std::uint64_t>& keys) {
    map_->erase_many(std::span<std::uint64_t const>(keys));
  }
  bool find(std::uint64_t key, value& v) {
    auto const found = std::as_const(*map_).get(key);
    if (found) v = *found;
    return found.has_value();
  }
  void find_many(std::vector<std::uint64_t>& keys, digest& found) {
    map_->find_many(std::span<std::uint64_t const>(keys),
                    [&](std::size_t, item const& one) { found.add(one.first, one.second); });
  }
  void scan(digest& all) {
    for (auto const& [key, v] : map_->forward()) all.add(key, v);
  }
  void flush() { map_->flush(); }
  io_counters counters() {
    auto const all = store_.total_statistics();
    return {static_cast<double>(all.wait_ns) * 1e-9, all.read_bytes, all.write_bytes};
  }
  static std::string version() { return "this"; }

 private:
  static item item_of(entry const& e) { return {e.key, e.data}; }

  job work_;
  outsize::storage store_;
  std::optional<map> map_;
};

}  // namespace

int main(int argc, char** argv) { return map_workload::main_of<our_map>(argc, argv); }
