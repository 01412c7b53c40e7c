// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/sequential_output.hpp>

#include <cerrno>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/io/posix/blocking_io.hpp>

namespace outsize::io::detail {

sequential_output::sequential_output(open_descriptor target, std::string name,
                                     output_stream_options const& options)
    : target_(std::move(target)), name_(std::move(name)), counter_(options.counter) {}

void sequential_output::write(std::span<std::byte> data) {
  timed_wait const wait(counter_);
  write_all(target_.number(), data, name_);
  written_bytes_ += data.size();
  if (counter_ != nullptr) counter_->add_request(operation::write, data.size(), wait.elapsed_ns());
}

void sequential_output::commit() {
  if (is_block_device(target_) && sync_uninterrupted(target_) != 0)
    throw io_error(errno, "write", name_);
  if (int const error = target_.close(); error != 0) throw io_error(error, "write", name_);
}

}  // namespace outsize::io::detail
