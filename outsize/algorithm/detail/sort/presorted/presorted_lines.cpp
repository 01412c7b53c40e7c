// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/presorted/presorted_lines.hpp>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/presorted/copy_network.hpp>
#include <outsize/algorithm/detail/sort/presorted/input_sample.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/file_samples.hpp>
#include <outsize/io/output_file.hpp>
#include <outsize/pipeline/file_stages.hpp>
#include <outsize/pipeline/network.hpp>

namespace outsize::detail {
namespace {

std::string_view text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// A piece of the input, from anywhere in it: where its whole lines are, and how many, if they are
/// in order.
struct cut_piece {
  std::string_view end_of_line;  ///< With its delimiter; of a line that began before.
  std::string_view lines;        ///< Each with its delimiter.
  std::string_view begin_of_line;
  std::optional<std::uint64_t> count;

  cut_piece() = default;
  cut_piece(std::string_view text, line_operations const& operations) {
    std::size_t const first = text.find(operations.delimiter);
    if (first == std::string_view::npos) {
      begin_of_line = text;
      count = 0;
      return;
    }
    std::size_t const last = text.rfind(operations.delimiter);
    end_of_line = text.substr(0, first + 1);
    lines = text.substr(first + 1, last - first);
    begin_of_line = text.substr(last + 1);
    count = operations.count_in_order(lines);
  }

  std::string_view first_line(char delimiter) const {
    return lines.substr(0, lines.find(delimiter));
  }
  std::string_view last_line(char delimiter) const {
    auto const all = lines.substr(0, lines.size() - 1);
    std::size_t const before = all.rfind(delimiter);
    return before == std::string_view::npos ? all : all.substr(before + 1);
  }
};

/// Sees that lines are in order where pieces meet.
class seams {
 public:
  explicit seams(line_operations const& operations) : operations_(operations) {}

  /// Takes the next piece, whose text need not stay. Returns false if a line is out of order, or
  /// too long to be kept.
  bool take(cut_piece const& piece) {
    if (!piece.count) return false;
    if (!piece.end_of_line.empty()) {
      begun_ += piece.end_of_line;
      begun_.pop_back();
      if (!take_line()) return false;
      if (!piece.lines.empty()) {
        char const delimiter = operations_.delimiter;
        if (!operations_.may_follow(*last_, piece.first_line(delimiter))) return false;
        last_ = piece.last_line(delimiter);
        count_ += *piece.count;
      }
    }
    begun_ += piece.begin_of_line;
    return begun_.size() <= operations_.longest_bytes;
  }

  /// Whether there is a last line without a delimiter.
  bool lacks_delimiter() const noexcept { return !begun_.empty(); }
  /// Takes it. Returns false if it is out of order.
  bool finish() { return !lacks_delimiter() || take_line(); }

  std::uint64_t count() const noexcept { return count_; }

 private:
  bool take_line() {
    if (begun_.size() > operations_.longest_bytes) return false;
    if (last_ && !operations_.may_follow(*last_, begun_)) return false;
    last_ = std::exchange(begun_, {});
    ++count_;
    return true;
  }

  line_operations const& operations_;
  std::optional<std::string> last_;  // whole line
  std::string begun_;                // the one behind it, as far as it has come
  std::uint64_t count_ = 0;
};

class line_copy {
 public:
  line_copy(storage& store, line_operations const& operations, std::string const& input,
            std::uint64_t bytes, sort_options const& options)
      : store_(store),
        operations_(operations),
        input_(block::open_file(store, input)),
        opened_(input_->version()),
        samples_(opened_.size_bytes),
        bytes_(bytes),
        options_(options),
        unit_(std::max(input_->alignment_bytes(), page_bytes())),
        buffer_bytes_(round_down<std::size_t>(
            std::min<std::uint64_t>(copy_shape::longest_buffer_bytes,
                                    options.memory_bytes / 4 / copy_shape::buffers),
            unit_)) {}

  bool is_possible() const noexcept {
    return buffer_bytes_ > 0 && bytes_ >= buffer_bytes_ && opened_.size_bytes == bytes_;
  }

