// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/write_queue.hpp>

#include <utility>

#include <outsize/base/error.hpp>

namespace outsize::block {

write_queue::~write_queue() { wait_for_all(); }

frame write_queue::acquire() {
  throw_first_error();
  if (frame const free = pool_.try_acquire(); !free.empty()) return free;
  io::timed_wait const wait(waits_);
  return pool_.acquire();
}

void write_queue::write(block_id id, frame filled) {
  try {
    throw_first_error();
    io::completion done = [this, id, filled](io::request const& request, io::outcome how) {
      write_ended(id, filled, request, how);
    };
    {
      std::lock_guard lock(mutex_);
      ++pending_;
    }
    try {
      device_.write(id, filled.first(id.length_bytes), std::move(done));
    } catch (...) {  // not issued
      std::lock_guard lock(mutex_);
      --pending_;
      throw;
    }
  } catch (...) {
    pool_.release(filled);
    throw;
  }
}

void write_queue::write_ended(block_id id, frame filled, io::request const& request,
                              io::outcome how) {
  pool_.release(filled);
  std::lock_guard lock(mutex_);
  if (!how.ok() && !error_)
    error_ = std::make_exception_ptr(io_error(how.error_number, "write", device_.disk_name(id.disk),
                                              request.offset_bytes(), request.length_bytes()));
  if (--pending_ == 0) completed_.notify_all();
}

void write_queue::flush() {
  wait_for_all();
  throw_first_error();
}

void write_queue::wait_for_all() noexcept {
  std::unique_lock lock(mutex_);
  completed_.wait(lock, [this] { return pending_ == 0; });
}

void write_queue::throw_first_error() {
  std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

}  // namespace outsize::block
