// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/decorators/simulated_file.hpp>

#include <utility>

namespace outsize::io {

simulated_file::simulated_file(file_ptr inner_file, std::shared_ptr<simulated_disk> disk,
                               std::uint64_t begin_bytes)
    : file_decorator(std::move(inner_file)),
      disk_(std::move(disk)),
      begin_bytes_(begin_bytes),
      line_([this](attempt work) { inner().start(std::move(work)); }) {}

void simulated_file::start(attempt work) noexcept {
  auto const due = disk_->serve({work.kind, begin_bytes_ + work.offset_bytes, work.length_bytes});
  if (!due) return inner().start(std::move(work));
  line_.hold(std::move(work), *due);
}

bool simulated_file::withdraw(request const& owner) noexcept {
  return line_.withdraw(owner) || inner().withdraw(owner);
}

}  // namespace outsize::io
