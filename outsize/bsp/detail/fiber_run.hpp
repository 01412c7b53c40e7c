// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The workers of a run, and a fiber for each virtual processor: its program, or the one that serves
// its process.
//
//   worker:  next that may run ─▶ resume its fiber ─▶ it waits, needs memory, or has ended ─┐
//               ▲────────────────────────────────────────────────────────────────────────────┘
//
// Invariant: a fiber runs on its worker's thread only. Layer: bsp.
// Source: Nikseresht, Hutchinson, Maheshwari: PEMS, 2007, section 3 (Process Management Subsystem).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <outsize/bsp/detail/bsp_engine.hpp>
#include <outsize/bsp/detail/this_processor.hpp>
#include <outsize/bsp/linux/fiber.hpp>

namespace outsize::bsp::detail {

class fiber_run {
 public:
  /// @param make_memory  Makes the arena of a rank.
  /// @param body  Runs in the fiber of a rank. Its exception is the failure of the run.
  fiber_run(storage& store, run_plan const& plan,
            std::function<std::unique_ptr<arena_memory>(std::uint32_t)> const& make_memory,
            std::function<void(std::uint32_t)> body);

  engine& core() noexcept { return engine_; }
  /// The state of a rank, which its worker's thread shows as current_processor().
  this_processor& state_of(std::uint32_t rank) noexcept { return states_[rank]; }

  /// Runs all to their ends. @throws the first failure: of a processor as a bsp_error.
  run_report run();
  /// The work so far. Any thread.
  run_report report();

 private:
  void work(std::uint32_t worker);
  void stop(std::uint32_t rank);
  std::optional<std::uint32_t> next(std::uint32_t worker);
  void guarded_body(std::uint32_t rank) noexcept;
  [[noreturn]] void throw_failure();

  std::function<void(std::uint32_t)> body_;
  std::vector<this_processor> states_;
  std::vector<std::unique_ptr<fiber>> fibers_;
  engine engine_;
};

}  // namespace outsize::bsp::detail
