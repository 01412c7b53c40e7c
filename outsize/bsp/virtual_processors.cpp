// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/virtual_processors.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/bsp/detail/bsp_engine.hpp>
#include <outsize/bsp/detail/this_processor.hpp>
#include <outsize/bsp/linux/fiber.hpp>
#include <outsize/bsp/linux/local_arena.hpp>

namespace outsize::bsp {

namespace detail {

namespace {

thread_local this_processor running;

/// A run whose processors are fibers of this process.
class fiber_run {
 public:
  fiber_run(storage& store, run_plan const& plan, std::function<void(processor&)> const& program)
      : program_(program),
        shape_(shape_of(plan.context_bytes)),
        faces_(plan.count),
        links_(plan.count),
        heaps_(plan.count),
        engine_(
            store, plan, [this](std::uint32_t rank) { return make_memory(rank); },
            [this](std::uint32_t rank) { fibers_[rank]->suspend(); }) {
    for (std::uint32_t rank = 0; rank < plan.count; ++rank) {
      fibers_.push_back(
          std::make_unique<fiber>(plan.stack_address_bytes, [this, rank] { body(rank); }));
    }
  }

  run_report run() {
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
    return {.plan = engine_.plan(),
            .processors = engine_.counts(),
            .messages_written_bytes = engine_.stored_written_bytes(),
            .messages_read_bytes = engine_.stored_read_bytes()};
  }

 private:
  /// By which a heap finds its processor.
  struct arena_link {
    fiber_run* run = nullptr;
    std::uint32_t rank = 0;
  };

  std::unique_ptr<arena_memory> make_memory(std::uint32_t rank) {
    links_[rank] = {this, rank};
    auto memory = std::make_unique<local_arena>(
        shape_, arena_owner{.context = &links_[rank],
                            .enter =
                                [](void* to, std::uint64_t first, std::uint64_t pages) noexcept {
                                  auto const& from = *static_cast<arena_link*>(to);
                                  return from.run->engine_.enter(from.rank, first, pages);
                                },
                            .leave =
                                [](void* to, std::uint64_t first, std::uint64_t pages) noexcept {
                                  auto const& from = *static_cast<arena_link*>(to);
                                  from.run->engine_.leave(from.rank, first, pages);
                                },
                            .fail =
                                [](void* /*to*/, char const* reason) noexcept {
                                  outsize::detail::assertion_failed(
                                      reason, "memory of a virtual processor", 0);
                                }});
    heaps_[rank] = &memory->heap();
    return memory;
  }

  void work(std::uint32_t worker) {
    while (std::optional<std::uint32_t> const rank = next(worker)) {
      running = {&engine_, *rank, heaps_[*rank], &faces_[*rank]};
      fibers_[*rank]->resume();
      running = {};
      if (fibers_[*rank]->has_ended()) {
        end(*rank);
      } else {
        fibers_[*rank]->trim_stack();
        board& shared = engine_.shared();
        std::lock_guard const held(shared.mutex);
        shared.ranks.park(*rank);
        shared.check_progress();
        shared.pager_wakes.notify_one();
      }
    }
  }

  void end(std::uint32_t rank) {
    engine_.discard(rank);
    fibers_[rank].reset();
    board& shared = engine_.shared();
    std::lock_guard const held(shared.mutex);
    shared.ranks.end(rank);
    shared.check_progress();
    shared.pager_wakes.notify_one();
  }

  /// Waits for a processor of the worker that may run; nothing: all have ended.
  std::optional<std::uint32_t> next(std::uint32_t worker) {
    board& shared = engine_.shared();
    std::unique_lock held(shared.mutex);
    for (;;) {
      if (!shared.ranks.has_work(worker)) return std::nullopt;
      if (std::optional<std::uint32_t> const rank = shared.ranks.start_next(worker)) return rank;
      shared.worker_wakes(worker).wait(held);
    }
  }

  void body(std::uint32_t rank) noexcept {
    try {
      {
        std::lock_guard const held(engine_.shared().mutex);
        if (engine_.shared().has_failed()) return;
      }
      processor mine(member(engine_, rank));
      program_(mine);
    } catch (...) {
      std::lock_guard const held(engine_.shared().mutex);
      engine_.shared().fail(std::current_exception(), rank);
    }
  }

  /// The failure of a processor goes to the caller as a bsp_error in which it is nested.
  [[noreturn]] void throw_failure() {
    run_failure const& failure = engine_.shared().failure;
    if (failure.rank == run_failure::nobody) std::rethrow_exception(failure.error);
    try {
      std::rethrow_exception(failure.error);
    } catch (bsp_error const&) {
      throw;
    } catch (std::exception const& e) {
      throw bsp_error(failure.rank,
                      fmt::format("virtual processor {}: {}", failure.rank, e.what()));
    } catch (...) {
      throw bsp_error(
          failure.rank,
          fmt::format("virtual processor {}: an exception of unknown type", failure.rank));
    }
  }

  std::function<void(processor&)> const& program_;
  arena_shape const shape_;
  std::vector<void*> faces_;
  std::vector<arena_link> links_;
  std::vector<arena_heap*> heaps_;
  std::vector<std::unique_ptr<fiber>> fibers_;
  engine engine_;
};

}  // namespace

this_processor const& current_processor() noexcept {
  OUTSIZE_ASSERT(running.run != nullptr);
  return running;
}

void* allocate_in_arena(std::size_t bytes, std::size_t alignment) {
  this_processor const mine = current_processor();
  if (void* const memory = mine.heap->allocate(bytes, alignment)) return memory;
  {
    std::lock_guard const held(mine.run->shared().mutex);
    if (mine.run->shared().has_failed()) throw cancelled("virtual processors");
  }
  std::uint64_t const limit = mine.run->plan().context_bytes;
  throw budget_error(
      "virtual processor", limit, mine.heap->used_bytes() + bytes,
      fmt::format("cannot allocate {} bytes beside the {} in use: a virtual processor may have {} "
                  "(run_options::context_bytes, or more memory)",
                  bytes, mine.heap->used_bytes(), limit));
}

void free_in_arena(void* memory) noexcept {
  if (memory == nullptr) return;
  current_processor().heap->free(memory);
}

}  // namespace detail

run_report run(storage& store, std::uint32_t count, std::function<void(processor&)> const& program,
               run_options const& options) {
  return detail::fiber_run(store, plan_run(store, count, options), program).run();
}

}  // namespace outsize::bsp
