// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/closed_memory.hpp>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OUTSIZE_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define OUTSIZE_ADDRESS_SANITIZER
#endif

#ifdef OUTSIZE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace outsize::detail {

#ifdef OUTSIZE_ADDRESS_SANITIZER

bool notices_closed_memory() noexcept { return true; }

void close_memory(std::span<std::byte const> memory) noexcept {
  ASAN_POISON_MEMORY_REGION(memory.data(), memory.size());
}

void open_memory(std::span<std::byte const> memory) noexcept {
  ASAN_UNPOISON_MEMORY_REGION(memory.data(), memory.size());
}

#else

bool notices_closed_memory() noexcept { return false; }

void close_memory(std::span<std::byte const> /*memory*/) noexcept {}
void open_memory(std::span<std::byte const> /*memory*/) noexcept {}

#endif

}  // namespace outsize::detail
