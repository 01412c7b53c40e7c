// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include "scarce_memory.hpp"

#include <cstddef>
#include <cstdlib>

namespace outsize::crash {
namespace {

thread_local std::uint64_t allocations_left = unlimited;

bool may_allocate() noexcept {
  if (allocations_left == unlimited) return true;
  if (allocations_left == 0) return false;
  --allocations_left;
  return true;
}

}  // namespace

void allow_allocations(std::uint64_t some) noexcept { allocations_left = some; }

}  // namespace outsize::crash

void* operator new(std::size_t bytes) {
  if (outsize::crash::may_allocate())
    if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
