// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/pipeline/stage_group.hpp>

#include <utility>

#include <outsize/pipeline/channel.hpp>

namespace outsize::pipeline {

stage_group::~stage_group() {
  if (!threads_.empty()) fail(std::make_exception_ptr(poisoned()));
  join_threads();
}

void stage_group::stop_with(std::function<void()> stop) { stops_.push_back(std::move(stop)); }

void stage_group::start(std::function<void()> body) {
  threads_.emplace_back([this, run = std::move(body)] {
    try {
      run();
    } catch (...) {
      fail(std::current_exception());
    }
  });
}

void stage_group::fail(std::exception_ptr error) noexcept {
  {
    std::lock_guard lock(mutex_);
    if (error_) return;
    error_ = std::move(error);
  }
  for (auto const& stop : stops_) stop();
}

void stage_group::rethrow_error() {
  std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

void stage_group::join() {
  join_threads();
  rethrow_error();
}

void stage_group::join_threads() noexcept {
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace outsize::pipeline
