// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items dealt to segments that work side by side, and collected from them.
//
//                  ┌─ lane 0 ─▶ worker ─ lane 0 ─┐
//   dealer: batches├─ lane 1 ─▶ worker ─ lane 1 ─┤ collector: batches in turn, or as they come
//                  └─ …                          ┘
//
// A batch goes to one worker, which makes a batch of it, perhaps an empty or a longer one. The last
// buffer of each batch is marked. Batches are dealt in turn and collected in turn, so the order is
// kept. This cannot stall: the batch that the collector waits for was dealt before all later ones,
// and its worker's buffers are free, since the collector takes them. Layer: stream, internal.
// Source: IPDPS 2009, section 3.2 and Figure 7 (distribute, collect).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/pipeline/item_stages.hpp>
#include <outsize/pipeline/network.hpp>
#include <outsize/stream/detail/boundary.hpp>
#include <outsize/stream/detail/segment.hpp>
#include <outsize/stream/detail/typed_ports.hpp>
#include <outsize/stream/flow.hpp>

namespace outsize::stream::detail {

/// Travels with a buffer.
struct batch_mark {
  bool is_last = false;
};

/// Puts batches into lanes, into each in turn. Items of one type end their batches by themselves.
template <external_item T>
class batch_writer final : public boundary_writer<T>, private gatherer {
 public:
  enum class ends : std::uint8_t { by_itself, when_told };

  batch_writer(segment_context& c, std::vector<std::size_t> ports, ends how)
      : context_(c), ports_(std::move(ports)), end_(how) {
    c.add(*this);
  }
  ~batch_writer() override { context_.remove(*this); }

  /// Returns whether the batch is as long as batches should be.
  bool is_long() const noexcept { return this->size() - begin_ >= wanted_items(begin_); }
  /// Ends the batch. Returns whether more are wanted.
  bool end_batch() {
    if (!buffer_) take_buffer();
    send(true);
    return wanted_;
  }
  bool finish_some() override {
    if (wanted_ && this->size() > begin_) end_batch();
    for (std::size_t const port : ports_) context_.ports().close(port);
    return true;
  }

 private:
  // Long batches cost little, and short ones at the beginning share out few items that take long.
  static constexpr std::uint64_t shortest_bytes = 1_KiB, longest_bytes = 256_KiB;

  static std::uint64_t wanted_items(std::uint64_t before) noexcept {
    std::uint64_t const bytes = std::clamp(before * sizeof(T) / 16, shortest_bytes, longest_bytes);
    return std::max<std::uint64_t>(1, bytes / sizeof(T));
  }
  bool more_room() override {
    if (buffer_) send(end_ == ends::by_itself && is_long());
    if (wanted_) take_buffer();
    return wanted_;
  }
  bool flush() override {
    if (!buffer_ || this->filled().empty()) return false;
    send(end_ == ends::by_itself && is_long());
    return true;
  }
  void take_buffer() {
    std::size_t const port = ports_[lane_];
    auto free = context_.ports().try_take(port);
    if (!free) {
      context_.flush_all(this);
      free = context_.ports().take(port);
    }
    buffer_ = std::move(*free);
    auto room = buffer_.template room_for<T>();
    if (end_ == ends::by_itself) {
      std::uint64_t const lacking = begin_ + wanted_items(begin_) - this->size();
      room = room.first(std::min<std::uint64_t>(room.size(), lacking));
    }
    this->lend(room);
  }
  void send(bool is_last) {
    buffer_.template resize_to<T>(this->filled().size());
    buffer_.template user<batch_mark>().is_last = is_last;
    this->lend({});
    wanted_ = context_.ports().convey(std::move(buffer_), ports_[lane_]);
    if (!is_last) return;
    begin_ = this->size();
    lane_ = (lane_ + 1) % ports_.size();
  }

  segment_context& context_;
  std::vector<std::size_t> ports_;
  ends end_;
  std::size_t lane_ = 0;
  std::uint64_t begin_ = 0;  // of the batch: the items before it
  pipeline::pooled_buffer buffer_;
  bool wanted_ = true;
};

/// Shows the items of one batch of a lane, then of the next.
template <external_item T>
class lane_reader final : public boundary_reader<T> {
 public:
  lane_reader(segment_context& c, std::size_t port) : context_(c), port_(port) {}

