// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorting from input streams to an output stream: the frame that file sorts of every kind of item
// share.
//
// Reads are asynchronous and run ahead, items of one size go from the disk straight into the chunk;
// the merged windows are lent to the output stream, which writes one while the next is filled. The
// output appears under its name only when it is complete. By the storage's threads; the caller
// waits. Layer: algorithm.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <outsize/algorithm/detail/input_options.hpp>
#include <outsize/algorithm/detail/item_scan.hpp>
#include <outsize/algorithm/detail/sort/engine.hpp>
#include <outsize/algorithm/detail/sort/item_engine.hpp>
#include <outsize/algorithm/detail/sort/output_room.hpp>
#include <outsize/algorithm/detail/sort/presorted/presorted.hpp>
#include <outsize/algorithm/detail/sort/presorted/presorted_lines.hpp>
#include <outsize/algorithm/item_sources.hpp>
#include <outsize/base/error.hpp>
#include <outsize/io/input_stream.hpp>
#include <outsize/io/output_stream.hpp>
#include <outsize/record/detail/cut_short.hpp>
#include <outsize/record/record_reader.hpp>

namespace outsize {

namespace detail {

/// Refuses a sort for which a disk surely lacks space: for runs of at least `runs_bytes`, and for
/// the output (`output_bytes`, if known).
/// @throws out_of_space naming the disk, have and need.
void require_space(storage& store, std::uint64_t runs_bytes,
                   std::optional<std::uint64_t> output_bytes, std::string const& output);

/// Whether runs may lie in the room of the output: those of one disk, a directory on its device
/// that aligns blocks as its file does.
bool may_be_in_output(storage const& store, std::string const& output);

/// Whether its device has space for such a room. Not where there would be too little for another
/// output, if runs turn out to be in its way, but enough for runs on their own.
/// @pre may_be_in_output(). @throws io_error.
bool has_space_for(room_layout const& layout, sort_plan const& plan, std::uint64_t output_bytes,
                   std::string const& output);

/// How runs of items of one length are to lie in the room of an output of so many bytes, if they
/// may and that spares space. @throws io_error.
template <typename Family>
std::optional<room_layout> layout_in_output(storage& store, Family const& family,
                                            sort_plan const& plan, std::uint64_t output_bytes,
                                            std::string const& output) {
  if (plan.runs == 0 || !may_be_in_output(store, output)) return std::nullopt;
  auto const full = run_formation<Family>::plain_block(family, store, plan);
  auto const layout = lay_out_room(plan, full, output_bytes);
  return layout && has_space_for(*layout, plan, output_bytes, output) ? layout : std::nullopt;
}

/// Makes that room, if it can be made.
void make_room(std::optional<output_room>& room, storage& store, room_layout const& layout,
               std::string const& output);

/// Adds to the report what the room took besides the output, which has been written there or not.
void note_room(sort_report& report, output_room const& room, bool has_output) noexcept;

/// Whether `output` is to be a regular file, which need not be written front to back.
bool is_regular_output(std::string const& output);

/// Whether these files can be copied, and are too large to be sorted in memory.
template <typename Family>
bool may_be_copied(Family const& family, sort_paths const& paths,
                   std::optional<std::uint64_t> input_bytes, sort_options const& options) {
  return input_bytes && *input_bytes > options.memory_bytes &&
         !sort_engine<Family>::reduces(family, options) && paths.inputs.size() == 1 &&
         is_regular_output(paths.output) && options.compress == io::compression::none;
}

/// Fills the engine's chunks with items of one size.
template <typename Engine>
void fill_items(Engine& engine, io::input_stream& in) {
  std::size_t const item = engine.family().item_bytes();
  std::uint64_t total = 0;
  for (;;) {
    auto const room = std::as_writable_bytes(engine.current_chunk().room());
    std::size_t const got = in.read(room);
    total += got;
    if (got % item != 0) throw_cut_short(in.name(), total, item);
    engine.current_chunk().grow(got / item);
    if (got < room.size()) return;
    engine.chunk_full();
  }
}

template <typename Engine>
void fill_records(Engine& engine, record_reader reader) {
  std::array<std::string_view, 512> some;
  for (;;) {
    if (std::size_t const count = reader.next_at_hand(some)) {
      engine.append(std::span(some).first(count));
    } else if (auto const record = reader.next()) {
      engine.append(*record);
    } else {
      return;
    }
  }
}

/// Fills the engine's chunks with records of one length.
template <typename Engine>
void fill_records_of_one_length(Engine& engine, io::input_stream& in) {
  std::size_t const record = engine.family().item_bytes();
  if (!Engine::chunk::may_be_filled(record))
    return fill_records(engine, record_reader::of_records(in, record));
  std::uint64_t total = 0;
  for (;;) {
    auto const room = engine.current_chunk().room(record);
    if (room.empty()) {
      if (engine.current_chunk().count() == 0) engine.throw_too_long(record);
      engine.chunk_full();
      continue;
    }
    std::size_t const got = in.read(room);
    total += got;
    if (got % record != 0) throw_cut_short(in.name(), total, record);
    engine.current_chunk().grow(record, got / record);
    if (got < room.size()) return;
    engine.chunk_full();
  }
}

/// What the inputs begin with and comes first in the output, once: the byte order mark of CSV, if
/// the first input has one, and the first line of each, where that names the columns. Also what
/// ends the lines of all.
class input_header {
 public:
  /// Takes it from an input that the reader is at the beginning of. @throws format_error naming the
  /// input and the first one, if their lines, or the ends of their lines, differ.
  void take_from(record_reader& reader, std::string const& input, line_format const& lines);

