// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/sequential_input.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace outsize::io::detail {
namespace {

// What a pipe may hold: with the usual 64 KiB, writer and reader spend their time on switching.
constexpr int pipe_bytes = 1 << 20;

}  // namespace

sequential_input::sequential_input(open_descriptor source, std::string name, grant& memory,
                                   input_stream_options const& options)
    : source_(std::move(source)),
      name_(std::move(name)),
      counter_(options.counter),
      memory_(memory.allocate(options.block_bytes)) {
  // Fails for what is no pipe and beyond the user's limit; neither matters.
  ::fcntl(source_.number(), F_SETPIPE_SZ, pipe_bytes);
}

std::span<std::byte const> sequential_input::next() {
  look_ahead();
  return std::exchange(view_, {});
}

std::size_t sequential_input::read(std::span<std::byte> into) {
  std::size_t done = std::min(into.size(), view_.size());
  if (done > 0) std::memcpy(into.data(), view_.data(), done);
  view_ = view_.subspan(done);
  while (done < into.size() && !ended_) done += read_counted(into.subspan(done));
  return done;
}

std::optional<std::uint64_t> sequential_input::remaining_bytes() const {
  if (ended_) return view_.size();
  return std::nullopt;
}

std::span<std::byte const> sequential_input::look_ahead(std::size_t least_bytes) {
  least_bytes = std::min(least_bytes, memory_.size());
  while (view_.size() < least_bytes && !ended_) {
    auto const used = view_.size();
    view_ = memory_.bytes().first(used + read_counted(memory_.bytes().subspan(used)));
  }
  return view_;
}

std::size_t sequential_input::read_counted(std::span<std::byte> into) {
  timed_wait const wait(counter_);
  auto const bytes = read_some(source_.number(), into, name_);
  ended_ = bytes == 0;
  if (counter_ != nullptr && !ended_)
    counter_->add_request(operation::read, bytes, wait.elapsed_ns());
  return bytes;
}

}  // namespace outsize::io::detail
