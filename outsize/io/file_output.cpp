// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/file_output.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::io {
namespace {

// The steps in which space is allocated while the length is unknown: each as long as all before it.
constexpr std::uint64_t first_step_bytes = 4_MiB;
constexpr std::uint64_t last_step_bytes = 256_MiB;

bool overlap(std::span<std::byte const> a, std::span<std::byte const> b) {
  std::less<> before;
  return before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

}  // namespace

file_output::file_output(file_ptr target, std::string directory,
                         output_stream_options const& options, std::function<void()> publish,
                         std::uint64_t allocated_bytes)
    : publish_(std::move(publish)),
      directory_(std::move(directory)),
      expected_bytes_(options.expected_bytes),
      alignment_bytes_(target->alignment_bytes()),
      block_bytes_(round_up(std::max<std::size_t>(options.block_bytes, 1), alignment_bytes_)),
      tail_(outsize::detail::allocate_aligned<std::byte>(alignment_bytes_, alignment_bytes_)),
      target_(std::move(target)),
      allocated_bytes_(allocated_bytes) {
  target_->count_into(options.counter);
}

void file_output::write(std::span<std::byte> data) {
  OUTSIZE_ASSERT(publish_ != nullptr && "written to after commit()");
  settle([](writing const& one) { return one.request->poll(); });
  if (data.empty()) return;
  auto* const begin = data.data() - tail_bytes_;
  OUTSIZE_ASSERT(reinterpret_cast<std::uintptr_t>(begin) % alignment_bytes_ == 0);
  std::memcpy(begin, tail_.get(), tail_bytes_);

  auto const window_bytes = tail_bytes_ + data.size();
  auto const body_bytes = round_down(window_bytes, alignment_bytes_);
  tail_bytes_ = window_bytes - body_bytes;
  std::memcpy(tail_.get(), begin + body_bytes, tail_bytes_);
  written_bytes_ += data.size();
  issue({begin, body_bytes});
}

void file_output::wait(std::span<std::byte const> window) {
  settle([&](writing const& one) { return overlap(one.memory, window); });
}

void file_output::commit() {
  OUTSIZE_ASSERT(publish_ != nullptr && "commit() was called twice");
  if (tail_bytes_ > 0) {
    std::memset(tail_.get() + tail_bytes_, 0, alignment_bytes_ - tail_bytes_);
    tail_bytes_ = 0;
    issue({tail_.get(), alignment_bytes_});
  }
  settle([](writing const&) { return true; });
  target_->resize(written_bytes_);
  if (alignment_bytes_ == 1) target_->sync();  // what is in the page cache may fail yet
  std::exchange(publish_, nullptr)();
}

void file_output::issue(std::span<std::byte const> body) {
  if (body.empty()) return;
  allocate_ahead(issued_bytes_ + body.size());
  while (!body.empty()) {
    auto const piece = body.first(std::min(block_bytes_, body.size()));
    try {
      under_way_.push_back({nullptr, piece});
      under_way_.back().request = target_->write(issued_bytes_, piece);
    } catch (...) {
      std::erase_if(under_way_, [](writing const& one) { return one.request == nullptr; });
      failure_ = std::current_exception();
      throw_failure();
    }
    issued_bytes_ += piece.size();
    body = body.subspan(piece.size());
  }
}

void file_output::allocate_ahead(std::uint64_t end_bytes) {
  if (end_bytes <= allocated_bytes_ || !allocates_) return;
  auto const expected_bytes =
      round_up<std::uint64_t>(expected_bytes_.value_or(0), alignment_bytes_);
  bool const as_expected = end_bytes <= expected_bytes;
  auto const step_bytes = std::clamp(allocated_bytes_, first_step_bytes, last_step_bytes);
  auto const until =
      as_expected ? expected_bytes : std::max(end_bytes, allocated_bytes_ + step_bytes);
  try {
    target_->allocate(allocated_bytes_, until - allocated_bytes_);
    allocated_bytes_ = until;
  } catch (io_error const& error) {
    if (error.is_full() && !as_expected) {
      // The step was a guess; what is really written may still fit, on the disk or in a quota.
      allocates_ = false;
      return;
    }
    bool const disk_is_full = error.code().value() == ENOSPC;
    failure_ = disk_is_full
                   ? std::make_exception_ptr(no_space(directory_, until - allocated_bytes_))
                   : std::current_exception();
    throw_failure();
  }
}

// Waits for those that `which` selects, drops them, and throws the first failure there ever was.
template <typename Which>
void file_output::settle(Which which) {
  std::erase_if(under_way_, [&](writing const& one) {
    if (!which(one)) return false;
    check(*one.request);
    return true;
  });
  throw_failure();
}

void file_output::check(request& written) {
  auto const result = written.wait_outcome();
  if (result.ok() || failure_) return;
  if (result.error_number == ENOSPC) {
    auto const until = std::max(expected_bytes_.value_or(0), issued_bytes_);
    failure_ = std::make_exception_ptr(no_space(directory_, until - written.offset_bytes()));
  } else {
    failure_ = std::make_exception_ptr(io_error(result.error_number, "write", name(),
                                                written.offset_bytes(), written.length_bytes()));
  }
}

// Waits for all that is under way first: the caller's memory goes when the exception unwinds its
// stack.
void file_output::throw_failure() {
  if (!failure_) return;
  for (auto const& one : under_way_) one.request->wait_outcome();
  under_way_.clear();
  std::rethrow_exception(failure_);
}

}  // namespace outsize::io
