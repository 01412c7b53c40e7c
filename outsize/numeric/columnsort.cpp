// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/columnsort.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/output_file.hpp>
#include <outsize/kernel/detail/slice_merge.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>
#include <outsize/numeric/detail/columnsort_plan.hpp>
#include <outsize/numeric/detail/merge_halves.hpp>
#include <outsize/numeric/detail/scratch_file.hpp>
#include <outsize/numeric/passes.hpp>
#include <outsize/pipeline/file_stages.hpp>

namespace outsize::numeric {
namespace {

using key = std::uint64_t;
using pipeline::line;
using pipeline::network;
using pipeline::pooled_buffer;
using pipeline::read_from;
using pipeline::read_pieces;
using pipeline::stage;
using pipeline::write_pieces;
using pipeline::write_to;

constexpr std::size_t columns_in_memory = 8;
constexpr std::size_t sorters = 2;  // columns that are sorted at once, each into another buffer
constexpr std::size_t block_records = 4096 / sizeof(key);  // what direct I/O may ask for

/// The geometry of one sort. The last column is padded in memory with the greatest key, which
/// makes all pieces of all columns alike; the output is cut to the length of the input.
struct shape {
  std::uint64_t records;
  std::uint64_t memory_bytes;
  columnsort_plan plan;

  std::uint64_t column_bytes() const { return plan.column_records() * sizeof(key); }
  /// Whether all that is read and written begins and ends with blocks: what columns deal to each
  /// other, and halves of columns.
  bool aligned() const {
    return plan.column_records() % (plan.column_count() * block_records) == 0 &&
           plan.column_records() % (2 * block_records) == 0;
  }
};

std::uint64_t count_records(io::file const& in) {
  std::uint64_t const bytes = in.size_bytes();
  if (bytes % sizeof(key) != 0)
    throw std::invalid_argument(fmt::format(
        "{}: {} bytes are no whole number of records of {} bytes", in.name(), bytes, sizeof(key)));
  return bytes / sizeof(key);
}

/// The columns asked for, and as many as are needed; else as memory allows, in whole blocks.
shape choose_shape(storage& store, std::uint64_t records, columnsort_options const& options) {
  std::uint64_t const memory =
      options.memory_bytes != 0 ? options.memory_bytes : store.memory().fair_bytes();
  std::uint64_t const most =
      round_down<std::uint64_t>(memory / columns_in_memory / sizeof(key), block_records);
  std::uint64_t const r = options.column_records;
  if (r == 0) {
    if (auto const plan =
            columnsort_plan::aligned(records, std::max<std::uint64_t>(most, 1), block_records))
      return {records, memory, *plan};
  }
  std::uint64_t const least =
      r != 0 ? r : columnsort_plan::least_aligned_column_records(records, block_records);
  if (r == 0 || r > most)
    throw budget_error("columnsort", memory, columns_in_memory * sizeof(key) * least);
  std::uint64_t const s = std::max<std::uint64_t>(1, div_up(records, r));
  return {records, memory, columnsort_plan(r * s, r)};
}

/// One pass: its network, which is run once and reported.
class pass {
 public:
  pass(storage& store, char const* name, columnsort_options const& options,
       columnsort_report& report, std::uint64_t pass_bytes)
      : report_(report),
        network_(store.memory(),
                 {.name = name,
                  .threads = store.threads().threads(),
                  .trace = options.trace,
                  .errors_name_stages = false,
                  .progress = progress_of_pass(options.on_progress, report.networks.size(),
                                               report.passes, pass_bytes)}) {}
  network& operator*() noexcept { return network_; }
  network* operator->() noexcept { return &network_; }

  void run(std::stop_token const& stop) {
    network_.run(stop);
    report_.networks.push_back(network_.report());
  }

