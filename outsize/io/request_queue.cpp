// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/request_queue.hpp>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <utility>

#include <outsize/base/config.hpp>
#include <outsize/base/detail/process_mark.hpp>
#include <outsize/base/error.hpp>
#include <outsize/io/linux/mapped_transfer.hpp>
#include <outsize/io/linux/uring_queue.hpp>
#include <outsize/io/posix/thread_queue.hpp>

namespace outsize::io {
namespace {

/// What users of a queue hold: in a process that comes from a fork the copy of the queue, whose
/// threads are missing and whose ring is the other process's too, is left alone.
class process_queue final : public request_queue {
 public:
  explicit process_queue(std::unique_ptr<request_queue> queue) : queue_(std::move(queue)) {}

  void start(int file_descriptor, attempt work) noexcept override {
    if (is_here()) return queue_->start(file_descriptor, std::move(work));
    work.owner->attempt_ended(-EOWNERDEAD);
  }
  bool withdraw(request const& owner) noexcept override {
    return is_here() && queue_->withdraw(owner);
  }
  std::string_view name() const noexcept override { return queue_->name(); }
  bool moves_directly() const noexcept override { return queue_->moves_directly(); }
  std::size_t depth() const noexcept override { return queue_->depth(); }

 private:
  bool is_here() const noexcept { return queue_.get_deleter().made.is_current(); }

  outsize::detail::process_ptr<request_queue> queue_;
};

std::unique_ptr<request_queue> make_queue(backend kind, std::size_t depth) {
  if (depth == 0 || depth > most_queue_depth)
    throw std::invalid_argument("the depth of a request queue must be from 1 to " +
                                std::to_string(most_queue_depth));
  if constexpr (has_uring) {
    if (kind == backend::uring) return make_uring_queue(depth);
    if (kind == backend::automatic) {
      try {
        return make_uring_queue(depth);
      } catch (io_error const&) {
        // The kernel has none, or forbids it to this process: threads do the same work.
      }
    }
  } else if (kind == backend::uring) {
    throw std::invalid_argument("this build of outsize has no io_uring back-end");
  }
  if (kind == backend::mmap) {
    check_mapping();
    return std::make_unique<thread_queue>(depth, by_mapping);
  }
  return std::make_unique<thread_queue>(depth, by_calls);
}

}  // namespace

std::unique_ptr<request_queue> make_request_queue(backend kind, std::size_t depth) {
  return std::make_unique<process_queue>(make_queue(kind, depth));
}

}  // namespace outsize::io
