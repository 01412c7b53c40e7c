// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The sorting engine as algorithms on items see it: bytes go in, windows of sorted bytes come out.
//
//   item_kind ──▶ numbers        whose values are all: kernels and codecs of their own
//             ──▶ item_kernel    any other items
//             ──▶ item_words     large ones that a word of each orders
//
// All engines behind it are compiled once (item_engine.cpp). One thread at a time uses one. Layer:
// algorithm. What is behind it: engine.hpp.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <outsize/algorithm/detail/sort/sorted_window.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/base/memory_division.hpp>
#include <outsize/kernel/detail/item_kernel.hpp>
#include <outsize/kernel/detail/ordered_bits.hpp>

namespace outsize {
class storage;
class executor;
struct sort_plan;
storage& default_storage();

/// Where a file sort reads and writes.
struct sort_paths {
  std::vector<std::string> inputs;  ///< Read one after the other; "-": standard input.
  std::string output = "-";         ///< "-": standard output. May be one of the inputs.
};

namespace detail {

/// Numbers as they are sorted, and what turns their bytes into such.
struct number_form {
  enum class width : std::uint8_t { word32, word64, word_pair };
  width bits = width::word64;
  ordered_words order = {};                          ///< Of single words only its key.
  std::shared_ptr<item_reducer const> reducer = {};  ///< None: equal ones are not combined.
};

/// What is to be sorted, and how.
class item_kind {
 public:
  explicit item_kind(number_form numbers) : how_(std::move(numbers)) {}
  explicit item_kind(std::shared_ptr<item_kernel const> kernel) : how_(std::move(kernel)) {}
  explicit item_kind(std::shared_ptr<item_words const> words) : how_(std::move(words)) {}

  /// Whether they are numbers that are not combined, which can be sorted where they lie.
  bool are_numbers() const noexcept {
    auto const* numbers = std::get_if<number_form>(&how_);
    return numbers != nullptr && numbers->reducer == nullptr;
  }
  /// The bytes of one. @pre are_numbers().
  std::size_t number_bytes() const noexcept;
  /// Sorts them there, by all threads. @pre are_numbers(), and they are aligned as such.
  void sort_in_place(std::span<std::byte> items, executor& threads) const;

  auto const& how() const noexcept { return how_; }

 private:
  std::variant<number_form, std::shared_ptr<item_kernel const>, std::shared_ptr<item_words const>>
      how_;
};

/// See sort_engine (engine.hpp), whose functions these are.
class item_engine {
 public:
  item_engine() = default;
  item_engine(item_engine const&) = delete;
  item_engine& operator=(item_engine const&) = delete;
  virtual ~item_engine() = default;

  virtual std::size_t item_bytes() const noexcept = 0;
  /// Of the chunk to fill, for whole items; then grow() by as many as were written there.
  virtual std::span<std::byte> room() = 0;
  virtual void grow(std::size_t items) noexcept = 0;
  /// Of the chunk that had no more room. @throws what a stage threw.
  virtual void chunk_full() = 0;
  virtual void finish_input(std::size_t output_alignment = 1) = 0;
  virtual void end_input() = 0;
  virtual void begin_output(std::uint64_t most_bytes = UINT64_MAX) = 0;
  virtual memory_claim output_claim() = 0;
  virtual std::uint64_t memory_bytes() const noexcept = 0;

  virtual std::optional<sorted_window> next() = 0;
  virtual void recycle(sorted_window const& used) noexcept = 0;
  virtual void rewind() = 0;
  /// @pre items are not combined.
  virtual void give_all_items() noexcept = 0;
  virtual std::exception_ptr failure() const noexcept = 0;

  virtual sort_report const& report() const noexcept = 0;
  virtual sort_progress progress() const noexcept = 0;
};

/// Takes its memory at once. @throws budget_error if it is too little; io_error if a disk cannot be
/// used.
std::unique_ptr<item_engine> make_item_engine(storage& store, item_kind const& kind,
                                              sort_options options,
                                              std::uint64_t input_stream_bytes = 0);

/// A sort from files to a file. @throws as sort (sort.hpp).
sort_report sort_item_files(storage& store, item_kind const& kind, sort_paths const& paths,
                            sort_options options);
/// What it would plan. @throws likewise.
sort_plan plan_item_files(storage& store, item_kind const& kind, sort_paths const& paths,
                          sort_options const& options);

}  // namespace detail
}  // namespace outsize
