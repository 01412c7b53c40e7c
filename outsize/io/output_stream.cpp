// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/output_stream.hpp>

#include <utility>

#include <outsize/base/detail/process_mark.hpp>
#include <outsize/io/detail/encoding_output.hpp>
#include <outsize/io/file_output.hpp>
#include <outsize/io/posix/blocking_io.hpp>
#include <outsize/io/posix/sequential_output.hpp>
#include <outsize/io/posix/unpublished_file.hpp>

namespace outsize::io {
namespace {

constexpr int standard_output = 1;

/// What users of a stream hold: in a process that comes from a fork the copy of a stream, whose
/// file and position are the other process's too, is left alone and refuses use.
class process_output final : public output_stream {
 public:
  explicit process_output(std::unique_ptr<output_stream> stream) : stream_(std::move(stream)) {}

  std::size_t alignment_bytes() const noexcept override { return stream_->alignment_bytes(); }
  std::size_t lead_bytes() const noexcept override { return stream_->lead_bytes(); }
  void write(std::span<std::byte> data) override { here().write(data); }
  void wait(std::span<std::byte const> window) override { here().wait(window); }
  void commit() override { here().commit(); }
  std::uint64_t written_bytes() const noexcept override { return stream_->written_bytes(); }
  std::string const& name() const noexcept override { return stream_->name(); }

 private:
  output_stream& here() {
    stream_.get_deleter().made.check(name().c_str());
    return *stream_;
  }

  outsize::detail::process_ptr<output_stream> stream_;
};

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

std::unique_ptr<output_stream> open_here(std::string const& path, request_queue& queue,
                                         output_stream_options const& options) {
  if (options.compress == compression::none) return open_plain(path, queue, options);
  auto plain = options;
  plain.expected_bytes = std::nullopt;  // it said how many there are before
  return std::make_unique<encoding_output>(open_plain(path, queue, plain), options.compress,
                                           options.codec_memory);
}

}  // namespace

bool is_written_in_place(std::string const& path) {
  return path == "-" || !detail::find_replaceable(path);
}

std::unique_ptr<output_stream> open_output(std::string const& path, request_queue& queue,
                                           output_stream_options const& options) {
  return std::make_unique<process_output>(open_here(path, queue, options));
}

}  // namespace outsize::io
