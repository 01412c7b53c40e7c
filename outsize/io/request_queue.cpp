// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/request_queue.hpp>

#include <stdexcept>
#include <string>

#include <outsize/base/config.hpp>
#include <outsize/base/error.hpp>
#include <outsize/io/linux/mapped_transfer.hpp>
#include <outsize/io/linux/uring_queue.hpp>
#include <outsize/io/posix/thread_queue.hpp>

namespace outsize::io {

std::unique_ptr<request_queue> make_request_queue(backend kind, std::size_t depth) {
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

}  // namespace outsize::io
