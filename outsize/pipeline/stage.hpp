// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A stage: a plain synchronous function that a network runs on one buffer after another.
//
// The parameters and the result of the function determine its kind:
//
//   f(pooled_buffer&)                   works in place, or (after a pool) fills the buffer
//   f(pooled_buffer&, pooled_buffer&)   the same with an auxiliary buffer, to swap_payload() with
//     → void      the buffer goes on
//     → bool      false: this buffer holds nothing and nothing will follow
//     → verdict   goes on, is dropped (filters), or ends the stream
//
// Invariant: calls of a stage never overlap unless it is replicated. They may come from any thread.
// An exception ends the network. Layer: pipeline. Source: Cormen, Davidson: FG, 2004, section 2.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <outsize/pipeline/pooled_buffer.hpp>

namespace outsize::pipeline {

/// Says where a buffer goes after a stage.
enum class verdict : std::uint8_t {
  convey,  ///< It goes to the next stage, or home after the last one.
  drop,    ///< It goes home.
  end      ///< It goes home, and the stage takes no more: stages that lead only to it end too.
};

/// Says whether buffers leave a replicated stage in the order in which they came.
enum class order : std::uint8_t { kept, free };

/// Lets the network choose: replicas up to its threads, buffers enough for the stages of a pool.
inline constexpr std::size_t automatic = 0;

namespace detail {
class network_run;
struct asynchronous_step;

using step_body = std::function<verdict(pooled_buffer&, pooled_buffer&)>;

template <typename F, typename... Arguments>
verdict call_step(F& f, Arguments&... arguments) {
  using result = std::invoke_result_t<F&, Arguments&...>;
  if constexpr (std::is_void_v<result>) {
    f(arguments...);
    return verdict::convey;
  } else if constexpr (std::is_same_v<result, bool>) {
    return f(arguments...) ? verdict::convey : verdict::end;
  } else {
    static_assert(std::is_same_v<result, verdict>, "a stage returns nothing, bool or a verdict");
    return f(arguments...);
  }
}

template <typename F>
inline constexpr bool takes_auxiliary = std::is_invocable_v<F&, pooled_buffer&, pooled_buffer&>;

template <typename F>
step_body make_step_body(F f) {
  static_assert(takes_auxiliary<F> || std::is_invocable_v<F&, pooled_buffer&>,
                "a stage is a function on one pooled_buffer&, or on two");
  if constexpr (takes_auxiliary<F>) {
    return [f = std::move(f)](pooled_buffer& b, pooled_buffer& auxiliary) mutable {
      return call_step(f, b, auxiliary);
    };
  } else {
    return [f = std::move(f)](pooled_buffer& b, pooled_buffer&) mutable { return call_step(f, b); };
  }
}
}  // namespace detail

/// Ends a step of an asynchronous stage. One of its functions must be called once, from any thread,
/// also from inside the call that began the step.
class step_completion {
 public:
  explicit step_completion(detail::asynchronous_step& s) noexcept : step_(&s) {}
  /// Ends the step: the buffer is done with, and goes where `v` says.
  void done(verdict v = verdict::convey) const noexcept;
  /// Fails the step, and the network with it.
  void failed(std::exception_ptr error) const noexcept;

 private:
  detail::asynchronous_step* step_;
};

/// Makes the functions of a stage, one for each thread; see per_thread().
template <typename Factory>
struct thread_factory {
  Factory make;
};

/// Describes a stage whose function `make()` makes on every thread that runs it, before its first
/// call there. The function is destroyed on that thread by the end of the run. Calls of `make` may
/// overlap if the stage is replicated.
template <typename Factory>
thread_factory<Factory> per_thread(Factory make) {
  return {std::move(make)};
}

/// Describes a stage to be put into a network; does nothing itself.
class stage {
 public:
  /// `body`: a function as at the top of this file, or per_thread() of a maker of such functions.
  template <typename Body>
  stage(std::string name, Body body) : name_(std::move(name)) {
    auxiliary_ = detail::takes_auxiliary<Body>;
    body_ = detail::make_step_body(std::move(body));
  }
  template <typename Factory>
  stage(std::string name, thread_factory<Factory> factory) : name_(std::move(name)) {
    auxiliary_ = detail::takes_auxiliary<std::invoke_result_t<Factory&>>;
    make_body_ = [make = std::move(factory.make)]() mutable {
      return detail::make_step_body(make());
    };
  }

  /// Runs up to `count` calls at once, each on its own buffer; the function must allow that.
  /// automatic: the most that buffers and threads allow.
  stage&& replicate(std::size_t count, order o = order::kept) && {
    replicas_ = count;
    order_ = o;
    return std::move(*this);
  }
  /// Says that the function waits (for a disk or a device): it gets threads of its own, which
  /// network_options::threads does not count.
  stage&& waits() && {
    waits_ = true;
    return std::move(*this);
  }
  /// Calls `start` in the thread of network::start() before any stage runs, and `end` in the thread
  /// of network::finish() when all stages have ended, unless the network failed or was cancelled.
  /// An exception of either fails the network, as if the stage had thrown it.
  stage&& on_run(std::function<void()> start, std::function<void()> end) && {
    at_start_ = std::move(start);
    at_end_ = std::move(end);
    return std::move(*this);
  }
  /// Lets at most `count` buffers wait in front of the next stage. Default: all there are.
  stage&& room(std::size_t count) && {
    room_ = count;
    return std::move(*this);
  }

 private:
  friend class network;
  friend stage asynchronous(std::string, std::size_t,
                            std::function<void(pooled_buffer&, step_completion)>);
  friend stage barrier(std::size_t);
  friend class detail::network_run;
  explicit stage(std::string name) : name_(std::move(name)) {}

  std::string name_;
  detail::step_body body_;
  std::function<detail::step_body()> make_body_;
  std::function<void(pooled_buffer&, step_completion)> begin_;  // asynchronous
  std::function<void()> at_start_;
  std::function<void()> at_end_;
  bool auxiliary_ = false;
  bool waits_ = false;
  order order_ = order::kept;
  std::size_t replicas_ = 1;
  std::size_t room_ = SIZE_MAX;
  std::size_t barrier_rounds_ = 1;
  bool is_barrier_ = false;
};

/// Makes a stage whose steps `begin` starts and something else ends. `begin(buffer, completion)`
/// returns at once; `completion` is called when the buffer is ready. Calls of `begin` come in order
/// and do not overlap; up to `depth` steps are under way at once. Buffers leave in the order in
/// which they came. @pre if `begin` throws, it has started nothing.
stage asynchronous(std::string name, std::size_t depth,
                   std::function<void(pooled_buffer&, step_completion)> begin);

/// Lets buffers through `rounds` at a time: when `rounds` wait, or when no more will come.
stage barrier(std::size_t rounds);

}  // namespace outsize::pipeline
