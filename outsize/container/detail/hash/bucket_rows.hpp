// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The two rows of pages that a hash table consists of, on disks or in a kept_file: one page for
// each bucket, and shorter ones for what buckets have no room for, in chains.
//
//   buckets:   | next, count, filter, item item … |  …  |     next: of a chain; filter: which hash
//                 └──▶ | next, count, item … | ──▶ …          values may be in it
//   overflow:  | next, count, item … | free | …
//
// Pages of the overflow may be free (page_set.hpp). What is in pages is not known here but for
// their headers, which are checked when they are read. Whoever changes is alone, who reads may have
// company, as with page_row. Layer: container.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <outsize/block/storage.hpp>
#include <outsize/container/unordered_map_options.hpp>
#include <outsize/page/detail/kept_file.hpp>
#include <outsize/page/detail/page_row.hpp>
#include <outsize/page/detail/page_set.hpp>

namespace outsize::detail {

/// What a page begins with; zeros in one that nothing was written to.
struct bucket_header {
  std::uint64_t next = 0;   // page of the overflow + 1; 0: none
  std::uint64_t count = 0;  // of items
};

/// Of a bucket, behind its header: a bit for each hash value of the overflow, so that most of those
/// who look for what is not there need not go there.
class bucket_filter {
 public:
  void add(std::uint64_t hash) noexcept { words_[word(hash)] |= bit(hash); }
  bool may_have(std::uint64_t hash) const noexcept { return (words_[word(hash)] & bit(hash)) != 0; }

 private:
  // Not bits of the value itself, which those of one bucket have in common.
  static std::uint64_t chosen(std::uint64_t hash) noexcept {
    return (hash * 0x9E3779B97F4A7C15) >> 55;
  }
  static std::size_t word(std::uint64_t hash) noexcept { return chosen(hash) >> 6; }
  static std::uint64_t bit(std::uint64_t hash) noexcept {
    return std::uint64_t{1} << (chosen(hash) & 63);
  }

  std::array<std::uint64_t, 8> words_{};
};

enum class bucket_row : std::uint8_t { buckets, overflow };

/// Where an item is.
struct bucket_place {
  bucket_row row = bucket_row::buckets;
  std::uint64_t page = 0;
  std::uint64_t slot = 0;
  friend bool operator==(bucket_place const&, bucket_place const&) = default;
};

/// What is known of items.
struct bucket_items {
  std::array<std::uint32_t, 2> part_bytes = {};  // of the key, and of the value
  std::size_t bytes = 0;
  std::size_t alignment = 1;
  /// The hash value of a certain key, by which a file tells that another function was used.
  std::uint64_t sample_hash = 0;
  /// Hash values of items that lie side by side.
  std::function<void(std::span<std::byte const> items, std::span<std::uint64_t> hashes)> hash = {};
  kept_parts parts = {};  ///< What keys, values, hash function and equality are.
};

/// Where in a page its items are.
struct bucket_layout {
  std::size_t page_bytes = 0;
  std::size_t begin_bytes = 0;  // of the first item
  std::uint64_t room = 0;       // for items
};

/// A page, to be read as long as this lives: pinned, or where that cannot be a copy.
class bucket_view {
 public:
  bucket_header const& header() const noexcept {
    return *reinterpret_cast<bucket_header const*>(bytes_.data());
  }
  /// The items, side by side.
  std::span<std::byte const> items() const noexcept { return items_; }
  /// Where what has this hash value may be besides, if anywhere.
  std::optional<bucket_place> next(std::uint64_t hash) const noexcept;

 private:
  friend class bucket_rows;
  bucket_row row_ = bucket_row::buckets;
  page_pin pin_;
  std::vector<page_line> copy_;
  std::span<std::byte const> bytes_;
  std::span<std::byte const> items_;
};

/// Pages of a hash table; see the top of this file.
class bucket_rows {
 public:
  /// Those of a file; or if there is none, empty rows on the disks of `store`, which must outlive
  /// them. @throws budget_error, io_error, format_error; std::invalid_argument (placement).
  bucket_rows(storage& store, bucket_items const& items, unordered_map_options const& options,
              std::shared_ptr<kept_file> file);
  bucket_rows(bucket_rows const&) = delete;
  bucket_rows& operator=(bucket_rows const&) = delete;
  /// Gives space on disks back; a file is as it was committed last.
  ~bucket_rows();
  /// Lengths of the pages of both rows, multiples of `alignment_bytes`.
  static std::vector<std::size_t> page_lengths(bucket_items const& items,
                                               std::size_t alignment_bytes,
                                               std::size_t wanted_bytes);

