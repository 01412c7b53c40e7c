// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/file_input.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/units.hpp>

namespace outsize::io {

bool can_stream_from(file const& source) noexcept {
  return page_bytes() % source.alignment_bytes() == 0;
}

file_input::file_input(file_ptr source, grant& memory, input_stream_options const& options,
                       std::uint64_t begin_bytes)
    : memory_(memory.allocate(input_stream_memory_bytes(options))),
      source_(std::move(source)),
      block_bytes_(round_up(std::max<std::size_t>(options.block_bytes, 1), page_bytes())),
      alignment_bytes_(source_->alignment_bytes()),
      opened_(source_->version()),
      samples_(opened_.size_bytes),
      on_growth_(options.on_growth),
      position_(begin_bytes),
      issued_(round_down<std::uint64_t>(begin_bytes, alignment_bytes_)),
      end_(std::max(opened_.size_bytes, begin_bytes)) {
  OUTSIZE_ASSERT(can_stream_from(*source_));
  source_->count_into(options.counter);
  for (auto rest = memory_.bytes(); rest.size() >= block_bytes_;
       rest = rest.subspan(block_bytes_)) {
    ring_.push_back(rest.first(block_bytes_));
  }
}

std::span<std::byte const> file_input::next() {
  while (view_.empty()) {
    issue_reads({});
    if (!advance()) return {};
  }
  position_ += view_.size();
  return std::exchange(view_, {});
}

std::size_t file_input::read(std::span<std::byte> into) {
  auto const begin = position_;
  take(into);
  while (position_ - begin < into.size()) {
    issue_reads(into.subspan(static_cast<std::size_t>(position_ - begin)));
    if (!advance()) break;
    take(into.subspan(static_cast<std::size_t>(position_ - begin)));
  }
  return static_cast<std::size_t>(position_ - begin);
}

std::optional<std::uint64_t> file_input::remaining_bytes() const { return end_ - position_; }

// Issues as many reads as there may be; `wanted` is for the bytes from position_ on. If one cannot
// be issued, as there is no memory for that, none is left in flight. @pre there is no view.
void file_input::issue_reads(std::span<std::byte> wanted) try {
  while (in_flight_.size() < ring_.size() && issued_ < end_) {
    auto target = direct_target(wanted);
    bool const to_caller = !target.empty();
    if (!to_caller)
      target = ring_[std::exchange(next_of_ring_, (next_of_ring_ + 1) % ring_.size())];
    // The last read asks for whole units; it comes out short at the end of the file.
    target = target.first(static_cast<std::size_t>(std::min<std::uint64_t>(
        block_bytes_, round_up<std::uint64_t>(end_ - issued_, alignment_bytes_))));
    in_flight_.push_back(
        {.reading = nullptr, .memory = target, .offset_bytes = issued_, .to_caller = to_caller});
    in_flight_.back().reading = source_->read(issued_, target);
    issued_ += target.size();
  }
} catch (...) {
  for (auto const& one : in_flight_)
    if (one.reading) one.reading->wait_outcome();
  in_flight_.clear();
  issued_ = round_down<std::uint64_t>(position_, alignment_bytes_);
  throw;
}

// Where the bytes from issued_ on belong in `wanted`, if that is aligned and holds a whole block,
// or all that is left; otherwise empty.
std::span<std::byte> file_input::direct_target(std::span<std::byte> wanted) const noexcept {
  if (issued_ < position_ || wanted.size() <= issued_ - position_) return {};
  auto const target = wanted.subspan(static_cast<std::size_t>(issued_ - position_));
  auto const all_bytes = round_up<std::uint64_t>(end_ - issued_, alignment_bytes_);
  bool const fits = target.size() >= std::min<std::uint64_t>(block_bytes_, all_bytes);
  bool const aligned = reinterpret_cast<std::uintptr_t>(target.data()) % alignment_bytes_ == 0;
  return fits && aligned ? target : std::span<std::byte>{};
}

// Waits for the oldest read: what it brought is the view, or has been handed out if it went to the
// caller; that can be nothing. Returns false if nothing is in flight.
bool file_input::advance() {
  if (in_flight_.empty()) return false;
  auto const& oldest = in_flight_.front();
  auto const outcome = oldest.reading->wait_outcome();
  if (!outcome.ok()) {
    keep_only_failed();
    oldest.reading->wait();  // throws
  }
  auto const until = std::min(oldest.offset_bytes + outcome.bytes, end_);
  if (until < std::min(oldest.offset_bytes + oldest.memory.size(), end_)) {
    keep_only_failed();
    throw_ended_early(*source_, opened_);
  }
  samples_.note(oldest.offset_bytes,
                oldest.memory.first(static_cast<std::size_t>(until - oldest.offset_bytes)));
  if (until == end_) finish_reading(*source_, opened_, on_growth_, samples_);
  if (until > position_) {
    if (oldest.to_caller) {
      position_ = until;
    } else {
      view_ = oldest.memory.subspan(static_cast<std::size_t>(position_ - oldest.offset_bytes),
                                    static_cast<std::size_t>(until - position_));
    }
  }
  in_flight_.pop_front();
  return true;
}

// Of what is in flight, the oldest has failed: the others are waited for, because some may be
// reading into memory of the caller, and dropped; no others follow.
void file_input::keep_only_failed() noexcept {
  for (auto const& one : in_flight_) one.reading->wait_outcome();
  in_flight_.erase(in_flight_.begin() + 1, in_flight_.end());
  issued_ = end_;
}

void file_input::take(std::span<std::byte> into) {
  auto const bytes = std::min(into.size(), view_.size());
  if (bytes == 0) return;
  std::memcpy(into.data(), view_.data(), bytes);
  view_ = view_.subspan(bytes);
  position_ += bytes;
}

}  // namespace outsize::io
