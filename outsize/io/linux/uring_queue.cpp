// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/linux/uring_queue.hpp>

#include <liburing.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/detail/patience.hpp>
#include <outsize/io/file.hpp>
#include <outsize/io/posix/thread_queue.hpp>

namespace outsize::io {
namespace {

/// Marks the entry that wakes the completion thread for the last time, and entries that do nothing
/// any more; slots are numbered below.
constexpr std::uint64_t stop_mark = UINT64_MAX;
constexpr std::uint64_t void_mark = UINT64_MAX - 1;

/// How often the kernel is asked to take entries while it is short of memory: for half a second of
/// pauses. The last entry must be taken: there it is a minute.
constexpr unsigned usual_refusals = 10;
constexpr unsigned last_refusals = 240;

/// Attempts of so many bytes are short, and so many of them count as one long one.
constexpr std::size_t most_bytes_of_short = 64_KiB;
constexpr std::size_t shorts_in_long = 8;

/// What an attempt takes of the queue, in short ones.
std::size_t share_of(attempt const& work) noexcept {
  return work.length_bytes <= most_bytes_of_short ? 1 : shorts_in_long;
}

/// Not IORING_SETUP_COOP_TASKRUN: with it, completions of a thread's submissions stand still until
/// that thread enters the kernel again, and ours go off to compute. Not SINGLE_ISSUER: any thread
/// submits.
void set_up(io_uring& ring, unsigned depth) {
  int status = ::io_uring_queue_init(depth, &ring, IORING_SETUP_SUBMIT_ALL);
  if (status == -EINVAL) status = ::io_uring_queue_init(depth, &ring, 0);  // before Linux 5.18
  if (status < 0) throw io_error(-status, "set up", "io_uring");
  io_uring_probe* const probe = ::io_uring_get_probe_ring(&ring);
  bool const usable = probe != nullptr && ::io_uring_opcode_supported(probe, IORING_OP_READ) != 0 &&
                      ::io_uring_opcode_supported(probe, IORING_OP_WRITE) != 0;
  ::io_uring_free_probe(probe);
  // A process that comes from a fork must not see the rings: what it took from them, or put there,
  // would be taken from this one. Where the kernel refuses that, request_queue.cpp still does.
  static_cast<void>(::io_uring_ring_dontfork(&ring));
  if (usable) return;
  ::io_uring_queue_exit(&ring);
  throw io_error(ENOSYS, "set up", "io_uring");
}

/// A free entry of the submission ring; there is one, as the ring has as many as there are slots.
io_uring_sqe* free_sqe(io_uring& ring) noexcept {
  io_uring_sqe* const sqe = ::io_uring_get_sqe(&ring);
  if (sqe == nullptr) outsize::detail::assertion_failed("sqe != nullptr", __FILE__, __LINE__);
  return sqe;
}

class uring_queue final : public request_queue {
 public:
  explicit uring_queue(std::size_t depth);
  ~uring_queue() override;

  void start(int file_descriptor, attempt work) noexcept override;
  bool withdraw(request const& owner) noexcept override;
  std::string_view name() const noexcept override { return "io_uring"; }
  bool moves_directly() const noexcept override { return true; }
  std::size_t depth() const noexcept override { return depth_; }

 private:
  struct entry {
    int file_descriptor = -1;
    attempt work{};
  };
  struct ended {
    attempt work;
    std::int64_t result;
  };

  bool enqueue(entry& next) noexcept;
  void prepare(std::size_t slot);
  void submit_pending();
  bool submit(unsigned most_refusals);
  void take_back();
  void move_refused() noexcept;
  std::optional<entry> next_refused();
  void serve();
  bool reap(std::vector<ended>& into, bool& has_refused);