  /// Whether all lines of a sample are in order.
  bool sample() {
    std::size_t const piece_bytes = std::min(
        buffer_bytes_, std::max<std::size_t>(unit_, round_down<std::size_t>(64_KiB, unit_)));
    input_sample const sample(*input_, bytes_, piece_bytes, unit_, store_.memory());
    if (!sample.is_complete()) return false;
    std::string_view last;
    bool is_first = true;
    for (auto const bytes : sample.pieces()) {
      cut_piece const piece(text_of(bytes), operations_);
      if (!piece.count) return false;
      if (piece.lines.empty()) continue;  // all of it belongs to a long line
      if (!is_first && !operations_.may_follow(last, piece.first_line(operations_.delimiter)))
        return false;
      last = piece.last_line(operations_.delimiter);
      is_first = false;
    }
    return !is_first;
  }

  /// Copies everything; nothing if a line is out of order.
  std::optional<sort_report> run(std::string const& output, io::input_watch const& inputs) {
    io::output_file out = block::make_output_file(store_, output, bytes_ + 1);
    out.contents().count_into(&store_.file_statistics());
    if (unit_ % out.contents().alignment_bytes() != 0) return std::nullopt;
    seams joined(operations_);
    pipeline::network n(store_.memory(), copy_network(store_, "copy in order", options_));
    std::optional<std::uint64_t> copied_bytes;
    auto const look_through = [this](pipeline::pooled_buffer& b) {
      samples_.note(b.round() * buffer_bytes_, b.bytes());
      b.user<cut_piece>() = cut_piece(text_of(b.bytes()), operations_);
    };
    auto const cut = n.buffers({.buffer_bytes = buffer_bytes_, .count = copy_shape::buffers}) |
                     pipeline::read_from(*input_, {0, bytes_}, {.depth = copy_shape::read_depth}) |
                     pipeline::stage("look through", look_through).replicate(copy_threads(store_));
    auto const end = n.pool({.name = "end", .buffer_bytes = unit_, .count = 1});
    auto const joined_pieces = n.node("join", {.inputs = {cut}, .pools = {end}, .outputs = 1},
                                      [&](pipeline::ports& p) { copied_bytes = join(joined, p); });
    joined_pieces[0] | pipeline::write_to(out.contents(), 0, {.depth = copy_shape::write_depth});
    n.run(options_.stop);
    if (!copied_bytes) return std::nullopt;
    io::finish_reading(*input_, opened_, store_.options().on_growth, samples_);
    out.commit(*copied_bytes, inputs);
    sort_report report{.items = joined.count(),
                       .input_bytes = *copied_bytes,
                       .output_items = joined.count(),
                       .memory_bytes = options_.memory_bytes};
    report.networks.push_back(n.report());
    return report;
  }

 private:
  /// Lets all buffers pass, the last one with the delimiter that may be missing, and returns how
  /// many bytes they are; nothing if a line is out of order.
  std::optional<std::uint64_t> join(seams& joined, pipeline::ports& p) {
    std::uint64_t passed = 0;
    while (auto b = p.accept()) {
      if (!joined.take(b->user<cut_piece>())) return std::nullopt;
      std::size_t const bytes = b->size_bytes();
      bool const ends_here = passed + bytes == bytes_ && joined.lacks_delimiter();
      if (ends_here && bytes < b->capacity_bytes()) {
        b->resize(bytes + 1);
        b->memory()[bytes] = static_cast<std::byte>(operations_.delimiter);
      }
      passed += b->size_bytes();
      p.convey(std::move(*b));
      if (ends_here && passed == bytes_) {
        auto end = p.take();
        end.resize(1);
        end.memory()[0] = static_cast<std::byte>(operations_.delimiter);
        passed += end.size_bytes();
        p.convey(std::move(end));
      }
      if (options_.on_progress)
        options_.on_progress({sort_progress::phase::writing_output, passed, bytes_});
    }
    if (!joined.finish()) return std::nullopt;
    return passed;
  }

  storage& store_;
  line_operations const& operations_;
  io::file_ptr input_;
  io::file_version opened_;
  io::file_samples samples_;
  std::uint64_t bytes_;
  sort_options const& options_;
  std::size_t unit_;
  std::size_t buffer_bytes_;
};

}  // namespace

std::optional<sort_report> copy_lines_if_in_order(storage& store, line_operations const& operations,
                                                  std::string const& input,
                                                  std::string const& output, std::uint64_t bytes,
                                                  sort_options const& options) {
  io::input_watch const inputs({input}, output);
  line_copy copy(store, operations, input, bytes, options);
  if (!copy.is_possible() || !copy.sample()) return std::nullopt;
  return copy.run(output, inputs);
}

}  // namespace outsize::detail
