// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/output_stream.hpp>

#include <utility>

#include <outsize/io/encoding_output.hpp>
#include <outsize/io/file_output.hpp>
#include <outsize/io/posix/blocking_io.hpp>
#include <outsize/io/posix/sequential_output.hpp>
#include <outsize/io/posix/unpublished_file.hpp>

namespace outsize::io {
namespace {

constexpr int standard_output = 1;

std::unique_ptr<output_stream> open_plain(std::string const& path, request_queue& queue,
                                          output_stream_options const& options) {
  if (path == "-") {
    detail::open_descriptor target(detail::duplicate(standard_output, path));
    return std::make_unique<detail::sequential_output>(std::move(target), path, options);
  }
  auto replaceable = detail::find_replaceable(path);
  if (!replaceable) {
    auto const number = detail::descriptor_behind(path);
    auto target = number ? detail::open_descriptor(detail::duplicate(*number, path))
                         : detail::open_for_writing(path, path);
    return std::make_unique<detail::sequential_output>(std::move(target), path, options);
  }
  auto made = std::make_shared<detail::unpublished_file>(std::move(*replaceable), path);
  auto const alignment = detail::choose_alignment(*made->descriptor(), queue.moves_directly());
  auto target = detail::share_file(made->descriptor(), path, queue, alignment);
  return std::make_unique<file_output>(std::move(target), made->directory(), options,
                                       [made, inputs = options.inputs] { made->publish(inputs); });
}

}  // namespace

std::unique_ptr<output_stream> open_output(std::string const& path, request_queue& queue,
                                           output_stream_options const& options) {
  if (options.compress == compression::none) return open_plain(path, queue, options);
  auto plain = options;
  plain.expected_bytes = std::nullopt;  // it said how many there are before
  return std::make_unique<encoding_output>(open_plain(path, queue, plain), options.compress);
}

}  // namespace outsize::io