  std::size_t const depth_;
  io_uring ring_{};
  std::mutex mutex_;  // guards what follows, and the submission side of ring_
  std::size_t room_;  // in short attempts
  std::deque<entry> pending_;
  std::vector<entry> slots_;
  std::vector<std::size_t> free_slots_;
  std::vector<io_uring_sqe*> prepared_;  // not submitted yet
  std::vector<std::size_t> refused_;     // slots of what the kernel would not take
  bool has_refused_ = false;
  bool is_moving_refused_ = false;
  std::thread completer_;
};

uring_queue::uring_queue(std::size_t depth)
    : depth_(depth), room_(depth * shorts_in_long), slots_(room_) {
  for (std::size_t slot = slots_.size(); slot-- > 0;) free_slots_.push_back(slot);
  prepared_.reserve(slots_.size());
  refused_.reserve(slots_.size());
  set_up(ring_, static_cast<unsigned>(slots_.size()));
  try {
    completer_ = std::thread([this] { serve(); });
  } catch (...) {
    ::io_uring_queue_exit(&ring_);
    throw;
  }
}

uring_queue::~uring_queue() {
  {
    std::lock_guard lock(mutex_);
    OUTSIZE_ASSERT(pending_.empty() && free_slots_.size() == slots_.size());
    bool taken = submit(last_refusals);
    io_uring_sqe* const sqe = free_sqe(ring_);
    ::io_uring_prep_nop(sqe);
    ::io_uring_sqe_set_data64(sqe, stop_mark);
    taken = submit(last_refusals) && taken;
    if (!taken) outsize::detail::assertion_failed("the last entry is taken", __FILE__, __LINE__);
  }
  completer_.join();
  ::io_uring_queue_exit(&ring_);
}

// ---- submission side, under mutex_

void uring_queue::start(int file_descriptor, attempt work) noexcept {
  entry next{file_descriptor, std::move(work)};
  if (!next.work.is_awaited && enqueue(next)) return;
  next.work.owner->attempt_ended(transfer_by_calls(file_descriptor, next.work));
}

/// Returns false, and leaves the entry as it is, if there is no memory to note it.
bool uring_queue::enqueue(entry& next) noexcept {
  bool has_refused = false;
  {
    std::lock_guard lock(mutex_);
    try {
      pending_.push_back(std::move(next));
    } catch (std::bad_alloc const&) {
      return false;
    }
    submit_pending();
    has_refused = std::exchange(has_refused_, false);
  }
  if (has_refused) move_refused();
  return true;
}

bool uring_queue::withdraw(request const& owner) noexcept {
  entry taken;  // released after the lock: with it may go the last reference to the request
  std::lock_guard lock(mutex_);
  auto const found = std::ranges::find_if(
      pending_, [&](entry const& waiting) { return waiting.work.owner.get() == &owner; });
  if (found == pending_.end()) return false;
  taken = std::move(*found);
  pending_.erase(found);
  return true;
}

void uring_queue::prepare(std::size_t slot) {
  auto const& [file_descriptor, work] = slots_[slot];
  io_uring_sqe* const sqe = free_sqe(ring_);
  auto const length = static_cast<unsigned>(work.length_bytes);  // request keeps it below 2 GiB
  if (work.kind == operation::read) {
    ::io_uring_prep_read(sqe, file_descriptor, work.data, length, work.offset_bytes);
  } else {
    ::io_uring_prep_write(sqe, file_descriptor, work.data, length, work.offset_bytes);
  }
  ::io_uring_sqe_set_data64(sqe, slot);
  prepared_.push_back(sqe);
  // Through the page cache, the kernel would copy in the thread that submits, under our mutex, or
  // stop at its first miss. Its own workers copy in parallel.
  bool const buffered = work.owner->target().alignment_bytes() == 1;
  if (buffered) ::io_uring_sqe_set_flags(sqe, IOSQE_ASYNC);
}

void uring_queue::submit_pending() {
  while (!pending_.empty() && share_of(pending_.front().work) <= room_ &&
         ::io_uring_sq_space_left(&ring_) > 0) {
    std::size_t const slot = free_slots_.back();
    free_slots_.pop_back();
    slots_[slot] = std::move(pending_.front());
    pending_.pop_front();
    room_ -= share_of(slots_[slot].work);
    prepare(slot);
  }
  if (!submit(usual_refusals)) take_back();
  prepared_.clear();
}

/// Returns false if the kernel, for want of memory, still has not taken all entries.
bool uring_queue::submit(unsigned most_refusals) {
  for (unsigned refusals = 0; ::io_uring_sq_ready(&ring_) > 0;) {
    int const status = ::io_uring_submit(&ring_);
    if (status > 0 || status == -EINTR) continue;
    bool const is_short = status == 0 || status == -EAGAIN || status == -EBUSY || status == -ENOMEM;
    // Else the ring is broken (closed or forbidden under our feet): results would never arrive.
    if (!is_short)
      outsize::detail::assertion_failed("io_uring_submit succeeds", __FILE__, __LINE__);
    if (++refusals > most_refusals) return false;
    std::this_thread::sleep_for(detail::patience::pause_after(refusals));
  }
  return true;
}

/// Leaves the attempts that the kernel has not taken to move_refused(), and all that wait for room:
/// perhaps nothing is under way whose end would start them. The entries stay in the ring and do
/// nothing.
void uring_queue::take_back() {
  std::size_t const left = std::min<std::size_t>(::io_uring_sq_ready(&ring_), prepared_.size());
  for (io_uring_sqe* const sqe : std::span(prepared_).last(left)) {
    refused_.push_back(static_cast<std::size_t>(sqe->user_data));
    ::io_uring_prep_nop(sqe);
    ::io_uring_sqe_set_data64(sqe, void_mark);
  }
  has_refused_ = true;
}

/// Moves by calls what the kernel did not take. One thread at a time does, also with what comes
/// meanwhile: the end of an attempt may issue more, which comes here again. Without the lock.
void uring_queue::move_refused() noexcept {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(is_moving_refused_, true)) return;
  }
  while (auto const next = next_refused())
    next->work.owner->attempt_ended(transfer_by_calls(next->file_descriptor, next->work));
}

