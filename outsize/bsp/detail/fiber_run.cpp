// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/fiber_run.hpp>

#include <exception>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <outsize/base/assert.hpp>
#include <outsize/bsp/bsp_error.hpp>

namespace outsize::bsp::detail {

namespace {

thread_local this_processor running;

}  // namespace

this_processor const& current_processor() noexcept {
  OUTSIZE_ASSERT(running.run != nullptr);
  return running;
}

fiber_run::fiber_run(storage& store, run_plan const& plan,
                     std::function<std::unique_ptr<arena_memory>(std::uint32_t)> const& make_memory,
                     std::function<void(std::uint32_t)> body)
    : body_(std::move(body)),
      states_(plan.count),
      engine_(store, plan, make_memory, [this](std::uint32_t rank) { fibers_[rank]->suspend(); }) {
  for (std::uint32_t rank = 0; rank < plan.count; ++rank) {
    states_[rank].run = &engine_;
    states_[rank].rank = rank;
    fibers_.push_back(
        std::make_unique<fiber>(plan.stack_address_bytes, [this, rank] { guarded_body(rank); }));
  }
}

run_report fiber_run::run() {
  std::vector<std::thread> workers;
  for (std::uint32_t worker = 0; worker < engine_.plan().workers; ++worker) {
    try {
      workers.emplace_back([this, worker] { work(worker); });
    } catch (...) {  // its processors cannot run
      std::lock_guard const held(engine_.shared().mutex);
      engine_.shared().fail(std::current_exception());
      break;
    }
  }
  for (std::thread& worker : workers) worker.join();
  if (engine_.shared().has_failed()) throw_failure();
  return report();
}

run_report fiber_run::report() {
  return {.plan = engine_.plan(),
          .processors = engine_.counts(),
          .messages_written_bytes = engine_.stored_written_bytes(),
          .messages_read_bytes = engine_.stored_read_bytes(),
          .history = engine_.shared().record.history()};
}

void fiber_run::work(std::uint32_t worker) {
  while (std::optional<std::uint32_t> const rank = next(worker)) {
    running = states_[*rank];
    fibers_[*rank]->resume();
    running = {};
    stop(*rank);
  }
}

/// The fiber of a processor has come back.
void fiber_run::stop(std::uint32_t rank) {
  bool const has_ended = fibers_[rank]->has_ended();
  if (has_ended) {
    engine_.discard(rank);
    fibers_[rank].reset();
  } else {
    fibers_[rank]->trim_stack();
  }
  board& shared = engine_.shared();
  std::lock_guard const held(shared.mutex);
  if (has_ended) {
    shared.ranks.end(rank);
    shared.record.end(rank);
  } else {
    shared.ranks.park(rank);
    shared.record.end_computing(rank);
  }
  shared.check_progress();
  shared.pager_wakes.notify_one();
}

/// Waits for a processor of the worker that may run; nothing: all have ended.
std::optional<std::uint32_t> fiber_run::next(std::uint32_t worker) {
  board& shared = engine_.shared();
  std::unique_lock held(shared.mutex);
  for (;;) {
    if (!shared.ranks.has_work(worker)) return std::nullopt;
    if (std::optional<std::uint32_t> const rank = shared.ranks.start_next(worker)) {
      shared.record.begin_computing(*rank);
      return rank;
    }
    shared.worker_wakes(worker).wait(held);
  }
}

void fiber_run::guarded_body(std::uint32_t rank) noexcept {
  {
    std::lock_guard const held(engine_.shared().mutex);
    if (engine_.shared().has_failed()) return;
  }
  try {
    body_(rank);
  } catch (...) {
    std::lock_guard const held(engine_.shared().mutex);
    engine_.shared().fail(std::current_exception(), rank);
  }
}

/// The failure of a processor goes to the caller as a bsp_error in which it is nested.
void fiber_run::throw_failure() {
  run_failure const& failure = engine_.shared().failure;
  if (failure.rank == run_failure::nobody) std::rethrow_exception(failure.error);
  try {
    std::rethrow_exception(failure.error);
  } catch (bsp_error const&) {
    throw;
  } catch (std::exception const& e) {
    throw bsp_error(failure.rank, fmt::format("virtual processor {}: {}", failure.rank, e.what()));
  } catch (...) {
    throw bsp_error(failure.rank, fmt::format("virtual processor {}: an exception of unknown type",
                                              failure.rank));
  }
}

}  // namespace outsize::bsp::detail
