// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The benchmarks of maps with LMDB, as a peer; called as map_program.hpp says.
//
// Its cache is the page cache, which the memory group limits. Keys are its own integers. Sorted
// entries are appended; nothing is synced before flush(). A transaction is committed when the pages
// that it may have changed take a quarter of the memory. Random lookups are without readahead, as
// its documentation advises for what is larger than the memory; scans are with it.

#include <lmdb.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../programs/map_program.hpp"

namespace {

using namespace map_workload;

constexpr std::uint64_t page_bytes = 4096;

void check(int code) {
  if (code != MDB_SUCCESS) throw std::runtime_error(mdb_strerror(code));
}

class lmdb_map {
 public:
  explicit lmdb_map(job const& work)
      : changes_of_transaction_(std::max<std::uint64_t>(16, work.memory_bytes / 4 / page_bytes)) {
    bool const in_order = work.is_fill() || work.is_bulk() || work.is_scan() || work.is_at_once();
    unsigned const flags = MDB_NOSYNC | (in_order ? 0U : MDB_NORDAHEAD);
    check(mdb_env_create(&environment_));
    check(mdb_env_set_mapsize(environment_, work.load.count() * sizeof(entry) * 4 + (64U << 20)));
    check(mdb_env_open(environment_, work.directory.c_str(), flags, 0644));
    begin();
    check(mdb_dbi_open(transaction_, nullptr, MDB_CREATE | MDB_INTEGERKEY, &map_));
  }
  lmdb_map(lmdb_map const&) = delete;
  lmdb_map& operator=(lmdb_map const&) = delete;
  ~lmdb_map() {
    mdb_txn_abort(transaction_);
    mdb_env_close(environment_);
  }

  void bulk(sorted_entries const& from) {
    MDB_cursor* cursor = nullptr;
    std::uint64_t const entries = changes_of_transaction_ * (page_bytes / sizeof(entry));
    for (entry_cursor at(from); !at.done(); commit()) {
      check(mdb_cursor_open(transaction_, map_, &cursor));
      for (std::uint64_t i = 0; i < entries && !at.done(); ++i, ++at) {
        entry e = *at;
        MDB_val key{sizeof e.key, &e.key}, data{sizeof e.data, &e.data};
        check(mdb_cursor_put(cursor, &key, &data, MDB_APPEND));
      }
      mdb_cursor_close(cursor);
    }
  }
  void insert(entry const& e) {
    entry copy = e;
    MDB_val key{sizeof copy.key, &copy.key}, data{sizeof copy.data, &copy.data};
    check(mdb_put(transaction_, map_, &key, &data, MDB_NOOVERWRITE));
    count_change();
  }
  void insert_many(std::vector<entry>& entries) { insert_sorted(*this, entries); }
  void erase(std::uint64_t k) {
    MDB_val key{sizeof k, &k};
    check(mdb_del(transaction_, map_, &key, nullptr));
    count_change();
  }
  void erase_many(std::vector<std::uint64_t>& keys) { erase_sorted(*this, keys); }
  bool find(std::uint64_t k, value& v) {
    MDB_val key{sizeof k, &k}, data{};
    int const code = mdb_get(transaction_, map_, &key, &data);
    if (code == MDB_NOTFOUND) return false;
    check(code);
    std::memcpy(&v, data.mv_data, sizeof v);
    return true;
  }
  void find_many(std::vector<std::uint64_t>& keys, digest& found) {
    find_sorted(*this, keys, found);
  }
  void scan(digest& all) {
    MDB_cursor* cursor = nullptr;
    check(mdb_cursor_open(transaction_, map_, &cursor));
    MDB_val key{}, data{};
    int code = 0;
    while ((code = mdb_cursor_get(cursor, &key, &data, MDB_NEXT)) == MDB_SUCCESS) {
      entry e{};
      std::memcpy(&e.key, key.mv_data, sizeof e.key);
      std::memcpy(&e.data, data.mv_data, sizeof e.data);
      all.add(e);
    }
    mdb_cursor_close(cursor);
    if (code != MDB_NOTFOUND) check(code);
  }
  void flush() {
    commit();
    check(mdb_env_sync(environment_, 1));
  }

  static io_counters counters() { return process_counters(); }
  static std::string version() {
    int major = 0, minor = 0, patch = 0;
    mdb_version(&major, &minor, &patch);
    return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
  }

 private:
  void begin() { check(mdb_txn_begin(environment_, nullptr, 0, &transaction_)); }
  void commit() {
    auto* const done = std::exchange(transaction_, nullptr);  // gone even if this fails
    check(mdb_txn_commit(done));
    begin();
    changes_ = 0;
  }
  void count_change() {
    if (++changes_ == changes_of_transaction_) commit();
  }

  std::uint64_t changes_of_transaction_, changes_ = 0;
  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi map_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return map_workload::main_of<lmdb_map>(argc, argv); }
