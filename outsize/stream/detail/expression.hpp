// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Expressions: all operators between two boundaries of a graph, as one nested value.
//
//     from(v) | transform(f) | filter(p)   ──▶   filtered<transformed<source, F>, P>
//
// An expression can be read in two ways; a segment takes one of them from beginning to end:
//
//   pull   empty(), *, ++        an element_stream; each operator asks the one before it
//   push   drain(f)              the source loops over its pieces, and each operator calls the one
//                                behind it: one loop that the compiler sees as a whole
//
// f(item) returns void, or bool where something behind it may end early: false says that nothing
// more is wanted. Where all is void the loops have no such branch. drain() returns whether the
// stream came to its end.
//
// begin() is called once, on the thread that reads; describe() and size() before that, on the
// thread that owns the graph. One thread at a time. Layer: stream, internal.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/stream/element_stream.hpp>

namespace outsize::stream::detail {

class boundary_base;
class segment_context;

/// How many items come, as far as that is known.
struct item_count {
  enum class kind : std::uint8_t { unknown, at_most, exact };
  kind what = kind::unknown;
  std::uint64_t items = 0;

  static item_count exactly(std::uint64_t n) noexcept { return {kind::exact, n}; }
  static item_count up_to(std::uint64_t n) noexcept { return {kind::at_most, n}; }

  bool is_exact() const noexcept { return what == kind::exact; }
  bool has_bound() const noexcept { return what != kind::unknown; }
  /// Returns the count of a part of the items.
  item_count part() const noexcept { return has_bound() ? up_to(items) : *this; }
  item_count at_most(std::uint64_t most) const noexcept {
    if (!has_bound()) return up_to(most);
    return {what, std::min(items, most)};
  }
  item_count without(std::uint64_t first) const noexcept {
    return {what, items - std::min(items, first)};
  }
  /// Returns their bytes, if these are no more than a disk may have.
  std::optional<std::uint64_t> bytes(std::size_t item_bytes) const noexcept {
    constexpr std::uint64_t most = std::uint64_t{1} << 56;
    if (!has_bound() || item_bytes == 0 || items > most / item_bytes) return std::nullopt;
    return items * item_bytes;
  }
  /// Returns the count of two streams, one behind the other.
  friend item_count operator+(item_count a, item_count b) noexcept {
    if (!a.has_bound() || !b.has_bound() || a.items > UINT64_MAX - b.items) return {};
    return {std::min(a.what, b.what), a.items + b.items};
  }
  /// Returns the count of the shorter of two streams.
  friend item_count shorter(item_count a, item_count b) noexcept {
    if (a.is_exact() && b.is_exact()) return exactly(std::min(a.items, b.items));
    if (!a.has_bound()) return b.part();
    return b.has_bound() ? up_to(std::min(a.items, b.items)) : a.part();
  }
  bool operator==(item_count const&) const = default;
};

/// A range that lies outside of a flow.
template <typename Range>
inline constexpr bool is_outside = false;
template <typename Range>
inline constexpr bool is_outside<std::ranges::ref_view<Range>> = true;

/// A segment's description of itself before it runs.
struct description {
  std::vector<std::string> operators;        // in the order in which items go through
  std::vector<boundary_base*> reads = {};    // boundaries
  std::vector<void const*> containers = {};  // that are read, by one reader at a time
  std::vector<void const*> ranges = {};      // that are read, by any number of readers
  std::vector<void const*> changed = {};     // containers that are written
  std::size_t files = 0;                     // read or written
  // For the volume that is to be expected.
  std::vector<std::string> input_files = {};
  std::uint64_t input_bytes = 0;  // of sources that are no files
  bool is_input_known = true;     // of all those
  struct output_file {
    std::string path;            // empty: not known yet
    std::size_t item_bytes = 0;  // 0: byte strings
  };
  std::vector<output_file> output_files = {};

  /// A view of a range that is read.
  template <typename View>
  void add_range(View const& from) {
    if constexpr (is_outside<View>) ranges.push_back(&from.base());
  }
  void add_input(item_count count, std::size_t item_bytes) {
    auto const bytes = count.bytes(item_bytes);
    is_input_known &= bytes.has_value();
    input_bytes += bytes.value_or(0);
  }
};

template <typename F, typename Item>
using emitted_t = std::invoke_result_t<F&, Item>;

/// Returns whether more is wanted.
template <typename F, typename Item>
bool emit(F& f, Item&& item) {
  if constexpr (std::is_void_v<emitted_t<F, Item>>) {
    f(std::forward<Item>(item));
    return true;
  } else {
    return f(std::forward<Item>(item));
  }
}

/// Reads all of a stream in the way that is fastest. Returns whether it came to its end.
template <element_stream S, typename F>
bool drain(S& s, F&& f) {
  if constexpr (requires { s.drain(f); }) {
    return s.drain(f);
  } else if constexpr (batch_stream<S>) {
    while (!s.empty()) {
      auto const batch = s.pull();
      for (auto const& item : batch)
        if (!emit(f, item)) return false;
      s.skip(batch.size());
    }
    return true;
  } else {
    for (; !s.empty(); ++s)
      if (!emit(f, *s)) return false;
    return true;
  }
}

/// The result of a function, computed when it is first asked for, at most once for each item. A
/// result returned by reference is not copied.
template <typename Result>
class computed {
 public:
  template <typename Compute>
  auto& get(Compute&& compute) {
    if (!value_) value_.emplace(compute());
    return *value_;
  }
  void forget() noexcept { value_.reset(); }
  bool is_known() const noexcept { return value_.has_value(); }

 private:
  std::optional<Result> value_;
};
template <typename Result>
class computed<Result&> {
 public:
  template <typename Compute>
  Result& get(Compute&& compute) {
    if (value_ == nullptr) value_ = &compute();
    return *value_;
  }
  void forget() noexcept { value_ = nullptr; }
  bool is_known() const noexcept { return value_ != nullptr; }

 private:
  std::remove_reference_t<Result>* value_ = nullptr;
};
template <typename Result>
class computed<Result&&> : public computed<Result> {};

/// The members of an operator with one stream before it.
template <typename In>
class unary {
 public:
  explicit unary(In in) : in_(std::move(in)) {}

  void begin(segment_context& c) { in_.begin(c); }
  item_count size() const { return in_.size(); }

 protected:
  void describe_as(description& d, char const* name) const {
    in_.describe(d);
    d.operators.emplace_back(name);
  }

  In in_;
};

/// Marks an operator behind `|`: a function object that makes an expression of another.
struct operator_tag {};
template <typename C>
concept operator_closure = std::derived_from<std::remove_cvref_t<C>, operator_tag>;

}  // namespace outsize::stream::detail
