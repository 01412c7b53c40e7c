// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/input_stream.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/file_input.hpp>
#include <outsize/io/posix/blocking_io.hpp>
#include <outsize/io/posix/sequential_input.hpp>

namespace outsize::io {
namespace {

constexpr int standard_input = 0;

// A regular file that says it is empty may be one of /proc, whose size shows only by reading it.
bool has_offsets(detail::file_status const& status) {
  return (status.kind == detail::file_kind::regular && status.size_bytes > 0) ||
         status.kind == detail::file_kind::block_device;
}

std::unique_ptr<input_stream> read_through(detail::open_descriptor source, std::string const& name,
                                           detail::file_status const& status, grant& memory,
                                           input_stream_options const& options) {
  auto stream =
      std::make_unique<detail::sequential_input>(std::move(source), name, memory, options);
  if (status.kind == detail::file_kind::regular) stream->look_ahead();
  return stream;
}

std::unique_ptr<input_stream> open_standard_input(std::string const& name, request_queue& queue,
                                                  grant& memory,
                                                  input_stream_options const& options) {
  auto const status = detail::status_of(standard_input, name);
  if (status.kind == detail::file_kind::directory) throw io_error(EISDIR, "read", name);
  if (!has_offsets(status)) {
    detail::open_descriptor source(detail::duplicate(standard_input, name));
    return read_through(std::move(source), name, status, memory, options);
  }
  auto const begin_bytes = detail::claim_rest(standard_input, name);
  auto open = [&](bool direct) {
    return adopt_file(detail::reopen_for_reading(standard_input, name), name, queue, direct);
  };
  auto source = open(true);
  if (!can_stream_from(*source)) source = open(false);
  return std::make_unique<file_input>(std::move(source), memory, options, begin_bytes);
}

}  // namespace

std::size_t input_stream_memory_bytes(input_stream_options const& options) {
  auto const block_bytes = round_up(std::max<std::size_t>(options.block_bytes, 1), page_bytes());
  return block_bytes * (options.depth + 1);
}

std::unique_ptr<input_stream> open_input(std::string const& path, request_queue& queue,
                                         grant& memory, input_stream_options const& options) {
  if (path == "-") return open_standard_input(path, queue, memory, options);
  auto const status = detail::status_of(path);
  if (status.kind == detail::file_kind::directory) throw io_error(EISDIR, "read", path);
  if (!has_offsets(status)) {
    return read_through(detail::open_for_reading(path, path), path, status, memory, options);
  }
  auto source = open_file(path, queue);
  if (!can_stream_from(*source)) source = open_file(path, queue, {.direct = false});
  return std::make_unique<file_input>(std::move(source), memory, options);
}

}  // namespace outsize::io
