// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sinks of segments that lead into containers: vectors, page by page; other containers, some items
// at a time; output iterators.
//
// Containers may wait for disks and memory, so they are used outside of the network (context.hpp).
// One thread at a time. Layer: stream, internal.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/base/external_item.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/stream/detail/context.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/detail/vector_filler.hpp>
#include <outsize/stream/element_stream.hpp>

namespace outsize::stream::detail {

/// The members of a sink that leads to no boundary.
class end_sink {
 public:
  std::vector<boundary_base*> targets() const { return {}; }
};

/// Writes a vector page by page.
template <stored_item T>
class vector_sink : public end_sink {
 public:
  explicit vector_sink(vector<T>& to) : to_(&to) {}

  void begin(segment_context& c) {
    to_->clear();
    writer_ = std::make_unique<vector_filler<T>>(c, *to_);
  }
  void push(T const& item) { writer_->push(item); }
  void finish() { writer_->finish_some(); }
  void describe(description& d) const {
    d.operators.emplace_back("into a vector");
    d.changed.push_back(to_);
  }

 private:
  vector<T>* to_;
  std::unique_ptr<vector_filler<T>> writer_;
};

/// Builds a vector, and hands it over when it is complete.
template <stored_item T>
class materialize_sink : public end_sink {
 public:
  explicit materialize_sink(std::shared_ptr<std::optional<vector<T>>> result)
      : result_(std::move(result)) {}

  void begin(segment_context& c) {
    made_.emplace(c.store());
    sink_.emplace(*made_);
    sink_->begin(c);
  }
  void push(T const& item) { sink_->push(item); }
  void finish() {
    sink_->finish();
    sink_.reset();
    result_->emplace(std::move(*made_));
  }
  void describe(description& d) const { d.operators.emplace_back("materialize"); }

 private:
  std::shared_ptr<std::optional<vector<T>>> result_;
  std::optional<vector<T>> made_;
  std::optional<vector_sink<T>> sink_;
};

/// Adds an item to a container. Byte strings become its strings.
template <typename C, typename T>
void add_to(C& to, T const& item) {
  if constexpr (requires { to.push_back(item); }) {
    to.push_back(item);
  } else if constexpr (requires { to.push(item); }) {
    to.push(item);
  } else if constexpr (requires { to.insert(item); }) {
    to.insert(item);
  } else {
    static_assert(byte_string<T>,
                  "outsize: into(container) needs a container to which items of the flow can be "
                  "added by push_back(), push() or insert()");
    add_to(to, typename C::value_type(std::string_view(item)));
  }
}

/// Items that can wait while others come: they own all of their value.
template <typename T>
inline constexpr bool can_wait = external_item<T>;
template <typename First, typename Second>
inline constexpr bool can_wait<std::pair<First, Second>> =
    external_item<std::remove_const_t<First>> && external_item<std::remove_const_t<Second>>;

/// A container with push_back(), push() or insert(). It may wait for a disk, so it gets some items
/// at a time.
template <typename C, typename T>
class container_sink : public end_sink {
 public:
  explicit container_sink(C& to) : to_(&to) {}

  void begin(segment_context& c) {
    context_ = &c;
    if constexpr (requires { to_->clear(); }) to_->clear();
    if constexpr (can_wait<T>) some_.reserve(some_items);
  }
  void push(T const& item) {
    if constexpr (can_wait<T>) {
      some_.push_back(item);
      if (some_.size() == some_items) hand_over();
    } else {
      add_to(*to_, item);
    }
  }
  void finish() { hand_over(); }
  void describe(description& d) const {
    d.operators.emplace_back("into a container");
    d.changed.push_back(to_);
  }

 private:
  static constexpr std::size_t some_items = std::max<std::size_t>(1, (8 << 10) / sizeof(T));

  void hand_over() {
    context_->outside([this] {
      for (T const& item : some_) add_to(*to_, item);
    });
    some_.clear();
  }

  C* to_;
  segment_context* context_ = nullptr;
  std::vector<T> some_;
};

template <typename Out>
class iterator_sink : public end_sink {
 public:
  explicit iterator_sink(Out out) : out_(std::move(out)) {}

  void begin(segment_context&) {}
  template <typename T>
  void push(T&& item) {
    if constexpr (std::is_assignable_v<decltype(*out_), T> ||
                  !byte_string<std::remove_cvref_t<T>>) {
      *out_ = std::forward<T>(item);
    } else {
      *out_ = std::string(std::string_view(item));
    }
    ++out_;
  }
  void finish() {}
  void describe(description& d) const { d.operators.emplace_back("into an iterator"); }

 private:
  Out out_;
};

}  // namespace outsize::stream::detail
