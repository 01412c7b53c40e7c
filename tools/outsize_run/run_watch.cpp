// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize_run/run_watch.hpp>

#include <unistd.h>

#include <condition_variable>
#include <stop_token>
#include <utility>

#include <fmt/format.h>

#include <outsize/base/units.hpp>
#include <outsize/bsp/bsp_page.hpp>
#include <tools/outsize_run/run_json.hpp>

namespace outsize::launcher {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds tick = 50ms, least_pause = 250ms, longest_pause = 1s;
constexpr int most_load = 20;  // measuring takes one part of so many of the time

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string text_of(bsp::process::memory_use const& memory) {
  return fmt::format("{}: shared {}, of processes {}, page tables {}",
                     format_bytes(memory.total_bytes()), format_bytes(memory.shared_bytes),
                     format_bytes(memory.process_bytes), format_bytes(memory.page_table_bytes));
}

}  // namespace

run_watch::run_watch(watch_options const& options, bsp::run_plan const& plan,
                     bsp::process::process_memory& memory)
    : options_(options), plan_(plan), memory_(memory) {
  if (options.report) report_.emplace(*options.report);
  if (options.json) json_.emplace(*options.json);
  if (options.shows_progress) line_.emplace();
  thread_ = std::jthread([this](std::stop_token const& stop) { work(stop); });
}

run_watch::~run_watch() { finish(); }

void run_watch::begun(storage& store, bsp::detail::run_recorder const& record,
                      std::function<bsp::run_report()> report_now) {
  std::lock_guard const held(mutex_);
  store_ = &store;
  record_ = &record;
  report_now_ = std::move(report_now);
  if (options_.report) {
    sampler_.emplace(store, load_, [&record] { return record.now().computing_seconds; });
  }
}

// ---- while it runs ----

void run_watch::work(std::stop_token const& stop) {
  std::mutex mutex;
  std::condition_variable_any ticks;
  std::unique_lock held(mutex);
  while (!stop.stop_requested()) {
    ticks.wait_for(held, stop, tick, [] { return false; });
    std::lock_guard const mine(mutex_);
    if (is_finished_) return;
    if (memory_.shared().is_ending.load() != 0) end_for_launcher();
    if (record_ != nullptr) look();
  }
}

void run_watch::look() {
  bsp::detail::run_recorder::progress const now = record_->now();
  if (options_.writes_files()) measure(now.supersteps);
  if (!line_) return;
  line_->show(fmt::format("superstep {}, {} of {} ranks ended after {:.0f} s:", now.supersteps,
                          now.ended, plan_.count, seconds_since(options_.begin)),
              now.moved_bytes, 0);
}

/// Measures memory if a superstep has begun since, or some time has passed.
void run_watch::measure(std::uint64_t superstep) {
  clock::time_point const begin = clock::now();
  if (begin < next_measure_) return;
  if (superstep == seen_superstep_ && begin < measured_ + longest_pause) return;
  seen_superstep_ = superstep;
  measure_now();
  measured_ = clock::now();
  next_measure_ =
      measured_ + std::max<clock::duration>(least_pause, most_load * (measured_ - begin));
}

void run_watch::measure_now() {
  bsp::process::memory_use const now = bsp::process::measure_memory(
      bsp::process::processes_below(::getppid()), memory_.allocated_bytes());
  if (now.total_bytes() > most_.total_bytes()) most_ = now;
}

// ---- ends ----

/// Nothing is watched any more, and the line is gone.
void run_watch::finish() {
  {
    std::lock_guard const held(mutex_);
    is_finished_ = true;
    line_.reset();
  }
  thread_.request_stop();
  if (thread_.joinable() && thread_.get_id() != std::this_thread::get_id()) thread_.join();
  sampler_.reset();  // it ends with that; the storage may go
}

void run_watch::ended(bsp::run_report const& report) {
  finish();
  if (options_.writes_files()) measure_now();
  write(report, "");
}

void run_watch::failed(bsp::run_report const& report, std::string const& reason) noexcept {
  try {
    finish();
    if (options_.writes_files()) measure_now();
    write(report, reason);
  } catch (...) {  // the failure of the run is told
  }
}

/// outsize-run waits for the report, then ends the engine. The lock is held, by the watch's thread.
void run_watch::end_for_launcher() {
  is_finished_ = true;
  line_.reset();
  try {
    sampler_.reset();
    write(report_now_ ? report_now_() : bsp::run_report{plan_, {}, 0, 0, {}},
          memory_.shared().ending_text);
  } catch (...) {  // the failure of the run is told
  }
  ::_exit(1);
}

void run_watch::write(bsp::run_report const& report, std::string const& failure) {
  double const seconds = seconds_since(options_.begin);
  if (report_) {
    pipeline::run_page page = bsp::page_of(report, options_.title);
    auto const add_first = [&](char const* name, std::string value) {
      page.facts.insert(page.facts.begin(), {name, std::move(value)});
    };
    if (!failure.empty()) add_first("failed", failure);
    add_first("time", fmt::format("{:.2f} s", seconds));
    page.facts.emplace_back("memory, at most", text_of(most_));
    page.load = std::move(load_);
    report_->write(page.html());
  }
  if (!json_) return;
  run_facts facts{.failure = failure, .seconds = seconds, .most_memory = most_};
  if (store_ != nullptr) facts.moved = store_->total_statistics();
  json_->write(run_json(report, facts));
}

}  // namespace outsize::launcher