std::optional<uring_queue::entry> uring_queue::next_refused() {
  std::lock_guard lock(mutex_);
  std::optional<entry> next;
  if (!refused_.empty()) {
    std::size_t const slot = refused_.back();
    refused_.pop_back();
    next = std::exchange(slots_[slot], {});
    room_ += share_of(next->work);
    free_slots_.push_back(slot);
  } else if (!pending_.empty()) {
    next = std::move(pending_.front());
    pending_.pop_front();
  }
  is_moving_refused_ = next.has_value();
  return next;
}

// ---- completion side, one thread

void uring_queue::serve() {
  std::vector<ended> batch;
  batch.reserve(slots_.size());
  for (bool running = true; running;) {
    bool has_refused = false;
    running = reap(batch, has_refused);
    for (ended& each : batch) {
      each.work.owner->attempt_ended(each.result);
      each.work.owner.reset();
    }
    batch.clear();
    if (has_refused) move_refused();
  }
}

/// Waits for completions, takes all there are and refills the ring; says whether the kernel took
/// not all of that. Returns false at the stop mark.
bool uring_queue::reap(std::vector<ended>& into, bool& has_refused) {
  io_uring_cqe* first = nullptr;
  int const status = ::io_uring_wait_cqe(&ring_, &first);
  if (status == -EINTR || status == -EAGAIN) return true;
  if (status < 0)
    outsize::detail::assertion_failed("io_uring_wait_cqe succeeds", __FILE__, __LINE__);

  bool running = true;
  std::array<io_uring_cqe*, 64> found{};
  std::lock_guard lock(mutex_);
  while (unsigned const count =
             ::io_uring_peek_batch_cqe(&ring_, found.data(), static_cast<unsigned>(found.size()))) {
    for (unsigned i = 0; i < count; ++i) {
      if (found[i]->user_data >= void_mark) {
        running = running && found[i]->user_data != stop_mark;
        continue;
      }
      auto const slot = static_cast<std::size_t>(found[i]->user_data);
      // We cancel nothing in the kernel. It does so itself when the thread that submitted has ended
      // before a worker of the kernel took the attempt up: an interruption, to be tried again from
      // this thread.
      int const result = found[i]->res == -ECANCELED ? -EINTR : found[i]->res;
      room_ += share_of(slots_[slot].work);
      into.push_back({std::exchange(slots_[slot].work, {}), result});
      free_slots_.push_back(slot);
    }
    ::io_uring_cq_advance(&ring_, count);
  }
  submit_pending();
  has_refused = std::exchange(has_refused_, false);
  return running;
}

}  // namespace

std::unique_ptr<request_queue> make_uring_queue(std::size_t depth) {
  return std::make_unique<uring_queue>(depth);
}

}  // namespace outsize::io
