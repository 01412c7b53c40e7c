// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/pipeline/file_stages.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::pipeline {
namespace {

/// The requests of one buffer: the last one to end ends the step.
class transfer : public std::enable_shared_from_this<transfer> {
 public:
  transfer(io::file& file, io::operation kind, step_completion done)
      : file_(file), kind_(kind), done_(done) {}

  /// Does not throw: what has been issued has to end, whatever comes.
  void begin(pooled_buffer& b, std::vector<file_piece> const& pieces) noexcept {
    try {
      issue_all(b, pieces);
    } catch (...) {
      note_error(std::current_exception());
    }
    one_ended();
  }

 private:
  void issue_all(pooled_buffer& b, std::vector<file_piece> const& pieces) {
    std::size_t const alignment = file_.alignment_bytes();
    for (file_piece const& whole : pieces) {
      for (std::size_t done = 0; done < whole.length_bytes; done += most_request_bytes) {
        file_piece const p{whole.file_offset_bytes + done, whole.buffer_offset_bytes + done,
                           std::min(most_request_bytes, whole.length_bytes - done)};
        std::size_t const length = round_up(p.length_bytes, alignment);
        OUTSIZE_ASSERT(p.buffer_offset_bytes + length <= b.capacity_bytes());
        issue(p, b.memory().subspan(p.buffer_offset_bytes, length));
      }
    }
  }

  void issue(file_piece const& p, std::span<std::byte> memory) {
    io::completion ended = [self = shared_from_this(), p](io::request const&, io::outcome o) {
      self->check(p, o);
      self->one_ended();
    };
    ++left_;
    try {
      if (kind_ == io::operation::read)
        file_.read(p.file_offset_bytes, memory, std::move(ended));
      else
        file_.write(p.file_offset_bytes, memory, std::move(ended));
    } catch (...) {
      --left_;
      throw;
    }
  }

  void check(file_piece const& p, io::outcome o) noexcept {
    if (o.ok() && o.bytes >= p.length_bytes) return;
    if (o.ok())
      return note_error(std::make_exception_ptr(changed_file(
          file_.name(),
          fmt::format("cut short: it ends at byte {}, but {} were to be read",
                      p.file_offset_bytes + o.bytes, p.file_offset_bytes + p.length_bytes))));
    note_error(std::make_exception_ptr(
        io_error(o.error_number, kind_ == io::operation::read ? "read" : "write", file_.name(),
                 p.file_offset_bytes, p.length_bytes)));
  }
  /// The first counts.
  void note_error(std::exception_ptr error) noexcept {
    std::lock_guard const held(mutex_);
    if (!error_) error_ = std::move(error);
  }

  void one_ended() noexcept {
    if (--left_ > 0) return;
    if (error_) {
      done_.failed(error_);
    } else {
      done_.done();
    }
  }

  io::file& file_;
  io::operation kind_;
  step_completion done_;
  std::atomic<std::size_t> left_{1};  // requests, and one more until all are issued
  std::mutex mutex_;                  // guards error_ while requests are under way
  std::exception_ptr error_;
};

std::string name_or(file_stage_options& options, char const* otherwise) {
  return options.name.empty() ? std::string(otherwise) : std::move(options.name);
}

}  // namespace

stage read_pieces(io::file& from, file_pieces pieces, file_stage_options options) {
  auto begin = [&from, pieces = std::move(pieces)](pooled_buffer& b, step_completion done) {
    auto const all = pieces(b);
    if (all.empty()) return done.done(verdict::end);
    std::size_t end = 0;
    for (file_piece const& p : all) end = std::max(end, p.buffer_offset_bytes + p.length_bytes);
    b.resize(end);
    std::make_shared<transfer>(from, io::operation::read, done)->begin(b, all);
  };
  return asynchronous(name_or(options, "read"), options.depth, std::move(begin));
}

stage read_from(io::file& from, file_range range, file_stage_options options) {
  auto begin = [&from, range, next = range.offset_bytes](pooled_buffer& b,
                                                         step_completion done) mutable {
    std::uint64_t const left = range.offset_bytes + range.length_bytes - next;
    if (left == 0) return done.done(verdict::end);
    std::size_t const length = std::min<std::uint64_t>(left, b.capacity_bytes());
    b.resize(length);
    if (length == left) b.mark_last();
    file_piece const piece{std::exchange(next, next + length), 0, length};
    std::make_shared<transfer>(from, io::operation::read, done)->begin(b, {piece});
  };
  return asynchronous(name_or(options, "read"), options.depth, std::move(begin));
}

stage write_pieces(io::file& to, file_pieces pieces, file_stage_options options) {
  auto begin = [&to, pieces = std::move(pieces)](pooled_buffer& b, step_completion done) {
    std::make_shared<transfer>(to, io::operation::write, done)->begin(b, pieces(b));
  };
  return asynchronous(name_or(options, "write"), options.depth, std::move(begin));
}

stage write_to(io::file& to, std::uint64_t offset_bytes, file_stage_options options) {
  return write_pieces(
      to,
      [next = offset_bytes](pooled_buffer const& b) mutable -> std::vector<file_piece> {
        if (b.size_bytes() == 0) return {};
        return {{std::exchange(next, next + b.size_bytes()), 0, b.size_bytes()}};
      },
      std::move(options));
}

}  // namespace outsize::pipeline
