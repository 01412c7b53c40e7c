// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/output_file.hpp>

#include <cerrno>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/file_output.hpp>
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
  std::string name;
  std::uint64_t room_bytes;  // allocated
  std::size_t alignment_bytes;
  std::unique_ptr<file> contents;

  file_ptr open(request_queue& queue) const {
    return detail::share_file(unpublished.descriptor(), name, queue, alignment_bytes);
  }
};

output_file::output_file(std::string const& path, std::uint64_t room_bytes, request_queue& queue,
                         bool direct)
    : parts_(new parts{detail::unpublished_file(target_of(path), path), path,
                       round_up<std::uint64_t>(room_bytes, 1 << 16), 1, nullptr}) {
  parts_->alignment_bytes =
      detail::choose_alignment(*parts_->unpublished.descriptor(), direct && queue.moves_directly());
  parts_->contents = parts_->open(queue);
  std::uint64_t const rounded = parts_->room_bytes;
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

file_ptr output_file::contents_through(request_queue& queue) const { return parts_->open(queue); }

std::unique_ptr<output_stream> output_file::as_stream(request_queue& queue,
                                                      output_stream_options const& options) {
  return std::make_unique<file_output>(
      parts_->open(queue), parts_->unpublished.directory(), options,
      [parts = parts_, inputs = options.inputs] { parts->unpublished.publish(inputs); },
      parts_->room_bytes);
}

void output_file::commit(std::uint64_t length_bytes, input_watch const& inputs) {
  parts_->contents->resize(length_bytes);
  if (parts_->contents->alignment_bytes() == 1) parts_->contents->sync();  // see file_output.cpp
  parts_->contents.reset();
  parts_->unpublished.publish(inputs);
}

}  // namespace outsize::io
