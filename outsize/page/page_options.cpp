// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/page/page_options.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/page/detail/disk_pages.hpp>
#include <outsize/page/detail/file_pages.hpp>
#include <outsize/page/detail/kept_file.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t longest_unit_bytes = 4_MiB;
constexpr std::size_t least_page_bytes = 512;
constexpr std::size_t usual_live_pages = 4;
constexpr std::uint64_t most_cached_bytes = 4_GiB;
constexpr std::size_t most_cached_pages = 16384;

/// A multiple of `unit_bytes`: where no length is wanted, a part of the storage's memory.
std::size_t page_bytes_for(storage& store, std::size_t unit_bytes, std::size_t wanted_bytes,
                           std::uint64_t parts = 128) {
  if (wanted_bytes == 0)
    wanted_bytes = std::clamp<std::uint64_t>(std::bit_floor(store.memory().total_bytes() / parts),
                                             4_KiB, 2_MiB);
  return std::max(round_down(wanted_bytes, unit_bytes), unit_bytes);
}

/// Of which a page is one. The more there are already who share the memory, the shorter are the
/// pages of another, so that what all need at least is never more than it.
std::uint64_t parts_of_memory(storage& store) {
  std::uint64_t const holders = store.memory().grant_count() + 1;
  return std::max<std::uint64_t>(128, 2 * holders * holders);
}

/// As many as a cache may have at random, whose memory is not named.
std::size_t most_pages(storage& store, std::size_t page_bytes) {
  if (has_bounded_address_space()) return 2 * usual_cache_pages;
  std::uint64_t const bytes = std::min(store.memory().total_bytes() / 4 * 3, most_cached_bytes);
  return std::clamp<std::uint64_t>(bytes / page_bytes, 2 * usual_cache_pages, most_cached_pages);
}

std::shared_ptr<page_row> make_row(storage& store, std::unique_ptr<page_space> space,
                                   std::size_t page_bytes, page_options const& options) {
  auto cache = cache_of_pages(store, space->device(), page_bytes, options, "vector");
  return std::make_shared<page_row>(store, std::move(space), std::move(cache), page_bytes);
}

}  // namespace

std::uint64_t first_page_behind(std::uint64_t before, std::size_t page_items) noexcept {
  return std::min(before, (std::uint64_t{1} << 62) / page_items);
}

std::size_t page_bytes_on_disks(storage& store, std::size_t item_bytes,
                                page_options const& options) {
  std::size_t const alignment = store.alignment_bytes();
  return std::max(round_up(item_bytes, alignment),
                  page_bytes_for(store, alignment, options.page_bytes, parts_of_memory(store)));
}

std::unique_ptr<block::placement> placement_of(
    storage& store, std::optional<block::placement_options> const& options) {
  return options ? store.new_placement(*options) : store.new_placement();
}

std::shared_ptr<page_cache> cache_of_pages(storage& store, block::block_device& device,
                                           std::size_t page_bytes, page_options const& options,
                                           std::string asker) {
  page_cache_options paging{
      .page_bytes = page_bytes,
      .cache_pages = options.cache_pages != 0 ? options.cache_pages : usual_cache_pages,
      .spare_pages = options.spare_pages.value_or(usual_cache_pages),
      .is_named = options.cache_pages != 0 || options.spare_pages,
      .read_ahead_pages = options.read_ahead_pages,
      .batch_pages = options.batch_pages};
  if (!paging.is_named) {
    paging.cache_pages = most_pages(store, page_bytes) - paging.spare_pages;
    paging.usual_pages = 2 * usual_cache_pages;
    paging.live_pages = usual_live_pages;
  }
  return page_cache::make(store.memory(), std::move(asker), device, paging, options.replacement());
}

std::shared_ptr<page_row> pages_on_disks(storage& store, std::size_t item_bytes,
                                         page_options const& options, std::uint64_t before) {
  std::size_t const page_bytes = page_bytes_on_disks(store, item_bytes, options);
  return make_row(
      store,
      std::make_unique<disk_pages>(store, page_bytes, placement_of(store, options.placement),
                                   first_page_behind(before, page_bytes / item_bytes)),
      page_bytes, options);
}

pages_of_file bind_pages(storage& store, std::string const& path, io::open_options opening,
                         std::size_t item_bytes, page_options const& options) {
  opening.lock = true;
  auto file = block::open_file(store, path, opening);
  new_path made(opening.must_be_new ? path : std::string());
  std::size_t unit_bytes = std::lcm(item_bytes, file->alignment_bytes());
  if (unit_bytes > longest_unit_bytes) {
    file.reset();  // whose lock would bar the way
    file = block::open_file(store, path, {.mode = opening.mode, .direct = false, .lock = true});
    unit_bytes = item_bytes;
  }
  if (auto const kept = kept_file::described(store, *file))
    throw format_error(fmt::format("{}: holds {}, not plain items: open it with {}::open", path,
                                   kept->text, kept->container));
  if (opening.create) io::sync_name(path);
  file->count_into(&store.file_statistics());
  std::uint64_t const items = file->size_bytes() / item_bytes;
  std::size_t const page_bytes = page_bytes_for(store, unit_bytes, options.page_bytes);
  auto space = std::make_unique<file_pages>(std::move(file), opening.mode, page_bytes);
  page_space* const in_file = space.get();
  auto row = make_row(store, std::move(space), page_bytes, options);
  made.keep();
  return {std::move(row), in_file, items};
}

pages_of_file kept_pages_of(storage& store, std::shared_ptr<kept_file> const& file,
                            page_options const& options) {
  auto space = std::make_unique<kept_pages>(file, 0);
  page_space* const in_file = space.get();
  std::size_t const page_bytes = space->page_bytes();
  std::size_t const item_bytes = file->item_bytes()[0];
  if (page_bytes < item_bytes) file->refuse("page_bytes[0]", page_bytes);
  std::uint64_t bytes = 0;  // of all items: the state, once there is one
  auto const state = file->state();
  bool const is_state = state.size() == sizeof bytes || (state.empty() && space->end() == 0);
  if (!is_state) file->refuse("state_bytes", state.size());
  if (!state.empty()) std::memcpy(&bytes, state.data(), sizeof bytes);
  std::uint64_t const most = space->end() * (page_bytes / item_bytes) * item_bytes;
  if (bytes > most || bytes % item_bytes != 0) file->refuse("size", bytes);
  auto row = make_row(store, std::move(space), page_bytes, options);
  file->keep();
  return {std::move(row), in_file, bytes / item_bytes, file->was_closed()};
}

pages_of_file create_kept_pages(storage& store, std::string const& path, kept_kind const& kind,
                                page_options const& options) {
  std::size_t const page_bytes = std::max<std::size_t>(
      kind.item_bytes[0], page_bytes_for(store, least_page_bytes, options.page_bytes));
  return kept_pages_of(store, kept_file::create(store, path, kind, {page_bytes}), options);
}

pages_of_file open_kept_pages(storage& store, std::string const& path, io::access mode,
                              kept_kind const& kind, page_options const& options) {
  return kept_pages_of(store, kept_file::open(store, path, mode, kind), options);
}

}  // namespace outsize::detail
