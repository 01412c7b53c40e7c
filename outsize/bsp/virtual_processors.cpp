// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/virtual_processors.hpp>

#include <memory>
#include <vector>

#include <fmt/format.h>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/bsp/detail/fiber_run.hpp>
#include <outsize/bsp/linux/local_arena.hpp>

namespace outsize::bsp {

namespace detail {

namespace {

/// The owner of an arena's heap: the processor that runs.
class processor_pages {
 public:
  static arena_owner owner() {
    return {.context = nullptr, .enter = enter, .leave = leave, .fail = fail};
  }

 private:
  static bool enter(void* /*context*/, std::uint64_t first, std::uint64_t pages) noexcept {
    this_processor const mine = current_processor();
    return mine.run->enter(mine.rank, first, pages);
  }
  static void leave(void* /*context*/, std::uint64_t first, std::uint64_t pages) noexcept {
    this_processor const mine = current_processor();
    mine.run->leave(mine.rank, first, pages);
  }
  static void fail(void* /*context*/, char const* reason) noexcept {
    outsize::detail::assertion_failed(reason, "memory of a virtual processor", 0);
  }
};

}  // namespace

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
  if (memory != nullptr) current_processor().heap->free(memory);
}

}  // namespace detail

run_report run(storage& store, std::uint32_t count, std::function<void(processor&)> const& program,
               run_options const& options) {
  run_plan const plan = plan_run(store, count, options);
  detail::arena_shape const shape = detail::shape_of(plan.context_bytes);
  // Pieces that frames were moved to are mappings of their own, of which a process may have 65530.
  constexpr std::uint64_t most_mappings = 32'000;
  std::uint64_t const frames = plan.frame_bytes / shape.piece_bytes;
  std::uint64_t const mappings = 2 * frames + count * (shape.context_bytes / shape.piece_bytes);
  detail::frame_stash spare(shape.piece_bytes, mappings <= most_mappings ? frames : 0);
  std::vector<void*> faces(count);
  std::vector<detail::arena_heap*> heaps(count);
  detail::fiber_run all(
      store, plan,
      [&](std::uint32_t rank) {
        auto memory =
            std::make_unique<detail::local_arena>(shape, detail::processor_pages::owner(), &spare);
        heaps[rank] = &memory->heap();
        return memory;
      },
      [&](std::uint32_t rank) {
        processor mine(detail::member(all.core(), rank));
        program(mine);
      });
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    all.state_of(rank).heap = heaps[rank];
    all.state_of(rank).face = &faces[rank];
  }
  return all.run();
}

}  // namespace outsize::bsp
