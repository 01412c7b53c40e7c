// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A fixed team of threads that runs the data-parallel parts of an algorithm.
//
// Work is CPU work: nothing of the library that runs here waits for I/O or for another task.
// Several threads may call parallel_for at once; they share the team. The caller runs bodies too,
// as waking another thread takes longer than many bodies do:
//
//   call of 3 bodies, team of 2:   caller  ▶ body 0 │ body 2 │ return
//                                  worker  … wakes ▶ body 1 │
//
// Functions of the user may run here that know nothing of this. A call from a body is run by the
// body's thread alone. A body that waits for what needs the team (a network) gives its place up as
// long as it does (executor::absence), and callers run theirs without a place meanwhile, as those
// who have one may wait for a lock of the absent body. A caller does so, too, where no body has
// ended for a while. So nobody waits in a circle.
//
// Invariant: no more bodies run at once than the team has threads, on whatever threads, so that a
// team of N keeps no more than N processors busy; but for what the paragraph above says, and those
// that come back from a wait, which go on at once. While there is room for one more and a body has
// not begun, a worker is on its way to it, or if all workers are in bodies, a caller. In a process
// that comes from a fork a copy has no threads: it refuses work. Layer: base.

#include <cstddef>
#include <functional>

#include <outsize/base/detail/process_mark.hpp>

namespace outsize {

/// A team of `threads` worker threads, started on construction and joined on destruction.
class executor {
  class team;

 public:
  /// @throws std::system_error if the system does not start as many.
  explicit executor(std::size_t threads);
  executor(executor const&) = delete;
  executor& operator=(executor const&) = delete;
  ~executor();

  std::size_t threads() const noexcept;

  /// Runs `body(0) … body(count - 1)`, each once, on team and caller; returns when all have ended.
  /// If bodies throw, the exception of the lowest index that threw is rethrown; those not yet begun
  /// are skipped then. A thread that is in a body, of any team, runs all of them itself, in order.
  /// Throws io_error (EOWNERDEAD) in a process that comes from a fork.
  void parallel_for(std::size_t count, std::function<void(std::size_t)> const& body);

  /// As long as it lives, this thread waits for others: if it is in a body, the body's place is
  /// free for other bodies, and its calls are those of a thread that is in none. Has no effect
  /// elsewhere, nor within another one.
  class absence {
   public:
    absence() noexcept;
    absence(absence const&) = delete;
    absence& operator=(absence const&) = delete;
    ~absence();

   private:
    team* left_;
  };

 private:
  detail::process_ptr<team> team_;
};

}  // namespace outsize
