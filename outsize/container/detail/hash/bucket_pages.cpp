// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/container/detail/hash/bucket_pages.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <outsize/base/assert.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

std::uint64_t wanted_items(bucket_rows const& rows, double load) {
  if (!(load > 0 && load <= 1))
    throw std::invalid_argument(fmt::format("unordered_map: a load of {} is not in (0, 1]", load));
  auto const room = static_cast<double>(rows.layout(bucket_row::buckets).room);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(room * load));
}

}  // namespace

bucket_pages::bucket_pages(storage& store, bucket_items const& items,
                           unordered_map_options const& options)
    : bucket_pages(store, items, options, nullptr) {}

bucket_pages::bucket_pages(storage& store, bucket_items const& items,
                           unordered_map_options const& options, std::shared_ptr<kept_file> file)
    : items_(items),
      rows_(store, items, options, std::move(file)),
      wanted_(wanted_items(rows_, options.load)),
      memory_(store.memory().take(scratch_bytes(), "unordered_map")),
      scratch_(memory_.allocate(scratch_bytes())),
      hashes_(std::max(rows_.layout(bucket_row::buckets).room,
                       rows_.layout(bucket_row::overflow).room)) {
  if (rows_.file() == nullptr) return;
  recall(rows_.file()->state());
  rows_.file()->keep();
}

/// Memory for an image of a page.
std::size_t bucket_pages::image_bytes(bucket_row row) const noexcept {
  return round_up(rows_.layout(row).page_bytes, block::block_cache::buffer_alignment_bytes);
}

std::size_t bucket_pages::scratch_bytes() const noexcept {
  std::size_t const bucket = image_bytes(bucket_row::buckets);
  std::size_t const overflow = image_bytes(bucket_row::overflow);
  return round_up(std::max(bucket, overflow) + 2 * (bucket + overflow), page_bytes());
}

// ---- what a file keeps ----

bucket_pages::state bucket_pages::current_state() const noexcept {
  return {size_,        numbers_.base(), numbers_.count(), items_.sample_hash,
          items_.bytes, items_.alignment};
}

void bucket_pages::recall(std::span<std::byte const> bytes) {
  std::uint64_t const buckets = rows_.page_count(bucket_row::buckets);
  std::uint64_t const others = rows_.page_count(bucket_row::overflow);
  if (bytes.empty() && buckets + others == 0) return;  // as a new one is
  state kept;
  kept_file const& file = *rows_.file();
  if (bytes.size() != sizeof kept) file.refuse("state_bytes", bytes.size());
  std::memcpy(&kept, bytes.data(), sizeof kept);
  if (kept.item_bytes != items_.bytes || kept.item_alignment != items_.alignment)
    rows_.refuse(fmt::format("holds items of {} bytes aligned to {}, not of {} aligned to {}",
                             kept.item_bytes, kept.item_alignment, items_.bytes, items_.alignment));
  if (kept.sample_hash != items_.sample_hash) rows_.refuse("made with another hash function");
  if (kept.count != buckets) file.refuse("count", kept.count);
  if (kept.base == 0 || kept.base > std::max<std::uint64_t>(kept.count, 1))
    file.refuse("base", kept.base);
  std::uint64_t const most = buckets * rows_.layout(bucket_row::buckets).room +
                             others * rows_.layout(bucket_row::overflow).room;
  if (kept.size > most) file.refuse("size", kept.size);
  numbers_ = bucket_numbers(kept.base, kept.count);
  size_ = kept.size;
}

void bucket_pages::flush() {
  auto const now = current_state();
  rows_.flush(std::as_bytes(std::span(&now, 1)));
}

void bucket_pages::close() {
  auto const now = current_state();
  rows_.close(std::as_bytes(std::span(&now, 1)));
}

// ---- items ----

std::byte* bucket_pages::change(bucket_place const& place) {
  return rows_.item(rows_.change(place.row, place.page), place.row, place.slot);
}

std::span<std::byte const> bucket_pages::read_page(bucket_row row, std::uint64_t page) {
  auto const bytes = scratch_.bytes().first(rows_.layout(row).page_bytes);
  rows_.read(row, page, bytes);
  return bytes;
}

