// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/decorators/faulty_file.hpp>

#include <algorithm>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::io {

faulty_file::faulty_file(file_ptr inner_file, std::shared_ptr<fault_plan> plan)
    : file_decorator(std::move(inner_file)),
      plan_(std::move(plan)),
      line_([this](attempt work) { inner().start(std::move(work)); }) {}

void faulty_file::resize(std::uint64_t bytes) {
  auto const what = plan_->next(fault_point::resize, 0);
  if (what && what->error_number != 0) throw io_error(what->error_number, "resize", name());
  inner().resize(bytes);
}

void faulty_file::allocate(std::uint64_t offset_bytes, std::uint64_t length_bytes) {
  auto const length = static_cast<std::size_t>(length_bytes);
  auto const what = plan_->next(fault_point::allocate, length);
  if (what && what->error_number != 0)
    throw io_error(what->error_number, "allocate", name(), offset_bytes, length);
  inner().allocate(offset_bytes, length_bytes);
}

void faulty_file::sync() {
  auto const what = plan_->next(fault_point::sync, 0);
  if (what && what->error_number != 0) throw io_error(what->error_number, "sync", name());
  inner().sync();
}

/// The copy stays for as long as the file: nobody says when it is not needed any more.
attempt faulty_file::with_flipped_bit(attempt work, std::size_t bit) {
  std::lock_guard lock(mutex_);
  auto& room = falsified_.emplace_back(work.length_bytes + alignment_bytes());
  void* place = room.data();
  std::size_t space = room.size();
  std::align(alignment_bytes(), work.length_bytes, place, space);
  auto* const copy = static_cast<std::byte*>(place);
  std::copy_n(work.data, work.length_bytes, copy);
  bit %= work.length_bytes * 8;
  copy[bit / 8] ^= std::byte{1} << bit % 8;
  work.data = copy;
  return work;
}

void faulty_file::start(attempt work) noexcept {
  auto const point = work.kind == operation::read ? fault_point::read : fault_point::write;
  auto const what = plan_->next(point, work.length_bytes);
  if (!what) return inner().start(std::move(work));
  if (what->error_number != 0) return work.owner->attempt_ended(-what->error_number);
  if (what->at_most_bytes != 0)
    work.length_bytes =
        std::min(work.length_bytes, round_up(what->at_most_bytes, alignment_bytes()));
  if (what->flipped_bit && point == fault_point::write)
    work = with_flipped_bit(std::move(work), *what->flipped_bit);
  if (what->delay.count() == 0) return inner().start(std::move(work));
  line_.hold(std::move(work), delay_line::clock::now() + what->delay);
}

bool faulty_file::withdraw(request const& owner) noexcept {
  return line_.withdraw(owner) || inner().withdraw(owner);
}

}  // namespace outsize::io
