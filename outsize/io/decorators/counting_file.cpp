// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/decorators/counting_file.hpp>

#include <utility>

namespace outsize::io {

void io_tally::add(attempt const& work) {
  std::lock_guard lock(mutex_);
  io_count& c = work.kind == operation::read ? reads_ : writes_;
  ++c.attempts;
  if (work.owner->attempt_count() != 1) return;
  ++c.requests;
  c.bytes += work.owner->length_bytes();
  if (logging_) log_.push_back({work.kind, work.owner->offset_bytes(), work.owner->length_bytes()});
}

void io_tally::keep_log(bool on) {
  std::lock_guard lock(mutex_);
  if (on) log_.clear();
  logging_ = on;
}

std::vector<logged_request> io_tally::log() const {
  std::lock_guard lock(mutex_);
  return log_;
}

io_count io_tally::count(operation kind) const {
  std::lock_guard lock(mutex_);
  return kind == operation::read ? reads_ : writes_;
}

counting_file::counting_file(file_ptr inner, std::shared_ptr<io_tally> tally)
    : file_decorator(std::move(inner)), tally_(std::move(tally)) {}

void counting_file::start(attempt work) noexcept {
  tally_->add(work);
  inner().start(std::move(work));
}

}  // namespace outsize::io
