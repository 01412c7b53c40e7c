// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/storage.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include OUTSIZE_XXHASH_HEADER
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/checksum_table.hpp>
#include <outsize/block/free_extents.hpp>
#include <outsize/io/device_contents.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/file_identity.hpp>

namespace outsize {
namespace {

// A disk's file grows by steps that double between these, so that small jobs stay small and large
// ones get long contiguous extents, allocated before they are written.
constexpr std::uint64_t least_growth_bytes = 4_MiB;
constexpr std::uint64_t most_growth_bytes = 256_MiB;

// Of the memory, where all blocks have checksums: for each MiB of it enough for 0.8 MiB of pages of
// 4 KiB, or for 0.4 GiB of blocks of 2 MiB.
constexpr std::uint64_t checksum_share = 64;

memory_division division_for(storage_options const& options) {
  std::size_t const threads = options.threads != 0 ? options.threads : available_threads();
  if (options.memory == 0)
    return divide_memory(available_memory_bytes(), threads, options.codec_memory);
  return {.budget_bytes = options.memory,
          .codec_bytes = std::numeric_limits<std::uint64_t>::max(),
          .threads = std::min(threads, most_threads_for(options.memory))};
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

/// A queue, a file that grows, and its free space. The file exists from its first use on.
class storage::disk {
 public:
  /// @param checksum_bytes  Of memory for checksums at once; nothing: there are none.
  /// @param counter  Where requests are counted; nullptr: in one of its own.
  disk(disk_options options, storage_options const& common, memory_budget& memory,
       std::optional<std::uint64_t> checksum_bytes, io::statistics* counter = nullptr)
      : options_(std::move(options)),
        direct_(options_.direct.value_or(common.direct)),
        counter_(counter != nullptr ? counter : &own_counter_),
        queue_(io::make_request_queue(options_.backend.value_or(common.backend),
                                      options_.depth.value_or(common.depth))) {
    if (!options_.open) check_path();
    if (checksum_bytes) written_.emplace(memory, *checksum_bytes);
  }

  std::string const& name() const noexcept { return options_.path; }
  /// What is written over; nothing of a directory.
  std::optional<io::file_identity> const& raw_identity() const noexcept { return raw_identity_; }
  io::statistics& counter() noexcept { return *counter_; }

  /// Once it is open, without the lock: reads must not wait until it has grown.
  io::file& file() {
    if (io::file* const open = open_file_.load(std::memory_order_acquire)) return *open;
    std::lock_guard lock(mutex_);
    return open_file();
  }

  std::uint64_t free_bytes() {
    std::lock_guard lock(mutex_);
    if (is_device_) open_file();  // to know how large it is
    std::uint64_t growth = options_.capacity_bytes - std::min(options_.capacity_bytes, size_bytes_);
    if (!options_.open && !is_device_)
      growth = std::min(growth, own_space_bytes() + io::free_space_bytes(options_.path));
    return space_.total_bytes() + growth;
  }

  std::optional<std::uint64_t> allocate(std::uint64_t length_bytes) {
    std::lock_guard lock(mutex_);
    open_file();
    if (auto place = space_.take(length_bytes)) return place;
    if (!grow(length_bytes)) return std::nullopt;
    return space_.take(length_bytes);
  }

  /// Grows to its whole capacity. @throws io_error.
  void grow_to_capacity() {
    std::lock_guard lock(mutex_);
    open_file().allocate(0, options_.capacity_bytes);
    size_bytes_ = round_down(options_.capacity_bytes, std::uint64_t{file_->alignment_bytes()});
    space_.give(0, size_bytes_);
  }

  /// Of what there is already.
  std::optional<std::uint64_t> allocate_from(std::uint64_t least_offset_bytes,
                                             std::uint64_t length_bytes) {
    std::lock_guard lock(mutex_);
    return space_.take(length_bytes, least_offset_bytes);
  }

  void free(std::uint64_t offset_bytes, std::uint64_t length_bytes) noexcept {
    forget_written(offset_bytes, length_bytes);
    std::lock_guard lock(mutex_);
    try {
      space_.give(offset_bytes, length_bytes);
    } catch (std::bad_alloc const&) {
      return;  // what cannot be noted as free is not used again
    }
  }

  /// Notes the checksums of what is about to be written, of each block by itself.
  void note_written(block::block_id first, std::span<std::byte const> bytes) {
    if (!written_) return;
    std::vector<block::checked_piece> pieces;
    for (std::uint64_t at = first.offset_bytes; !bytes.empty();) {
      auto const piece = bytes.first(std::min<std::size_t>(bytes.size(), first.length_bytes));
      pieces.push_back({at, piece.size(), checksum_of(piece)});
      at += piece.size();
      bytes = bytes.subspan(piece.size());
    }
    written_->set(pieces);
  }

  void forget_written(std::uint64_t offset_bytes, std::uint64_t length_bytes) noexcept {
    if (written_) written_->forget(offset_bytes, length_bytes);
  }

  /// What a write is to end with: of one that fails it is not known what it has left.
  io::completion forgetting_failures(std::uint64_t offset_bytes, std::uint64_t length_bytes,
                                     io::completion done) {
    if (!written_) return done;
    return [this, offset_bytes, length_bytes, done = std::move(done)](io::request const& writing,
                                                                      io::outcome& how) {
      if (!how.ok()) forget_written(offset_bytes, length_bytes);
      if (done) done(writing, how);
    };
  }

  /// What a read into those bytes is to end with, if there are checksums: a failure if what has
  /// come is not what is there now.
  io::completion checking(std::uint64_t offset_bytes, std::span<std::byte const> into,
                          io::completion done) {
    if (!written_) return done;
    auto pieces = written_->within(offset_bytes, into.size());
    if (pieces.empty()) return done;
    return [offset_bytes, into, pieces = std::move(pieces), done = std::move(done)](
               io::request const& reading, io::outcome& how) {
      auto const is_as_written = [&](block::checked_piece const& piece) {
        return checksum_of(into.subspan(piece.offset_bytes - offset_bytes, piece.length_bytes)) ==
               piece.checksum;
      };
      if (how.ok() && how.bytes == into.size() && !std::ranges::all_of(pieces, is_as_written))
        how.error_number = EBADMSG;
      if (done) done(reading, how);
    };
  }

 private:
  /// Of a file of the user's: what it takes up already beyond what is in use, and need not be free.
  std::uint64_t own_space_bytes() const {
    struct stat status {};
    if (is_directory_ || ::stat(options_.path.c_str(), &status) != 0) return 0;
    auto const taken = static_cast<std::uint64_t>(status.st_blocks) * 512;  // whatever st_blksize
    return taken - std::min(taken, size_bytes_);
  }

  void check_path() {
    struct stat status {};
    if (::stat(options_.path.c_str(), &status) != 0)
      throw io_error(errno, "use as a disk", options_.path);
    is_directory_ = S_ISDIR(status.st_mode);
    if (is_directory_ == options_.raw)  // a file given by mistake must not be written over
      throw io_error(is_directory_ ? EISDIR : ENOTDIR, "use as a disk", options_.path);
    is_device_ = S_ISBLK(status.st_mode);
    int const wanted = is_directory_ ? W_OK | X_OK : R_OK | W_OK;
    if (::access(options_.path.c_str(), wanted) != 0)
      throw io_error(errno, "use as a disk", options_.path);
    if (options_.raw) raw_identity_ = io::identity_of(options_.path);
    if (is_device_) check_device();
  }

  void check_device() const {
    io::require_unused_device(options_.path);
    if (options_.force) return;
    if (auto const what = io::known_contents(options_.path))
      throw std::invalid_argument(
          fmt::format("{}: it holds {}, which a raw disk is written over; if that may be lost, say "
                      "force=yes",
                      options_.path, *what));
  }

  io::file& open_file() {
    if (file_) return *file_;
    if (options_.open) {
      file_ = options_.open(*queue_);
    } else if (is_directory_) {
      file_ = io::make_temporary_file(options_.path, *queue_, direct_);
    } else {
      file_ = io::open_file(options_.path, *queue_,
                            {.mode = io::access::read_write, .direct = direct_, .lock = true});
      if (is_device_)  // it cannot grow, and says nothing when asked to
        options_.capacity_bytes = std::min(options_.capacity_bytes, file_->size_bytes());
    }
    file_->count_into(counter_);
    open_file_.store(file_.get(), std::memory_order_release);
    return *file_;
  }

  /// Extends the file by at least `length_bytes`, by a whole step if there is room. False: the disk
  /// is full.
  bool grow(std::uint64_t length_bytes) {
    std::uint64_t const room =
        options_.capacity_bytes - std::min(options_.capacity_bytes, size_bytes_);
    // The free space at the end of the file, if any, is not subtracted: simpler, and at most one
    // block.
    std::uint64_t const most = round_down(std::min(std::max(growth_bytes_, length_bytes), room),
                                          std::uint64_t{file_->alignment_bytes()});
    if (most < length_bytes) return false;
    try {
      std::uint64_t const bytes = file_->allocate_some(size_bytes_, length_bytes, most);
      space_.give(size_bytes_, bytes);
      size_bytes_ += bytes;
    } catch (io_error const& e) {
      if (e.is_full()) return false;
      throw;
    }
    growth_bytes_ = std::min(growth_bytes_ * 2, most_growth_bytes);
    return true;
  }

  disk_options options_;
  bool direct_;
  bool is_directory_ = false;
  bool is_device_ = false;
  std::optional<io::file_identity> raw_identity_;
  io::statistics own_counter_;
  io::statistics* counter_;
  std::unique_ptr<io::request_queue> queue_;
  std::optional<block::checksum_table> written_;
  std::atomic<io::file*> open_file_{nullptr};
  detail::process_mutex mutex_;  // guards what follows
  io::file_ptr file_;
  block::free_extents space_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t growth_bytes_ = least_growth_bytes;
};

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
  for (auto const& d : options_.disks)
    disks_.push_back(std::make_unique<disk>(d, options_, memory_, checksum_bytes));
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

std::string const& storage::disk_name(std::uint32_t index) const { return disk_at(index).name(); }

storage::disk& storage::disk_at(std::uint32_t index) const noexcept {
  return is_guest(index) ? *guests_[index - disks_.size()] : *disks_[index];
}

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
    disk& d = *disks_[index];
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

std::optional<std::uint32_t> storage::add_guest(disk_options const& file) {
  process_.check("storage");
  auto made = std::make_unique<disk>(file, options_, memory_, std::nullopt, &disks_[0]->counter());
  made->grow_to_capacity();
  std::lock_guard const lock(guests_mutex_);
  auto const place =
      std::ranges::find_if(guests_, [](auto const& guest) { return guest == nullptr; });
  if (place == guests_.end()) return std::nullopt;
  *place = std::move(made);
  return disk_count() + static_cast<std::uint32_t>(place - guests_.begin());
}

void storage::remove_guest(std::uint32_t guest) noexcept {
  std::lock_guard const lock(guests_mutex_);
  guests_[guest - disks_.size()].reset();
}

std::optional<block::block_id> storage::allocate_in(std::uint32_t guest, std::size_t length_bytes,
                                                    std::uint64_t least_offset_bytes) {
  disk& d = disk_at(guest);
  std::uint64_t const unit = d.file().alignment_bytes();
  std::uint64_t const bytes = round_up<std::uint64_t>(length_bytes, unit);
  OUTSIZE_ASSERT(bytes <= UINT32_MAX);
  auto const offset = d.allocate_from(round_up(least_offset_bytes, unit), bytes);
  if (!offset) return std::nullopt;
  return block::block_id{
      .offset_bytes = *offset, .disk = guest, .length_bytes = static_cast<std::uint32_t>(bytes)};
}

void storage::free(block::block_id id) noexcept {
  disk_at(id.disk).free(id.offset_bytes, id.length_bytes);
  if (!is_guest(id.disk)) allocated_bytes_.fetch_sub(id.length_bytes);
}

io::request_ptr storage::read(block::block_id id, std::span<std::byte> into, io::completion done) {
  OUTSIZE_ASSERT(into.size() <= id.length_bytes);
  disk& from = disk_at(id.disk);
  return from.file().read(id.offset_bytes, into,
                          from.checking(id.offset_bytes, into, std::move(done)));
}

io::request_ptr storage::read_now(block::block_id id, std::span<std::byte> into) {
  OUTSIZE_ASSERT(into.size() <= id.length_bytes);
  disk& from = disk_at(id.disk);
  return from.file().read_now(id.offset_bytes, into, from.checking(id.offset_bytes, into, {}));
}

io::request_ptr storage::write(block::block_id id, std::span<std::byte const> from,
                               io::completion done) {
  OUTSIZE_ASSERT(from.size() <= id.length_bytes || from.size() % id.length_bytes == 0);
  disk& to = disk_at(id.disk);
  to.note_written(id, from);
  try {
    return to.file().write(id.offset_bytes, from,
                           to.forgetting_failures(id.offset_bytes, from.size(), std::move(done)));
  } catch (...) {  // not issued
    to.forget_written(id.offset_bytes, from.size());
    throw;
  }
}

void storage::wait_for_block(block::block_id id, io::request& reading) const {
  bool const is_compared = options_.checksums == block_checksums::of_all;
  if (is_compared && reading.wait_outcome().error_number == EBADMSG)
    throw corrupt_block(disk_name(id.disk), id.offset_bytes, id.length_bytes);
  if (reading.wait() != id.length_bytes)
    throw io_error(EIO, "read", disk_name(id.disk), id.offset_bytes, id.length_bytes);
}

std::uint64_t storage::checksum_of(std::span<std::byte const> written) noexcept {
  return XXH3_64bits(written.data(), written.size());
}

void storage::check(block::block_id id, std::span<std::byte const> read,
                    std::uint64_t checksum) const {
  if (checksum != checksum_of(read))
    throw corrupt_block(disk_name(id.disk), id.offset_bytes, read.size());
}

std::string storage::disk_names() const { return names_of(placed_); }

std::string storage::names_of(std::span<std::uint32_t const> disks) const {
  std::string names;
  for (std::uint32_t const index : disks)
    names += (names.empty() ? "" : ", ") + disks_[index]->name();
  return names;
}

io::statistics_snapshot storage::disk_statistics(std::uint32_t index) const {
  return disks_[index]->counter().snapshot();
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
