// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A file on a simulated_disk: its bytes are those of the file beneath, its time is the disk's.
//
//   auto disk = std::make_shared<simulated_disk>(std::make_unique<rotating_disk>());
//   storage store({.disks = {{"simulated", [disk](request_queue&) -> file_ptr {
//     return std::make_unique<simulated_file>(
//         make_memory_file("simulated", disk->capacity_bytes()), disk);
//   }}}});
//
// Attempts are charged as they are asked for, also where the file ends before, and stay charged if
// they are cancelled. The file beneath decides how much fits. Thread rule as file's. Layer: io.

#include <cstdint>
#include <memory>

#include <outsize/io/decorators/file_decorator.hpp>
#include <outsize/io/delay_line.hpp>
#include <outsize/io/simulation/simulated_disk.hpp>

namespace outsize::io {

/// A file that takes a simulated disk's time.
class simulated_file final : public file_decorator {
 public:
  /// The file lies on the disk from `begin_bytes` on.
  simulated_file(file_ptr inner, std::shared_ptr<simulated_disk> disk,
                 std::uint64_t begin_bytes = 0);
  ~simulated_file() override { drain(); }

  void start(attempt work) noexcept override;
  bool withdraw(request const& owner) noexcept override;

 private:
  std::shared_ptr<simulated_disk> const disk_;
  std::uint64_t const begin_bytes_;
  delay_line line_;
};

}  // namespace outsize::io
