// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/pager.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/units.hpp>
#include <outsize/bsp/detail/transfer_error.hpp>

namespace outsize::bsp::detail {

namespace {

using state = context::state;

constexpr std::uint64_t batch_bytes = 8_MiB;
constexpr std::uint64_t window_bytes = 32_MiB;  // of each direction

}  // namespace

pager::pager(storage& store, board& shared, std::span<std::unique_ptr<context> const> contexts)
    : store_(store),
      shared_(shared),
      contexts_(contexts),
      piece_bytes_(contexts.front()->shape().piece_bytes),
      batch_(std::max<std::size_t>(batch_bytes / piece_bytes_, 1)),
      window_(std::max<std::size_t>(window_bytes / piece_bytes_, 2)),
      moving_(contexts.size()) {
  ended_.reserve(2 * (window_ + batch_));
  thread_ = std::thread([this] { work(); });
}

pager::~pager() {
  {
    std::lock_guard const held(shared_.mutex);
    is_stopping_ = true;
    shared_.pager_wakes.notify_all();
  }
  thread_.join();
}

void pager::work() noexcept {
  lock held(shared_.mutex);
  while (!is_stopping_ || arriving_ + leaving_ != 0) {
    bool has_moved = false;
    try {
      has_moved = settle(held);
      if (!shared_.is_lost && !is_stopping_) {
        if (!in_need_) in_need_ = shared_.ranks.incoming_in_need();
        if (!coming_) coming_ = shared_.ranks.incoming();
        if (in_need_) {
          has_moved |= serve(in_need_, true, held);
        } else if (coming_) {
          has_moved |= serve(coming_, false, held);
        }
        if (!in_need_) has_moved |= keep_room(held);
      }
    } catch (...) {
      if (!held.owns_lock()) held.lock();
      shared_.lose(std::current_exception());
    }
    if (!has_moved && cannot_write_ && coming_ && !shared_.ranks.can_run() && !shared_.is_lost &&
        arriving_ + leaving_ == 0) {  // frames are with those that wait for frames
      shared_.lose(shared_.failure.error);
      continue;
    }
    if (!has_moved) shared_.pager_wakes.wait(held);
  }
}

/// Takes note of pieces whose requests have ended.
bool pager::settle(lock& held) {
  if (write_failure_) {  // all that is in memory stays there, so that processors can unwind
    cannot_write_ = true;
    shared_.fail(std::exchange(write_failure_, nullptr));
  }
  if (read_failure_) shared_.lose(std::exchange(read_failure_, nullptr));
  if (ended_.empty()) return false;
  std::vector<piece_of> dropped;
  dropped.reserve(ended_.size());
  std::vector<piece_of> ended;
  ended.reserve(2 * (window_ + batch_));
  ended.swap(ended_);
  for (piece_of const& what : ended) {
    bool const is_coming = shared_.ranks.presence_of(what.rank) == scheduler::presence::coming;
    bool const is_leaving = contexts_[what.rank]->state_of(what.piece) == state::leaving;
    if (is_leaving && !is_coming && !what.has_failed) {
      dropped.push_back(what);
    } else {
      piece_ended(what);
    }
  }
  if (dropped.empty()) return true;
  held.unlock();
  for (piece_of const& what : dropped) {
    contexts_[what.rank]->memory().drop(what.piece);
  }
  held.lock();
  for (piece_of const& what : dropped) {
    contexts_[what.rank]->set_state(what.piece, state::absent);
    --leaving_;
    note_moving(what.rank, -1);
    shared_.free_frame_bytes += piece_bytes_;
  }
  return true;
}

void pager::note_moving(std::uint32_t rank, std::ptrdiff_t pieces) noexcept {
  moving_[rank] += static_cast<std::size_t>(pieces);
  shared_.record.move(rank, pieces);
}

/// A piece that arrives is there, and so is one that was leaving when its processor came again.
void pager::piece_ended(piece_of what) {
  context& of = *contexts_[what.rank];
  --(of.state_of(what.piece) == state::leaving ? leaving_ : arriving_);
  of.set_state(what.piece, state::present);
  note_moving(what.rank, -1);
  if (moving_[what.rank] == 0) finish_coming(what.rank);
}

std::vector<std::size_t> pager::next_absent(context const& of, std::size_t most) const {
  std::vector<std::size_t> absent;
  for (std::size_t piece = 0; piece < of.piece_count() && absent.size() < most; ++piece) {
    if (of.state_of(piece) == state::absent && of.is_used(piece)) absent.push_back(piece);
  }
  return absent;
}

/// A coming processor may run once no piece of it is missing.
void pager::finish_coming(std::uint32_t rank) {
  if (shared_.ranks.presence_of(rank) != scheduler::presence::coming) return;
  if (coming_ == rank || in_need_ == rank || moving_[rank] != 0) return;
  contexts_[rank]->want_nothing();
  shared_.ranks.arrived(rank);
  shared_.worker_wakes(shared_.ranks.worker_of(rank)).notify_one();
}

/// The memory that the active processors may still allocate.
std::size_t pager::reserved_pieces() const {
  std::size_t reserved = 0;
  for (std::uint32_t worker = 0; worker < shared_.ranks.workers(); ++worker) {
    std::optional<std::uint32_t> const active = shared_.ranks.active_of(worker);
    if (!active) continue;
    context const& of = *contexts_[*active];
    std::size_t const most = of.shape().context_bytes / piece_bytes_;
    reserved += most - std::min(most, of.held_pieces());
  }
  return reserved;
}

/// The pieces that may come now: those in need take all; others leave free the memory that the
/// active ones may still allocate.
std::size_t pager::free_pieces(bool is_in_need) const {
  auto const free = static_cast<std::size_t>(shared_.free_frame_bytes / piece_bytes_);
  return is_in_need ? free : free - std::min(free, reserved_pieces());
}

/// Goes on with a processor whose memory is to come in. Returns whether there was anything to do.
bool pager::serve(std::optional<std::uint32_t>& coming, bool is_in_need, lock& held) {
  std::uint32_t const rank = *coming;
  if (is_in_need && shared_.has_failed()) {  // it goes on without, so that it can unwind
    coming.reset();
    finish_coming(rank);
    return true;
  }
  bool const has_moved = bring_in(coming, free_pieces(is_in_need), held);
  if (!coming) return true;
  return make_room(rank, is_in_need, free_pieces(is_in_need), held) || has_moved;
}

bool pager::bring_in(std::optional<std::uint32_t>& coming, std::size_t free, lock& held) {
  std::uint32_t const rank = *coming;
  context& of = *contexts_[rank];
  std::size_t const most = std::min({batch_, free, window_ - std::min(window_, arriving_)});
  std::vector<std::size_t> const pieces = next_absent(of, std::max<std::size_t>(most, 1));
  if (pieces.empty()) {
    coming.reset();
    finish_coming(rank);
    return true;
  }
  if (most == 0) return false;
  for (std::size_t const piece : pieces) of.set_state(piece, state::arriving);
  arriving_ += pieces.size();
  note_moving(rank, static_cast<std::ptrdiff_t>(pieces.size()));
  shared_.free_frame_bytes -= pieces.size() * piece_bytes_;
  held.unlock();
  issue_reads(rank, pieces);
  held.lock();
  return true;
}

void pager::issue_reads(std::uint32_t rank, std::vector<std::size_t> const& pieces) {
  context& of = *contexts_[rank];
  std::vector<std::vector<grain_run>> stored(pieces.size());
  std::exception_ptr error;
  bool is_clear = true;
  try {
    for (std::size_t begin = 0, end = 0; begin < pieces.size(); begin = end) {  // side by side
      for (end = begin + 1; end < pieces.size() && pieces[end] == pieces[end - 1] + 1;) ++end;
      is_clear &= of.memory().populate_to_read(pieces[begin], end - begin);
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      stored[i] = of.stored(pieces[i]);
      shared_.record.add(rank, {.used_bytes = of.used_bytes(pieces[i])});
      if (!is_clear) of.clear_but(pieces[i], stored[i]);
    }
  } catch (...) {
    error = std::current_exception();
    stored.assign(pieces.size(), {});
  }
  issue_all(rank, pieces, stored, false, error);
}

bool pager::make_room(std::uint32_t coming, bool is_in_need, std::size_t free, lock& held) {
  if (leaving_ >= window_ || cannot_write_) return false;
  std::size_t const missing = next_absent(*contexts_[coming], free + leaving_ + batch_).size();
  if (missing <= free + leaving_) return false;
  // If nobody else can go on, those that are ready, of which some may be half present, give.
  bool const is_needed = is_in_need || (!shared_.ranks.can_run() && arriving_ + leaving_ == 0);
  std::optional<std::uint32_t> const victim = shared_.ranks.victim(is_needed);
  if (!victim) return false;
  let_go(*victim, std::min({missing - free - leaving_, batch_, window_ - leaving_}), held);
  return true;
}

/// Once memory has been short, it is made free before the active processors ask for it, so that
/// they do not wait for the disk: as long as others are to run, it will be asked for.
bool pager::keep_room(lock& held) {
  if (!shared_.has_swapped.load() || shared_.has_failed() || leaving_ >= window_) return false;
  auto const free = static_cast<std::size_t>(shared_.free_frame_bytes / piece_bytes_);
  std::size_t const wanted = reserved_pieces();
  if (wanted <= free + leaving_ || !shared_.ranks.has_ready()) return false;
  std::optional<std::uint32_t> const victim = shared_.ranks.victim(false);
  if (!victim) return false;
  let_go(*victim, std::min({wanted - free - leaving_, batch_, window_ - leaving_}), held);
  return true;
}

/// Has pieces of a processor leave.
void pager::let_go(std::uint32_t victim, std::size_t most, lock& held) {
  context& of = *contexts_[victim];
  std::vector<std::size_t> pieces;
  std::size_t left = 0;
  for (std::size_t piece = 0; piece < of.piece_count(); ++piece) {
    if (of.state_of(piece) != state::present) continue;
    if (pieces.size() < most) {
      pieces.push_back(piece);
    } else {
      ++left;
    }
  }
  shared_.ranks.losing(victim, left == 0);
  shared_.has_swapped.store(true);
  for (std::size_t const piece : pieces) of.set_state(piece, state::leaving);
  leaving_ += pieces.size();
  note_moving(victim, static_cast<std::ptrdiff_t>(pieces.size()));
  held.unlock();
  issue_writes(victim, pieces);
  held.lock();
}

void pager::issue_writes(std::uint32_t rank, std::vector<std::size_t> const& pieces) {
  context& of = *contexts_[rank];
  std::vector<std::vector<grain_run>> changed(pieces.size());
  std::exception_ptr error;
  try {
    store_.threads().parallel_for(pieces.size(),
                                  [&](std::size_t i) { changed[i] = of.changes(pieces[i]); });
    for (std::vector<grain_run> const& runs : changed) {
      for (grain_run const& run : runs) {
        shared_.record.add(rank,
                           {.changed_bytes = std::uint64_t{run.count} * of.shape().grain_bytes});
      }
    }
  } catch (...) {
    error = std::current_exception();
    changed.assign(pieces.size(), {});
  }
  issue_all(rank, pieces, changed, true, error);
}

void pager::issue_all(std::uint32_t rank, std::vector<std::size_t> const& pieces,
                      std::vector<std::vector<grain_run>> const& runs, bool is_write,
                      std::exception_ptr const& error) {
  if (error) note_failure(error, is_write);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    issue({rank, pieces[i], error != nullptr}, runs[i], is_write);
}

/// Issues the requests of a piece. If there are none, or one cannot be issued, it has ended all the
/// same.
void pager::issue(piece_of what, std::vector<grain_run> const& runs, bool is_write) {
  context& of = *contexts_[what.rank];
  transfer* all = nullptr;
  std::exception_ptr error;
  std::size_t issued = 0;
  try {
    all = new transfer{what, runs.size() + 1};
    for (grain_run const& run : runs) {
      std::span<std::byte> const bytes =
          of.bytes_of(what.piece)
              .subspan(std::size_t{run.first} * of.shape().grain_bytes,
                       std::size_t{run.count} * of.shape().grain_bytes);
      block::block_id const place =
          is_write ? of.place_of(what.piece, run) : of.known_place_of(what.piece, run);
      io::completion done = [this, all, disk = place.disk](io::request const& request,
                                                           io::outcome& how) {
        request_ended(all, disk, request, how);
      };
      if (is_write) {
        store_.write(place, bytes, std::move(done));
      } else {
        store_.read(place, bytes, std::move(done));
      }
      ++issued;
    }
  } catch (...) {
    error = std::current_exception();
  }
  if (error) note_failure(error, is_write);
  std::lock_guard const held(shared_.mutex);
  if (all == nullptr) {
    what.has_failed = true;
    ended_.push_back(what);
    return;
  }
  all->what.has_failed |= error != nullptr;
  all->requests -= runs.size() + 1 - issued;
  if (all->requests != 0) return;
  ended_.push_back(all->what);
  delete all;
}

void pager::note_failure(std::exception_ptr const& error, bool is_write) {
  std::lock_guard const held(shared_.mutex);
  std::exception_ptr& first = is_write ? write_failure_ : read_failure_;
  if (!first) first = error;
}

void pager::request_ended(transfer* of, std::uint32_t disk, io::request const& request,
                          io::outcome how) {
  if (how.ok() && how.bytes != request.length_bytes()) how = {EIO, how.bytes};
  std::lock_guard const held(shared_.mutex);
  bool const is_write = request.kind() == io::operation::write;
  shared_.record.add(of->what.rank, is_write ? superstep_counts{.written_bytes = how.bytes}
                                             : superstep_counts{.read_bytes = how.bytes});
  if (!how.ok()) {
    std::exception_ptr& first = is_write ? write_failure_ : read_failure_;
    if (!first) first = transfer_error(store_.disk_name(disk), request, how);
    of->what.has_failed = true;
  }
  if (--of->requests != 0) return;
  ended_.push_back(of->what);
  delete of;
  shared_.pager_wakes.notify_one();
}

}  // namespace outsize::bsp::detail
