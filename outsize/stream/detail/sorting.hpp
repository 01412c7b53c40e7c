// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A sorting node: the boundary at which items rest as sorted runs.
//
//   phase k      begin_writing: an engine, which claims its memory   ◀── writer: fills its chunks
//                the writer ends: end_input(), the runs rest
//   phase k + 1  begin_reading: begin_output()                       ──▶ reader: shows its windows
//                end_reading: the engine ends
//
// All sorting nodes are alike, whether one segment feeds one or many. In each, reading, sorting and
// writing overlap (run_formation.hpp). Layer: stream, internal.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <outsize/algorithm/detail/item_sort.hpp>
#include <outsize/algorithm/detail/sort/engine.hpp>
#include <outsize/algorithm/detail/sort/item_engine.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/stream/detail/boundary.hpp>
#include <outsize/stream/detail/record_gatherer.hpp>

namespace outsize::stream::detail {

/// Fills the chunks of an engine.
template <external_item T>
class engine_writer final : public boundary_writer<T> {
 public:
  engine_writer(segment_context& c, outsize::detail::item_engine& to) : context_(c), to_(to) {}

  bool finish_some() override {
    to_.grow(this->filled().size());
    this->lend({});
    context_.outside([this] { to_.end_input(); });
    return true;
  }

 private:
  bool more_room() override {
    to_.grow(this->filled().size());
    this->lend({});
    auto room = outsize::detail::room_for<T>(to_);
    if (room.empty()) {
      context_.outside([this] { to_.chunk_full(); });
      room = outsize::detail::room_for<T>(to_);
    }
    this->lend(room.first(std::min(room.size(), most_at_once)));
    return true;
  }

  // So that a cancelled graph ends soon.
  static constexpr std::size_t most_at_once = std::max<std::size_t>(1, 1_MiB / sizeof(T));

  segment_context& context_;
  outsize::detail::item_engine& to_;
};

/// Shows the windows of an engine, as items of type T.
template <external_item T, typename Engine>
class engine_reader final : public boundary_reader<T> {
 public:
  engine_reader(segment_context& c, Engine& from) : context_(c), from_(from) {}

 private:
  bool more() override {
    this->show({});
    window_ = context_.outside([this] {
      if (window_) from_.recycle(*std::exchange(window_, std::nullopt));
      return from_.next();
    });
    if (!window_) return false;
    auto const bytes = window_->data();
    context_.note(window_->items, bytes.size());
    this->show({reinterpret_cast<T const*>(bytes.data()), bytes.size() / sizeof(T)});
    return true;
  }

  segment_context& context_;
  Engine& from_;
  std::optional<outsize::detail::sorted_window> window_;
};

/// Options for a sort that is a node of a graph.
inline sort_options node_options(sort_options options, item_count count, std::size_t item_bytes,
                                 std::stop_token const& stop) {
  options.stop = stop;
  options.rewindable = false;
  if (count.is_exact()) options.input_bytes = count.bytes(item_bytes);
  return options;
}

/// The claims of a sort while it is written, and while it is read, for planning before it is: the
/// engine's own follow its items.
memory_claim claim_of_input(storage& store, sort_options const& options, boundary_base const& of);
memory_claim claim_of_output(storage& store, sort_options const& options, boundary_base const& of);

/// Sorts items of one type.
template <stored_item T>
class sorting final : public boundary<T> {
 public:
  sorting(outsize::detail::item_kind how, sort_options options, std::string name,
          std::source_location place)
      : boundary<T>(boundary_base::kind::sorter, std::move(name), place),
        kind_(std::move(how)),
        options_(std::move(options)) {}

  std::size_t item_bytes() const noexcept override { return sizeof(T); }
  void begin_writing(storage& store, std::stop_token const& stop) override {
    engine_ = outsize::detail::make_item_engine(
        store, kind_, node_options(options_, this->count, sizeof(T), stop));
  }
  memory_claim writing_claim(storage& store) const override {
    return claim_of_input(store, options_, *this);
  }
  memory_claim reading_claim(storage& store) const override {
    if (engine_) return engine_->output_claim();
    return claim_of_output(store, options_, *this);
  }
  void begin_reading(storage&, std::uint64_t share_bytes) override {
    engine_->begin_output(share_bytes);
  }
  std::uint64_t held_bytes() const noexcept override {
    return engine_ ? engine_->memory_bytes() : 0;
  }
  void end_reading() noexcept override {
    if (engine_) report_ = engine_->report();
    engine_.reset();
  }
  sort_report const* report() const noexcept override { return &report_; }

  std::unique_ptr<boundary_writer<T>> open_writer(segment_context& c) override {
    return std::make_unique<engine_writer<T>>(c, *engine_);
  }
  std::unique_ptr<boundary_reader<T>> open_reader(segment_context& c) override {
    return std::make_unique<engine_reader<T, outsize::detail::item_engine>>(c, *engine_);
  }

 private:
  outsize::detail::item_kind kind_;
  sort_options options_;
  std::unique_ptr<outsize::detail::item_engine> engine_;  // while it is written, rests, is read
  sort_report report_;
};

/// Gives byte strings to an engine for records.
template <typename Engine>
class record_engine_writer final : public record_gatherer {
 public:
  record_engine_writer(segment_context& c, Engine& to) : record_gatherer(c), to_(to) {}

 private:
  void take(std::span<std::string_view const> records) override { to_.append(records); }
  void finish() override { to_.end_input(); }

  Engine& to_;
};

/// Sorts byte strings.
template <typename Order>
class record_sorting final : public boundary<std::byte> {
  using engine = outsize::detail::sort_engine<outsize::detail::record_items<Order>>;

 public:
  record_sorting(Order order, sort_options options, std::string name, std::source_location place)
      : boundary<std::byte>(kind::sorter, std::move(name), place),
        order_(std::move(order)),
        options_(std::move(options)) {}

  std::size_t item_bytes() const noexcept override { return 0; }
  void begin_writing(storage& store, std::stop_token const& stop) override {
    engine_.emplace(
        store, outsize::detail::record_items<Order>(order_, 0),
        node_options(options_, count, 0, stop),
        outsize::detail::item_framing{outsize::detail::item_framing::kind::length_prefix});
  }
  memory_claim writing_claim(storage& store) const override {
    return claim_of_input(store, options_, *this);
  }
  memory_claim reading_claim(storage& store) const override {
    if (engine_) return engine_->output_claim();
    return claim_of_output(store, options_, *this);
  }
  void begin_reading(storage&, std::uint64_t share_bytes) override {
    engine_->begin_output(share_bytes);
  }
  std::uint64_t held_bytes() const noexcept override {
    return engine_ ? engine_->memory_bytes() : 0;
  }
  void end_reading() noexcept override {
    if (engine_) report_ = engine_->report();
    engine_.reset();
  }
  sort_report const* report() const noexcept override { return &report_; }

  std::unique_ptr<boundary_writer<std::byte>> open_writer(segment_context& c) override {
    return std::make_unique<record_engine_writer<engine>>(c, *engine_);
  }
  std::unique_ptr<boundary_reader<std::byte>> open_reader(segment_context& c) override {
    return std::make_unique<engine_reader<std::byte, engine>>(c, *engine_);
  }

 private:
  Order order_;  // to which records refer
  sort_options options_;
  mutable std::optional<engine> engine_;  // likewise
  sort_report report_;
};

}  // namespace outsize::stream::detail
