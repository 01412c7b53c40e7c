// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A library for LD_PRELOAD that makes memory and threads scarce in the engine of outsize-run, and
// nowhere else: it is the process that gets SIGTERM when its parent dies.
//
//   OUTSIZE_SCARCE_CALL    the kind that fails: new, map, thread
//   OUTSIZE_SCARCE_FIRST   the first call of that kind that fails, from 1
//   OUTSIZE_SCARCE_COUNT   the number of failures from there on (1); 0: all
//
// Any thread may make the calls.

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

bool is_engine() {
  int signal = 0;
  return ::prctl(PR_GET_PDEATHSIG, &signal) == 0 && signal == SIGTERM;
}

long number(char const* name, long otherwise) {
  char const* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtol(value, nullptr, 10);
}

std::atomic<long> calls{0};

bool fails(char const* kind) {
  char const* const asked = std::getenv("OUTSIZE_SCARCE_CALL");
  if (asked == nullptr || std::strcmp(asked, kind) != 0 || !is_engine()) return false;
  long const first = number("OUTSIZE_SCARCE_FIRST", 1);
  long const count = number("OUTSIZE_SCARCE_COUNT", 1);
  long const call = ++calls;
  return call >= first && (count == 0 || call < first + count);
}

template <typename Function>
Function* real(char const* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* const memory = fails("new") ? nullptr : std::malloc(bytes != 0 ? bytes : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" {

void* mmap(void* place, std::size_t bytes, int protection, int flags, int file,
           off_t offset) noexcept {
  static auto* const map = real<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
  if (fails("map")) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return map(place, bytes, protection, flags, file, offset);
}

int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  if (fails("thread")) return EAGAIN;
  return real<int(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*)>("pthread_create")(
      thread, attributes, start, argument);
}

}  // extern "C"
