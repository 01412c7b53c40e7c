// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The engine's view of a run for people and programs: a line on the terminal while it goes on, a
// page of HTML and an object of JSON at its end, also if it fails.
//
//   thread of the watch:   every 50 ms   progress; does outsize-run end the run?
//                          at supersteps, 4 times a second at most   memory of all processes
//
// Invariant: files appear once, with ended() or failed(). Layer: tools.

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <outsize/base/progress_line.hpp>
#include <outsize/block/load_sampler.hpp>
#include <outsize/bsp/process/memory_census.hpp>
#include <outsize/bsp/process/process_run.hpp>
#include <outsize/io/load_series.hpp>
#include <tools/outsize_run/result_file.hpp>

namespace outsize::launcher {

/// Wishes of the user.
struct watch_options {
  std::optional<std::string> report, json;  ///< Paths; "-": stdout.
  bool shows_progress = false;
  std::string title = {};
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  bool writes_files() const noexcept { return report || json; }
  bool has_wishes() const noexcept { return writes_files() || shows_progress; }
};

class run_watch final : public bsp::process::run_observer {
 public:
  /// Opens the files. @throws io_error that names one.
  run_watch(watch_options const& options, bsp::run_plan const& plan,
            bsp::process::process_memory& memory);
  ~run_watch() override;

  void begun(storage& store, bsp::detail::run_recorder const& record,
             std::function<bsp::run_report()> report_now) override;
  void ended(bsp::run_report const& report) override;
  void failed(bsp::run_report const& report, std::string const& reason) noexcept override;

 private:
  using clock = std::chrono::steady_clock;

  void work(std::stop_token const& stop);
  void look();
  void measure(std::uint64_t superstep);
  void measure_now();
  void finish();
  void write(bsp::run_report const& report, std::string const& failure);
  void end_for_launcher();

  watch_options const options_;
  bsp::run_plan const plan_;
  bsp::process::process_memory& memory_;
  std::optional<result_file> report_, json_;
  std::mutex mutex_;  // guards the following members
  storage* store_ = nullptr;
  bsp::detail::run_recorder const* record_ = nullptr;
  std::function<bsp::run_report()> report_now_;
  std::optional<progress_line> line_;
  bsp::process::memory_use most_;
  std::uint64_t seen_superstep_ = 0;
  clock::time_point measured_{}, next_measure_{};
  bool is_finished_ = false;
  io::load_series load_;  // the sampler's, until it has finished
  std::optional<block::load_sampler> sampler_;
  std::jthread thread_;
};

}  // namespace outsize::launcher
