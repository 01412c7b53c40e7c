// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/detail/decoding_input.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/codecs/codec.hpp>

namespace outsize::io {
namespace {

std::unique_ptr<detail::decoder> decoder_of(input_form form, bool transcode) {
  if (form.packed == compression::none) return detail::make_utf16_decoder();
  auto packed = detail::make_decoder(form.packed);
  return transcode ? detail::make_packed_text_decoder(std::move(packed)) : std::move(packed);
}

}  // namespace

decoding_input::decoding_input(std::unique_ptr<input_stream> source, input_form form,
                               bool transcode, grant& memory, std::size_t block_count,
                               std::size_t block_bytes, memory_budget* codec_memory)
    : source_(std::move(source)),
      decoder_(decoder_of(form, transcode)),
      kind_(form.packed == compression::none ? "UTF-16" : name_of(form.packed)),
      codec_memory_(codec_memory, source_->name(), kind_) {
  block_bytes = round_up(std::max<std::size_t>(block_bytes, 1), page_bytes());
  memory_ = memory.allocate(block_count * block_bytes);
  for (std::size_t i = 0; i < block_count; ++i)
    ring_.push_back({.memory = memory_.bytes().subspan(i * block_bytes, block_bytes)});
  thread_ = std::thread([this] { fill_blocks(); });
}

decoding_input::~decoding_input() {
  {
    std::lock_guard const lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::span<std::byte const> decoding_input::next() {
  if (view_.empty()) advance();
  return std::exchange(view_, {});
}

std::size_t decoding_input::read(std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    if (view_.empty()) advance();
    if (view_.empty()) break;
    auto const bytes = std::min(into.size() - done, view_.size());
    std::memcpy(&into[done], view_.data(), bytes);
    view_ = view_.subspan(bytes);
    done += bytes;
  }
  return done;
}

// Gives the lent block back and makes the next one the view, which stays empty at the end.
void decoding_input::advance() {
  std::unique_lock lock(mutex_);
  if (lent_) {
    head_ = (head_ + 1) % ring_.size();
    --filled_;
    lent_ = false;
    changed_.notify_all();
  }
  changed_.wait(lock, [this] { return filled_ > 0 || ended_; });
  if (filled_ == 0) {
    if (failure_) std::rethrow_exception(failure_);
    return;
  }
  lent_ = true;
  view_ = ring_[head_].memory.first(ring_[head_].used_bytes);
}

void decoding_input::fill_blocks() noexcept {
  std::exception_ptr failure;
  while (block* const into = finished_ || failure ? nullptr : wait_for_free()) {
    failure = decode(*into);
    std::lock_guard const lock(mutex_);
    if (into->used_bytes > 0) ++filled_;
    changed_.notify_all();
  }
  std::lock_guard const lock(mutex_);
  failure_ = std::move(failure);
  ended_ = true;
  changed_.notify_all();
}

// Nothing if the stream is being given up.
decoding_input::block* decoding_input::wait_for_free() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return filled_ < ring_.size() || stopping_; });
  return stopping_ ? nullptr : &ring_[(head_ + filled_) % ring_.size()];
}

// Fills the block unless the input ends or fails; returns the failure.
std::exception_ptr decoding_input::decode(block& into) noexcept {
  into.used_bytes = 0;
  try {
    while (into.used_bytes < into.memory.size() && !finished_)
      into.used_bytes += decode_step(into.memory.subspan(into.used_bytes));
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

std::size_t decoding_input::decode_step(std::span<std::byte> into) {
  if (compressed_.empty() && !source_ended_) {
    compressed_ = source_->next();
    source_ended_ = compressed_.empty();
  }
  detail::decoded_step did;
  try {
    did = decoder_->step(compressed_, into, source_ended_);
  } catch (detail::damaged_text const& e) {
    throw foreign_input(name(), e.what(), e.aspect());
  } catch (detail::damaged_data const& e) {
    consumed_bytes_ += e.consumed_bytes();
    fail(e.what());
  }
  codec_memory_.cover(decoder_->memory_bytes());
  bool const stuck = did.consumed_bytes == 0 && did.produced_bytes == 0;
  if (stuck && !compressed_.empty()) fail("nothing comes of it");
  if (stuck && !did.complete)
    throw format_error(fmt::format("{}: {} data is cut short: it ends at byte {}", name(), kind_,
                                   consumed_bytes_));
  finished_ = stuck;
  complete_ = did.complete;
  consumed_bytes_ += did.consumed_bytes;
  compressed_ = compressed_.subspan(did.consumed_bytes);
  return did.produced_bytes;
}

void decoding_input::fail(std::string const& reason) const {
  throw format_error(complete_ ? fmt::format("{}: other bytes follow the {} data, near byte {}: {}",
                                             name(), kind_, consumed_bytes_, reason)
                               : fmt::format("{}: {} data cannot be decoded near byte {}: {}",
                                             name(), kind_, consumed_bytes_, reason));
}

std::uint64_t decoding_memory_bytes(std::string const& path) noexcept try {
  constexpr std::size_t header_bytes = 4_KiB;
  std::array<std::byte, header_bytes> beginning{};
  auto const in = std::span(beginning).first(beginning_of_file(path, beginning).value_or(0));
  auto const kind = compression_of_bytes(in);
  if (kind == compression::none) return 0;
  auto const decoder = detail::make_decoder(kind);
  std::array<std::byte, 1> out{};
  decoder->step(in, out, false);
  return decoder->memory_bytes();
} catch (std::exception const&) {
  return 0;
}

std::uint64_t encoding_memory_bytes(compression kind) noexcept {
  return detail::encoder_memory_bytes(kind);
}

}  // namespace outsize::io