  /// Goes to the next batch. Returns false if there is none.
  bool next_batch() {
    while (!this->empty()) this->skip(this->pull().size());
    return fetch();
  }
  /// The same if that can be had without waiting.
  bool try_next_batch() {
    buffer_.reset();
    auto next = context_.ports().try_accept(port_);
    if (!next) return false;
    show_buffer(*std::move(next));
    return true;
  }
  bool ended() { return context_.ports().ended(port_); }

 private:
  bool more() override {
    this->show({});
    while (!is_last_ && fetch())
      if (buffer_.size_bytes() > 0) return true;
    return false;
  }
  bool fetch() {
    buffer_.reset();
    auto next = context_.ports().try_accept(port_);
    if (!next) {
      context_.flush_all();
      next = context_.ports().accept(port_);
    }
    bool const is_there = next.has_value();
    if (is_there) show_buffer(*std::move(next));
    return is_there;
  }
  void show_buffer(pipeline::pooled_buffer next) {
    buffer_ = std::move(next);
    is_last_ = buffer_.template user<batch_mark>().is_last;
    auto const items = pipeline::whole_items<T>(buffer_);
    context_.note(std::is_same_v<T, std::byte> ? 0 : items.size(), items.size_bytes());
    this->show(items);
  }

  segment_context& context_;
  std::size_t port_;
  pipeline::pooled_buffer buffer_;
  bool is_last_ = true;
};

/// Shows the batches of all lanes.
template <external_item T>
class lane_collector final : public boundary_reader<T> {
 public:
  lane_collector(segment_context& c, std::vector<std::size_t> const& ports, bool in_order)
      : context_(c), in_order_(in_order) {
    for (std::size_t const p : ports) lanes_.push_back(std::make_unique<lane_reader<T>>(c, p));
  }

 private:
  bool more() override {
    this->show({});
    if (current_ != nullptr) current_->skip(std::exchange(shown_, 0));
    while (current_ == nullptr || current_->empty()) {
      current_ = in_order_ ? next_in_turn() : next_at_hand();
      if (current_ == nullptr) return false;
    }
    auto const piece = current_->pull();
    shown_ = piece.size();
    this->show(piece);
    return true;
  }
  lane_reader<T>* next_in_turn() {
    lane_reader<T>& next = *lanes_[turn_++ % lanes_.size()];
    return next.next_batch() ? &next : nullptr;
  }
  lane_reader<T>* next_at_hand() {
    for (;;) {
      bool all_ended = true;
      for (std::size_t i = 0; i < lanes_.size(); ++i) {
        lane_reader<T>& next = *lanes_[turn_++ % lanes_.size()];
        if (next.try_next_batch()) return &next;
        all_ended &= next.ended();
      }
      if (all_ended) return nullptr;
      context_.flush_all();
      context_.ports().wait();
    }
  }

  segment_context& context_;
  bool in_order_;
  std::vector<std::unique_ptr<lane_reader<T>>> lanes_;
  lane_reader<T>* current_ = nullptr;
  std::size_t turn_ = 0;
  std::size_t shown_ = 0;
};

/// The boundary between one segment and many, on either side.
template <external_item T>
class deal final : public boundary<T> {
 public:
  deal(std::string name, std::source_location place, std::size_t item_bytes, bool in_order)
      : boundary<T>(boundary_base::kind::channel, std::move(name), place),
        item_bytes_(item_bytes),
        in_order_(in_order) {}

  std::size_t item_bytes() const noexcept override { return item_bytes_; }
  void set_lanes(std::size_t n) noexcept override { this->lanes = n; }
  std::unique_ptr<boundary_writer<T>> open_writer(segment_context& c) override {
    return open_dealer(c, batch_writer<T>::ends::by_itself);
  }
  std::unique_ptr<boundary_reader<T>> open_reader(segment_context& c) override {
    return std::make_unique<lane_collector<T>>(c, ports_of(c), in_order_);
  }
  /// The end of the segment that deals.
  std::unique_ptr<batch_writer<T>> open_dealer(segment_context& c,
                                               typename batch_writer<T>::ends how) {
    return std::make_unique<batch_writer<T>>(c, ports_of(c), how);
  }
  /// The ends of those that work side by side.
  std::unique_ptr<batch_writer<T>> open_lane_writer(segment_context& c) {
    return std::make_unique<batch_writer<T>>(c, std::vector{c.port_of(*this, c.replica())},
                                             batch_writer<T>::ends::when_told);
  }
  std::unique_ptr<lane_reader<T>> open_lane_reader(segment_context& c) {
    return std::make_unique<lane_reader<T>>(c, c.port_of(*this, c.replica()));
  }

