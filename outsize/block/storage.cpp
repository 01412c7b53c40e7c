// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/storage.hpp>

#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/disk.hpp>
#include <outsize/io/file_identity.hpp>

namespace outsize {
namespace {

// Of the memory, where all blocks have checksums: for each MiB of it enough for 0.8 MiB of pages of
// 4 KiB, or for 0.4 GiB of blocks of 2 MiB.
constexpr std::uint64_t checksum_share = 64;

memory_division division_for(storage_options const& options) {
  std::size_t const threads = options.threads != 0 ? options.threads : available_threads();
  if (options.memory_bytes == 0)
    return divide_memory(available_memory_bytes(), threads, options.codec_memory_bytes);
  return {.budget_bytes = options.memory_bytes,
          .codec_bytes = std::numeric_limits<std::uint64_t>::max(),
          .threads = std::min(threads, most_threads_for(options.memory_bytes))};
}

void check_disks(std::span<std::uint32_t const> disks, std::size_t disk_count) {
  std::vector<bool> named(disk_count);
  for (std::uint32_t const disk : disks) {
    if (disk >= disk_count)
      throw std::invalid_argument(
          fmt::format("placement on disk {} of a storage of {} disks", disk, disk_count));
    if (named[disk])
      throw std::invalid_argument(fmt::format("placement that names disk {} twice", disk));
    named[disk] = true;
  }
}

}  // namespace

disk_options with_defaults(disk_options disk, storage_options const& common) {
  disk.backend = disk.backend.value_or(common.backend);
  disk.depth = disk.depth.value_or(common.depth);
  disk.direct = disk.direct.value_or(common.direct);
  return disk;
}

storage::storage(storage_options options)
    : options_(std::move(options)),
      division_(division_for(options_)),
      memory_(division_.budget_bytes),
      codec_memory_(division_.codec_bytes),
      executor_(division_.threads),
      file_queue_(io::make_request_queue(options_.backend, options_.depth)) {
  if (options_.disks.empty()) options_.disks = default_disks();
  std::optional<std::uint64_t> checksum_bytes;  // of each disk
  if (options_.checksums == block_checksums::of_all)
    checksum_bytes = memory_.total_bytes() / checksum_share / options_.disks.size();
  disk_counters_ = std::vector<io::statistics>(options_.disks.size());
  for (std::size_t i = 0; i < options_.disks.size(); ++i) {
    disks_.push_back(std::make_unique<block::disk>(with_defaults(options_.disks[i], options_),
                                                   disk_counters_[i]));
    if (checksum_bytes) disks_.back()->keep_checksums(memory_, *checksum_bytes);
  }
  refuse_same_disks();
  weights_ = weights_of(options_.disks);
  speeds_ = read_speeds_of(options_.disks);
  check_disks(options_.placement.disks, disks_.size());
  placed_ = options_.placement.disks;
  if (placed_.empty())
    for (std::uint32_t i = 0; i < disk_count(); ++i) placed_.push_back(i);
  own_grants_ = memory_.grant_count();
}

storage::~storage() {
  OUTSIZE_ASSERT((memory_.grant_count() == own_grants_ || !process_.is_current()) &&
                 "a storage goes before a container, sorter or stream that lives in it");
}

std::uint32_t storage::disk_count() const noexcept {
  return static_cast<std::uint32_t>(disks_.size());
}

std::string const& storage::disk_name(std::uint32_t index) const { return disks_[index]->name(); }

std::size_t storage::alignment_bytes() {
  process_.check("storage");
  std::size_t alignment = 1;
  for (auto& d : disks_) alignment = std::max(alignment, d->file().alignment_bytes());
  return alignment;
}

std::uint64_t storage::free_bytes() { return free_bytes_of(placed_); }

std::uint64_t storage::free_bytes_of(std::span<std::uint32_t const> disks) {
  std::uint64_t bytes = 0;
  for (std::uint32_t const index : disks) {
    std::uint64_t const more = disks_[index]->free_bytes();
    bytes = more > UINT64_MAX - bytes ? UINT64_MAX : bytes + more;
  }
  return bytes;
}

io::request_queue& storage::file_queue() noexcept { return *file_queue_; }

void storage::refuse_same_disks() const {
  for (auto one = disks_.begin(); one != disks_.end(); ++one) {
    if (!(*one)->raw_identity()) continue;
    for (auto other = disks_.begin(); other != one; ++other)
      if ((*other)->raw_identity() &&
          io::share_bytes(*(*one)->raw_identity(), *(*other)->raw_identity()))
        throw std::invalid_argument(
            fmt::format("{}: it is the disk {}, too, and blocks would be written over each other",
                        (*one)->name(), (*other)->name()));
  }
}

void storage::refuse_disk(std::string const& path) const {
  bool const has_raw =
      std::ranges::any_of(disks_, [](auto const& d) { return d->raw_identity().has_value(); });
  if (!has_raw) return;
  std::vector<std::optional<io::file_identity>> files;
  if (path == "-") {
    files = {io::identity_of(STDIN_FILENO), io::identity_of(STDOUT_FILENO)};
  } else {
    files = {io::identity_of(path)};
  }
  for (auto const& d : disks_)
    for (auto const& file : files)
      if (file && d->raw_identity() && io::share_bytes(*file, *d->raw_identity()))
        throw std::invalid_argument(fmt::format(
            "{}: the raw disk {} is written over; it cannot be an input or an output as well", path,
            d->name()));
}

std::unique_ptr<block::placement> storage::new_placement() {
  return block::make_placement(options_.placement, weights_, options_.seed, sequences_++);
}

std::unique_ptr<block::placement> storage::new_placement(block::placement_options const& options) {
  check_disks(options.disks, disks_.size());
  return block::make_placement(options, weights_, options_.seed, sequences_++);
}

block::block_id storage::allocate(std::size_t length_bytes, block::placement& where) {
  process_.check("storage");
  auto const disks = where.disks();
  auto const preferred =
      static_cast<std::size_t>(std::ranges::find(disks, where.next_disk()) - disks.begin());
  for (std::size_t i = 0; i < disks.size(); ++i) {
    std::uint32_t const index = disks[(preferred + i) % disks.size()];
    block::disk& d = *disks_[index];
    std::uint64_t const bytes = round_up(length_bytes, d.file().alignment_bytes());
    OUTSIZE_ASSERT(bytes <= UINT32_MAX);
    if (auto const offset = d.allocate(bytes)) {
      std::uint64_t const now = allocated_bytes_.fetch_add(bytes) + bytes;
      std::uint64_t peak = peak_allocated_bytes_.load();
      while (peak < now && !peak_allocated_bytes_.compare_exchange_weak(peak, now)) {
      }
      return {.offset_bytes = *offset,
              .disk = index,
              .length_bytes = static_cast<std::uint32_t>(bytes)};
    }
  }
  throw out_of_space(names_of(disks), free_bytes_of(disks), length_bytes);
}

void storage::require_space(std::uint64_t bytes, block::placement const& where) {
  if (std::uint64_t const free = free_bytes_of(where.disks()); free < bytes)
    throw out_of_space(names_of(where.disks()), free, bytes);
}

void storage::free(block::block_id id) noexcept {
  OUTSIZE_ASSERT(id.disk < disks_.size());
  disks_[id.disk]->free(id.offset_bytes, id.length_bytes);
  allocated_bytes_.fetch_sub(id.length_bytes);
}

io::request_ptr storage::read(block::block_id id, std::span<std::byte> into, io::completion done) {
  OUTSIZE_ASSERT(id.disk < disks_.size());
  OUTSIZE_ASSERT(into.size() <= id.length_bytes);
  return disks_[id.disk]->read(id, into, std::move(done));
}

io::request_ptr storage::read_now(block::block_id id, std::span<std::byte> into) {
  OUTSIZE_ASSERT(into.size() <= id.length_bytes);
  return disks_[id.disk]->read_now(id, into);
}

io::request_ptr storage::write(block::block_id id, std::span<std::byte const> from,
                               io::completion done) {
  OUTSIZE_ASSERT(id.disk < disks_.size());
  OUTSIZE_ASSERT(from.size() <= id.length_bytes || from.size() % id.length_bytes == 0);
  return disks_[id.disk]->write(id, from, std::move(done));
}

void storage::wait_for_block(block::block_id id, io::request& reading) const {
  disks_[id.disk]->wait_for_block(id, reading);
}

std::string storage::disk_names() const { return names_of(placed_); }

std::string storage::names_of(std::span<std::uint32_t const> disks) const {
  std::string names;
  for (std::uint32_t const index : disks)
    names += (names.empty() ? "" : ", ") + disks_[index]->name();
  return names;
}

io::statistics_snapshot storage::disk_statistics(std::uint32_t index) const {
  return disk_counters_[index].snapshot();
}

io::statistics& storage::disk_counter(std::uint32_t index) noexcept {
  return disk_counters_[index];
}

io::statistics_snapshot storage::total_statistics() const {
  io::statistics_snapshot sum = file_statistics_.snapshot() + buffer_statistics_.snapshot();
  for (auto const& d : disks_) sum += d->counter().snapshot();
  return sum;
}

double storage::measured_bytes_per_second() const {
  auto const speed = [](io::statistics_snapshot const& moved) {
    if (moved.busy_ns == 0) return 0.0;
    return static_cast<double>(moved.read_bytes + moved.write_bytes) * 1e9 /
           static_cast<double>(moved.busy_ns);
  };
  double sum = speed(file_statistics_.snapshot());
  for (auto const& d : disks_) sum += speed(d->counter().snapshot());
  return sum;
}

void storage::note_in(io::timeline* where) {
  file_statistics_.note_in(where, "files");
  buffer_statistics_.note_in(where, "buffers");
  for (auto const& d : disks_) d->counter().note_in(where, "disk " + d->name());
}

std::uint64_t storage::allocated_bytes() const noexcept { return allocated_bytes_.load(); }
std::uint64_t storage::peak_allocated_bytes() const noexcept {
  return peak_allocated_bytes_.load();
}

storage& default_storage() {
  // Not destroyed: whatever is older than it, or runs until the end, may use it still.
  static storage& instance = *new storage;
  return instance;
}

}  // namespace outsize
