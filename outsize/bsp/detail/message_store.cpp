// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/message_store.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/units.hpp>
#include <outsize/bsp/detail/transfer_error.hpp>

namespace outsize::bsp::detail {

namespace {

constexpr std::uint64_t least_buffer_bytes = 16_KiB;
constexpr std::size_t blocks_read_ahead = 4;

/// Each thread copies into or out of one buffer and takes another; the rest is under way.
std::size_t least_buffers(std::uint32_t threads) { return 4 * std::size_t{threads} + 4; }

/// Half of the memory is for the open blocks of all destinations. Few destinations have shorter
/// blocks than that, so that there are enough to be written while others are filled.
std::size_t buffer_bytes_for(std::uint64_t memory_bytes, std::uint32_t destinations,
                             std::uint32_t threads) {
  std::uint64_t const buffers =
      std::max({2 * std::uint64_t{destinations}, least_buffers(threads), std::uint64_t{32}});
  return std::clamp<std::uint64_t>(std::bit_floor(memory_bytes / buffers), least_buffer_bytes,
                                   1_MiB);
}

}  // namespace

std::uint64_t message_store::least_memory_bytes(std::uint32_t threads) noexcept {
  return least_buffers(threads) * least_buffer_bytes;
}

message_store::message_store(storage& store, std::uint32_t destinations, std::uint32_t threads,
                             std::uint64_t memory_bytes)
    : store_(store),
      memory_(store.memory().take(memory_bytes, "messages of virtual processors")),
      buffers_(memory_, buffer_bytes_for(memory_bytes, destinations, threads),
               memory_bytes / buffer_bytes_for(memory_bytes, destinations, threads)),
      spare_(std::clamp<std::size_t>(buffers_.count() / 8, 2, 16)),
      where_(store.new_placement()),
      chains_(destinations) {
  OUTSIZE_ASSERT(buffers_.count() >= least_buffers(threads));
}

message_store::~message_store() {
  lock held(mutex_);
  changed_.wait(held, [this] { return writing_ == 0 && reading_ == 0; });
  for (stored_block* const left : blocks_) {
    if (!left->memory.empty()) buffers_.release(left->memory);
    free_place(*left);
    delete left;
  }
}

std::uint64_t message_store::written_bytes() const {
  std::lock_guard const held(mutex_);
  return written_bytes_;
}

std::uint64_t message_store::read_bytes() const {
  std::lock_guard const held(mutex_);
  return read_bytes_;
}

void message_store::check() const {
  if (failure_) std::rethrow_exception(failure_);
}

void message_store::fail(std::exception_ptr error) noexcept {
  if (!failure_) failure_ = std::move(error);
  changed_.notify_all();
}

// ---- putting ----

message_ticket message_store::put(std::uint32_t destination,
                                  std::span<std::span<std::byte const> const> pieces,
                                  std::uint32_t readers) {
  ticket message;
  if (readers == 0) return message;
  chain& to = chains_[destination];
  std::lock_guard const alone(to.appending);
  lock held(mutex_);
  stored_block* entered = nullptr;
  to.is_appending = true;
  try {
    for (std::span<std::byte const> const piece : pieces) {
      append(to, piece, readers, message, entered, held);
    }
  } catch (...) {
    for (std::uint32_t reader = 0; reader < readers; ++reader) {
      ticket rest = message;
      while (rest.length_bytes != 0) leave_segment(rest);
    }
    to.is_appending = false;
    throw;
  }
  to.is_appending = false;
  changed_.notify_all();  // others may want to close the block
  return message;
}

/// @param entered  The last block that has bytes of the message.
void message_store::append(chain& to, std::span<std::byte const> bytes, std::uint32_t readers,
                           ticket& message, stored_block*& entered, lock& held) {
  std::size_t const block_bytes = buffer_bytes();
  while (!bytes.empty()) {
    if (to.open == nullptr || to.open->filled_bytes == block_bytes) {
      stored_block* const fresh = new_block(held);
      fresh->destination = static_cast<std::uint32_t>(&to - chains_.data());
      if (to.open != nullptr) {
        to.open->next = fresh;
        close(to);
      }
      to.open = fresh;
    }
    stored_block& last = *to.open;
    std::uint32_t const offset = last.filled_bytes;
    std::size_t const part = std::min(bytes.size(), block_bytes - offset);
    if (message.first == nullptr) {
      message.first = &last;
      message.offset_bytes = offset;
    }
    last.filled_bytes += static_cast<std::uint32_t>(part);
    if (std::exchange(entered, &last) != &last) last.messages += readers;
    ++last.users;
    message.length_bytes += part;
    held.unlock();
    std::memcpy(last.memory.data() + offset, bytes.data(), part);
    held.lock();
    --last.users;
    bytes = bytes.subspan(part);
  }
}

void message_store::close(chain& of) noexcept {
  stored_block& full = *std::exchange(of.open, nullptr);
  full.is_open = false;
  settle(full);
}

/// So that there is something to write: blocks may be open for more destinations than there are
/// buffers.
bool message_store::close_another() noexcept {
  for (chain& candidate : chains_) {
    if (candidate.open == nullptr || candidate.is_appending) continue;
    close(candidate);
    return true;
  }
  return false;
}

stored_block* message_store::new_block(lock& held) {
  block::frame const memory = take_buffer(held);
  try {
    auto fresh = std::make_unique<stored_block>();
    fresh->memory = memory;
    blocks_.insert(fresh.get());
    return fresh.release();
  } catch (...) {
    buffers_.release(memory);
    throw;
  }
}

// ---- buffers ----

block::frame message_store::take_buffer(lock& held) {
  for (;;) {
    check();
    write_idle(held);
    if (block::frame const free = buffers_.try_acquire(); !free.empty()) return free;
    if (writing_ + reading_ == 0 && idle_.empty() && close_another()) continue;
    changed_.wait(held);
  }
}

/// Keeps some buffers free, or on their way to be.
void message_store::write_idle(lock& held) {
  while (buffers_.free_count() + writing_ < spare_ && !idle_.empty()) {
    stored_block& oldest = *idle_.front();
    idle_.pop_front();
    oldest.turn.reset();
    if (oldest.place) {  // as it lies on disk
      buffers_.release(std::exchange(oldest.memory, {}));
      changed_.notify_all();
    } else {
      write(oldest, held);
    }
  }
}

void message_store::write(stored_block& full, lock& held) {
  full.is_moving = true;
  ++writing_;
  held.unlock();
  try {
    std::size_t const bytes = round_up<std::size_t>(full.filled_bytes, store_.alignment_bytes());
    {
      std::lock_guard const alone(placing_);
      full.place = store_.allocate(bytes, *where_);
    }
    store_.write(full.place, full.memory.first(bytes),
                 [this, &full](io::request const& request, io::outcome& how) {
                   write_ended(full, request, how);
                 });
    held.lock();
  } catch (...) {  // not issued
    if (!held.owns_lock()) held.lock();
    full.is_moving = false;
    --writing_;
    fail(std::current_exception());
    throw;
  }
}

void message_store::write_ended(stored_block& written, io::request const& request,
                                io::outcome how) {
  std::lock_guard const held(mutex_);
  written.is_moving = false;
  --writing_;
  if (how.ok()) {
    written_bytes_ += request.length_bytes();
    if (on_transfer) {
      on_transfer(written.destination, {.stored_bytes = written.filled_bytes,
                                        .stored_written_bytes = request.length_bytes()});
    }
  } else {
    fail(transfer_error(store_.disk_name(written.place.disk), request, how));
  }
  if (written.users == 0) buffers_.release(std::exchange(written.memory, {}));
  settle(written);
  changed_.notify_all();
}

// ---- lending ----

message_ticket message_store::lend(std::uint32_t destination,
                                   std::span<lent_stretch const> stretches, std::uint32_t readers) {
  ticket message;
  stored_block* last = nullptr;
  std::uint64_t const alignment = store_.alignment_bytes();
  try {
    for (lent_stretch const& each : stretches) {
      std::uint64_t const begin = each.offset_bytes / alignment * alignment;
      if (last == nullptr) {
        message.offset_bytes = static_cast<std::uint32_t>(each.offset_bytes - begin);
      }
      std::uint64_t const end = round_up(each.offset_bytes + each.length_bytes, alignment);
      for (std::uint64_t at = begin; at < end; at += buffer_bytes()) {
        stored_block* const made = new_stretch(
            destination, {each.of, at, std::min<std::uint64_t>(end - at, buffer_bytes())}, readers);
        (last == nullptr ? message.first : last->next) = made;
        last = made;
      }
      message.length_bytes += each.length_bytes;
    }
  } catch (...) {
    for (std::uint32_t reader = 0; reader < readers; ++reader) drop(message);
    throw;
  }
  return message;
}

stored_block* message_store::new_stretch(std::uint32_t destination, lent_stretch const& part,
                                         std::uint32_t readers) {
  auto fresh = std::make_unique<stored_block>();
  fresh->place = part.of->place();
  fresh->place.offset_bytes += part.offset_bytes;
  fresh->place.length_bytes = static_cast<std::uint32_t>(part.length_bytes);
  fresh->filled_bytes = fresh->place.length_bytes;
  fresh->messages = readers;
  fresh->is_open = false;
  fresh->lender = part.of;
  fresh->destination = destination;
  lock const held(mutex_);
  blocks_.insert(fresh.get());
  return fresh.release();
}

void message_store::free_place(stored_block& of) noexcept {
  if (of.place && !of.lender) store_.free(of.place);
}

// ---- getting ----

void message_store::prefetch(ticket const& message) noexcept {
  if (message.first == nullptr) return;
  lock held(mutex_);
  try {
    read_ahead(message.first, message.length_bytes, held);
  } catch (...) {  // whoever takes the message finds out
  }
}

void message_store::get(ticket const& message, std::span<std::span<std::byte> const> pieces) {
  ticket rest = message;
  lock held(mutex_);
  try {
    for (std::span<std::byte> piece : pieces) {
      while (!piece.empty()) piece = piece.subspan(take_some(rest, piece, held));
    }
  } catch (...) {
    while (rest.length_bytes != 0) leave_segment(rest);
    throw;
  }
  OUTSIZE_ASSERT(rest.length_bytes == 0);
}

void message_store::drop(ticket const& message) noexcept {
  ticket rest = message;
  lock const held(mutex_);
  while (rest.length_bytes != 0) leave_segment(rest);
}

/// Copies as much as lies in one block; returns the number of bytes.
std::size_t message_store::take_some(ticket& rest, std::span<std::byte> into, lock& held) {
  OUTSIZE_ASSERT(rest.length_bytes != 0);
  check();  // a block that could not be written must not be read
  stored_block& from = *rest.first;
  std::uint32_t const offset = rest.offset_bytes;
  std::size_t const in_block = std::min<std::size_t>(rest.length_bytes, from.filled_bytes - offset);
  std::size_t const part = std::min(in_block, into.size());
  ++from.users;
  if (from.turn) {
    idle_.erase(*from.turn);
    from.turn.reset();
  }
  try {
    if (from.memory.empty() && !from.is_moving) bring_in(from, held);
    if (rest.length_bytes > in_block) {
      read_ahead(from.next, rest.length_bytes - in_block, held);
    }
    while (from.memory.empty()) {
      check();
      if (from.is_moving) {
        changed_.wait(held);
      } else {
        bring_in(from, held);
      }
    }
  } catch (...) {
    --from.users;
    throw;
  }
  held.unlock();
  std::memcpy(into.data(), from.memory.data() + offset, part);
  held.lock();
  --from.users;
  if (part == in_block) {
    leave_segment(rest);
  } else {
    rest.length_bytes -= part;
    rest.offset_bytes += static_cast<std::uint32_t>(part);
    settle(from);
  }
  return part;
}

/// Leaves the first segment of the rest of a message.
void message_store::leave_segment(ticket& rest) noexcept {
  stored_block& left = *rest.first;
  rest.length_bytes -=
      std::min<std::uint64_t>(rest.length_bytes, left.filled_bytes - rest.offset_bytes);
  rest.offset_bytes = 0;
  rest.first = rest.length_bytes == 0 ? nullptr : left.next;
  --left.messages;
  settle(left);
}

/// Begins to read a block that the caller uses and that does not move.
void message_store::bring_in(stored_block& wanted, lock& held) {
  wanted.is_moving = true;  // nobody else begins
  block::frame into;
  try {
    into = take_buffer(held);
  } catch (...) {
    wanted.is_moving = false;
    changed_.notify_all();
    throw;
  }
  read(wanted, into, held);
}

/// Begins to read the next blocks of a message, as far as buffers are free.
void message_store::read_ahead(stored_block* next, std::uint64_t bytes, lock& held) {
  std::size_t const blocks =
      std::min<std::size_t>(blocks_read_ahead, div_up<std::uint64_t>(bytes, buffer_bytes()));
  for (std::size_t count = 0; count < blocks; ++count) {
    stored_block& ahead = *next;
    next = count + 1 < blocks ? ahead.next : nullptr;
    if (!ahead.memory.empty() || ahead.is_moving) continue;
    block::frame const into = buffers_.try_acquire();
    if (into.empty()) return;
    ahead.is_moving = true;
    read(ahead, into, held);
  }
}

/// Begins to read a block that is_moving.
void message_store::read(stored_block& wanted, block::frame into, lock& held) {
  ++reading_;
  held.unlock();
  try {
    store_.read(wanted.place, into.first(wanted.place.length_bytes),
                [this, &wanted, into](io::request const& request, io::outcome& how) {
                  read_ended(wanted, into, request, how);
                });
    held.lock();
  } catch (...) {  // not issued
    held.lock();
    wanted.is_moving = false;
    --reading_;
    buffers_.release(into);
    fail(std::current_exception());
    throw;
  }
}

void message_store::read_ended(stored_block& filled, block::frame into, io::request const& request,
                               io::outcome how) {
  if (how.ok() && how.bytes != request.length_bytes()) how = {EIO, how.bytes};
  std::lock_guard const held(mutex_);
  filled.is_moving = false;
  --reading_;
  read_bytes_ += request.length_bytes();
  if (on_transfer) {
    on_transfer(filled.destination, {.stored_read_bytes = request.length_bytes()});
  }
  if (how.ok()) {
    filled.memory = into;
  } else {
    buffers_.release(into);
    fail(transfer_error(store_.disk_name(filled.place.disk), request, how));
  }
  settle(filled);
  changed_.notify_all();
}

/// Decides about a block after a change: it is freed, begun anew, or lies idle.
void message_store::settle(stored_block& now) noexcept {
  if (now.users != 0 || now.is_moving) return;
  if (now.messages == 0 && now.is_open) now.filled_bytes = 0;
  if (now.is_open) return;
  if (now.messages == 0) {
    if (now.turn) idle_.erase(*now.turn);
    if (!now.memory.empty()) buffers_.release(now.memory);
    free_place(now);
    blocks_.erase(&now);
    changed_.notify_all();
    delete &now;
  } else if (!now.memory.empty() && !now.turn) {
    now.turn = idle_.insert(idle_.end(), &now);
    changed_.notify_all();
  }
}

}  // namespace outsize::bsp::detail
