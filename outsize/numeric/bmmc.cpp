// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/bmmc.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/output_file.hpp>
#include <outsize/numeric/detail/bmmc_loads.hpp>
#include <outsize/numeric/detail/bmmc_pass_run.hpp>
#include <outsize/numeric/detail/bmmc_plan.hpp>
#include <outsize/numeric/detail/scratch_file.hpp>
#include <outsize/pipeline/file_stages.hpp>
#include <outsize/pipeline/network.hpp>

namespace outsize::numeric {
namespace {

// Small requests in no order: a solid-state disk needs many of them at once to reach its bandwidth.
// The threads that stand in for io_uring are too dear to have so many.
constexpr std::size_t uring_depth = 128;
constexpr std::size_t thread_depth = 32;

// ------------------------------------------------------------------- files

std::unique_ptr<io::request_queue> make_deep_queue(storage& store) {
  bool const has_uring = store.file_queue().name() == "io_uring";
  return io::make_request_queue(has_uring ? io::backend::uring : io::backend::threads,
                                has_uring ? uring_depth : thread_depth);
}

unsigned record_bits_of(io::file const& file, std::size_t record_bytes) {
  if (!is_bmmc_record_size(record_bytes))
    throw std::invalid_argument(
        fmt::format("permute: records of {} bytes are not supported; 1, 2, 4, 8, 16, 32 and 64 are",
                    record_bytes));
  std::uint64_t const bytes = file.size_bytes();
  if (bytes % record_bytes != 0)
    throw std::invalid_argument(
        fmt::format("{}: {} bytes are no whole number of records of {} bytes", file.name(), bytes,
                    record_bytes));
  std::uint64_t const records = bytes / record_bytes;
  if (!std::has_single_bit(records))
    throw std::invalid_argument(
        fmt::format("{}: the number of its records, {}, is no power of two", file.name(), records));
  return static_cast<unsigned>(std::countr_zero(records));
}

void require_usable(affine_map const& map, unsigned record_bits, std::string const& path) {
  unsigned const size = map.a.size();
  if (size != record_bits)
    throw std::invalid_argument(
        fmt::format("{}: its 2^{} records need a matrix of {} x {} bits, not {} x {}", path,
                    record_bits, record_bits, record_bits, size, size));
  unsigned const rank = map.a.rank();
  if (rank < size)
    throw std::invalid_argument(
        fmt::format("permute: singular matrix of rank {}, need {}", rank, size));
  if ((map.c & ~low_bits(size)) != 0)
    throw std::invalid_argument(fmt::format(
        "permute: the complement {} has more than the {} bits of the matrix", map.c, size));
}

std::uint64_t usable_memory_bytes(storage& store, permute_options const& options) {
  if (options.memory_bytes == 0) return store.memory().fair_bytes();
  std::uint64_t const most = store.memory().obtainable_bytes();
  if (options.memory_bytes > most) throw budget_error("permute", most, options.memory_bytes);
  return options.memory_bytes;
}

// ------------------------------------------------------------------- all passes

struct permute_paths {
  std::string const& input;
  std::string const& output;
};

/// One permutation under way: the constructor refuses what can be refused, run() moves the records.
class permutation {
 public:
  permutation(storage& store, permute_paths const& paths, affine_map const& map,
              permute_options const& options)
      : store_(store),
        options_(options),
        begin_(std::chrono::steady_clock::now()),
        inputs_({paths.input}, paths.output) {
    // By a queue of its own, and so not by the functions of user_files.hpp.
    for (auto const& path : {paths.input, paths.output}) store.refuse_disk(path);
    direct_ = store.options().direct;
    queue_ = make_deep_queue(store);
    input_ = io::open_file(paths.input, *queue_, {.direct = direct_});
    opened_ = input_->version();
    report_.record_bytes = options.record_bytes;
    unsigned const bits = record_bits_of(*input_, options.record_bytes);
    require_usable(map, bits, paths.input);
    report_.records = std::uint64_t{1} << bits;

    output_.emplace(paths.output, file_bytes(), *queue_, direct_);
    temporary_ = make_scratch_file(store, *queue_, direct_);
    plan_division(map);
    allocate_temporary();
    input_->count_into(&store.file_statistics());
    output_->contents().count_into(&store.file_statistics());
  }

