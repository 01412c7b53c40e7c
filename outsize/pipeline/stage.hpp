// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A stage: a plain synchronous function that a network runs on one buffer after another.
//
// What the function takes and returns says what it is:
//
//   f(pooled_buffer&)                   works in place, or (after a pool) fills the buffer
//   f(pooled_buffer&, pooled_buffer&)   the same with an auxiliary buffer, to swap_payload() with
//     → void      the buffer goes on
//     → bool      false: this buffer holds nothing and nothing will follow
//     → verdict   goes on, is dropped (filters), or ends the stream
//
// Calls of a stage never overlap unless it is replicated. An exception ends the whole network.
// Layer: pipeline. Source: Cormen, Davidson: FG, 2004, section 2.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <outsize/pipeline/pooled_buffer.hpp>

namespace outsize::pipeline {

/// What becomes of a buffer after a stage.
enum class verdict : std::uint8_t {
  convey,  ///< It goes to the next stage, or home after the last one.
  drop,    ///< It goes home.
  end      ///< It goes home, and the stage takes no more: what precedes it ends too.
};

/// Whether the buffers of a replicated stage leave it in the order in which they came.
enum class order : std::uint8_t { kept, free };

/// As many as the network finds useful, at most its threads.
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

/// Ends a step of an asynchronous stage: one of its functions is called once, from any thread, also
/// from inside the call that began the step.
class step_completion {
 public:
  explicit step_completion(detail::asynchronous_step& s) noexcept : step_(&s) {}
  /// The buffer is done with.
  void done(verdict v = verdict::convey) const noexcept;
  /// The step failed, and the network with it.
  void failed(std::exception_ptr error) const noexcept;

 private:
  detail::asynchronous_step* step_;
};

/// The functions of a stage of which each thread has its own; see per_thread().
template <typename Factory>
struct thread_factory {
  Factory make;
};

/// A stage whose function is made by `make()` on every thread that runs it, before its first call
/// there, and destroyed on that thread when the network ends.
template <typename Factory>
thread_factory<Factory> per_thread(Factory make) {
  return {std::move(make)};
}

/// A stage to be put into a network; describes it and does nothing.
class stage {
 public:
  /// `body`: a function as the top of this file says, or per_thread() of a maker of such functions.
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

  /// Up to `count` calls run at once, each on its own buffer; the function must allow that.
  /// automatic: as many as have buffers and threads.
  stage&& replicate(std::size_t count, order o = order::kept) && {
    replicas_ = count;
    order_ = o;
    return std::move(*this);
  }
  /// Its function waits (for a disk or a device): it gets a thread that counts for nothing.
  stage&& waits() && {
    waits_ = true;
    return std::move(*this);
  }
  /// Calls `start` before any stage runs, and `end` when all stages have ended and none has failed,
  /// in the threads of network::start() and finish(). What they throw fails the network, as if the
  /// stage had thrown it.
  stage&& on_run(std::function<void()> start, std::function<void()> end) && {
    at_start_ = std::move(start);
    at_end_ = std::move(end);
    return std::move(*this);
  }
  /// At most `count` buffers wait in front of the stage after this one. Default: all there are.
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

/// A stage whose steps `begin` starts and something else ends: `begin(buffer, completion)` returns
/// at once, and completion is called when the buffer is ready. Calls of `begin` come in order and
/// do not overlap; up to `depth` steps are under way at once; buffers leave in the order in which
/// they came. If `begin` throws, it has started nothing.
stage asynchronous(std::string name, std::size_t depth,
                   std::function<void(pooled_buffer&, step_completion)> begin);

/// Lets buffers through `rounds` at a time: none before as many wait, or before no more will come.
stage barrier(std::size_t rounds);

}  // namespace outsize::pipeline
