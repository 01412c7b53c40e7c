// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/disk.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/device_contents.hpp>
#include <outsize/io/disk_file.hpp>

namespace outsize::block {
namespace {

// A disk's file grows by steps that double between these, so that small jobs stay small and large
// ones get long contiguous extents, allocated before they are written.
constexpr std::uint64_t least_growth_bytes = 4_MiB;
constexpr std::uint64_t most_growth_bytes = 256_MiB;

}  // namespace

disk::disk(disk_options options, io::statistics& counter)
    : options_(std::move(options)), counter_(counter), growth_bytes_(least_growth_bytes) {
  OUTSIZE_ASSERT(options_.backend && options_.depth && options_.direct);
  queue_ = io::make_request_queue(*options_.backend, *options_.depth);
  if (!options_.open) check_path();
}

void disk::keep_checksums(memory_budget& memory, std::uint64_t reserve_bytes) {
  written_.emplace(memory, reserve_bytes);
}

void disk::check_path() {
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

void disk::check_device() const {
  io::require_unused_device(options_.path);
  if (options_.force) return;
  if (auto const what = io::known_contents(options_.path))
    throw std::invalid_argument(
        fmt::format("{}: it holds {}, which a raw disk is written over; if that may be lost, say "
                    "force=yes",
                    options_.path, *what));
}

io::file& disk::file() {
  // Without the lock once it is open: reads must not wait until it has grown.
  if (io::file* const open = open_file_.load(std::memory_order_acquire)) return *open;
  std::lock_guard lock(mutex_);
  return open_file();
}

/// @pre mutex_ is held.
io::file& disk::open_file() {
  if (file_) return *file_;
  if (options_.open) {
    file_ = options_.open(*queue_);
  } else if (is_directory_) {
    file_ = io::make_temporary_file(options_.path, *queue_, *options_.direct);
  } else {
    file_ =
        io::open_file(options_.path, *queue_,
                      {.mode = io::access::read_write, .direct = *options_.direct, .lock = true});
    if (is_device_)  // it cannot grow, and says nothing when asked to
      options_.capacity_bytes = std::min(options_.capacity_bytes, file_->size_bytes());
  }
  file_->count_into(&counter_);
  open_file_.store(file_.get(), std::memory_order_release);
  return *file_;
}

std::uint64_t disk::free_bytes() {
  std::lock_guard lock(mutex_);
  if (is_device_) open_file();  // to know how large it is
  std::uint64_t growth = options_.capacity_bytes - std::min(options_.capacity_bytes, size_bytes_);
  if (!options_.open && !is_device_)
    growth = std::min(growth, own_space_bytes() + io::free_space_bytes(options_.path));
  return space_.total_bytes() + growth;
}

/// What a file of the user's takes up beyond what is in use, and need not be free.
std::uint64_t disk::own_space_bytes() const {
  struct stat status {};
  if (is_directory_ || ::stat(options_.path.c_str(), &status) != 0) return 0;
  auto const taken = static_cast<std::uint64_t>(status.st_blocks) * 512;  // whatever st_blksize
  return taken - std::min(taken, size_bytes_);
}

std::optional<std::uint64_t> disk::allocate(std::uint64_t length_bytes) {
  std::lock_guard lock(mutex_);
  open_file();
  if (auto place = space_.take(length_bytes)) return place;
  if (!grow(length_bytes)) return std::nullopt;
  return space_.take(length_bytes);
}

std::optional<std::uint64_t> disk::allocate_from(std::uint64_t least_offset_bytes,
                                                 std::uint64_t length_bytes) {
  std::lock_guard lock(mutex_);
  return space_.take(length_bytes, least_offset_bytes);
}

void disk::grow_to_capacity() {
  std::lock_guard lock(mutex_);
  open_file().allocate(0, options_.capacity_bytes);
  size_bytes_ = round_down(options_.capacity_bytes, std::uint64_t{file_->alignment_bytes()});
  space_.give(0, size_bytes_);
}

/// Extends the file by at least `length_bytes`, by a whole step if there is room. Returns false if
/// the disk is full. @pre mutex_ is held.
bool disk::grow(std::uint64_t length_bytes) {
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

void disk::free(std::uint64_t offset_bytes, std::uint64_t length_bytes) noexcept {
  forget_written(offset_bytes, length_bytes);
  std::lock_guard lock(mutex_);
  try {
    space_.give(offset_bytes, length_bytes);
  } catch (std::bad_alloc const&) {
    return;  // what cannot be noted as free is not used again
  }
}

io::request_ptr disk::read(block_id id, std::span<std::byte> into, io::completion done) {
  return file().read(id.offset_bytes, into, checking(id.offset_bytes, into, std::move(done)));
}

io::request_ptr disk::read_now(block_id id, std::span<std::byte> into) {
  return file().read_now(id.offset_bytes, into, checking(id.offset_bytes, into, {}));
}

io::request_ptr disk::write(block_id id, std::span<std::byte const> from, io::completion done) {
  note_written(id, from);
  try {
    return file().write(id.offset_bytes, from,
                        forgetting_failures(id.offset_bytes, from.size(), std::move(done)));
  } catch (...) {  // not issued
    forget_written(id.offset_bytes, from.size());
    throw;
  }
}

void disk::wait_for_block(block_id id, io::request& reading) const {
  if (written_ && reading.wait_outcome().error_number == EBADMSG)
    throw corrupt_block(name(), id.offset_bytes, id.length_bytes);
  if (reading.wait() != id.length_bytes)
    throw io_error(EIO, "read", name(), id.offset_bytes, id.length_bytes);
}

/// Notes the checksums of what is about to be written, of each block by itself.
void disk::note_written(block_id first, std::span<std::byte const> bytes) {
  if (!written_) return;
  std::vector<checked_piece> pieces;
  for (std::uint64_t at = first.offset_bytes; !bytes.empty();) {
    auto const piece = bytes.first(std::min<std::size_t>(bytes.size(), first.length_bytes));
    pieces.push_back({at, piece.size(), checksum_of(piece)});
    at += piece.size();
    bytes = bytes.subspan(piece.size());
  }
  written_->set(pieces);
}

void disk::forget_written(std::uint64_t offset_bytes, std::uint64_t length_bytes) noexcept {
  if (written_) written_->forget(offset_bytes, length_bytes);
}

/// What a write is to end with: what a failed one has left on the disk is not known.
io::completion disk::forgetting_failures(std::uint64_t offset_bytes, std::uint64_t length_bytes,
                                         io::completion done) {
  if (!written_) return done;
  return [this, offset_bytes, length_bytes, done = std::move(done)](io::request const& writing,
                                                                    io::outcome& how) {
    if (!how.ok()) forget_written(offset_bytes, length_bytes);
    if (done) done(writing, how);
  };
}

/// What a read is to end with, if there are checksums: a failure if the bytes read are not those
/// written last.
io::completion disk::checking(std::uint64_t offset_bytes, std::span<std::byte const> into,
                              io::completion done) {
  if (!written_) return done;
  auto pieces = written_->within(offset_bytes, into.size());
  if (pieces.empty()) return done;
  return [offset_bytes, into, pieces = std::move(pieces), done = std::move(done)](
             io::request const& reading, io::outcome& how) {
    auto const is_as_written = [&](checked_piece const& piece) {
      return checksum_of(into.subspan(piece.offset_bytes - offset_bytes, piece.length_bytes)) ==
             piece.checksum;
    };
    if (how.ok() && how.bytes == into.size() && !std::ranges::all_of(pieces, is_as_written))
      how.error_number = EBADMSG;
    if (done) done(reading, how);
  };
}

}  // namespace outsize::block
