// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/container/detail/hash/bucket_rows.hpp>

#include <fmt/format.h>
#include <cstring>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/page/detail/disk_pages.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t overflow_share = 4;  // pages of the overflow are so much shorter, and fewer
constexpr std::size_t least_cache_pages = 8;
constexpr std::uint64_t most_cache_bytes =
    2_GiB;  // what is noted of each page is not in the budget
constexpr std::uint64_t most_ahead_pages = 64;
constexpr auto both_rows = {bucket_row::buckets, bucket_row::overflow};

std::size_t cache_pages_for(storage& store, bucket_row row, std::size_t bucket_bytes,
                            unordered_map_options const& options) {
  std::size_t pages = options.cache_pages;
  if (pages == 0)
    pages =
        std::min<std::uint64_t>(store.memory().total_bytes() / 2, most_cache_bytes) / bucket_bytes;
  if (row == bucket_row::overflow) pages /= overflow_share;
  return std::max(pages, least_cache_pages);
}

std::size_t begin_of_items(bucket_row row, std::size_t item_alignment) {
  std::size_t const bytes = row == bucket_row::buckets
                                ? sizeof(bucket_header) + sizeof(bucket_filter)
                                : sizeof(bucket_header);
  return round_up(bytes, item_alignment);
}

}  // namespace

std::vector<std::size_t> bucket_rows::page_lengths(bucket_items const& items,
                                                   std::size_t alignment_bytes,
                                                   std::size_t wanted_bytes) {
  std::vector<std::size_t> lengths;
  for (auto const row : both_rows) {
    std::size_t const least = begin_of_items(row, items.alignment) + items.bytes;
    lengths.push_back(round_up(std::max(wanted_bytes, least), alignment_bytes));
    wanted_bytes /= overflow_share;
  }
  return lengths;
}

bucket_rows::bucket_rows(storage& store, bucket_items const& items,
                         unordered_map_options const& options, std::shared_ptr<kept_file> file)
    : store_(store), item_bytes_(items.bytes), file_(std::move(file)) {
  for (auto const row : both_rows) {
    std::size_t const length =
        file_ ? kept_pages(file_, index(row)).page_bytes()
              : page_lengths(items, store.alignment_bytes(), options.page_bytes)[index(row)];
    std::size_t const begin = begin_of_items(row, items.alignment);
    if (length < begin + item_bytes_)
      file_->refuse(fmt::format("page_bytes[{}]", index(row)), length);
    layouts_[index(row)] = {length, begin, (length - begin) / item_bytes_};
    make_row(row, make_space(row, options), options);
  }
}

std::unique_ptr<page_space> bucket_rows::make_space(bucket_row row,
                                                    unordered_map_options const& options) {
  if (file_) return std::make_unique<kept_pages>(file_, index(row));
  return std::make_unique<disk_pages>(
      store_, layout(row).page_bytes,
      options.placement ? store_.new_placement(*options.placement) : store_.new_placement());
}

void bucket_rows::make_row(bucket_row row, std::unique_ptr<page_space> space,
                           unordered_map_options const& options) {
  std::size_t const bucket_bytes = layout(bucket_row::buckets).page_bytes;
  std::size_t const cache_pages = cache_pages_for(store_, row, bucket_bytes, options);
  std::size_t const live_pages =
      std::clamp<std::size_t>(cache_pages / 3, 2, page_cache::most_live_pages);
  page_cache_options const paging{
      .page_bytes = layout(row).page_bytes,
      .cache_pages = cache_pages,
      .spare_pages = std::min(options.spare_pages, cache_pages / 4),
      .is_named = options.cache_pages > 0,
      .write_bytes = page_cache_options::group_bytes(cache_pages * layout(row).page_bytes),
      .live_pages = live_pages,
      .least_pages = live_pages + 4,
      .former_pages = live_pages,
      .held_pages = 2};  // of a bucket that is divided, and of the one that is added
  auto& device = space->device();
  auto cache =
      page_cache::make(store_.memory(), "unordered_map", device, paging, options.replacement());
  auto made = std::make_shared<page_row>(store_, std::move(space), std::move(cache),
                                         layout(row).page_bytes);
  if (row == bucket_row::overflow) overflow_.emplace(made);
  rows_[index(row)] = std::move(made);
}

bucket_rows::~bucket_rows() {
  if (file_) return;
  for (auto const& row : rows_) row->reach(0, 0);
}

std::uint64_t bucket_rows::ahead_pages(bucket_row row) const noexcept {
  // While a page waits to be used, as many come as pages are ahead, and as many are let go.
  page_row const& pages = *rows_[index(row)];
  return std::clamp<std::uint64_t>((pages.cache_pages() - pages.live_pages() - 2) / 2, 1,
                                   most_ahead_pages);
}

