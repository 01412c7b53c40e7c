// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/output_file.hpp>

#include <cerrno>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/posix/unpublished_file.hpp>

namespace outsize::io {
namespace {

detail::output_target target_of(std::string const& path) {
  if (auto found = detail::find_replaceable(path)) return std::move(*found);
  throw io_error(ESPIPE, "write at any offset to", path);
}

}  // namespace

struct output_file::parts {
  detail::unpublished_file unpublished;
  std::unique_ptr<file> contents;
};

output_file::output_file(std::string const& path, std::uint64_t room_bytes, request_queue& queue,
                         bool direct)
    : parts_(new parts{detail::unpublished_file(target_of(path), path), nullptr}) {
  parts_->contents = adopt_file(parts_->unpublished.duplicate_descriptor(), path, queue, direct);
  std::uint64_t const rounded = round_up<std::uint64_t>(room_bytes, 1 << 16);
  if (room_bytes == 0) return;
  try {
    parts_->contents->allocate(0, rounded);
  } catch (io_error const& e) {
    if (e.code().value() != ENOSPC) throw;
    throw no_space(parts_->unpublished.directory(), rounded);
  }
}

output_file::~output_file() = default;

file& output_file::contents() noexcept { return *parts_->contents; }

void output_file::commit(std::uint64_t length_bytes) {
  parts_->contents->resize(length_bytes);
  parts_->contents.reset();
  parts_->unpublished.publish();
}

}  // namespace outsize::io
