// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Functions of the C library that a rank cannot have: they end the run by name. A copy of the
// process would share its memory with the engine, and a second thread would run while the first one
// waits and its memory is on disk. And functions that do nothing: ranks run where the engine lets
// them. The one thread of a process. Layer: bsp.

#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <threads.h>
#include <unistd.h>

#include "child.hpp"

namespace {

using outsize::bsp::mpi::refuse;

[[noreturn]] void refuse_copies(char const* function) {
  refuse(
      "%s() is not possible: the memory of a rank is shared with the engine; system(), popen() and "
      "posix_spawn() are",
      function);
}

[[noreturn]] void refuse_threads(char const* function) {
  refuse("%s(): threads are not possible: a rank is a process of one thread (OMP_NUM_THREADS=1)",
         function);
}

}  // namespace

extern "C" {

pid_t fork(void) { refuse_copies("fork"); }
pid_t _Fork(void) { refuse_copies("_Fork"); }
pid_t vfork(void) { refuse_copies("vfork"); }
int daemon(int /*stays*/, int /*prints*/) { refuse_copies("daemon"); }
int forkpty(int* /*terminal*/, char* /*name*/, termios const* /*settings*/,
            winsize const* /*size*/) {
  refuse_copies("forkpty");
}

int pthread_create(pthread_t* /*thread*/, pthread_attr_t const* /*attributes*/,
                   void* (* /*start*/)(void*), void* /*argument*/) {
  refuse_threads("pthread_create");
}
int thrd_create(thrd_t* /*thread*/, thrd_start_t /*start*/, void* /*argument*/) {
  refuse_threads("thrd_create");
}

int sched_setaffinity(pid_t /*process*/, std::size_t /*bytes*/, cpu_set_t const* /*set*/) {
  return 0;
}
int pthread_setaffinity_np(pthread_t /*thread*/, std::size_t /*bytes*/, cpu_set_t const* /*set*/) {
  return 0;
}

}  // extern "C"