 private:
  columnsort_report& report_;
  network network_;
};

auto pieces_of(std::vector<columnsort_piece> const& all) {
  std::vector<pipeline::file_piece> pieces;
  for (columnsort_piece const& p : all)
    pieces.push_back({p.file_offset * sizeof(key), p.buffer_offset * sizeof(key),
                      static_cast<std::size_t>(p.length * sizeof(key))});
  return pieces;
}

/// Column after column of a file that ends with record number `end`.
stage read_columns(io::file& from, shape const& how, std::uint64_t end) {
  return read_pieces(from, [&how, end](pooled_buffer const& b) {
    std::vector<pipeline::file_piece> pieces;
    if (b.round() >= how.plan.column_count()) return pieces;
    columnsort_extent const column = how.plan.column(b.round());
    std::uint64_t const present = std::min(
        column.length, end - std::min(end, column.offset));  // the last ones may be padding
    pieces.push_back({column.offset * sizeof(key), 0, present * sizeof(key)});
    return pieces;
  });
}

void sort_keys(pooled_buffer& b) { outsize::detail::vector_sort(b.as<key>()); }

/// Where a merge of pieces in memory writes.
struct key_places {
  std::span<key> rest;

  std::span<key> room() const noexcept { return rest; }
  void used(std::size_t count) noexcept { rest = rest.subspan(count); }
};

/// Sorts a column that consists of sorted pieces of this length: merging them in the cache takes
/// two thirds of the time of sorting.
void merge_pieces(pooled_buffer& b, pooled_buffer& merged, std::size_t piece_records) {
  auto const keys = b.as<key>();
  merged.resize(b.size_bytes());
  outsize::detail::slice_merge<key> merge;
  for (std::size_t at = 0; at < keys.size(); at += piece_records)
    merge.add_source({keys.subspan(at, std::min(piece_records, keys.size() - at))});
  key_places places{merged.as<key>()};
  merge.run(places);
  b.swap_payload(merged);
}

/// Steps 1 and 2: sorts each column and deals its records to all columns.
void first_pass(storage& store, shape const& how, io::file& in, io::file& dealt,
                columnsort_options const& options, columnsort_report& report) {
  pass p(store, "columnsort, pass 1", options, report, how.plan.record_count() * sizeof(key));
  std::size_t const dealing = std::min(p->threads(), sorters);
  p->buffers({.name = "columns",
              .buffer_bytes = how.column_bytes(),
              .count = columns_in_memory - dealing}) |
      read_columns(in, how, how.records) |
      stage("sort and deal",
            [&](pooled_buffer& b, pooled_buffer& dealt_column) {
              std::size_t const present = b.as<key>().size();
              b.resize(how.column_bytes());
              auto const keys = b.as<key>();
              std::fill(keys.begin() + static_cast<std::ptrdiff_t>(present), keys.end(), ~key{0});
              sort_keys(b);
              dealt_column.resize(how.column_bytes());
              column_deal const deal = how.plan.deal(b.round());
              deal.apply<key>(keys, dealt_column.as<key>(), deal.all_rows());
              b.swap_payload(dealt_column);
            })
          .replicate(dealing) |
      write_pieces(dealt, [&](pooled_buffer const& b) {
        return pieces_of(how.plan.dealt_pieces(b.round()));
      });
  p.run(options.stop);
}

/// Reads column after column, and sorts each. The pass before has left s sorted pieces in each, of
/// one length if s divides r.
line sorted_columns(network& n, shape const& how, io::file& from, std::size_t buffers) {
  std::size_t const sorting = std::min(n.threads(), sorters);
  std::uint64_t const r = how.plan.column_records(), s = how.plan.column_count();
  auto sort = r % s != 0 ? stage("sort", sort_keys)
                         : stage("sort", [piece = r / s](pooled_buffer& b, pooled_buffer& merged) {
                             merge_pieces(b, merged, piece);
                           });
  return n.buffers(
             {.name = "columns", .buffer_bytes = how.column_bytes(), .count = buffers - sorting}) |
         read_columns(from, how, how.plan.record_count()) | std::move(sort).replicate(sorting);
}

/// Steps 3 and 4: sorts each dealt column and gives every column its part of it.
void second_pass(storage& store, shape const& how, io::file& dealt, io::file& returned,
                 columnsort_options const& options, columnsort_report& report) {
  pass p(store, "columnsort, pass 2", options, report, how.plan.record_count() * sizeof(key));
  sorted_columns(*p, how, dealt, columns_in_memory) |
      write_pieces(returned, [&](pooled_buffer const& b) {
        return pieces_of(how.plan.returned_pieces(b.round()));
      });
  p.run(options.stop);
}

/// Steps 5 to 8: sorts each column, and merges its first half with the second half of the one
/// before it. In place: what is written lies in the column that was read last and the one before.
void last_pass(storage& store, shape const& how, io::file& columns_and_out,
               columnsort_options const& options, columnsort_report& report) {
  constexpr std::size_t outputs = 2;
  pass p(store, "columnsort, pass 3", options, report, how.plan.record_count() * sizeof(key));
  auto const columns = sorted_columns(*p, how, columns_and_out, columns_in_memory - outputs);
  auto const merged =
      p->node("merge halves",
              {.inputs = {columns},
               .pools = {p->pool(
                   {.name = "output", .buffer_bytes = how.column_bytes(), .count = outputs})}},
              [&](pipeline::ports& ports) {
                pooled_buffer before;
                for (std::uint64_t j = 0; auto column = ports.accept(); ++j) {
                  columnsort_halves const halves = how.plan.halves(j);
                  std::span<key const> carried;
                  if (before) carried = before.as<key>().last(halves.carried);
                  pooled_buffer b = ports.take();
                  b.resize_to<key>(halves.carried + halves.head);
                  merge_halves(carried, column->as<key>().first(halves.head), b.as<key>());
                  before = std::move(*column);
                  ports.convey(std::move(b));
                }
                // The second half of the last column.
                std::size_t const rest = how.plan.halves(how.plan.column_count() - 1).tail;
                pooled_buffer b = ports.take();
                b.resize_to<key>(rest);
                std::copy_n(before.as<key>().last(rest).begin(), rest, b.as<key>().begin());
                ports.convey(std::move(b));
              });
  merged[0] | write_to(columns_and_out);
  p.run(options.stop);
}

/// All of it in one column.
void only_pass(storage& store, shape const& how, io::file& in, io::file& out,
               columnsort_options const& options, columnsort_report& report) {
  pass p(store, "columnsort in memory", options, report, how.plan.record_count() * sizeof(key));
  p->buffers({.buffer_bytes = std::max<std::uint64_t>(how.records * sizeof(key), 1), .count = 1}) |
      read_from(in, {0, how.records * sizeof(key)}) | stage("sort", sort_keys) | write_to(out);
  p.run(options.stop);
}

}  // namespace

columnsort_report columnsort(storage& store, std::string const& in, std::string const& out,
                             columnsort_options const& options) {
  auto const begin = std::chrono::steady_clock::now();
  io::input_watch const inputs({in}, out);
  io::file_ptr input = block::open_file(store, in);
  io::file_version const opened = input->version();
  std::uint64_t const records = count_records(*input);
  shape const how = choose_shape(store, records, options);
  bool const single = how.plan.column_count() == 1;
  if (!single && !how.aligned()) input = block::open_file(store, in, {.direct = false});
  auto const before = store.file_statistics().snapshot();

  columnsort_report report{.records = records,
                           .column_records = how.plan.column_records(),
                           .column_count = how.plan.column_count(),
                           .passes = single ? 1U : 3U,
                           .memory_bytes = how.memory_bytes};
  std::uint64_t const bytes = records * sizeof(key);
  std::uint64_t const padded = how.plan.record_count() * sizeof(key);
  io::output_file output =
      block::make_output_file(store, out, single ? bytes : padded, single || how.aligned());
  output.contents().count_into(&store.file_statistics());
  io::file_ptr dealt;  // gone after the output is complete: giving space back takes time
  if (single) {
    only_pass(store, how, *input, output.contents(), options, report);
    io::finish_reading(*input, opened);
  } else {
    dealt = make_scratch_file(store, store.file_queue(), how.aligned());
    allocate_scratch(store, *dealt, padded);
    first_pass(store, how, *input, *dealt, options, report);
    io::finish_reading(*input, opened);
    second_pass(store, how, *dealt, output.contents(), options, report);
    last_pass(store, how, output.contents(), options, report);
  }
  output.commit(bytes, inputs);
  auto const moved = store.file_statistics().snapshot() - before;
  report.read_bytes = moved.read_bytes;
  report.written_bytes = moved.write_bytes;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace outsize::numeric
