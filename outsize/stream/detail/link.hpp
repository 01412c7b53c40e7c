// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A link: items in the order in which they come, through a channel or through a store.
//
//   channel  buffers of the phase's network: writer and reader run at the same time
//   store    blocks on the storage's disks, freed as they are read; read in a later phase
//
// A link is a channel unless the planner says otherwise. A channel's pool has a few buffers, and
// one would do (context.hpp). Layer: stream, internal.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/block_list.hpp>
#include <outsize/block/item_blocks.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/deque.hpp>
#include <outsize/pipeline/item_stages.hpp>
#include <outsize/pipeline/network.hpp>
#include <outsize/stream/detail/boundary.hpp>
#include <outsize/stream/detail/typed_ports.hpp>

namespace outsize::stream::detail {

/// Fills buffers. Where all segments would wait for each other, as they can where ways of different
/// lengths or through filters lead from one fork to one join, it keeps items in a deque, on disk if
/// they are many, until the reader has come so far.
template <external_item T>
class channel_writer final : public boundary_writer<T>, private gatherer {
 public:
  channel_writer(segment_context& c, boundary_base& of)
      : context_(c), of_(of), port_(c.port_of(of)) {
    c.add(*this);
  }
  ~channel_writer() override { context_.remove(*this); }

  bool finish_some() override {
    hand_over();
    while (has_spilled() && wanted_)
      if (!send_spilled(context_.ports().try_take(port_))) return false;
    context_.ports().close(port_);
    return true;
  }

 private:
  bool more_room() override {
    hand_over();
    for (;;) {
      if (!wanted_) return false;
      auto free = context_.ports().try_take(port_);
      if (!free) {
        context_.flush_all(this);
        free = context_.ports().take_unless_stalled(port_);
      }
      if (!free) {
        if (context_.flush_all(this)) continue;
        return begin_spilling();
      }
      if (has_spilled()) {
        send_spilled(std::move(free));
        continue;
      }
      buffer_ = std::move(*free);
      this->lend(buffer_.template room_for<T>());
      return true;
    }
  }
  bool flush() override {
    bool any = buffer_ && hand_over();
    // Items that spill keep their room until there is a buffer: two writers that flush each other
    // would not come further than one item.
    while (wanted_ && (has_spilled() || !this->filled().empty())) {
      auto free = context_.ports().try_take(port_);
      if (!free) break;
      hand_over();
      any |= send_spilled(std::move(free));
    }
    return any;
  }

  /// Returns whether something was sent on.
  bool hand_over() {
    auto const items = this->filled();
    this->lend({});
    if (buffer_ && !items.empty()) {
      buffer_.template resize_to<T>(items.size());
      wanted_ = context_.ports().convey(std::move(buffer_), port_);
      return true;
    }
    buffer_.reset();
    for (T const& item : items) spilled_->push_back(item);
    of_.spilled_items += items.size();
    return false;
  }

  bool has_spilled() const noexcept { return spilled_ && !spilled_->empty(); }
  bool begin_spilling() {
    if (!spilled_) {
      spilled_.emplace(context_.store());
      room_.resize(std::max<std::size_t>(1, 16_KiB / sizeof(T)));
    }
    this->lend(room_);
    return true;
  }
  /// Returns whether there was a buffer to send some in.
  bool send_spilled(std::optional<pipeline::pooled_buffer> free) {
    if (!free) return false;
    auto const room = free->template room_for<T>();
    std::size_t count = 0;
    for (; count < room.size() && !spilled_->empty(); ++count) {
      std::construct_at(&room[count], std::as_const(*spilled_).front());
      spilled_->pop_front();
    }
    free->template resize_to<T>(count);
    wanted_ = context_.ports().convey(std::move(*free), port_);
    return true;
  }

  segment_context& context_;
  boundary_base& of_;
  std::size_t port_;                 // of the pool, and of the output
  pipeline::pooled_buffer buffer_;   // that is being filled; or else
  std::vector<T> room_;              // this, whose items go behind those that
  std::optional<deque<T>> spilled_;  // wait here
  bool wanted_ = true;
};

template <external_item T>
class channel_reader final : public boundary_reader<T> {
 public:
  channel_reader(segment_context& c, std::size_t port) : context_(c), port_(port) {}

 private:
  bool more() override {
    this->show({});
    buffer_.reset();  // home first: the pool may have only one
    if (ended_) return false;
    auto next = context_.ports().try_accept(port_);
    if (!next) {
      context_.flush_all();
      next = context_.ports().accept(port_);
    }
    if (!next) {
      ended_ = true;
      return false;
    }
    buffer_ = std::move(*next);
    auto const items = pipeline::whole_items<T>(buffer_);
    context_.note(std::is_same_v<T, std::byte> ? 0 : items.size(), items.size_bytes());
    this->show(items);
    return true;
  }