  storage& store() const noexcept { return store_; }
  bucket_layout const& layout(bucket_row row) const noexcept { return layouts_[index(row)]; }
  std::uint64_t page_count(bucket_row row) const noexcept { return rows_[index(row)]->end(); }
  /// How many pages of the row to have on their way.
  std::uint64_t ahead_pages(bucket_row row) const noexcept;
  /// As page_row's, of both rows.
  std::size_t live_pages() const noexcept;
  block::block_cache_counts counts(bucket_row row) const { return rows_[index(row)]->counts(); }
  /// The file that they are in, or none.
  kept_file* file() const noexcept { return file_.get(); }
  /// @throws format_error naming the file.
  [[noreturn]] void refuse(std::string const& why) const;

  // ---- in company ----

  /// A page. @throws io_error; format_error if it is damaged.
  bucket_view view(bucket_row row, std::uint64_t page) const;
  /// The same, where it can be pinned.
  page_pin pin(bucket_row row, std::uint64_t page) const;
  bucket_header header(bucket_row row, std::uint64_t page) const;
  /// Copies a whole page, or an item.
  void read(bucket_row row, std::uint64_t page, std::span<std::byte> into) const;
  void read_item(bucket_place const& place, std::span<std::byte> into) const;
  void prefetch(bucket_row row, std::uint64_t page) const { rows_[index(row)]->expect(page); }

  // ---- alone ----

  /// @throws io_error (EACCES) if they may only be read.
  void check_writable() const;
  /// A page, to be changed until another of its row is touched. @throws as page_row::change();
  /// format_error.
  std::span<std::byte> change(bucket_row row, std::uint64_t page,
                              page_row::content old = page_row::content::kept);
  /// A page whose items are about to move or to be replaced, as long as it is held. References into
  /// it can still be read for a while, as page_row::renew() says; those into others stay. @throws
  /// as change().
  page_pin hold_to_renew(bucket_row row, std::uint64_t page,
                         page_row::content old = page_row::content::kept);
  /// Makes the row of buckets longer, or cuts it. @throws as page_row::reach(); it is as before.
  void resize_buckets(std::uint64_t count);
  /// Asks whether there is room for so many. @throws as page_row::require_room().
  void require_buckets(std::uint64_t count) {
    rows_[index(bucket_row::buckets)]->require_room(0, count);
  }
  /// A page of the overflow that was free.
  std::uint64_t take_overflow_page();
  void give_overflow_pages(std::span<std::uint64_t const> pages) noexcept;
  void clear();
  class renewal;

  /// Writes what was changed, and commits it to the file with `state`.
  void flush(std::span<std::byte const> state);
  /// The same for the last time.
  void close(std::span<std::byte const> state);

  // ---- what is in a page ----

  static bucket_header& header_of(std::span<std::byte> page) noexcept {
    return *reinterpret_cast<bucket_header*>(page.data());
  }
  static bucket_filter& filter_of(std::span<std::byte> bucket) noexcept {
    return *reinterpret_cast<bucket_filter*>(bucket.data() + sizeof(bucket_header));
  }
  std::byte* item(std::span<std::byte> page, bucket_row row, std::uint64_t slot) const noexcept {
    return page.data() + layout(row).begin_bytes + slot * item_bytes_;
  }
  /// Adds an item to a page; whether there was room.
  bool append(std::span<std::byte> page, bucket_row row,
              std::span<std::byte const> item) const noexcept;

 private:
  static constexpr std::size_t row_count = 2;
  static std::size_t index(bucket_row row) noexcept { return static_cast<std::size_t>(row); }

  std::unique_ptr<page_space> make_space(bucket_row row, unordered_map_options const& options);
  void make_row(bucket_row row, std::unique_ptr<page_space> space,
                unordered_map_options const& options);
  bucket_header const& checked(bucket_row row, std::span<std::byte const> page) const;

  storage& store_;
  std::size_t item_bytes_;
  std::shared_ptr<kept_file> file_;  // or none
  std::array<std::shared_ptr<page_row>, row_count> rows_;
  std::array<bucket_layout, row_count> layouts_;
  std::optional<page_set> overflow_;  // those of that row, once it is made
  // The page changed last; no other of its row has been touched since.
  std::optional<bucket_place> hot_;
  std::span<std::byte> hot_bytes_;
};

/// Replaces all pages, as a page_renewal does those of a row.
class bucket_rows::renewal {
 public:
  /// @throws as page_renewal.
  explicit renewal(bucket_rows& rows)
      : rows_(rows), buckets_(*rows.rows_[index(bucket_row::buckets)]), overflow_(*rows.overflow_) {
    rows_.hot_.reset();
  }
  renewal(renewal const&) = delete;
  renewal& operator=(renewal const&) = delete;
  ~renewal() { rows_.hot_.reset(); }

  void keep() noexcept {
    buckets_.keep();
    overflow_.keep();
  }

 private:
  bucket_rows& rows_;
  page_renewal buckets_;
  page_set::renewal overflow_;
};

}  // namespace outsize::detail
