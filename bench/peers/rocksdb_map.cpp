// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The benchmarks of maps with RocksDB, as a peer; called as map_program.hpp says.
//
// Without compression, as values are random, without a log, with direct I/O. Sorted entries are
// written to files by as many threads as there are, and ingested. Random changes go through batches
// of a thousand, and half of the memory then buffers writes; the rest, or nearly all of it, is the
// cache of blocks. Keys are big-endian, as they are compared byte by byte.

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../programs/map_program.hpp"
#include "big_endian.hpp"

namespace {

using namespace map_workload;

constexpr std::uint64_t file_bytes = 256U << 20;

void check(rocksdb::Status const& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

template <typename Item>
rocksdb::Slice slice(Item const& item) {
  return {reinterpret_cast<char const*>(&item), sizeof item};
}

value value_in(rocksdb::Slice const& data) {
  value v{};
  std::memcpy(&v, data.data(), sizeof v);
  return v;
}

rocksdb::Options options_for(job const& work) {
  std::uint64_t const buffers = work.memory_bytes / (work.changes_at_random() ? 2 : 16);
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(work.memory_bytes - buffers);
  table.cache_index_and_filter_blocks = true;  // so that the cache is all the memory there is
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.write_buffer_size = buffers / 2;
  options.max_write_buffer_number = 2;
  options.use_direct_reads = true;
  options.use_direct_io_for_flush_and_compaction = true;
  options.IncreaseParallelism(static_cast<int>(work.threads));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

class rocksdb_map {
 public:
  explicit rocksdb_map(job const& work)
      : options_(options_for(work)), directory_(work.directory), threads_(work.threads) {
    rocksdb::DB* opened = nullptr;
    check(rocksdb::DB::Open(options_, directory_, &opened));
    map_.reset(opened);
    without_log_.disableWAL = true;
  }

  void bulk(sorted_entries const& from) {
    std::uint64_t const entries = file_bytes / sizeof(entry);
    std::uint64_t const files = (from.count() + entries - 1) / entries;
    std::vector<std::string> names(files);
    for (std::uint64_t i = 0; i < files; ++i)
      names[i] = directory_ + "/sorted-" + std::to_string(i) + ".sst";
    auto const write = [&](unsigned thread) {
      for (std::uint64_t i = thread; i < files; i += threads_)
        write_file(names[i],
                   entry_cursor(from, i * entries, std::min(from.count(), (i + 1) * entries)));
    };
    std::vector<std::future<void>> writers;
    for (unsigned thread = 0; thread < threads_; ++thread)
      writers.push_back(std::async(std::launch::async, write, thread));
    for (auto& one : writers) one.get();
    rocksdb::IngestExternalFileOptions moved;
    moved.move_files = true;
    check(map_->IngestExternalFile(names, moved));
  }
  void insert(entry const& e) {
    std::uint64_t const word = big_endian(e.key);
    check(changes_.Put(slice(word), slice(e.data)));
    count_change();
  }
  void insert_many(std::vector<entry>& entries) { insert_sorted(*this, entries); }
  void erase(std::uint64_t key) {
    std::uint64_t const word = big_endian(key);
    check(changes_.Delete(slice(word)));
    count_change();
  }
  void erase_many(std::vector<std::uint64_t>& keys) { erase_sorted(*this, keys); }
  bool find(std::uint64_t key, value& v) {
    std::uint64_t const word = big_endian(key);
    rocksdb::PinnableSlice data;
    auto const status = map_->Get({}, map_->DefaultColumnFamily(), slice(word), &data);
    if (status.IsNotFound()) return false;
    check(status);
    v = value_in(data);
    return true;
  }
  void find_many(std::vector<std::uint64_t>& keys, digest& found) {
    std::sort(keys.begin(), keys.end());
    // All blocks that a call finds stay in memory until it ends.
    for (std::size_t i = 0; i < keys.size(); i += workload::batch)
      find_some(keys.data() + i, std::min<std::size_t>(workload::batch, keys.size() - i), found);
  }
  void scan(digest& all) {
    rocksdb::ReadOptions options;
    options.readahead_size = 2U << 20;
    options.fill_cache = false;
    options.async_io = true;
    std::unique_ptr<rocksdb::Iterator> at(map_->NewIterator(options));
    for (at->SeekToFirst(); at->Valid(); at->Next()) {
      std::uint64_t word = 0;
      std::memcpy(&word, at->key().data(), sizeof word);
      all.add(big_endian(word), value_in(at->value()));
    }
    check(at->status());
  }
  void flush() {
    check(map_->Write(without_log_, &changes_));
    changes_.Clear();
    check(map_->Flush({}));
  }

  static io_counters counters() { return process_counters(); }
  static std::string version() { return rocksdb::GetRocksVersionAsString(); }

 private:
  void find_some(std::uint64_t const* keys, std::size_t count, digest& found) {
    std::vector<std::uint64_t> words(count);
    std::vector<rocksdb::Slice> slices(count);
    std::vector<rocksdb::PinnableSlice> data(count);
    std::vector<rocksdb::Status> statuses(count);
    for (std::size_t i = 0; i < count; ++i) {
      words[i] = big_endian(keys[i]);
      slices[i] = slice(words[i]);
    }
    rocksdb::ReadOptions options;
    options.async_io = true;
    map_->MultiGet(options, map_->DefaultColumnFamily(), count, slices.data(), data.data(),
                   statuses.data(), true);
    for (std::size_t i = 0; i < count; ++i) {
      if (statuses[i].IsNotFound()) continue;
      check(statuses[i]);
      found.add(keys[i], value_in(data[i]));
    }
  }

  void write_file(std::string const& name, entry_cursor at) const {
    rocksdb::EnvOptions direct;
    direct.use_direct_writes = true;
    rocksdb::SstFileWriter file(direct, options_);
    check(file.Open(name));
    for (; !at.done(); ++at) {
      std::uint64_t const word = big_endian(at->key);
      check(file.Put(slice(word), slice(at->data)));
    }
    check(file.Finish());
  }
  void count_change() {
    if (changes_.Count() < 1000) return;
    check(map_->Write(without_log_, &changes_));
    changes_.Clear();
  }

  rocksdb::Options options_;
  std::string directory_;
  unsigned threads_;
  std::unique_ptr<rocksdb::DB> map_;
  rocksdb::WriteOptions without_log_;
  rocksdb::WriteBatch changes_;
};

}  // namespace

int main(int argc, char** argv) { return map_workload::main_of<rocksdb_map>(argc, argv); }
