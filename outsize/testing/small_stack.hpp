// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A thread whose stack is short: for tests of what must not lie on it. Layer: testing.

#include <pthread.h>

#include <cstddef>
#include <stdexcept>

namespace outsize::scratch {

/// Calls `action`, which throws nothing, on a thread with a stack of so many bytes.
template <typename Action>
void on_small_stack(std::size_t bytes, Action action) {
  ::pthread_attr_t attributes;
  ::pthread_t thread;
  auto* const call = +[](void* what) -> void* {
    (*static_cast<Action*>(what))();
    return nullptr;
  };
  ::pthread_attr_init(&attributes);
  bool const started = ::pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                       ::pthread_create(&thread, &attributes, call, &action) == 0;
  ::pthread_attr_destroy(&attributes);
  if (!started) throw std::runtime_error("no thread with such a stack");
  ::pthread_join(thread, nullptr);
}

}  // namespace outsize::scratch
