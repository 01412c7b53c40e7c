// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Merging input streams that are sorted already into an output stream, without a temporary file.
//
// Each input is read ahead through buffers of its own; a loser tree picks the next record. One thread merges:
// the inputs are byte streams, whose records can only be found from front to back.
// Layer: algorithm.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/algorithm/record_reader.hpp>
#include <outsize/algorithm/sort/loser_tree.hpp>
#include <outsize/algorithm/sort/record_items.hpp>
#include <outsize/algorithm/stream_sort.hpp>

namespace outsize::detail {

/// Collects records in two windows that are lent to an output stream in turn.
class record_output {
 public:
  /// Takes 2 * window_bytes from `memory`.
  record_output(io::output_stream& out, grant& memory, std::size_t window_bytes, item_framing framing)
      : out_(out), framing_(framing), windows_{memory.allocate(window_bytes), memory.allocate(window_bytes)} {
    begin_window();
  }

  void append(std::string_view record) {
    std::size_t const end = framing_.how == item_framing::kind::terminator ? 1 : 0;
    put(record);
    if (end != 0) put({&framing_.terminator, 1});
  }

  void finish() {
    hand_over();
    out_.commit();
  }

 private:
  void put(std::string_view bytes) {
    while (!bytes.empty()) {
      if (used_ == window().size()) {
        hand_over();
        current_ ^= 1;
        out_.wait(window());
        begin_window();
      }
      std::size_t const count = std::min(bytes.size(), window().size() - used_);
      std::memcpy(window().data() + used_, bytes.data(), count);
      used_ += count;
      bytes.remove_prefix(count);
    }
  }

  std::span<std::byte> window() const noexcept { return windows_[current_].bytes(); }
  void begin_window() { used_ = lead_ = out_.lead_bytes(); }
  void hand_over() {
    if (used_ > lead_) out_.write(window().subspan(lead_, used_ - lead_));
    lead_ = used_;
  }

  io::output_stream& out_;
  item_framing framing_;
  std::array<buffer, 2> windows_;
  std::size_t current_ = 0;
  std::size_t lead_ = 0;
  std::size_t used_ = 0;
};

/// A record of one input after the other, as the loser tree wants them.
template <typename Order>
class reader_cursor {
 public:
  reader_cursor(Order const& order, record_reader& reader) : order_(&order), reader_(&reader) {}

  bool next() {
    auto const record = reader_->next();
    if (record) current_ = {order_->prefix(*record), record->data(), record->size()};
    return record.has_value();
  }
  record_key_ref get() const noexcept { return current_; }

 private:
  Order const* order_;
  record_reader* reader_;
  record_key_ref current_{};
};

/// Merges sorted inputs of lines (framing with a terminator) or records of `item_bytes`. So many inputs that their
/// buffers do not fit are sorted instead, with the same result.
template <typename Order>
sort_report merge_files(storage& store, Order const& order, std::size_t item_bytes, item_framing framing,
                        sort_paths const& paths, sort_options options) {
  auto const known = known_input_bytes(paths.inputs);
  std::uint64_t const memory =
      options.memory_bytes != 0 ? options.memory_bytes : store.memory().free_bytes();
  require_sort_memory(memory);
  auto reading = input_options(store, memory);
  reading.depth = 2;
  // Windows of an eighth each; the rest for the inputs.
  std::uint64_t const for_each = memory / 4 * 3 / std::max<std::size_t>(1, paths.inputs.size());
  while (reading.block_bytes > 4_KiB && io::input_stream_memory_bytes(reading) > for_each)
    reading.block_bytes /= 2;
  constexpr std::size_t most_open_files = 512;
  if (io::input_stream_memory_bytes(reading) > for_each || paths.inputs.size() > most_open_files) {
    record_items<Order> family(order, item_bytes);
    return sort_files(store, family, framing, paths, std::move(options),
                      [&](auto& engine, io::input_stream& in) {
                        fill_records(engine, item_bytes != 0
                                                 ? record_reader::of_records(in, item_bytes)
                                                 : record_reader::of_lines(in, framing.terminator, memory));
                      });
  }

  grant taken = store.memory().take(memory, "merge");
  bool const same_size = known && !options.unique && item_bytes != 0;
  auto const out = io::open_output(paths.output, store.file_queue(),
                                   {.block_bytes = reading.block_bytes,
                                    .expected_bytes = same_size ? known : std::nullopt,
                                    .counter = &store.file_statistics()});
  std::vector<std::unique_ptr<io::input_stream>> streams;
  std::vector<record_reader> readers;
  readers.reserve(paths.inputs.size());
  for (std::string const& path : paths.inputs) {
    streams.push_back(io::open_input(path, store.file_queue(), taken, reading));
    readers.push_back(item_bytes != 0
                          ? record_reader::of_records(*streams.back(), item_bytes)
                          : record_reader::of_lines(*streams.back(), framing.terminator, memory));
  }
  std::vector<reader_cursor<Order>> cursors;
  for (record_reader& reader : readers) {
    reader_cursor<Order> cursor(order, reader);
    if (cursor.next()) cursors.push_back(cursor);
  }

  sort_report report;
  report.memory_bytes = memory;
  record_output output(*out, taken, round_down<std::size_t>(memory / 16, page_bytes()), framing);
  typename record_items<Order>::key_less const less{&order};
  loser_tree tree(std::move(cursors), less);
  std::string last;
  bool has_last = false;
  for (; !tree.empty(); tree.pop()) {
    std::string_view const record = tree.top().record();
    ++report.items;
    report.input_bytes += record.size() + framing.overhead_bytes();
    if (options.unique) {
      if (has_last && order.equal_keys(last, record)) continue;
      last = record;
      has_last = true;
    }
    output.append(record);
    ++report.output_items;
  }
  output.finish();
  return report;
}

}  // namespace outsize::detail
