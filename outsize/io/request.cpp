// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/request.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <new>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/file.hpp>

namespace outsize::io {
namespace {

/// The system moves a little less than 2 GiB in one call; a power of two keeps every alignment.
constexpr std::size_t max_attempt_bytes = 1_GiB;

std::int64_t now_ns() noexcept {
  auto const now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::uint64_t ns_since(std::int64_t start_ns) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(now_ns() - start_ns, 0));
}

/// Marks that this thread is inside file::start() for `owner`. An attempt that ends in there leaves
/// its result here instead of going on at once, so that a file that always completes inside
/// start(), in small pieces, makes a loop and not a recursion.
struct starting_frame {
  request const* owner;
  starting_frame* outer;
  std::optional<std::int64_t> result;

  static thread_local starting_frame* innermost;

  explicit starting_frame(request const* r) : owner(r), outer(innermost), result() {
    innermost = this;
  }
  starting_frame(starting_frame const&) = delete;
  starting_frame& operator=(starting_frame const&) = delete;
  ~starting_frame() { innermost = outer; }

  static starting_frame* of(request const* r) noexcept {
    starting_frame* frame = innermost;
    while (frame != nullptr && frame->owner != r) frame = frame->outer;
    return frame;
  }
};

thread_local starting_frame* starting_frame::innermost = nullptr;

/// Begins the next attempt; returns its result if it ended in this thread before start() returned.
std::optional<std::int64_t> start_attempt(file& target, attempt work) noexcept {
  starting_frame const here(work.owner.get());
  target.start(std::move(work));
  return here.result;
}

}  // namespace

request::request(key, file& target, attempt const& all, completion on_completion)
    : target_(target),
      kind_(all.kind),
      offset_bytes_(all.offset_bytes),
      data_(all.data),
      length_bytes_(all.length_bytes),
      is_awaited_(all.is_awaited),
      issued_ns_(now_ns()),
      on_completion_(std::move(on_completion)) {}

// ---- attempts

/// Begins attempts until one ends later, in another thread, or the request is complete.
void request::run() noexcept {
  auto const alive = shared_from_this();
  for (;;) {
    auto const result = start_attempt(target_, next_attempt());
    if (!result) return;
    if (auto const how = settle(*result)) return complete(*how);
  }
}

void request::attempt_ended(std::int64_t result) noexcept {
  if (starting_frame* const frame = starting_frame::of(this)) {
    frame->result = result;
  } else if (auto const how = settle(result)) {
    complete(*how);
  } else {
    run();
  }
}

attempt request::next_attempt() {
  ++attempt_count_;
  attempt_bytes_ = std::min(length_bytes_ - moved_bytes_, max_attempt_bytes);
  return {kind_,          offset_bytes_ + moved_bytes_, data_ + moved_bytes_,
          attempt_bytes_, shared_from_this(),           is_awaited_};
}

/// Takes the result of an attempt into account; returns how the request ended, if it did.
std::optional<outcome> request::settle(std::int64_t result) noexcept {
  std::size_t const before = moved_bytes_;
  if (result > 0) {
    if (target_.refuses_.load(std::memory_order_relaxed)) target_.refuses_ = false;
    auto const bytes = static_cast<std::size_t>(result);
    OUTSIZE_ASSERT(bytes <= attempt_bytes_);
    moved_bytes_ += bytes;
    if (moved_bytes_ == length_bytes_) return outcome{0, moved_bytes_};
    if (bytes < attempt_bytes_) {
      if (reached_end_of_file()) return outcome{0, moved_bytes_};
      // Direct I/O cannot go on from the middle of a sector: move that sector again.
      moved_bytes_ = round_down(moved_bytes_, target_.alignment_bytes());
    }
  } else if (result == 0) {
    return kind_ == operation::read ? outcome{0, moved_bytes_} : outcome{EIO, moved_bytes_};
  }
  int const error_number = result < 0 ? static_cast<int>(-result) : EIO;
  if (result < 0 && !detail::is_passing(error_number)) return outcome{error_number, moved_bytes_};
  if (moved_bytes_ > before) {
    patience_.renew();
    return std::nullopt;
  }
  if (is_worth_another(error_number)) return std::nullopt;
  return outcome{error_number, moved_bytes_};
}

/// Decides after an attempt that moved nothing, or less than a unit of alignment. When one request
/// has lost its patience with a file, others do not begin to wait: a thread may end many in turn.
bool request::is_worth_another(int error_number) noexcept {
  bool const is_refusal = error_number == EAGAIN;
  if (is_refusal && target_.refuses_) return false;
  if (patience_.try_again(error_number)) return true;
  if (is_refusal) target_.refuses_ = true;
  return false;
}