 private:
  std::vector<std::size_t> ports_of(segment_context& c) const {
    std::vector<std::size_t> all;
    for (std::size_t lane = 0; lane < this->lanes; ++lane) all.push_back(c.port_of(*this, lane));
    return all;
  }

  std::size_t item_bytes_;
  bool in_order_;
};

template <typename T>
using deal_of = deal<typename carried<stored_form_t<T>>::type>;

/// Deals items of type T to the lanes, a batch to each in turn.
template <typename T>
class deal_sink {
  using unit = typename carried<T>::type;
  using writer = batch_writer<unit>;

 public:
  explicit deal_sink(std::shared_ptr<deal<unit>> to) : to_(std::move(to)) {}

  void begin(segment_context& c) {
    writer_ =
        to_->open_dealer(c, byte_string<T> ? writer::ends::when_told : writer::ends::by_itself);
  }
  bool push(T const& item) {
    if (!put_item(*writer_, item)) return false;
    if constexpr (byte_string<T>) {
      ++strings_;
      if (writer_->is_long()) return writer_->end_batch();
    }
    return true;
  }
  void finish() {
    writer_->finish_some();
    to_->count = item_count::exactly(byte_string<T> ? strings_ : writer_->size());
    writer_.reset();
  }
  void describe(description& d) const { d.operators.emplace_back("deal"); }
  std::vector<boundary_base*> targets() const { return {to_.get()}; }

 private:
  std::shared_ptr<deal<unit>> to_;
  std::unique_ptr<writer> writer_;
  std::uint64_t strings_ = 0;
};

/// The items of a batch: the begin of a worker's expression.
template <typename T>
class batch_source : public items_of<T> {
 public:
  using items_of<T>::items_of;

  batch_source& operator++() noexcept {
    items_of<T>::operator++();
    return *this;
  }
  void begin(segment_context&) {}
  void describe(description&) const {}
  item_count size() const noexcept { return {}; }
};

/// The expression that an operator makes of batches. @throws plan_error if there is more than one.
template <typename T, typename Closure>
auto worker_expression(Closure op, batch_source<T> from) {
  auto made = op(flow(std::move(from)));
  if (!made.take_fragment().take().empty())
    throw plan_error("parallel: only operators that scan can work side by side");
  return made.take_expression();
}

/// The work of each worker.
template <typename T, typename Closure>
class worker_segment final : public segment_base {
  using expression = decltype(worker_expression<T>(std::declval<Closure>(), batch_source<T>()));
  using result = stored_form_t<stream_item_t<expression>>;

 public:
  worker_segment(std::shared_ptr<deal_of<T>> from, std::shared_ptr<deal_of<result>> to, Closure op)
      : from_(std::move(from)), to_(std::move(to)), op_(std::move(op)) {}

  description describe() const override {
    description d;
    worker_expression<T>(op_, batch_source<T>()).describe(d);
    d.reads.push_back(from_.get());
    return d;
  }
  std::vector<boundary_base*> writes() const override { return {to_.get()}; }
  item_count size() const override { return {}; }
  bool is_replicated() const noexcept override { return true; }

  void run(segment_context& c) override {
    auto const reader = from_->open_lane_reader(c);
    auto const writer = to_->open_lane_writer(c);
    bool wanted = true;
    while (wanted && reader->next_batch()) {
      // A copy for each batch: no result depends on which worker has had which batch before.
      auto items = worker_expression<T>(op_, batch_source<T>(reader.get()));
      items.begin(c);
      drain(items, [&](auto&& item) {
        wanted = put_item(*writer, static_cast<result const&>(item));
        return wanted;
      });
      if (wanted) wanted = writer->end_batch();
    }
    writer->finish_some();
  }

 private:
  std::shared_ptr<deal_of<T>> from_;
  std::shared_ptr<deal_of<result>> to_;
  Closure op_;
};

}  // namespace outsize::stream::detail
