// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/sequential_output.hpp>

#include <chrono>
#include <utility>

#include <outsize/io/posix/blocking_io.hpp>

namespace outsize::io::detail {

sequential_output::sequential_output(open_descriptor target, std::string name,
                                     output_stream_options const& options)
    : target_(std::move(target)), name_(std::move(name)), counter_(options.counter) {}

void sequential_output::write(std::span<std::byte> data) {
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  write_all(target_.number(), data, name_);
  written_bytes_ += data.size();
  if (counter_ == nullptr) return;
  auto const ns =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(clock::now() - begin).count());
  counter_->add_request(operation::write, data.size(), ns);
  counter_->add_wait(ns);
}

}  // namespace outsize::io::detail