  /// All of it, the line with its terminator.
  std::string bytes() const { return mark() + (line_ ? *line_ + end_of_lines() : std::string()); }
  /// Empty if there is none.
  std::string mark() const { return std::string(has_mark_ ? byte_order_mark : ""); }
  /// Without its terminator.
  std::optional<std::string> const& line() const noexcept { return line_; }
  /// As the inputs so far have it, or the delimiter, if there is none in them.
  char end_of_lines() const noexcept { return found_end_.value_or(delimiter_); }
  /// The same; nothing if there is none in them.
  std::optional<char> found_end_of_lines() const noexcept { return found_end_; }

 private:
  void take_end_from(record_reader& reader, std::string const& input);

  bool is_first_ = true;
  bool has_mark_ = false;
  char delimiter_ = '\n';
  std::optional<char> found_end_;
  std::string input_of_end_;
  std::string first_input_;
  std::optional<std::string> line_;
};

/// Refuses an input of CSV whose lines end in `end`, where those of `other` do not. @throws
/// format_error naming both.
[[noreturn]] void refuse_other_end(std::string const& input, char end, std::string const& other);

/// Writes the beginning of an output, through two pages of the grant. @throws io_error.
void write_beginning(io::output_stream& out, grant& memory, std::string const& bytes);

/// Writes all windows and commits the output.
template <typename Engine>
void drain(Engine& engine, io::output_stream& out) {
  std::optional<sorted_window> writing;
  while (auto const window = engine.next()) {
    out.write(window->data());
    if (writing) {
      out.wait(writing->data());
      engine.recycle(*writing);
    }
    writing = window;
  }
  out.commit();
}

/// What copy_if_in_order does with items of one size.
template <typename Family>
item_operations operations_of(Family const& family) {
  std::size_t const item = family.item_bytes();
  auto const in_order = [&family, item](std::span<std::byte const> bytes, bool descending) {
    std::size_t const count = bytes.size() / item;
    if constexpr (requires { family.in_order(bytes, descending); }) {
      return family.in_order(bytes, descending);
    } else if constexpr (Family::fixed_size) {
      using value = typename Family::item;
      return family.in_order(std::span(reinterpret_cast<value const*>(bytes.data()), count),
                             descending);
    } else {
      auto const view = family.block_view(bytes, count);
      for (std::size_t i = 1; i < count; ++i) {
        bool const before = family.less()(view.key(i), view.key(i - 1));
        if (before != descending) return false;
      }
      return true;
    }
  };
  auto const reverse = [&family](std::span<std::byte const> from, std::byte* to) {
    if constexpr (requires { family.reverse(from, to); }) return family.reverse(from, to);
    // A constant for items of a type, so that copying one is a move or two.
    std::size_t const bytes = bytes_of_item(family);
    for (std::size_t at = from.size(); at > 0; to += bytes) {
      at -= bytes;
      std::memcpy(to, &from[at], bytes);
    }
  };
  return {.item_bytes = item,
          .in_order = in_order,
          .reverse = reverse,
          .scratch_bytes = [&family](std::size_t bytes) { return family.scratch_bytes(bytes); },
          .sort = [&family](std::span<std::byte> items,
                            std::span<std::byte> scratch) { family.sort_here(items, scratch); }};
}

/// Copies the one input, if its items are in order: those of one size, or lines of which it is
/// known how.
template <typename Family>
std::optional<sort_report> copy_in_order(storage& store, Family const& family,
                                         std::optional<line_operations> const& lines,
                                         sort_paths const& paths, std::uint64_t input_bytes,
                                         sort_options const& options) {
  if (family.item_bytes() != 0)
    return copy_if_in_order(store, operations_of(family), paths.inputs[0], paths.output,
                            input_bytes, options);
  if (!lines) return std::nullopt;
  return copy_lines_if_in_order(store, *lines, paths.inputs[0], paths.output, input_bytes, options);
}

/// The whole of a file sort. `fill(engine, stream)` turns an input's bytes into items, except for
/// those that it makes the header; `lines` is given if those can also be copied.
template <typename Family, typename Fill>
sort_report sort_files(storage& store, Family family, item_framing framing, sort_paths const& paths,
                       sort_options options, Fill const& fill, input_header const& header = {},
                       std::optional<line_operations> const& lines = {}) {
  io::input_watch const inputs(paths.inputs, paths.output);
  auto const known = known_input_bytes(paths.inputs, options.decoding());
  if (!options.input_bytes) options.input_bytes = known;
  if (known && family.item_bytes() != 0 && *known % family.item_bytes() != 0)
    require_whole_items(paths.inputs, family.item_bytes());
  auto const reading = input_options(store, options);
  std::uint64_t const stream_bytes = io::input_stream_memory_bytes(reading);
  options.memory_bytes = memory_of(store, options);
  require_sort_memory(options.memory_bytes);
  if (may_be_copied(family, paths, known, options))
    if (auto const copied = copy_in_order(store, family, lines, paths, *known, options))
      return *copied;
  grant stream_memory = store.memory().take(stream_bytes, "input stream");
  options.memory_bytes -= stream_bytes;
  std::optional<output_room> room;  // outlives the engine, whose runs lie in it
  sort_engine<Family> engine(store, std::move(family), options, framing, stream_bytes);
  bool const reduces =
      sort_engine<Family>::reduces(engine.family(), options);  // to nobody knows how few
  bool const same_size = !reduces && framing.how == item_framing::kind::none &&
                         options.compress == io::compression::none;
  if (same_size && known)
    if (auto const layout =
            layout_in_output(store, engine.family(), engine.plan(), *known, paths.output))
      make_room(room, store, *layout, paths.output);

  io::output_stream_options const writing{.block_bytes = reading.block_bytes,
                                          .expected_bytes = same_size ? known : std::nullopt,
                                          .compress = options.compress,
                                          .inputs = inputs};
  auto const open = [&] { return block::open_output(store, paths.output, writing); };
  std::unique_ptr<io::output_stream> out;
  if (room) {
    engine.put_runs_in(*room);
  } else {
    require_space(store, reduces ? 0 : engine.plan().least_disk_bytes,
                  same_size ? known : std::nullopt, paths.output);
    out = open();  // before the work, so that an output that cannot be made costs nothing
  }
  for (std::string const& path : paths.inputs) {
    auto const in = block::open_input(store, path, stream_memory, reading);
    fill(engine, *in);
  }
  if (framing.how == item_framing::kind::terminator) engine.end_items_with(header.end_of_lines());
  std::string const beginning = header.bytes();
  if (out) write_beginning(*out, stream_memory, beginning);
  engine.finish_input(out ? out->alignment_bytes() : room->alignment_bytes(), beginning.size());
  if (!out) out = engine.output_fits_room() ? room->output(writing) : open();
  drain(engine, *out);
  sort_report report = engine.report();
  if (room) note_room(report, *room, engine.output_fits_room());
  report.input_bytes += report.items * framing.overhead_bytes();
  return report;
}

/// What sort_files would plan for these inputs.
template <typename Family>
sort_plan plan_files(storage& store, Family const& family, sort_paths const& paths,
                     sort_options const& options) {
  std::uint64_t const memory = memory_of(store, options);
  auto const known = known_input_bytes(paths.inputs, options.decoding());
  bool const of_one_size = family.item_bytes() != 0;
  if (known && of_one_size) require_whole_items(paths.inputs, family.item_bytes());
  auto job = sort_engine<Family>::job_of(
      store, family, options, memory, io::input_stream_memory_bytes(input_options(store, options)));
  if (!job.input_bytes) job.input_bytes = known;
  sort_plan plan = plan_sort(job);
  bool const reduces = sort_engine<Family>::reduces(family, options);
  bool const same_size = of_one_size && !reduces && options.compress == io::compression::none;
  if (same_size && known) {
    if (auto const layout = layout_in_output(store, family, plan, *known, paths.output)) {
      plan.room_bytes = layout->length - *known;
      plan.peak_disk_bytes = std::max(plan.peak_disk_bytes, layout->length);
      return plan;
    }
  }
  require_space(store, reduces ? 0 : plan.least_disk_bytes, same_size ? known : std::nullopt,
                paths.output);
  return plan;
}

}  // namespace detail
}  // namespace outsize
