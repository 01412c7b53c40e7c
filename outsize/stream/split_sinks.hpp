// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// split_by_size(path_of, most_bytes), split_by_key(key, path_of): a flow ends in several files, one
// behind the other.
//
//     from(events) | split_by_size([](auto i) { return "part" + std::to_string(i); }, 1_GiB)
//     from(events) | sort(by(&event::day)) | split_by_key(&event::day, path_of_day)
//
// Items become files of items, byte strings become lines. Invariant: one file is open at a time,
// and no file is written twice. One thread at a time. Layer: stream.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/item_sources.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/stream/detail/container_sinks.hpp>
#include <outsize/stream/detail/context.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/detail/item_copies.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/text_sinks.hpp>

namespace outsize::stream {
namespace detail {

/// The sink of one file.
template <typename T>
struct part_sink {
  static_assert(external_item<T>,
                "outsize: files can be split into external items, or lines of byte strings");
  using type = file_sink<T>;
};
template <byte_string T>
struct part_sink<T> {
  using type = line_sink;
};

/// Files that are written one after the other.
template <typename T>
class file_series {
  static constexpr bool is_text = byte_string<T>;

 public:
  void begin(segment_context& c) noexcept { context_ = &c; }
  /// Ends the file before, and begins another one. Returns whether no file had this name.
  bool open(std::string path) {
    close();
    if (!paths_.insert(path).second) return false;
    if constexpr (is_text) {
      part_.emplace(std::move(path), into_lines_options());
    } else {
      part_.emplace(output_path{std::move(path)});
    }
    part_->begin(*context_);
    return true;
  }
  /// @pre a file is open.
  void push(T const& item) { part_->push(item); }
  void close() {
    if (!part_) return;
    part_->finish();
    part_.reset();
  }

  bool is_open() const noexcept { return part_.has_value(); }
  std::uint64_t count() const noexcept { return paths_.size(); }
  /// The length of an item in a file.
  static std::uint64_t bytes_of(T const& item) noexcept {
    if constexpr (is_text) {
      return std::string_view(item).size() + 1;
    } else {
      return sizeof item;
    }
  }

 private:
  segment_context* context_ = nullptr;
  std::optional<typename part_sink<T>::type> part_;
  std::set<std::string> paths_;
};

template <typename T, typename PathOf>
class size_splitter : public end_sink {
 public:
  size_splitter(PathOf path_of, std::uint64_t most_bytes,
                std::shared_ptr<std::optional<std::uint64_t>> result)
      : path_of_(std::move(path_of)), most_bytes_(most_bytes), result_(std::move(result)) {}

  void begin(segment_context& c) { files_.begin(c); }
  void push(T const& item) {
    std::uint64_t const bytes = files_.bytes_of(item);
    if (!files_.is_open() || bytes > left_) [[unlikely]]
      open_next();
    files_.push(item);
    left_ -= std::min(left_, bytes);
  }
  void finish() {
    files_.close();
    result_->emplace(files_.count());
  }
  void describe(description& d) const {
    d.operators.emplace_back("split_by_size");
    d.output_files.push_back({"", external_item<T> ? sizeof(T) : 0});
    ++d.files;
  }

 private:
  void open_next() {
    std::string path = std::invoke(path_of_, files_.count());
    if (!files_.open(path))
      throw std::invalid_argument("split_by_size: two files have the name '" + path + "'");
    left_ = most_bytes_;
  }

  PathOf path_of_;
  std::uint64_t most_bytes_;
  std::shared_ptr<std::optional<std::uint64_t>> result_;
  file_series<T> files_;
  std::uint64_t left_ = 0;  // bytes that the open file has room for
};

/// A key, or as much of it as can be shown, for a message.
template <typename Key>
std::string text_of_key(Key const& key) {
  if constexpr (byte_string<Key>) {
    return " '" + std::string(std::string_view(key)) + "'";
  } else if constexpr (std::is_arithmetic_v<Key>) {
    return " " + std::to_string(key);
  } else {
    return {};
  }
}

template <typename T, typename KeyOf, typename PathOf>
class key_splitter : public end_sink {
  using key = std::remove_cvref_t<std::invoke_result_t<KeyOf&, T const&>>;

 public:
  key_splitter(KeyOf key_of, PathOf path_of, std::shared_ptr<std::optional<std::uint64_t>> result)
      : key_of_(std::move(key_of)), path_of_(std::move(path_of)), result_(std::move(result)) {}

  void begin(segment_context& c) { files_.begin(c); }
  void push(T const& item) {
    auto&& k = std::invoke(key_of_, item);
    if (!last_ || !(*last_ == k)) [[unlikely]]
      open_next(k);
    files_.push(item);
  }
  void finish() {
    files_.close();
    result_->emplace(files_.count());
  }
  void describe(description& d) const {
    d.operators.emplace_back("split_by_key");
    d.output_files.push_back({"", external_item<T> ? sizeof(T) : 0});
    ++d.files;
  }

 private:
  void open_next(key const& k) {
    std::string path = std::invoke(path_of_, k);
    if (!files_.open(path))
      throw format_error("split_by_key: key" + text_of_key(k) + " of '" + path +
                         "' comes again behind another one: sort or group the flow by its keys");
    last_.keep(k);
  }

  KeyOf key_of_;
  PathOf path_of_;
  std::shared_ptr<std::optional<std::uint64_t>> result_;
  file_series<T> files_;
  item_copy<key> last_;
};

}  // namespace detail

/// Ends a flow in files of at most `most_bytes`, each of one item at least. File i, from 0, is
/// `path_of(i)`. Items become a file of items, byte strings become lines. Each file appears under
/// its name when it is complete; after an error the complete ones are there. Yields the number of
/// files: a flow without items has none.
///
/// I/Os:    Writes the items once.
/// Memory:  As a file behind `|`, at any time for one of them; and the names of all.
/// Errors:  of the run: io_error, out_of_space, budget_error; std::invalid_argument if two files
///          have one name.
/// Checked: split_sinks_test.cpp.
template <typename PathOf>
  requires std::is_invocable_r_v<std::string, PathOf&, std::uint64_t>
auto split_by_size(PathOf path_of, std::uint64_t most_bytes) {
  return detail::make_value_closure<std::uint64_t>(
      [path_of = std::move(path_of),
       most_bytes]<typename T>(std::shared_ptr<std::optional<std::uint64_t>> result) {
        return detail::size_splitter<T, PathOf>(path_of, most_bytes, std::move(result));
      });
}

/// Ends a flow in a file for each key: neighbours with equal keys go to `path_of(key)`. The flow is
/// sorted or grouped by its keys. Otherwise as split_by_size().
///
/// @param key  Member or function: the key of an item. Keys are compared by ==.
///
/// Errors:  of the run, besides: format_error if a key, or the path of one, comes again behind
///          another key. The file of the earlier items stays.
/// Checked: split_sinks_test.cpp.
template <typename Key, typename PathOf>
auto split_by_key(Key key, PathOf path_of) {
  return detail::make_value_closure<std::uint64_t>(
      [key = std::move(key), path_of = std::move(path_of)]<typename T>(
          std::shared_ptr<std::optional<std::uint64_t>> result) {
        return detail::key_splitter<T, Key, PathOf>(key, path_of, std::move(result));
      });
}

}  // namespace outsize::stream
