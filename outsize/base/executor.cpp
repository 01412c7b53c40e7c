// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/executor.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/detail/idle_tools.hpp>

namespace outsize {

class executor::team {
 public:
  explicit team(std::size_t threads);
  team(team const&) = delete;
  team& operator=(team const&) = delete;
  ~team();

  std::size_t threads() const noexcept { return workers_.size(); }
  void run(std::size_t count, std::function<void(std::size_t)> const& body);
  void leave_place() noexcept;
  void return_to_place() noexcept;

  /// The team whose body this thread is in.
  static thread_local team* of_this_thread;

 private:
  struct batch;
  using lock = std::unique_lock<std::mutex>;
  static constexpr std::chrono::milliseconds patience{50};

  void work();
  void end_workers() noexcept;
  /// Whether one body more may run.
  bool has_room() const noexcept { return running_ < workers_.size(); }
  bool may_be_run_by_caller(batch const& call) const noexcept;
  void wait_in_call(batch& call, lock& held);
  void wake_another() noexcept;
  void run_next(batch& call, lock& held);

  std::mutex mutex_;  // guards what follows
  std::condition_variable arrived_;
  std::deque<batch*> batches_;  // those with bodies still to begin, oldest first
  std::size_t running_ = 0;     // bodies of all batches, but those that wait
  std::size_t absent_ = 0;      // those
  std::size_t idle_;            // workers that are in no body
  std::size_t ended_ = 0;       // bodies, since the beginning
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

thread_local executor::team* executor::team::of_this_thread = nullptr;

/// One call of parallel_for. All fields are guarded by the team's mutex_.
struct executor::team::batch {
  std::function<void(std::size_t)> const& body;
  std::size_t count;
  std::size_t next = 0;     // the first body that has not begun
  std::size_t running = 0;  // begun and not ended
  std::size_t failed_index = 0;
  std::exception_ptr failure;
  std::condition_variable changed;  // for the caller

  bool has_ended() const noexcept { return next == count && running == 0; }
};

executor::executor(std::size_t threads) : team_(std::make_unique<team>(threads)) {}
executor::~executor() = default;

std::size_t executor::threads() const noexcept { return team_->threads(); }

void executor::parallel_for(std::size_t count, std::function<void(std::size_t)> const& body) {
  team_.get_deleter().made.check("threads of a storage");
  if (team::of_this_thread != nullptr) {
    for (std::size_t i = 0; i < count; ++i) body(i);
  } else if (count > 0) {
    team_->run(count, body);
  }
}

executor::absence::absence() noexcept : left_(std::exchange(team::of_this_thread, nullptr)) {
  if (left_ != nullptr) left_->leave_place();
}

executor::absence::~absence() {
  if (left_ == nullptr) return;
  left_->return_to_place();
  team::of_this_thread = left_;
}

executor::team::team(std::size_t threads) : idle_(threads), workers_(threads) {
  OUTSIZE_ASSERT(threads > 0);
  try {
    for (auto& worker : workers_) worker = std::thread([this] { work(); });
  } catch (...) {
    end_workers();
    throw;
  }
}

executor::team::~team() {
  OUTSIZE_ASSERT(batches_.empty() && running_ == 0);
  end_workers();
}

/// Those that were started, and with them what they have left for others.
void executor::team::end_workers() noexcept {
  {
    std::lock_guard const held(mutex_);
    stopping_ = true;
  }
  arrived_.notify_all();
  for (auto& worker : workers_)
    if (worker.joinable()) worker.join();
  detail::idle_tools_base::drop_all();
}

void executor::team::run(std::size_t count, std::function<void(std::size_t)> const& body) {
  batch call{.body = body, .count = count, .failure = nullptr, .changed = {}};
  lock held(mutex_);
  batches_.push_back(&call);
  for (std::size_t others = 1; others < count && running_ + others < workers_.size(); ++others)
    arrived_.notify_one();
  for (;;) {
    while (may_be_run_by_caller(call)) run_next(call, held);
    // A worker goes on by itself where another call waits; a caller that leaves its place says so.
    wake_another();
    if (call.has_ended()) break;
    wait_in_call(call, held);
  }
  held.unlock();
  if (call.failure) std::rethrow_exception(call.failure);
}

/// Waits until a call has ended, or its caller may go on with it. Where no body ends meanwhile, all
/// of them may be waiting for a lock that the caller holds, or somebody who waits for the caller:
/// then he runs one without a place.
void executor::team::wait_in_call(batch& call, lock& held) {
  auto const is_time = [&] { return call.has_ended() || may_be_run_by_caller(call); };
  if (call.next == call.count) return call.changed.wait(held, is_time);
  std::size_t const ended_before = ended_;
  for (int looks = 0; looks < 3; ++looks)  // in one all of the machine may have stood still
    if (call.changed.wait_for(held, patience, is_time) || ended_ != ended_before) return;
  if (call.next < call.count) run_next(call, held);
}

/// Not in front of a call that has waited longer: a caller that calls again and again would be
/// quicker than the worker that is woken for the other one. Unless no worker can come. While a body
/// waits for others, these may be what it waits for, and whoever has a place may wait for it.
bool executor::team::may_be_run_by_caller(batch const& call) const noexcept {
  if (call.next == call.count) return false;
  return absent_ > 0 || (has_room() && (batches_.front() == &call || idle_ == 0));
}

void executor::team::work() {
  lock held(mutex_);
  for (;;) {
    arrived_.wait(held, [this] { return stopping_ || (!batches_.empty() && has_room()); });
    if (batches_.empty()) return;
    --idle_;
    run_next(*batches_.front(), held);
    ++idle_;
  }
}

/// Runs the next body of a batch. @pre `held` is locked, as it is afterwards.
void executor::team::run_next(batch& call, lock& held) {
  std::size_t const index = call.next++;
  if (call.next == call.count) std::erase(batches_, &call);
  ++call.running;
  ++running_;
  if (idle_ == 0) wake_another();
  held.unlock();
  of_this_thread = this;
  std::exception_ptr failure;
  try {
    call.body(index);
  } catch (...) {
    failure = std::current_exception();
  }
  of_this_thread = nullptr;
  held.lock();
  if (failure && (!call.failure || index < call.failed_index)) {
    call.failure = failure;
    call.failed_index = index;
  }
  if (failure && call.next < call.count) {
    call.next = call.count;
    std::erase(batches_, &call);
  }
  --running_;
  --call.running;
  ++ended_;
  // Under the lock: the waiting call frame, and the condition with it, ends as soon as it may.
  if (call.has_ended()) call.changed.notify_one();
}

/// If one more body may run and there is one: a worker, or callers if no worker can come.
void executor::team::wake_another() noexcept {
  if (batches_.empty()) return;
  if (has_room() && idle_ > 0) arrived_.notify_one();
  if (absent_ > 0 || (has_room() && idle_ == 0))
    for (batch* const call : batches_) call->changed.notify_one();
}

void executor::team::leave_place() noexcept {
  std::lock_guard const held(mutex_);
  --running_;
  ++absent_;
  wake_another();
}

void executor::team::return_to_place() noexcept {
  std::lock_guard const held(mutex_);
  ++running_;
  --absent_;
}

}  // namespace outsize
