// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How a vector divides its items into pages, and how many of them it keeps in memory. All is chosen
// at run time. Layer: page.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <outsize/block/block_device.hpp>
#include <outsize/block/placement.hpp>
#include <outsize/block/replacement.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/page/detail/kept_file.hpp>
#include <outsize/page/detail/page_cache.hpp>
#include <outsize/page/detail/page_row.hpp>
#include <outsize/page/detail/page_space.hpp>
#include <outsize/page/kept_type.hpp>

namespace outsize {

/// Pages that a container keeps in memory if that is not named, and as many spare ones.
inline constexpr std::size_t usual_cache_pages = 12;

/// How a vector keeps its items. By default the memory for pages comes and goes with what is in the
/// vector and what others need: 8 pages at least as long as there are items, and 24 at most while
/// they are read or written in order: what is read goes round all of it, and is in no cache of a
/// processor any more when its memory is read to again
/// (docs/decisions/0028-buffers-longer-than-caches.md). While they are read at random it is three
/// quarters of the storage's memory, and 4 GiB, at most. What is named is taken at once and kept.
struct page_options {
  /// What is read or written at once; rounded up to hold an item and to the disks' alignment, in a
  /// kept file to 4 KiB at least. Long for scans, short for random access. 0: up to 2 MiB, a 128th
  /// of the storage's memory; less where more than about four containers have some of it already.
  std::size_t page_bytes = 0;
  /// Pages in memory; at least 4. 0: up to 12, or if spare_pages are named, 12.
  std::size_t cache_pages = 0;
  /// Buffers for changed pages on their way to disk. By default up to 12, or if cache_pages are
  /// named, 12.
  std::optional<std::size_t> spare_pages = {};
  /// Pages read behind one that follows on its neighbour; fewer in small caches.
  std::size_t read_ahead_pages = 6;
  /// Pages that read_many() and write_many() read at the same time; fewer in small caches.
  std::size_t batch_pages = 128;
  /// Makes the policy that says which page leaves for another: least recently used, or random
  /// (make_random_replacement), or one of one's own.
  std::function<std::unique_ptr<block::replacement>()> replacement = block::make_lru_replacement;
  /// How pages are spread over the disks; by default as the storage's options say.
  std::optional<block::placement_options> placement = {};
};

}  // namespace outsize

namespace outsize::detail {

/// The number of a first page that `before` others can come before; fewer where the positions of
/// their items would be longer than 62 bits.
std::uint64_t first_page_behind(std::uint64_t before, std::size_t page_items) noexcept;
/// The length of a page that holds an item at least. @throws io_error.
std::size_t page_bytes_on_disks(storage& store, std::size_t item_bytes,
                                page_options const& options);
/// As the options say, or as the storage's do. @throws std::invalid_argument.
std::unique_ptr<block::placement> placement_of(
    storage& store, std::optional<block::placement_options> const& options);
/// A cache for pages on `device`, from the storage's budget. @throws budget_error, io_error.
std::shared_ptr<page_cache> cache_of_pages(storage& store, block::block_device& device,
                                           std::size_t page_bytes, page_options const& options,
                                           std::string asker);

/// The pages of a new vector. @throws budget_error, io_error; std::invalid_argument (placement).
/// @param before  How many pages can come before the first one, or as many as first_page_behind().
std::shared_ptr<page_row> pages_on_disks(storage& store, std::size_t item_bytes,
                                         page_options const& options, std::uint64_t before = 0);

/// Pages that are in a file, and how many items are in it.
struct pages_of_file {
  std::shared_ptr<page_row> row;
  page_space* space = nullptr;  // the row's
  std::uint64_t items = 0;
  bool was_closed = true;
};

/// What a kept_file of vector<T> says of its items.
template <typename T>
kept_kind kept_vector() {
  return {"vector", {sizeof(T), 0}, 1, {kept_item<T>("items")}};
}

/// Those of the items side by side in the file at `path`, opened or made as `opening` says, and
/// locked. Where item_bytes and the alignment of direct I/O do not go together, it is used through
/// the page cache. @throws io_error, budget_error; format_error if it is a kept_file.
pages_of_file bind_pages(storage& store, std::string const& path, io::open_options opening,
                         std::size_t item_bytes, page_options const& options);

/// Those of a kept_file of a vector. @throws budget_error; format_error if what it says of them
/// cannot be.
pages_of_file kept_pages_of(storage& store, std::shared_ptr<kept_file> const& file,
                            page_options const& options);
/// Those of a new kept_file. @throws io_error, budget_error.
pages_of_file create_kept_pages(storage& store, std::string const& path, kept_kind const& kind,
                                page_options const& options);
/// Those of one that is there. @throws io_error, budget_error, format_error.
pages_of_file open_kept_pages(storage& store, std::string const& path, io::access mode,
                              kept_kind const& kind, page_options const& options);

}  // namespace outsize::detail
