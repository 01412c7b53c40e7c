// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/fft.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/output_file.hpp>
#include <outsize/numeric/detail/fft_kernel.hpp>
#include <outsize/numeric/detail/fft_loads.hpp>
#include <outsize/numeric/detail/scratch_file.hpp>
#include <outsize/numeric/detail/tiled_permutation.hpp>
#include <outsize/pipeline/file_stages.hpp>
#include <outsize/pipeline/network.hpp>

namespace outsize::numeric {
namespace {

using number = std::complex<double>;
using pipeline::file_piece;
using pipeline::line;
using pipeline::network;
using pipeline::pooled_buffer;
using pipeline::ports;
using pipeline::stage;

// A chunk is hundreds of requests or a long one: two of them keep the disk's queue full.
constexpr std::size_t chunks_under_way = 2;
constexpr std::uint64_t longest_request_records = pipeline::most_request_bytes / sizeof(number);

std::vector<file_piece> pieces_of(std::vector<fft_transfer> const& transfers) {
  std::vector<file_piece> pieces;
  pieces.reserve(transfers.size());
  for (auto const& t : transfers)
    pieces.push_back({t.file_offset * sizeof(number), t.buffer_offset * sizeof(number),
                      t.length * sizeof(number)});
  return pieces;
}

/// Runs one pass.
class pass_run {
 public:
  pass_run(storage& store, fft_loads const& loads, std::size_t index, fft_options const& options)
      : store_(store),
        loads_(loads),
        index_(index),
        chunks_(loads.passes[index]),
        pass_(chunks_.pass()),
        direction_(options.inverse ? fft_direction::inverse : fft_direction::forward) {
    if (options.inverse && index == 0)
      scale_ = 1 / static_cast<double>(pass_.load_count() * pass_.records_per_load());
  }

  /// Appends everything between the two files and to them.
  void build(network& n, io::file& from, io::file& to, std::uint64_t memory_bytes) {
    // Direct I/O rounds the lengths of tiny files up.
    std::size_t const bytes =
        std::max<std::size_t>(chunks_.chunk_records() * sizeof(number), page_bytes());
    line end =
        n.buffers({.name = "chunks",
                   .buffer_bytes = bytes,
                   .count = loads_.pool_count(index_, memory_bytes),
                   .rounds = chunks_.chunk_count()}) |
        pipeline::read_pieces(
            from, [this](pooled_buffer const& b) { return pieces_of(chunks_.reads(b.round())); },
            {.depth = chunks_under_way});
    end = loads_.passes.size() == 1 ? transform_in_memory(end)
          : pass_.is_last()         ? transpose(transform_rows(n, end))
                                    : transform_columns(n, end);
    end | pipeline::write_pieces(
              to, [this](pooled_buffer const& b) { return pieces_of(chunks_.writes(b.round())); },
              {.depth = chunks_under_way});
  }

 private:
  line transform_in_memory(line from) {
    auto one = std::make_shared<fft_line>(pass_.shape().length, direction_);
    return from | stage("transform", [this, one](pooled_buffer& b) {
             (*one)(b.as<number>().data());
             if (scale_ != 1)
               for (number& x : b.as<number>()) x *= scale_;
           });
  }

  line transform_columns(network& n, line from) {
    take_side_memory("twiddle factors and panels");
    auto const bits =
        static_cast<unsigned>(std::countr_zero(pass_.load_count() * pass_.records_per_load()));
    twiddles_ = std::make_unique<fft_twiddles>(bits, direction_, scale_);
    columns_ = std::make_unique<column_kernel>(pass_, direction_, loads_.workers, side_memory_);
    return on_loads(n, from, [this](std::uint64_t load, fft_chunks chunks) {
      (*columns_)(load, chunks, *twiddles_, store_.threads());
    });
  }

