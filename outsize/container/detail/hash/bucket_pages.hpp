// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A hash table of items of which the length and the hash values are known, and no more: buckets,
// whose number grows one by one, in the pages of bucket_rows.
//
// A bucket is changed in two ways: an item is added or erased in its place; or the whole bucket is
// read, and written anew in a draft, whose overflow goes to pages that were free. Only when all
// pages that must change are in memory does the first one change, so that after a failure all is as
// before.
//
// Invariants: an item is in the bucket of its hash value, once; there is a page for each bucket;
// each page of the overflow that is not free is in the chain of one bucket. Threads: as of
// bucket_rows. Layer: container. Source: Litwin: Linear hashing, VLDB 1980.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/detail/hash/bucket_numbers.hpp>
#include <outsize/container/detail/hash/bucket_rows.hpp>
#include <outsize/container/unordered_map_options.hpp>
#include <outsize/page/detail/kept_file.hpp>

namespace outsize::detail {

/// Buckets and the items in them; see the top of this file.
class bucket_pages {
 public:
  class draft;

  /// None yet, on the disks of `store`, which must outlive it. @throws budget_error, io_error;
  /// std::invalid_argument (load, placement).
  bucket_pages(storage& store, bucket_items const& items, unordered_map_options const& options);
  /// Those of a file. @throws as kept_file's functions; format_error also where the hash function
  /// or the layout of items is another one.
  bucket_pages(storage& store, bucket_items const& items, unordered_map_options const& options,
               std::shared_ptr<kept_file> file);
  /// In a new kept_file: at a path, or an io::file_ptr that is empty.
  template <typename Where>
  static std::unique_ptr<bucket_pages> create(storage& store, Where&& where,
                                              bucket_items const& items,
                                              unordered_map_options const& options) {
    return std::make_unique<bucket_pages>(
        store, items, options,
        kept_file::create(store, std::forward<Where>(where), kind_of(items),
                          bucket_rows::page_lengths(items, 1, options.page_bytes)));
  }
  /// In one that is there.
  template <typename Where>
  static std::unique_ptr<bucket_pages> open(storage& store, Where&& where, io::access mode,
                                            bucket_items const& items,
                                            unordered_map_options const& options) {
    return std::make_unique<bucket_pages>(
        store, items, options,
        kept_file::open(store, std::forward<Where>(where), mode, kind_of(items)));
  }
  bucket_pages(bucket_pages const&) = delete;
  bucket_pages& operator=(bucket_pages const&) = delete;

  bucket_rows& rows() noexcept { return rows_; }
  bucket_rows const& rows() const noexcept { return rows_; }
  bucket_numbers const& numbers() const noexcept { return numbers_; }
  std::uint64_t size() const noexcept { return size_; }
  /// Items for each bucket, above which buckets are added.
  std::uint64_t most_load() const noexcept { return wanted_; }
  /// Changes whenever an item moves to another place, or goes.
  std::uint64_t version() const noexcept { return version_; }
  /// The first page of the bucket of a hash value. @pre there are buckets.
  bucket_place first(std::uint64_t hash) const noexcept {
    return {bucket_row::buckets, numbers_.of(hash)};
  }

  /// An item, to be changed until another is touched here. @throws io_error.
  std::byte* change(bucket_place const& place);
  /// Adds an item that is not there, and before that buckets, if they have as many items as they
  /// shall. @throws out_of_space, budget_error, io_error; it is not added then.
  bucket_place insert(std::uint64_t hash, std::span<std::byte const> item);
  /// Erases an item; those behind it in its page move up. @throws io_error; it is there then.
  void erase(std::uint64_t hash, bucket_place const& place);
  /// That an item of a bucket in a file belongs there: another page may be in its place.
  /// @throws format_error.
  void check_bucket(std::uint64_t hash, std::uint64_t bucket) const {
    if (rows_.file() != nullptr && numbers_.of(hash) != bucket)
      rows_.refuse("damaged, or made with another hash function: an item that belongs elsewhere");
  }
  /// That a page of a chain has items, as pages that lose their last one leave it.
  void check_count(bucket_row row, std::uint64_t items) const {
    if (row == bucket_row::overflow && items == 0) rows_.refuse("damaged: a page without items");
  }
  /// Adds buckets, until there are enough for so many items.
  void reserve(std::uint64_t items);
  /// Takes buckets away that there are too many of, but no more than were added one by one.
  void shrink_to_fit();
  void clear();
  /// Replaces all: as long as it lives, there are the new buckets, none to begin with. Then the old
  /// ones are back, unless keep() has given them up. Not to be flushed meanwhile.
  class renewal;

  /// Shows the pages of a bucket to visit(items, hash values), and returns those of its chain.
  template <typename Visit>
  std::vector<std::uint64_t> read_bucket(std::uint64_t bucket, Visit&& visit);
  /// Replaces a bucket by what is in a draft, where `added` items are new and `removed` missing. If
  /// there was nothing in it its page need not be read.
  void replace(std::uint64_t bucket, draft& by, std::span<std::uint64_t const> old_chain,
               std::uint64_t added, std::uint64_t removed,
               page_row::content old = page_row::content::kept);

