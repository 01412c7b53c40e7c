// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/file_input.hpp>

#include <algorithm>
#include <cstring>
#include <deque>
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
      position_(begin_bytes),
      issued_(round_down<std::uint64_t>(begin_bytes, alignment_bytes_)),
      end_(std::max(source_->size_bytes(), begin_bytes)) {
  OUTSIZE_ASSERT(can_stream_from(*source_));
  source_->count_into(options.counter);
  for (auto rest = memory_.bytes(); rest.size() >= block_bytes_;
       rest = rest.subspan(block_bytes_)) {
    ring_.push_back({.memory = rest.first(block_bytes_)});
  }
}

std::span<std::byte const> file_input::next() {
  while (view_.empty()) {
    fill_ring();
    if (!advance()) return {};
  }
  position_ += view_.size();
  return std::exchange(view_, {});
}

std::size_t file_input::read(std::span<std::byte> into) {
  auto done = take(into);
  while (done < into.size()) {
    auto const rest = into.subspan(done);
    bool const direct = suits_direct(rest);
    if (direct && in_flight_ == 0) {
      done += read_direct(rest);
      continue;
    }
    // Blocks in flight come first; they are followed by others only if nothing goes past them.
    if (!direct) fill_ring();
    if (!advance()) break;
    done += take(rest);
  }
  return done;
}

std::optional<std::uint64_t> file_input::remaining_bytes() const { return end_ - position_; }

void file_input::fill_ring() {
  while (in_flight_ < ring_.size() && issued_ < end_) {
    auto& free = ring_[(head_ + in_flight_) % ring_.size()];
    // The last read asks for whole units; it comes out short at the end of the file.
    auto const length_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(
        block_bytes_, round_up<std::uint64_t>(end_ - issued_, alignment_bytes_)));
    free.offset_bytes = issued_;
    free.reading = source_->read(issued_, free.memory.first(length_bytes));
    issued_ += length_bytes;
    ++in_flight_;
  }
}

// Makes the oldest block in flight the view, which stays empty if nothing new is in it. An error
// leaves all as it is, so that whoever asks again meets it again.
bool file_input::advance() {
  if (in_flight_ == 0) return false;
  auto& oldest = ring_[head_];
  auto const bytes = oldest.reading->wait();
  if (bytes < oldest.reading->length_bytes()) end_at(oldest.offset_bytes + bytes);
  oldest.reading.reset();
  head_ = (head_ + 1) % ring_.size();
  --in_flight_;

  auto const until = std::min(oldest.offset_bytes + bytes, end_);
  if (until > position_) {
    view_ = oldest.memory.subspan(static_cast<std::size_t>(position_ - oldest.offset_bytes),
                                  static_cast<std::size_t>(until - position_));
  }
  return true;
}

std::size_t file_input::take(std::span<std::byte> into) {
  auto const bytes = std::min(into.size(), view_.size());
  if (bytes == 0) return 0;
  std::memcpy(into.data(), view_.data(), bytes);
  view_ = view_.subspan(bytes);
  position_ += bytes;
  return bytes;
}

// Whether the part of `into` behind all that was read ahead is aligned, and large enough, to be
// read straight to its place.
bool file_input::suits_direct(std::span<std::byte> into) const noexcept {
  if (issued_ < position_ || issued_ >= end_ || into.size() <= issued_ - position_) return false;
  auto const target = into.subspan(static_cast<std::size_t>(issued_ - position_));
  auto const all_bytes = round_up<std::uint64_t>(end_ - issued_, alignment_bytes_);
  return reinterpret_cast<std::uintptr_t>(target.data()) % alignment_bytes_ == 0 &&
         target.size() >= std::min<std::uint64_t>(block_bytes_, all_bytes);
}

std::size_t file_input::read_direct(std::span<std::byte> into) {
  auto const limit_bytes = static_cast<std::size_t>(
      std::min(round_down<std::uint64_t>(into.size(), alignment_bytes_),
               round_up<std::uint64_t>(end_ - position_, alignment_bytes_)));
  auto const depth = std::max<std::size_t>(ring_.size() - 1, 1);
  std::deque<request_ptr> reading;
  request_ptr failed;
  std::size_t asked_bytes = 0, got_bytes = 0;
  bool goes_on = true;
  for (;;) {
    while (goes_on && asked_bytes < limit_bytes && reading.size() < depth) {
      auto const length_bytes = std::min(block_bytes_, limit_bytes - asked_bytes);
      reading.push_back(
          source_->read(position_ + asked_bytes, into.subspan(asked_bytes, length_bytes)));
      asked_bytes += length_bytes;
    }
    if (reading.empty()) break;
    auto const oldest = std::move(reading.front());
    reading.pop_front();
    auto const result = oldest->wait_outcome();
    if (!goes_on) continue;  // only waited for, because `into` is the caller's
    if (!result.ok()) failed = oldest;
    got_bytes += result.bytes;
    goes_on = result.ok() && result.bytes == oldest->length_bytes();
  }
  if (failed) failed->wait();  // throws
  if (got_bytes < asked_bytes) end_at(position_ + got_bytes);

  auto const bytes = std::min<std::uint64_t>(got_bytes, end_ - position_);
  position_ += bytes;
  issued_ = position_;
  return static_cast<std::size_t>(bytes);
}

// The file ended at `offset_bytes`; bytes before position_ have been handed out and stay so.
void file_input::end_at(std::uint64_t offset_bytes) noexcept {
  end_ = std::clamp(offset_bytes, position_, end_);
}

}  // namespace outsize::io