bucket_place bucket_pages::insert(std::uint64_t hash, std::span<std::byte const> item) {
  while (size_ >= numbers_.count() * wanted_) divide_next();
  auto place = first(hash);
  auto const bucket = rows_.change(place.row, place.page);
  if (rows_.append(bucket, place.row, item)) {
    place.slot = bucket_rows::header_of(bucket).count - 1;
  } else {
    place = insert_into_overflow(bucket, item);
    bucket_rows::filter_of(bucket).add(hash);
  }
  ++size_;
  return place;
}

/// Into the first page of the chain, or a new one before it. The bucket's page is live, as it is of
/// another row.
bucket_place bucket_pages::insert_into_overflow(std::span<std::byte> bucket,
                                                std::span<std::byte const> item) {
  constexpr auto row = bucket_row::overflow;
  auto& next = bucket_rows::header_of(bucket).next;
  // A full one is only looked at: no more than one page of a row is touched, so that a reference
  // into another one can be read afterwards.
  if (next != 0 && rows_.header(row, next - 1).count < rows_.layout(row).room) {
    auto const page = rows_.change(row, next - 1);
    rows_.append(page, row, item);
    return {row, next - 1, bucket_rows::header_of(page).count - 1};
  }
  std::uint64_t const number = rows_.take_overflow_page();
  try {
    auto const page = rows_.change(row, number, page_row::content::replaced);
    bucket_rows::header_of(page) = {next, 0};
    rows_.append(page, row, item);
  } catch (...) {
    rows_.give_overflow_pages({&number, 1});
    throw;
  }
  next = number + 1;
  return {row, number, 0};
}

void bucket_pages::erase(std::uint64_t hash, bucket_place const& place) {
  check_size(1);
  auto const page = rows_.change(place.row, place.page);
  std::uint64_t const count = bucket_rows::header_of(page).count;
  OUTSIZE_ASSERT(place.slot < count);
  if (place.row == bucket_row::overflow && count == 1) {
    unlink(hash, place.page);
  } else {
    std::byte* const hole = rows_.item(page, place.row, place.slot);
    std::memmove(hole, hole + items_.bytes, (count - 1 - place.slot) * items_.bytes);
    --bucket_rows::header_of(page).count;
  }
  --size_;
  ++version_;
}

/// Takes a page out of the chain of its bucket.
void bucket_pages::unlink(std::uint64_t hash, std::uint64_t page) {
  std::uint64_t const next = rows_.header(bucket_row::overflow, page).next;
  auto before = first(hash);
  for (std::uint64_t steps = 0;; ++steps) {
    std::uint64_t const after = rows_.header(before.row, before.page).next;
    if (after == page + 1) break;
    if (after == 0 || steps > rows_.page_count(bucket_row::overflow))
      rows_.refuse("damaged: a page that is in no chain");
    before = {bucket_row::overflow, after - 1};
  }
  bucket_rows::header_of(rows_.change(before.row, before.page)).next = next;
  rows_.give_overflow_pages({&page, 1});
}

// ---- buckets ----

/// Adds a bucket, and gives it what belongs there of another one.
void bucket_pages::divide_next() {
  std::uint64_t const made = numbers_.count();
  if (made == 0) {
    rows_.resize_buckets(1);
    numbers_ = bucket_numbers(1, 1);
    return;
  }
  std::uint64_t const divided = numbers_.next_divided();
  auto after = numbers_;
  after.add();
  draft stay(*this, 0), go(*this, 1);
  auto const chain = read_bucket(divided, [&](auto items, auto hashes) {
    for (std::size_t i = 0; i < hashes.size(); ++i)
      (after.of(hashes[i]) == divided ? stay : go)
          .put(hashes[i], items.subspan(i * items_.bytes, items_.bytes));
  });
  stay.finish();
  go.finish();
  rows_.resize_buckets(made + 1);
  try {
    if (!go.empty()) {  // otherwise what there is stays where it is
      auto new_page = rows_.hold_to_renew(bucket_row::buckets, made);
      auto old_page =
          rows_.hold_to_renew(bucket_row::buckets, divided, page_row::content::replaced);
      stay.become(old_page.change());
      go.become(new_page.change());
      rows_.give_overflow_pages(chain);
    }
  } catch (...) {
    rows_.resize_buckets(made);
    throw;
  }
  numbers_ = after;
  ++version_;
}

