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

void faulty_file::start(attempt work) noexcept {
  auto const point = work.kind == operation::read ? fault_point::read : fault_point::write;
  auto const what = plan_->next(point, work.length_bytes);
  if (!what) return inner().start(std::move(work));
  if (what->error_number != 0) return work.owner->attempt_ended(-what->error_number);
  if (what->at_most_bytes != 0)
    work.length_bytes =
        std::min(work.length_bytes, round_up(what->at_most_bytes, alignment_bytes()));
  if (what->delay.count() == 0) return inner().start(std::move(work));
  line_.hold(std::move(work), delay_line::clock::now() + what->delay);
}

bool faulty_file::withdraw(request const& owner) noexcept {
  return line_.withdraw(owner) || inner().withdraw(owner);
}

}  // namespace outsize::io