std::size_t bucket_rows::live_pages() const noexcept {
  return std::min(rows_[0]->live_pages(), rows_[1]->live_pages());
}

void bucket_rows::refuse(std::string const& why) const {
  throw format_error(fmt::format("{}: {}", file_ ? file_->name() : "unordered_map", why));
}

// ---- to be read ----

/// @throws format_error of a page that no table writes.
bucket_header const& bucket_rows::checked(bucket_row row, std::span<std::byte const> page) const {
  auto const& header = *reinterpret_cast<bucket_header const*>(page.data());
  if (header.count > layout(row).room || header.next > page_count(bucket_row::overflow))
    refuse("damaged: a page that cannot be");
  return header;
}

bucket_header bucket_rows::header(bucket_row row, std::uint64_t page) const {
  alignas(bucket_header) std::array<std::byte, sizeof(bucket_header)> bytes;
  rows_[index(row)]->read(page, 0, bytes);
  return checked(row, bytes);
}

void bucket_rows::read(bucket_row row, std::uint64_t page, std::span<std::byte> into) const {
  rows_[index(row)]->read(page, 0, into);
  checked(row, into);
}

void bucket_rows::read_item(bucket_place const& place, std::span<std::byte> into) const {
  rows_[index(place.row)]->read(place.page,
                                layout(place.row).begin_bytes + place.slot * item_bytes_, into);
}

page_pin bucket_rows::pin(bucket_row row, std::uint64_t page) const {
  auto pin = rows_[index(row)]->pin(page, page);
  if (pin) checked(row, pin.bytes());
  return pin;
}

bucket_view bucket_rows::view(bucket_row row, std::uint64_t page) const {
  bucket_view shown;
  shown.row_ = row;
  shown.pin_ = pin(row, page);
  if (shown.pin_) {
    shown.bytes_ = shown.pin_.bytes();
  } else {
    // Of a page without items, a blank one say, the beginning is enough.
    std::size_t const bytes =
        header(row, page).count > 0 ? layout(row).page_bytes : layout(row).begin_bytes;
    shown.copy_.resize(div_up(bytes, sizeof(page_line)));
    auto const copy = std::as_writable_bytes(std::span(shown.copy_)).first(bytes);
    read(row, page, copy);
    shown.bytes_ = copy;
  }
  shown.items_ = shown.bytes_.subspan(layout(row).begin_bytes, shown.header().count * item_bytes_);
  return shown;
}

std::optional<bucket_place> bucket_view::next(std::uint64_t hash) const noexcept {
  if (header().next == 0) return {};
  auto const* const filter =
      reinterpret_cast<bucket_filter const*>(bytes_.data() + sizeof(bucket_header));
  if (row_ == bucket_row::buckets && !filter->may_have(hash)) return {};
  return bucket_place{bucket_row::overflow, header().next - 1};
}

// ---- to be changed ----

void bucket_rows::check_writable() const {
  if (file_) file_->check_writable();
}

std::span<std::byte> bucket_rows::change(bucket_row row, std::uint64_t page,
                                         page_row::content old) {
  if (hot_ && hot_->row == row && hot_->page == page) return hot_bytes_;
  hot_.reset();
  auto const bytes = rows_[index(row)]->change(page, old);
  if (old == page_row::content::kept) checked(row, bytes);
  hot_ = {row, page};
  return hot_bytes_ = bytes;
}

page_pin bucket_rows::hold_to_renew(bucket_row row, std::uint64_t page, page_row::content old) {
  hot_.reset();
  auto held = rows_[index(row)]->hold_to_renew(page, old);
  if (old == page_row::content::kept) checked(row, held.bytes());
  return held;
}

bool bucket_rows::append(std::span<std::byte> page, bucket_row row,
                         std::span<std::byte const> added) const noexcept {
  auto& header = header_of(page);
  if (header.count == layout(row).room) return false;
  std::memcpy(item(page, row, header.count++), added.data(), added.size());
  return true;
}

void bucket_rows::resize_buckets(std::uint64_t count) {
  hot_.reset();
  rows_[index(bucket_row::buckets)]->reach(0, count);
}

std::uint64_t bucket_rows::take_overflow_page() { return overflow_->take(); }

void bucket_rows::give_overflow_pages(std::span<std::uint64_t const> pages) noexcept {
  if (pages.empty()) return;
  hot_.reset();
  overflow_->give(pages);
}

void bucket_rows::clear() {
  check_writable();
  hot_.reset();
  rows_[index(bucket_row::buckets)]->reach(0, 0);
  overflow_->clear();
}

void bucket_rows::flush(std::span<std::byte const> state) {
  hot_.reset();
  for (auto const& row : rows_) row->flush();
  if (file_) file_->commit(state);
}

void bucket_rows::close(std::span<std::byte const> state) {
  flush(state);
  if (file_) file_->close(state);
}

}  // namespace outsize::detail