  permute_report run() {
    auto const before = store_.file_statistics().snapshot();
    auto const passes = plan_->passes();
    for (unsigned i = 0; i < passes.size(); ++i) {
      report_.networks.push_back(run_bmmc_pass(store_, passes[i], files_of(i), options_of(i)));
      if (i == 0) io::finish_reading(*input_, opened_);
    }
    output_->commit(file_bytes(),
                    inputs_);  // the temporary file stays: to give its space back takes time
    auto const moved = store_.file_statistics().snapshot() - before;
    report_.read_bytes = moved.read_bytes;
    report_.written_bytes = moved.write_bytes;
    std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - begin_;
    report_.seconds = elapsed.count();
    return std::move(report_);
  }

 private:
  std::uint64_t file_bytes() const { return report_.records * report_.record_bytes; }

  void plan_division(affine_map const& map) {
    std::size_t const alignment =
        std::max({input_->alignment_bytes(), output_->contents().alignment_bytes(),
                  temporary_->alignment_bytes()});
    auto const loads =
        choose_bmmc_loads(map, {.record_bytes = options_.record_bytes,
                                .memory_bytes = usable_memory_bytes(store_, options_),
                                .alignment_bytes = alignment,
                                .block_bytes = options_.block_bytes});
    plan_.emplace(map, loads.sizes);
    report_.gamma_rank = plan_->gamma_rank();
    report_.passes = static_cast<unsigned>(plan_->passes().size());
    report_.block_bytes = options_.record_bytes << plan_->block_bits();
    report_.load_bytes = options_.record_bytes << plan_->memory_bits();
    report_.buffer_count = loads.buffer_count;
    report_.memory_bytes = report_.buffer_count * report_.load_bytes;
    report_.read_request_bytes = report_.write_request_bytes = pipeline::most_request_bytes;
    for (bmmc_pass const& pass : plan_->passes()) {
      auto& read = report_.read_request_bytes;
      read = std::min(read, source_request_bytes(pass, options_.record_bytes));
      auto& write = report_.write_request_bytes;
      write = std::min(write, target_request_bytes(pass, options_.record_bytes));
    }
  }

  void allocate_temporary() {
    if (report_.passes == 1) return temporary_.reset();
    allocate_scratch(store_, *temporary_, file_bytes());
    report_.peak_disk_bytes = file_bytes();
  }

  /// Passes write in turn to the temporary file and to the output, to the output at last.
  bmmc_pass_files files_of(unsigned pass) {
    auto const target_of = [&](unsigned i) -> io::file& {
      return (report_.passes - i) % 2 == 1 ? output_->contents() : *temporary_;
    };
    return {pass == 0 ? *input_ : target_of(pass - 1), target_of(pass)};
  }

  bmmc_pass_options options_of(unsigned pass) const {
    pipeline::network_options network{
        .name = fmt::format("permute, pass {} of {}", pass + 1, report_.passes),
        .threads = store_.threads().threads(),
        .trace = options_.trace,
        .progress = progress_of_pass(options_.on_progress, pass, report_.passes, file_bytes())};
    return {options_.record_bytes, report_.buffer_count, std::move(network), options_.stop};
  }

  storage& store_;
  permute_options const& options_;
  std::chrono::steady_clock::time_point begin_;
  io::input_watch inputs_;
  bool direct_ = true;
  std::unique_ptr<io::request_queue> queue_;  // outlives the files
  io::file_ptr input_;
  io::file_version opened_;
  std::optional<bmmc_plan> plan_;
  std::optional<io::output_file> output_;
  io::file_ptr temporary_;
  permute_report report_;
};

}  // namespace

unsigned count_record_bits(storage& store, std::string const& path, std::size_t record_bytes) {
  auto const file = block::open_file(store, path, {.direct = false});
  return record_bits_of(*file, record_bytes);
}

permute_report permute(storage& store, std::string const& in, std::string const& out,
                       affine_map const& map, permute_options const& options) {
  return permutation(store, {in, out}, map, options).run();
}

}  // namespace outsize::numeric
