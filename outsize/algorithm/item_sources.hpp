// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where algorithms on items read and write: files of items, ranges, output iterators.
//
//     items<event>("events.bin")    a file, read front to back
//     numbers                       any input range
//     into("sorted.bin")            a file, which appears when it is complete
//     std::back_inserter(sorted)    any output iterator
//
// Values and concepts. Layer: algorithm. What reads and writes them: item_sort.hpp, item_scan.hpp,
// item_writer.hpp.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/piece_reader.hpp>

namespace outsize {
class storage;

/// A file that holds items of type T side by side.
template <stored_item T>
struct item_file {
  using item = T;
  std::string path;
};

/// Names a file of items to read; "-" is standard input.
template <stored_item T>
item_file<T> items(std::string path) {
  return {std::move(path)};
}

/// A file to be written; it appears under its name when it is complete. It may be the input.
struct output_path {
  std::string path;
};

/// Names a file to write; "-" is standard output.
inline output_path into(std::string path) { return {std::move(path)}; }

namespace detail {

template <typename T>
inline constexpr bool is_item_file = false;
template <typename T>
inline constexpr bool is_item_file<item_file<T>> = true;

template <typename In>
struct item_of_source {
  using type = std::ranges::range_value_t<In>;
};
template <typename T>
struct item_of_source<item_file<T>> {
  using type = T;
};

}  // namespace detail

/// What algorithms read from: a file of items or any input range of them.
template <typename In>
concept item_source = detail::is_item_file<std::remove_cvref_t<In>> ||
                      (std::ranges::input_range<In> && stored_item<std::ranges::range_value_t<In>>);

/// One that can be read again: a file or a forward range.
template <typename In>
concept repeatable_source = item_source<In> && (detail::is_item_file<std::remove_cvref_t<In>> ||
                                                std::ranges::forward_range<In>);

template <item_source In>
using source_item_t = typename detail::item_of_source<std::remove_cvref_t<In>>::type;

/// What algorithms write to: a file or an output iterator.
template <typename Out, typename T>
concept item_sink = std::same_as<Out, output_path> || std::output_iterator<Out, T const&>;

namespace detail {

/// A range whose items lie in pieces of memory, which pieces() reads.
template <typename Range>
concept range_in_pieces = std::ranges::input_range<Range> && requires(Range const& range) {
  { range.pieces() } -> piece_reader;
  requires std::same_as<piece_item_t<decltype(range.pieces())>, std::ranges::range_value_t<Range>>;
};

/// Contiguous items, read as one piece.
template <typename T>
class one_piece {
 public:
  explicit one_piece(std::span<T const> items) : rest_(items) {}
  bool empty() const noexcept { return rest_.empty(); }
  std::span<T const> pull() const noexcept { return rest_; }
  void skip(std::size_t count) noexcept { rest_ = rest_.subspan(count); }

 private:
  std::span<T const> rest_;
};

/// The memory that a sort may use.
std::uint64_t memory_of(storage& store, sort_options const& options);
/// The same of a call that hands its items to others, who may need memory for them: if none is
/// named, a quarter is left to them.
std::uint64_t memory_beside_sink(storage& store, sort_options const& options);

/// The sizes of regular files together; nothing if one of the inputs is something else, or is to be
/// decoded.
/// @throws io_error for a file that cannot be read or is a directory; foreign_input for one that is
/// in a form that cannot be read, as far as that can be known before.
std::optional<std::uint64_t> known_input_bytes(std::vector<std::string> const& inputs,
                                               io::input_decoding decoding = {});

/// How many of the inputs are known to be compressed, or in another encoding. @throws likewise.
std::size_t encoded_inputs(std::vector<std::string> const& inputs, io::input_decoding decoding);

/// @throws format_error naming the first of the files whose size is no multiple of `item_bytes`,
/// and both.
void require_whole_items(std::vector<std::string> const& inputs, std::size_t item_bytes);

/// Where items of type T lie side by side.
template <typename Out, typename T>
concept place_of = std::contiguous_iterator<Out> && std::same_as<std::iter_value_t<Out>, T>;

/// Copies items that lie side by side, not necessarily where a T may, to an output iterator.
template <typename T, typename Out>
Out copy_items(std::span<std::byte const> items, Out out) {
  std::size_t const count = items.size() / sizeof(T);
  if constexpr (place_of<Out, T>) {
    if (count > 0)
      std::memcpy(static_cast<void*>(std::to_address(out)), items.data(), items.size());
    return out + static_cast<std::ptrdiff_t>(count);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      T item;
      std::memcpy(static_cast<void*>(&item), &items[i * sizeof(T)], sizeof item);
      *out++ = item;
    }
    return out;
  }
}

}  // namespace detail
}  // namespace outsize
