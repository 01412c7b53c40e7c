// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/input_stream.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <outsize/base/detail/process_mark.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/detail/decoding_input.hpp>
#include <outsize/io/file_input.hpp>
#include <outsize/io/posix/blocking_io.hpp>
#include <outsize/io/posix/sequential_input.hpp>

namespace outsize::io {
namespace {

constexpr int standard_input = 0;

/// What users of a stream hold: in a process that comes from a fork the copy of a stream, whose
/// thread is missing and whose position is the other process's too, is left alone and refuses use.
class process_input final : public input_stream {
 public:
  explicit process_input(std::unique_ptr<input_stream> stream) : stream_(std::move(stream)) {}

  std::span<std::byte const> next() override { return here().next(); }
  std::size_t read(std::span<std::byte> into) override { return here().read(into); }
  std::optional<std::uint64_t> remaining_bytes() const override {
    return stream_->remaining_bytes();
  }
  std::string const& name() const noexcept override { return stream_->name(); }

 private:
  input_stream& here() {
    stream_.get_deleter().made.check(name().c_str());
    return *stream_;
  }

  outsize::detail::process_ptr<input_stream> stream_;
};

// Blocks that streams have together.
std::size_t block_count(input_stream_options const& options) {
  return std::max<std::size_t>(options.depth, options.decoding().any() ? 1 : 0) + 1;
}

// Bytes to be decoded need fewer blocks of read-ahead; the others are for what comes out of them.
input_stream_options reading_encoded(input_stream_options options) {
  options.depth = block_count(options) / 2 - 1;
  options.decompress = options.transcode = false;
  return options;
}

std::unique_ptr<input_stream> decoded(std::unique_ptr<input_stream> source, input_form form,
                                      grant& memory, input_stream_options const& options) {
  if (form.is_plain()) return source;
  auto const blocks = block_count(options) - block_count(options) / 2;
  return std::make_unique<decoding_input>(std::move(source), form, options.transcode, memory,
                                          blocks, options.block_bytes, options.codec_memory);
}

std::unique_ptr<input_stream> read_through(detail::open_descriptor source, std::string const& name,
                                           detail::file_status const& status, grant& memory,
                                           input_stream_options const& options) {
  auto stream =
      std::make_unique<detail::sequential_input>(std::move(source), name, memory, options);
  input_form form;
  if (status.kind == detail::file_kind::regular) stream->look_ahead();
  if (options.decoding().any())
    form = form_of_bytes(stream->look_ahead(longest_signature_bytes), options.decoding(), name);
  return decoded(std::move(stream), form, memory, options);
}

std::unique_ptr<input_stream> decoded_file(file_ptr source, input_form form, grant& memory,
                                           input_stream_options const& options,
                                           std::uint64_t begin_bytes = 0) {
  auto const& reading = form.is_plain() ? options : reading_encoded(options);
  auto stream = std::make_unique<file_input>(std::move(source), memory, reading, begin_bytes);
  return decoded(std::move(stream), form, memory, options);
}

input_form form_if_asked(std::string const& path, input_stream_options const& options) {
  if (!options.decoding().any()) return {};
  return form_of_file(path, options.decoding()).value_or(input_form());
}

std::unique_ptr<input_stream> open_standard_input(std::string const& name, request_queue& queue,
                                                  grant& memory,
                                                  input_stream_options const& options) {
  auto const status = detail::status_of(standard_input, name);
  if (status.kind == detail::file_kind::directory) throw io_error(EISDIR, "read", name);
  if (!detail::has_offsets(status)) {
    detail::open_descriptor source(detail::duplicate(standard_input, name));
    return read_through(std::move(source), name, status, memory, options);
  }
  auto const form = form_if_asked(name, options);
  auto const begin_bytes = detail::claim_rest(standard_input, name);
  auto open = [&](bool direct) {
    return adopt_file(detail::reopen_for_reading(standard_input, name), name, queue, direct);
  };
  auto source = open(true);
  if (!can_stream_from(*source)) source = open(false);
  return decoded_file(std::move(source), form, memory, options, begin_bytes);
}

std::unique_ptr<input_stream> open_here(std::string const& path, request_queue& queue,
                                        grant& memory, input_stream_options const& options) {
  if (path == "-") return open_standard_input(path, queue, memory, options);
  auto const status = detail::status_of(path);
  if (status.kind == detail::file_kind::directory) throw io_error(EISDIR, "read", path);
  if (!detail::has_offsets(status)) {
    return read_through(detail::open_for_reading(path, path), path, status, memory, options);
  }
  auto const form = form_if_asked(path, options);
  auto source = open_file(path, queue);
  if (!can_stream_from(*source)) source = open_file(path, queue, {.direct = false});
  return decoded_file(std::move(source), form, memory, options);
}

}  // namespace

std::size_t input_stream_memory_bytes(input_stream_options const& options) {
  auto const block_bytes = round_up(std::max<std::size_t>(options.block_bytes, 1), page_bytes());
  return block_bytes * block_count(options);
}

std::unique_ptr<input_stream> open_input(std::string const& path, request_queue& queue,
                                         grant& memory, input_stream_options const& options) {
  return std::make_unique<process_input>(open_here(path, queue, memory, options));
}

}  // namespace outsize::io
