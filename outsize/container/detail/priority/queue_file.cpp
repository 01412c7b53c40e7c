// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/container/detail/priority/queue_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/checksum_table.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t block_row = 0, catalogue_row = 1;
constexpr std::size_t least_unit_bytes = 64;

std::vector<std::size_t> page_lengths(std::size_t block_bytes) {
  return {block_bytes, std::min<std::size_t>(block_bytes, 64_KiB)};
}

}  // namespace

queue_file::queue_file(storage& store, std::shared_ptr<kept_file> file, bool is_new)
    : file_(std::move(file)),
      blocks_(std::make_unique<kept_blocks>(file_, block_row)),
      catalogue_(std::make_unique<kept_pages>(file_, catalogue_row)),
      is_new_(is_new) {
  std::size_t const block = blocks_->block_bytes(), page = catalogue_->page_bytes();
  if (block % least_unit_bytes != 0) refuse("page_bytes[0]", block);
  if (page % least_unit_bytes != 0) refuse("page_bytes[1]", page);
  memory_ = store.memory().take(round_up(page, page_bytes()), "catalogue of " + file_->name());
  page_ = memory_.allocate(page);
  if (is_new) return;
  if (file_->state().size() != sizeof state_) refuse("state_bytes", file_->state().size());
  std::memcpy(&state_, file_->state().data(), sizeof state_);
  std::uint64_t const room = catalogue_->end() * content().size();
  if (state_.catalogue_bytes > room) refuse("catalogue_bytes", state_.catalogue_bytes);
  if (state_.arrays > state_.catalogue_bytes) refuse("arrays", state_.arrays);
}

queue_file queue_file::create(storage& store, std::string const& path, kept_kind const& kind,
                              std::size_t block_bytes) {
  return {store, kept_file::create(store, path, kind, page_lengths(block_bytes)), true};
}
queue_file queue_file::create(storage& store, io::file_ptr file, kept_kind const& kind,
                              std::size_t block_bytes) {
  return {store, kept_file::create(store, std::move(file), kind, page_lengths(block_bytes)), true};
}
queue_file queue_file::open(storage& store, std::string const& path, kept_kind const& kind) {
  return {store, kept_file::open(store, path, io::access::read_write, kind), false};
}
queue_file queue_file::open(storage& store, io::file_ptr file, kept_kind const& kind) {
  return {store, kept_file::open(store, std::move(file), io::access::read_write, kind), false};
}

void queue_file::note_change() { catalogue_->check_writable(); }

void queue_file::refuse_order() const {
  throw format_error(name() + ": its items are in another order than that of this queue");
}

/// Of what page_ holds, as that page.
std::uint64_t queue_file::checksum(std::uint64_t page) noexcept {
  return block::checksum_of(content()) + page;
}

// ---- writer ----

void queue_file::writer::write(std::span<std::byte const> bytes) {
  auto const content = to_.content();
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    std::size_t const some = std::min(bytes.size(), content.size() - filled_);
    std::memcpy(content.data() + filled_, bytes.data(), some);
    bytes = bytes.subspan(some);
    filled_ += some;
    if (filled_ == content.size()) write_page();
  }
}

void queue_file::writer::write_page() {
  std::ranges::fill(to_.content().subspan(filled_), std::byte{0});
  std::uint64_t const checksum = to_.checksum(pages_);
  std::memcpy(to_.page_.data(), &checksum, sizeof checksum);
  if (pages_ == to_.catalogue_->end()) to_.catalogue_->append();
  auto const place = to_.catalogue_->place_to_change(pages_);
  to_.catalogue_->device().write(place, to_.page_.bytes().first(place.length_bytes))->wait();
  ++pages_;
  filled_ = 0;
}

void queue_file::writer::commit(state what, bool closes) {
  if (filled_ > 0) write_page();
  to_.catalogue_->shrink(0, pages_);
  to_.blocks_->trim();
  what.catalogue_bytes = bytes_;
  auto const bytes = std::as_bytes(std::span(&what, 1));
  if (closes)
    to_.file_->close(bytes);
  else
    to_.file_->commit(bytes);
  to_.state_ = what;
}

// ---- reader ----

void queue_file::reader::read(std::span<std::byte> to) {
  if (to.size() > from_.state_.catalogue_bytes - bytes_)
    from_.refuse("catalogue_bytes", from_.state_.catalogue_bytes);
  bytes_ += to.size();
  while (!to.empty()) {
    if (left_.empty()) read_page();
    std::size_t const some = std::min(to.size(), left_.size());
    std::memcpy(to.data(), left_.data(), some);
    to = to.subspan(some);
    left_ = left_.subspan(some);
  }
}

void queue_file::reader::read_page() {
  auto const refuse = [&] {
    throw format_error(
        fmt::format("{}: damaged: page {} of the catalogue of arrays", from_.name(), pages_));
  };
  if (!from_.catalogue_->is_written(pages_)) refuse();
  auto const place = from_.catalogue_->place(pages_);
  auto& device = from_.catalogue_->device();
  device.wait_for_block(place, *device.read(place, from_.page_.bytes().first(place.length_bytes)));
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, from_.page_.data(), sizeof checksum);
  if (checksum != from_.checksum(pages_)) refuse();
  ++pages_;
  left_ = from_.content();
}

}  // namespace outsize::detail