/// Takes the last bucket away; what is in it goes back to where it came from.
void bucket_pages::unite_last() {
  auto before = numbers_;
  before.remove();
  std::uint64_t const united = before.next_divided(), last = before.count();
  draft both(*this, 0);
  auto const put = [&](auto items, auto hashes) {
    for (std::size_t i = 0; i < hashes.size(); ++i)
      both.put(hashes[i], items.subspan(i * items_.bytes, items_.bytes));
  };
  auto const chain = read_bucket(united, put);
  auto const last_chain = read_bucket(last, put);
  both.finish();
  both.become(rows_.hold_to_renew(bucket_row::buckets, united).change());
  rows_.give_overflow_pages(chain);
  rows_.give_overflow_pages(last_chain);
  rows_.resize_buckets(last);
  numbers_ = before;
  ++version_;
}

void bucket_pages::replace(std::uint64_t bucket, draft& by,
                           std::span<std::uint64_t const> old_chain, std::uint64_t added,
                           std::uint64_t removed, page_row::content old) {
  check_size(removed);
  by.finish();
  by.become(rows_.hold_to_renew(bucket_row::buckets, bucket, old).change());
  rows_.give_overflow_pages(old_chain);
  size_ = size_ + added - removed;
  ++version_;
}

void bucket_pages::reserve(std::uint64_t items) {
  std::uint64_t const wanted = div_up(items, wanted_);
  if (wanted <= numbers_.count()) return;
  // Before a bucket is divided, of which nobody could tell that it was in vain.
  rows_.require_buckets(wanted);
  if (size_ == 0) {
    clear();
    rows_.resize_buckets(wanted);
    numbers_ = bucket_numbers(wanted, wanted);
    return;
  }
  while (numbers_.count() < wanted) {
    std::uint64_t const soon = numbers_.next_divided() + rows_.ahead_pages(bucket_row::buckets);
    if (soon < numbers_.count()) rows_.prefetch(bucket_row::buckets, soon);
    divide_next();
  }
}

void bucket_pages::shrink_to_fit() {
  if (size_ == 0) return clear();
  std::uint64_t const wanted = std::max(div_up(size_, wanted_), numbers_.base());
  while (numbers_.count() > wanted) unite_last();
}

void bucket_pages::clear() {
  rows_.clear();
  numbers_ = {};
  size_ = 0;
  ++version_;
}

// ---- drafts ----

bucket_pages::draft::draft(bucket_pages& pages, std::size_t which) : rows_(pages.rows_) {
  std::size_t const bucket = pages.image_bytes(bucket_row::buckets);
  std::size_t const overflow = pages.image_bytes(bucket_row::overflow);
  auto const memory =
      pages.scratch_.bytes().subspan(std::max(bucket, overflow) + which * (bucket + overflow));
  bucket_ = memory.first(rows_.layout(bucket_row::buckets).page_bytes);
  overflow_ = memory.subspan(bucket, rows_.layout(bucket_row::overflow).page_bytes);
  bucket_rows::header_of(bucket_) = {};
  bucket_rows::filter_of(bucket_) = {};
  bucket_rows::header_of(overflow_) = {};
}

void bucket_pages::draft::put(std::uint64_t hash, std::span<std::byte const> item) {
  if (rows_.append(bucket_, bucket_row::buckets, item)) return;
  bucket_rows::filter_of(bucket_).add(hash);
  if (rows_.append(overflow_, bucket_row::overflow, item)) return;
  spill();
  rows_.append(overflow_, bucket_row::overflow, item);
}

void bucket_pages::draft::finish() {
  if (bucket_rows::header_of(overflow_).count > 0) spill();
}

/// Writes the page of the overflow, and puts it before the others.
void bucket_pages::draft::spill() {
  auto& next = bucket_rows::header_of(bucket_).next;
  auto& header = bucket_rows::header_of(overflow_);
  header.next = next;
  std::uint64_t const page = rows_.take_overflow_page();
  chain_.push_back(page);
  auto held = rows_.hold_to_renew(bucket_row::overflow, page, page_row::content::replaced);
  std::ranges::copy(overflow_, held.change().begin());
  next = page + 1;
  header = {};
}

void bucket_pages::draft::become(std::span<std::byte> page) noexcept {
  std::ranges::copy(bucket_, page.begin());
  chain_.clear();
}

}  // namespace outsize::detail