  /// Writes what was changed; a file has it then. @throws io_error; all is still there.
  void flush();
  /// The same for the last time.
  void close();

 private:
  /// What a file keeps beside the pages.
  struct state {
    std::uint64_t size;
    std::uint64_t base;
    std::uint64_t count;  // of buckets
    std::uint64_t sample_hash;
    std::uint64_t item_bytes;
    std::uint64_t item_alignment;
  };

  static kept_kind kind_of(bucket_items const& items) {
    return {"unordered_map", items.part_bytes, 2, items.parts};
  }
  /// That there are so many items that can go: a file may say that there are fewer than it has.
  void check_size(std::uint64_t removed) const {
    if (removed > size_ && rows_.file() != nullptr) rows_.file()->refuse("size", size_);
  }
  std::size_t image_bytes(bucket_row row) const noexcept;
  std::size_t scratch_bytes() const noexcept;
  state current_state() const noexcept;
  void recall(std::span<std::byte const> bytes);

  bucket_place insert_into_overflow(std::span<std::byte> bucket, std::span<std::byte const> item);
  void unlink(std::uint64_t hash, std::uint64_t page);
  std::span<std::byte const> read_page(bucket_row row, std::uint64_t page);
  void divide_next();
  void unite_last();

  bucket_items items_;
  bucket_rows rows_;
  std::uint64_t wanted_;  // items for each bucket
  grant memory_;
  buffer scratch_;                     // images of pages: one that is read, and those of two drafts
  std::vector<std::uint64_t> hashes_;  // of the items of the page that is read
  bucket_numbers numbers_;
  std::uint64_t size_ = 0;
  std::uint64_t version_ = 0;
};

class bucket_pages::renewal {
 public:
  /// @throws io_error (EACCES).
  explicit renewal(bucket_pages& pages)
      : pages_(pages), rows_(pages.rows_), old_numbers_(pages.numbers_), old_size_(pages.size_) {
    pages_.numbers_ = {};
    pages_.size_ = 0;
    ++pages_.version_;
  }
  renewal(renewal const&) = delete;
  renewal& operator=(renewal const&) = delete;
  ~renewal() {
    if (is_kept_) return;
    pages_.numbers_ = old_numbers_;
    pages_.size_ = old_size_;
    ++pages_.version_;
  }

  void keep() noexcept {
    rows_.keep();
    is_kept_ = true;
  }

 private:
  bucket_pages& pages_;
  bucket_rows::renewal rows_;
  bucket_numbers old_numbers_;
  std::uint64_t old_size_;
  bool is_kept_ = false;
};

/// A bucket that is being written. Overflow goes to pages that are free, and are so again if the
/// draft is given up.
class bucket_pages::draft {
 public:
  /// Uses the first or the second of two pieces of memory.
  draft(bucket_pages& pages, std::size_t which);
  draft(draft const&) = delete;
  draft& operator=(draft const&) = delete;
  ~draft() { rows_.give_overflow_pages(chain_); }

  bool empty() const noexcept { return bucket_rows::header_of(bucket_).count == 0; }
  /// @throws out_of_space, budget_error, io_error.
  void put(std::uint64_t hash, std::span<std::byte const> item);
  /// Writes what is still in memory of the overflow. Only then can it become a bucket.
  void finish();

 private:
  friend class bucket_pages;

  void spill();
  void become(std::span<std::byte> page) noexcept;

  bucket_rows& rows_;
  std::span<std::byte> bucket_;
  std::span<std::byte> overflow_;     // the page of it that is being filled
  std::vector<std::uint64_t> chain_;  // those that have been
};

template <typename Visit>
std::vector<std::uint64_t> bucket_pages::read_bucket(std::uint64_t bucket, Visit&& visit) {
  std::vector<std::uint64_t> chain;
  bucket_row row = bucket_row::buckets;
  for (std::uint64_t page = bucket;; row = bucket_row::overflow) {
    auto const bytes = read_page(row, page);
    auto const& header = *reinterpret_cast<bucket_header const*>(bytes.data());
    auto const items = bytes.subspan(rows_.layout(row).begin_bytes, header.count * items_.bytes);
    auto const hashes = std::span(hashes_).first(header.count);
    items_.hash(items, hashes);
    for (std::uint64_t const hash : hashes) check_bucket(hash, bucket);
    check_count(row, header.count);
    visit(items, std::span<std::uint64_t const>(hashes));
    if (header.next == 0) return chain;
    page = header.next - 1;
    chain.push_back(page);
    if (chain.size() > rows_.page_count(bucket_row::overflow))
      rows_.refuse("damaged: a chain without an end");
  }
}

}  // namespace outsize::detail