  segment_context& context_;
  std::size_t port_;
  pipeline::pooled_buffer buffer_;
  bool ended_ = false;
};

/// How long the blocks of a store are: short where there is little memory.
inline std::size_t store_block_bytes(storage& store, std::size_t item_bytes) noexcept {
  std::uint64_t const share = store.memory().total_bytes() / 128;
  return round_up<std::size_t>(
      std::max<std::uint64_t>(std::clamp<std::uint64_t>(share, 16_KiB, 1_MiB), item_bytes),
      page_bytes());
}
inline constexpr std::size_t store_buffers = 4;

/// Items on disk, written in one phase and read in a later one.
template <external_item T>
class store_of_items {
 public:
  /// Takes memory to write. @throws budget_error; io_error.
  store_of_items(storage& store, std::string const& name)
      : store_(store),
        block_bytes_(store_block_bytes(store, sizeof(T))),
        memory_(store.memory().take(store_buffers * block_bytes_, name)),
        index_(store.memory().take(0, name + ": index")) {
    index_.charge_beyond();
    list_.emplace(store, index_);
    writer_.emplace(
        *list_, memory_,
        block::block_writer_options{.block_bytes = block_bytes_, .buffer_count = store_buffers});
  }

  block::block_item_writer<T>& writer() noexcept { return *writer_; }
  void end_writing() {
    writer_->finish();
    count_ = writer_->size();
    writer_.reset();
    memory_.shrink(UINT64_MAX);
  }
  /// Takes memory to read. @throws budget_error; io_error.
  void begin_reading() {
    memory_.extend((store_buffers + 1) * block_bytes_);
    reader_.emplace(std::move(*list_), count_, memory_,
                    block::block_reader_options{.buffer_count = store_buffers});
  }
  block::block_item_reader<T>& reader() noexcept { return *reader_; }

 private:
  storage& store_;
  std::size_t block_bytes_;
  grant memory_;
  grant index_;
  std::optional<block::block_list> list_;
  std::optional<block::block_item_writer<T>> writer_;
  std::optional<block::block_item_reader<T>> reader_;
  std::uint64_t count_ = 0;
};

template <external_item T>
class store_writer final : public boundary_writer<T> {
 public:
  store_writer(segment_context& c, store_of_items<T>& to) : context_(c), to_(to) {
    room_.resize(std::max<std::size_t>(1, 16_KiB / sizeof(T)));
  }

  bool finish_some() override {
    hand_over();
    context_.outside([this] { to_.end_writing(); });
    return true;
  }

 private:
  bool more_room() override {
    hand_over();
    this->lend(room_);
    return true;
  }
  void hand_over() {
    auto const items = this->filled();
    if (items.empty()) return;
    context_.outside([&] { to_.writer().push(items); });
    this->lend({});
  }

  segment_context& context_;
  store_of_items<T>& to_;
  std::vector<T> room_;
};

template <external_item T>
class store_reader final : public boundary_reader<T> {
 public:
  store_reader(segment_context& c, store_of_items<T>& from) : context_(c), from_(from) {}

 private:
  bool more() override {
    from_.reader().skip(shown_);
    auto const items = context_.outside([this] { return from_.reader().pull(); });
    shown_ = items.size();
    context_.note(std::is_same_v<T, std::byte> ? 0 : items.size(), items.size_bytes());
    this->show(items);
    return !items.empty();
  }

  segment_context& context_;
  store_of_items<T>& from_;
  std::size_t shown_ = 0;
};

template <external_item T>
class link final : public boundary<T> {
 public:
  link(std::string name, std::source_location place, std::size_t item_bytes = sizeof(T))
      : boundary<T>(boundary_base::kind::channel, std::move(name), place),
        item_bytes_(item_bytes) {}

  std::size_t item_bytes() const noexcept override { return item_bytes_; }
  bool can_be_store() const noexcept override { return true; }
  void become_store() noexcept override { this->become(boundary_base::kind::store); }

  memory_claim writing_claim(storage& store) const override {
    return memory_claim::fixed(this->is_cut() ? store_buffers * store_block_bytes(store, sizeof(T))
                                              : 0);
  }
  memory_claim reading_claim(storage& store) const override {
    return memory_claim::fixed(
        this->is_cut() ? (store_buffers + 1) * store_block_bytes(store, sizeof(T)) : 0);
  }
  void begin_writing(storage& store, std::stop_token const&) override {
    if (this->is_cut()) store_.emplace(store, this->name());
  }
  void begin_reading(storage&, std::uint64_t) override {
    if (this->is_cut()) store_->begin_reading();
  }
  void end_reading() noexcept override { store_.reset(); }

  std::unique_ptr<boundary_writer<T>> open_writer(segment_context& c) override {
    if (store_) return std::make_unique<store_writer<T>>(c, *store_);
    return std::make_unique<channel_writer<T>>(c, *this);
  }
  std::unique_ptr<boundary_reader<T>> open_reader(segment_context& c) override {
    if (store_) return std::make_unique<store_reader<T>>(c, *store_);
    return std::make_unique<channel_reader<T>>(c, c.port_of(*this));
  }

 private:
  std::size_t item_bytes_;
  std::optional<store_of_items<T>> store_;
};

/// A link for items of type T.
template <typename T>
std::shared_ptr<boundary_of<T>> make_link(std::string name, std::source_location const& place) {
  using unit = typename carried<stored_form_t<T>>::type;
  return std::make_shared<link<unit>>(std::move(name), place, byte_string<T> ? 0 : sizeof(T));
}

}  // namespace outsize::stream::detail
