// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The benchmarks of maps with the B-tree of Berkeley DB 5.3, as a peer; called as map_program.hpp
// says.
//
// Without transactions, log and locks, as in section 5.5 of the STXXL paper; pages have 4 KiB, its
// default, and pass through the page cache, as Debian's has no direct I/O. Keys are big-endian, as
// they are compared byte by byte. What is sorted is put in and read out in bulk, a MiB for each
// call, which fills pages completely; there is no such call for keys at random.

#include <db.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "../programs/map_program.hpp"
#include "big_endian.hpp"

namespace {

using namespace map_workload;

constexpr std::uint32_t page_bytes = 4096;
constexpr std::uint32_t bulk_bytes = 1U << 20;

void check(int code) {
  if (code != 0) throw std::runtime_error(db_strerror(code));
}

DBT item(void* data, std::size_t bytes) {
  DBT made{};
  made.data = data;
  made.size = made.ulen = static_cast<std::uint32_t>(bytes);
  made.flags = DB_DBT_USERMEM;
  return made;
}

class bdb_map {
 public:
  explicit bdb_map(job const& work) : buffer_(bulk_bytes) {
    // What is less than 500 MB is made a quarter larger.
    std::uint64_t const cache =
        work.memory_bytes < 500'000'000 ? work.memory_bytes / 5 * 4 : work.memory_bytes;
    check(db_env_create(&environment_, 0));
    check(environment_->set_cachesize(environment_, static_cast<std::uint32_t>(cache >> 30),
                                      static_cast<std::uint32_t>(cache & ((1U << 30) - 1)), 1));
    check(environment_->open(environment_, work.directory.c_str(),
                             DB_CREATE | DB_INIT_MPOOL | DB_PRIVATE, 0));
    check(db_create(&map_, environment_, 0));
    check(map_->set_pagesize(map_, page_bytes));
    check(map_->open(map_, nullptr, "map", nullptr, DB_BTREE, DB_CREATE, 0644));
  }
  bdb_map(bdb_map const&) = delete;
  bdb_map& operator=(bdb_map const&) = delete;
  ~bdb_map() {
    map_->close(map_, 0);
    environment_->close(environment_, 0);
  }

  void bulk(sorted_entries const& from) {
    entry_cursor at(from);
    while (!at.done()) put_some(at);
  }
  void insert(entry const& e) {
    value v = e.data;
    std::uint64_t word = big_endian(e.key);
    DBT key = item(&word, sizeof word), data = item(&v, sizeof v);
    check(map_->put(map_, nullptr, &key, &data, DB_NOOVERWRITE));
  }
  void insert_many(std::vector<entry>& entries) { insert_sorted(*this, entries); }
  void erase(std::uint64_t k) {
    std::uint64_t word = big_endian(k);
    DBT key = item(&word, sizeof word);
    check(map_->del(map_, nullptr, &key, 0));
  }
  void erase_many(std::vector<std::uint64_t>& keys) { erase_sorted(*this, keys); }
  bool find(std::uint64_t k, value& v) {
    std::uint64_t word = big_endian(k);
    DBT key = item(&word, sizeof word), data = item(&v, sizeof v);
    int const code = map_->get(map_, nullptr, &key, &data, 0);
    if (code != DB_NOTFOUND) check(code);
    return code == 0;
  }
  void find_many(std::vector<std::uint64_t>& keys, digest& found) {
    find_sorted(*this, keys, found);
  }
  void scan(digest& all) {
    DBC* cursor = nullptr;
    check(map_->cursor(map_, nullptr, &cursor, DB_CURSOR_BULK));
    int code = 0;
    while ((code = add_some(*cursor, all)) == 0) {
    }
    check(cursor->close(cursor));
    if (code != DB_NOTFOUND) check(code);
  }
  void flush() { check(map_->sync(map_, 0)); }

  static io_counters counters() { return process_counters(); }
  static std::string version() {
    int major = 0, minor = 0, patch = 0;
    db_version(&major, &minor, &patch);
    return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
  }

 private:
  /// Puts as many entries as one call takes.
  void put_some(entry_cursor& at) {
    DBT bulk = item(buffer_.data(), buffer_.size()), unused{};
    void* place = nullptr;
    DB_MULTIPLE_WRITE_INIT(place, &bulk);
    for (; !at.done(); ++at) {
      std::uint64_t const word = big_endian(at->key);
      DB_MULTIPLE_KEY_WRITE_NEXT(place, &bulk, &word, sizeof word, &at->data, sizeof at->data);
      if (place == nullptr) break;
    }
    check(map_->put(map_, nullptr, &bulk, &unused, DB_MULTIPLE_KEY | DB_OVERWRITE_DUP));
  }

  /// Adds as many entries as one call gives; returns its code.
  int add_some(DBC& cursor, digest& all) {
    DBT key{}, bulk = item(buffer_.data(), buffer_.size());
    if (int const code = cursor.get(&cursor, &key, &bulk, DB_MULTIPLE_KEY | DB_NEXT)) return code;
    void *at = nullptr, *key_at = nullptr, *data_at = nullptr;
    [[maybe_unused]] std::size_t key_bytes = 0, data_bytes = 0;
    DB_MULTIPLE_INIT(at, &bulk);
    while (true) {
      DB_MULTIPLE_KEY_NEXT(at, &bulk, key_at, key_bytes, data_at, data_bytes);
      if (at == nullptr) return 0;
      entry e{};
      std::memcpy(&e.key, key_at, sizeof e.key);
      std::memcpy(&e.data, data_at, sizeof e.data);
      all.add(big_endian(e.key), e.data);
    }
  }

  std::vector<char> buffer_;
  DB_ENV* environment_ = nullptr;
  DB* map_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) { return map_workload::main_of<bdb_map>(argc, argv); }
