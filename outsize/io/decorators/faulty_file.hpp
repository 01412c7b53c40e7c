// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A file that goes wrong as its fault_plan says: errors, short transfers, interruptions, delays,
// and bits written otherwise than they should be, of which nobody is told.
//
// Failed attempts do not reach the file beneath; delayed ones reach it later, others overtaking,
// and none is held for longer than the plan says. Thread rule as file's. Layer: io.

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <outsize/io/decorators/fault_plan.hpp>
#include <outsize/io/decorators/file_decorator.hpp>
#include <outsize/io/delay_line.hpp>

namespace outsize::io {

/// A file whose attempts go wrong as a plan says.
class faulty_file final : public file_decorator {
 public:
  faulty_file(file_ptr inner, std::shared_ptr<fault_plan> plan);
  ~faulty_file() override { drain(); }

  void resize(std::uint64_t bytes) override;
  void sync() override;
  void allocate(std::uint64_t offset_bytes, std::uint64_t length_bytes) override;
  void start(attempt work) noexcept override;
  bool withdraw(request const& owner) noexcept override;

 private:
  attempt with_flipped_bit(attempt work, std::size_t bit);

  std::shared_ptr<fault_plan> plan_;
  std::mutex mutex_;                               // guards falsified_
  std::vector<std::vector<std::byte>> falsified_;  // what is written in place of others' bytes
  delay_line line_;
};

}  // namespace outsize::io
