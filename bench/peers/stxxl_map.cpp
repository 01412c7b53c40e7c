// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The benchmarks of maps with stxxl::map of STXXL 1.4.1, as a peer; called as map_program.hpp says.
//
// Nodes and leaves have 32 KiB, and are filled completely when they are built in bulk, as in
// section 5.5 of the STXXL paper. A sixteenth of the memory is the cache of nodes, the rest that of
// leaves. The disk is opened for direct I/O by system calls: as fast here as the kernel's
// asynchronous interface, with which STXXL loses 350 bytes of memory with each request.
//
// The map cannot be opened again, so it is filled by the same process, and its caches cannot be
// emptied: a scan of a few entries more than they hold writes back what is left of filling. Nor can
// it be flushed: what is in its caches in the end is not written.

#include <cstdint>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <stxxl/bits/config.h>
#include <stxxl/io>
#include <stxxl/map>
#include <stxxl/mng>
#include <stxxl/stats>

#include "../programs/map_program.hpp"

namespace map_workload {

/// STXXL can print what it stores.
std::ostream& operator<<(std::ostream& out, value const& v) { return out << v.words[0] << "..."; }

}  // namespace map_workload

namespace {

using namespace map_workload;

struct less {
  bool operator()(std::uint64_t a, std::uint64_t b) const { return a < b; }
  static std::uint64_t max_value() { return std::numeric_limits<std::uint64_t>::max(); }
};

constexpr unsigned node_bytes = 32U << 10;
using tree = stxxl::map<std::uint64_t, value, less, node_bytes, node_bytes>;

/// The sorted entries as the input iterators that STXXL builds a map from.
class input {
 public:
  input() = default;
  explicit input(sorted_entries const& from) : at_(std::make_shared<entry_cursor>(from)) { take(); }
  std::pair<std::uint64_t, value> const& operator*() const { return now_; }
  std::pair<std::uint64_t, value> const* operator->() const { return &now_; }
  input& operator++() {
    ++*at_;
    take();
    return *this;
  }
  input operator++(int) {
    input const before = *this;
    ++*this;
    return before;
  }
  bool operator!=(input const&) const { return !at_->done(); }

 private:
  void take() {
    if (!at_->done()) now_ = {(*at_)->key, (*at_)->data};
  }

  std::shared_ptr<entry_cursor> at_;
  std::pair<std::uint64_t, value> now_;
};

class stxxl_map {
 public:
  explicit stxxl_map(job const& work) : memory_bytes_(work.memory_bytes) {
    stxxl::disk_config where(work.directory + "/stxxl.disk", 0, "syscall");
    where.autogrow = true;
    where.unlink_on_open = true;
    where.direct = stxxl::disk_config::DIRECT_ON;
    stxxl::config::get_instance()->add_disk(where);
    if (work.is_bulk()) return;
    bulk(sorted_entries(work.load, ""));
    digest ignored;
    scan(ignored, memory_bytes_ / sizeof(entry) * 5 / 4);
  }

  void bulk(sorted_entries const& from) {
    std::uint64_t const for_nodes = memory_bytes_ / 16;
    map_ = std::make_unique<tree>(input(from), input(), for_nodes, memory_bytes_ - for_nodes, true,
                                  1.0, 1.0);
    map_->enable_prefetching();
  }
  void insert(entry const& e) { map_->insert({e.key, e.data}); }
  void insert_many(std::vector<entry>& entries) { insert_sorted(*this, entries); }
  void erase(std::uint64_t key) { map_->erase(key); }
  void erase_many(std::vector<std::uint64_t>& keys) { erase_sorted(*this, keys); }
  bool find(std::uint64_t key, value& v) {
    auto const& map = *map_;
    tree::const_iterator at = map.find(key);
    if (at == map.end()) return false;
    v = at->second;
    return true;
  }
  void find_many(std::vector<std::uint64_t>& keys, digest& found) {
    find_sorted(*this, keys, found);
  }
  void scan(digest& all) { scan(all, std::numeric_limits<std::uint64_t>::max()); }
  void flush() {}

  static io_counters counters() {
    stxxl::stats_data const now(*stxxl::stats::get_instance());
    return {now.get_io_wait_time(), static_cast<std::uint64_t>(now.get_read_volume()),
            static_cast<std::uint64_t>(now.get_written_volume())};
  }
  static std::string version() { return STXXL_VERSION_STRING " " STXXL_VERSION_PHASE; }

 private:
  void scan(digest& all, std::uint64_t most) {
    auto const& map = *map_;
    tree::const_iterator const end = map.end();
    for (tree::const_iterator at = map.begin(); at != end && all.count < most; ++at)
      all.add(at->first, at->second);
  }

  std::uint64_t memory_bytes_;
  std::unique_ptr<tree> map_;
};

}  // namespace

int main(int argc, char** argv) { return map_workload::main_of<stxxl_map>(argc, argv); }