bool request::reached_end_of_file() const noexcept {
  if (kind_ != operation::read) return false;
  try {
    return offset_bytes_ + moved_bytes_ >= target_.size_bytes();
  } catch (io_error const&) {
    return false;  // Then the next attempt says what is wrong.
  }
}

// ---- completion

/// Of a write that meets a limit of the process the system says so only at its beginning; what is
/// left then, a part of a sector, fails for other reasons.
void request::complete(outcome how) noexcept {
  bool const may_be_limited = how.error_number == EIO || how.error_number == EINVAL;
  if (kind_ == operation::write && may_be_limited &&
      offset_bytes_ + length_bytes_ > file_size_limit_bytes())
    how.error_number = EFBIG;
  statistics* const counter = target_.counter();
  if (counter != nullptr && how.error_number != ECANCELED)
    counter->add_request(kind_, how.bytes, ns_since(issued_ns_));
  if (on_completion_) std::exchange(on_completion_, nullptr)(*this, how);
  {
    std::lock_guard lock(mutex_);
    if (!how.ok()) note_path();
    outcome_ = how;
    done_ = true;
    completed_.notify_all();
    notify_any_waiters();
  }
  target_.request_ended();
}

void request::note_path() noexcept {
  try {
    failed_path_ = target_.name();
  } catch (std::bad_alloc const&) {
    // The error is told without it.
  }
}

bool request::poll() const {
  std::lock_guard lock(mutex_);
  return done_ || is_lost();
}

outcome request::wait_outcome() {
  std::unique_lock lock(mutex_);
  if (done_) return outcome_;
  if (is_lost()) return {EOWNERDEAD, 0};
  timed_wait const wait(target_.counter());
  completed_.wait(lock, [this] { return done_; });
  return outcome_;
}

std::size_t request::wait() {
  auto const how = wait_outcome();
  if (how.ok()) return how.bytes;
  char const* const verb = kind_ == operation::read ? "read" : "write";
  if (how.error_number == ECANCELED) throw cancelled(failed_path_ + ": " + verb);
  throw io_error(how.error_number, verb, is_lost() ? target_.name() : failed_path_, offset_bytes_,
                 length_bytes_);
}

bool request::cancel() {
  auto const alive = shared_from_this();
  {
    std::lock_guard lock(mutex_);
    if (done_ || is_lost()) return false;
  }
  if (!target_.withdraw(*this)) return false;
  complete({ECANCELED, moved_bytes_});
  return true;
}

// ---- several requests

/// A thread that waits for any of several requests; each tells it at its end, under the request's
/// mutex.
class any_waiter {
 public:
  /// Returns false if the request has completed already.
  bool watch(request& r) {
    std::lock_guard lock(r.mutex_);
    if (r.done_) return false;  // and its file may be gone
    r.any_waiters_.push_back(this);
    if (counter_ == nullptr) counter_ = r.target_.counter();
    return true;
  }

  void unwatch(request& r) {
    std::lock_guard lock(r.mutex_);
    std::erase(r.any_waiters_, this);
  }

  void notify() {
    std::lock_guard lock(mutex_);
    notified_ = true;
    condition_.notify_one();
  }

  void wait() {
    timed_wait const wait(counter_);
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return notified_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool notified_ = false;
  statistics* counter_ = nullptr;  // of the first file that has one
};

void request::notify_any_waiters() {
  for (any_waiter* const waiter : any_waiters_) waiter->notify();
  any_waiters_.clear();
}

void wait_all(std::span<request_ptr const> requests) {
  for (auto const& r : requests) r->wait_outcome();
  for (auto const& r : requests) r->wait();
}

std::size_t wait_any(std::span<request_ptr const> requests) {
  OUTSIZE_ASSERT(!requests.empty());
  if (auto const ready = poll_any(requests)) return *ready;
  any_waiter waiter;
  bool const none_ready =
      std::ranges::all_of(requests, [&](request_ptr const& r) { return waiter.watch(*r); });
  if (none_ready) waiter.wait();
  for (auto const& r : requests) waiter.unwatch(*r);
  return poll_any(requests).value();
}

std::optional<std::size_t> poll_any(std::span<request_ptr const> requests) {
  auto const found = std::ranges::find_if(requests, [](request_ptr const& r) { return r->poll(); });
  if (found == requests.end()) return std::nullopt;
  return static_cast<std::size_t>(found - requests.begin());
}

}  // namespace outsize::io