  line transform_rows(network& n, line from) {
    take_side_memory("rows");
    rows_ = std::make_unique<row_kernel>(pass_, direction_, loads_.workers, side_memory_);
    return on_loads(
        n, from, [this](std::uint64_t, fft_chunks chunks) { (*rows_)(chunks, store_.threads()); });
  }

  line transpose(line from) {
    tiles_ = std::make_unique<tiled_permutation>(
        bit_matrix::transposition(chunks_.chunk_row_bits(), chunks_.chunk_column_bits()),
        sizeof(number));
    auto body = [this](pooled_buffer& b, pooled_buffer& transposed) {
      transposed.resize(b.size_bytes());
      tiles_->apply<number>(0, b.as<number>(), transposed.as<number>(), tiles_->all_tiles());
      b.swap_payload(transposed);
    };
    return from | stage("transpose", body).replicate(loads_.transposers);
  }

  /// A node that collects the chunks of a load, calls `transform` and sends them on.
  template <typename Transform>
  line on_loads(network& n, line from, Transform transform) {
    auto body = [this, transform](ports& p) {
      std::vector<pooled_buffer> held;
      std::vector<number*> chunks;
      for (std::uint64_t load = 0; load < pass_.load_count(); ++load) {
        for (std::uint64_t i = 0; i < chunks_.chunks_per_load(); ++i) {
          auto b = p.accept();
          if (!b) return;  // only if the reading stage gave up, which has its own error
          chunks.push_back(b->as<number>().data());
          held.push_back(std::move(*b));
        }
        transform(load, chunks);
        for (auto& b : held) p.convey(std::move(b));
        held.clear();
        chunks.clear();
      }
    };
    return n.node("transform", {.inputs = {from}}, body)[0];
  }

  void take_side_memory(char const* what) {
    side_memory_ = store_.memory().take(loads_.kernel_bytes(index_), fmt::format("FFT: {}", what));
  }

  storage& store_;
  fft_loads const& loads_;
  std::size_t index_;
  fft_chunked_pass const& chunks_;
  fft_pass const& pass_;
  fft_direction direction_;
  double scale_ = 1;
  grant side_memory_;
  std::unique_ptr<fft_twiddles> twiddles_;
  std::unique_ptr<column_kernel> columns_;
  std::unique_ptr<row_kernel> rows_;
  std::unique_ptr<tiled_permutation> tiles_;
};

std::size_t request_bytes(std::uint64_t transfer_records) {
  return std::min(transfer_records, longest_request_records) * sizeof(number);
}

fft_pass_report describe(fft_chunked_pass const& chunks) {
  return {.transform_records = chunks.pass().shape().length,
          .load_bytes = chunks.pass().records_per_load() * sizeof(number),
          .read_request_bytes = request_bytes(chunks.read_records()),
          .write_request_bytes = request_bytes(chunks.write_records()),
          .network = {}};
}

std::uint64_t count_numbers(io::file const& in) {
  std::uint64_t const bytes = in.size_bytes(), records = bytes / sizeof(number);
  if (bytes % sizeof(number) != 0 || !std::has_single_bit(records))
    throw std::invalid_argument(
        fmt::format("{}: {} bytes, need {} times a power of two for an FFT of complex doubles",
                    in.name(), bytes, sizeof(number)));
  return records;
}

std::uint64_t block_bytes_of(fft_loads const& loads) {
  std::uint64_t block = longest_request_records;
  for (auto const& p : loads.passes) block = std::min({block, p.read_records(), p.write_records()});
  return block * sizeof(number);
}

bool has_whole_pages(fft_loads const& loads) {
  return loads.passes.size() == 1 || block_bytes_of(loads) % page_bytes() == 0;
}

/// What is shorter than pages goes through the system's memory. Where it counts that to a small
/// group of processes it would kill us before the disk has taken it.
/// @throws budget_error saying what whole pages need.
void require_room_for_short_requests(fft_limits const& limits) {
  constexpr std::uint64_t least_bytes = 16_MiB;
  if (available_memory_bytes() >= least_bytes) return;
  fft_limits enough = limits;
  do enough.memory_bytes += round_up<std::uint64_t>(enough.memory_bytes / 8, page_bytes());
  while (!has_whole_pages(choose_fft_loads(enough)));
  throw budget_error(
      "FFT", limits.memory_bytes, enough.memory_bytes,
      fmt::format("FFT: with {} of memory requests are shorter than pages, which go through the "
                  "system's memory, and there is less than {} of that; need at least {}",
                  format_bytes(limits.memory_bytes), format_bytes(least_bytes),
                  format_bytes(enough.memory_bytes)));
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

void detail::run_fft(storage& store, fft_loads const& loads, fft_files const& files,
                     fft_options const& options, fft_report& report) {
  std::size_t const count = loads.passes.size();
  OUTSIZE_ASSERT(count == 1 || files.scratch != nullptr);
  std::uint64_t const file_bytes = report.records * sizeof(number);
  io::file_version const opened = files.in.version();
  for (std::size_t i = 0; i < count; ++i) {
    auto const before = store.file_statistics().snapshot();
    pass_run pass(store, loads, i, options);
    pipeline::network_options how{
        .name = fmt::format("fft, pass {} of {}", i + 1, count),
        .threads = store.threads().threads(),
        .trace = options.trace,
        .errors_name_stages = false,
        .progress = progress_of_pass(options.on_progress, i, count, file_bytes)};
    network n(store.memory(), std::move(how));
    pass.build(n, i == 0 ? files.in : *files.scratch, i + 1 == count ? files.out : *files.scratch,
               report.memory_bytes);
    n.run(options.stop);
    if (i == 0) io::finish_reading(files.in, opened);
    auto const moved = store.file_statistics().snapshot() - before;
    auto& entry = report.passes.emplace_back(describe(loads.passes[i]));
    entry.read_bytes = moved.read_bytes;
    entry.written_bytes = moved.write_bytes;
    entry.network = n.report();
    report.read_bytes += moved.read_bytes;
    report.written_bytes += moved.write_bytes;
  }
}

fft_report fft(storage& store, std::string const& in, std::string const& out,
               fft_options const& options) {
  auto const begin = std::chrono::steady_clock::now();
  io::input_watch const inputs({in}, out);
  auto input = block::open_file(store, in);
  io::file_version const opened = input->version();
  fft_report report;
  report.records = count_numbers(*input);
  report.memory_bytes =
      options.memory_bytes != 0 ? options.memory_bytes : store.memory().fair_bytes();
  fft_limits const limits{.record_bits = static_cast<unsigned>(std::countr_zero(report.records)),
                          .memory_bytes = report.memory_bytes,
                          .block_bytes = options.block_bytes,
                          .threads = store.threads().threads()};
  fft_loads const loads = choose_fft_loads(limits);
  report.block_bytes = block_bytes_of(loads);

  // Little memory makes requests that are too short for direct I/O.
  bool const one_pass = loads.passes.size() == 1;
  bool const direct = has_whole_pages(loads);
  if (!direct) {
    require_room_for_short_requests(limits);
    input = block::open_file(store, in, {.direct = false});
  }
  io::finish_reading(*input, opened);  // the same file, of the same length
  std::uint64_t const bytes = report.records * sizeof(number);
  io::file_ptr scratch;
  if (!one_pass) {
    scratch = make_scratch_file(store, store.file_queue(), direct);
    allocate_scratch(store, *scratch, bytes);
    report.peak_disk_bytes = bytes;
  }
  io::output_file output = block::make_output_file(store, out, bytes, direct);
  output.contents().count_into(&store.file_statistics());
  detail::run_fft(store, loads, {*input, scratch.get(), output.contents()}, options, report);
  output.commit(bytes, inputs);
  report.seconds = seconds_since(begin);
  return report;
}

}  // namespace outsize::numeric
