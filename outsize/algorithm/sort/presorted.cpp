// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/sort/presorted.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/output_file.hpp>
#include <outsize/pipeline/file_stages.hpp>
#include <outsize/pipeline/network.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t buffer_count = 12;             // with those for reversing at most 16
constexpr std::size_t longest_buffer_bytes = 2_MiB;  // one request

enum class direction : std::uint8_t { none, ascending, descending };

/// Checks pieces of the input, one after another, and what lies between them.
class order_check {
 public:
  order_check(item_checks const& checks, bool descending)
      : checks_(checks), descending_(descending), seam_(2 * checks.item_bytes) {}

  /// Whether these items are in order and follow those before.
  bool follow(std::span<std::byte const> items) {
    std::size_t const item = checks_.item_bytes;
    std::memcpy(&seam_[item], items.data(), item);
    bool const seam_good = first_ || checks_.in_order(seam_, descending_);
    first_ = false;
    std::memcpy(seam_.data(), items.last(item).data(), item);
    return seam_good && checks_.in_order(items, descending_);
  }

 private:
  item_checks const& checks_;
  bool descending_;
  std::vector<std::byte> seam_;  // the last item before, and the first one now
  bool first_ = true;
};

class ordered_copy {
 public:
  ordered_copy(storage& store, item_checks const& checks, std::string const& input,
               std::string output, std::uint64_t bytes, sort_options const& options)
      : store_(store),
        checks_(checks),
        input_(io::open_file(input, store.file_queue())),
        output_(std::move(output)),
        bytes_(bytes),
        options_(options),
        alignment_(input_->alignment_bytes()),
        unit_(std::lcm(alignment_, checks.item_bytes)),
        buffer_bytes_(round_down(buffer_budget(), unit_)) {
    input_->count_into(&store.file_statistics());
  }

  /// Whether buffers of whole items and whole units of the disk are short enough.
  bool is_possible() const noexcept { return buffer_bytes_ > 0 && bytes_ >= buffer_bytes_; }

  direction sample() {
    constexpr std::uint64_t places = 64;
    std::size_t const piece = std::min(buffer_bytes_, std::max(unit_, round_down(64_KiB, unit_)));
    grant memory = store_.memory().take(round_up(piece, page_bytes()), "sort: sample");
    buffer const b = memory.allocate(round_up(piece, page_bytes()));
    order_check up(checks_, false), down(checks_, true);
    bool ascending = true, descending = true;
    for (std::uint64_t p = 0; p < places && (ascending || descending); ++p) {
      std::uint64_t const at = round_down((bytes_ - piece) / (places - 1) * p, unit_);
      if (input_->read(at, b.bytes().first(piece))->wait() != piece) return direction::none;
      ascending = ascending && up.follow(b.bytes().first(piece));
      descending = descending && down.follow(b.bytes().first(piece));
    }
    return ascending ? direction::ascending : descending ? direction::descending : direction::none;
  }

  /// Whether the copy was complete.
  bool run(direction d) {
    bool const descending = d == direction::descending;
    io::output_file out(output_, bytes_, store_.file_queue());
    out.contents().count_into(&store_.file_statistics());
    if (alignment_ % out.contents().alignment_bytes() != 0) return false;
    pipeline::network n(store_.memory(), {.name = "copy in order",
                                          .threads = 2,
                                          .tune = false,
                                          .trace = options_.trace,
                                          .errors_name_stages = false});
    order_check check(checks_, descending);
    bool good = true;
    auto read = pipeline::read_pieces(
        *input_,
        [&](pipeline::pooled_buffer const& b) {
          auto const r = descending ? mirrored_input(b.round()) : output_range(b.round());
          return std::vector<pipeline::file_piece>{{r.offset_bytes, 0, r.length_bytes}};
        },
        {.depth = 4});
    auto write = pipeline::write_pieces(
        out.contents(),
        [&](pipeline::pooled_buffer const& b) {
          auto const r = output_range(descending ? rounds() - 1 - b.round() : b.round());
          return std::vector<pipeline::file_piece>{{r.offset_bytes, 0, r.length_bytes}};
        },
        {.depth = 4});
    auto const verdict_on = [&](std::span<std::byte const> items) {
      good = good && check.follow(items);
      report_progress(items.size());
      return good ? pipeline::verdict::convey : pipeline::verdict::end;
    };
    auto line = n.buffers({.buffer_bytes = buffer_bytes_ + (descending ? 2 * alignment_ : 0),
                           .count = buffer_count,
                           .rounds = rounds()}) |
                std::move(read);
    if (descending) {
      line = line | pipeline::stage("check and reverse", [&](pipeline::pooled_buffer& b,
                                                             pipeline::pooled_buffer& reversed) {
               auto const items =
                   b.bytes().last(output_range(rounds() - 1 - b.round()).length_bytes);
               reversed.resize(items.size());
               checks_.reverse(items, reversed.bytes().data());
               auto const v = verdict_on(items);
               b.swap_payload(reversed);
               return v;
             });
    } else {
      line = line | pipeline::stage(
                        "check", [&](pipeline::pooled_buffer& b) { return verdict_on(b.bytes()); });
    }
    line | std::move(write);
    n.run(options_.stop);
    report_ = n.report();
    if (good) out.commit(bytes_);
    return good;
  }

  /// What the last run did.
  pipeline::network_report& report() noexcept { return report_; }

 private:
  std::size_t buffer_budget() const noexcept {
    std::uint64_t const memory =
        options_.memory_bytes != 0 ? options_.memory_bytes : store_.memory().free_bytes();
    std::uint64_t const longest = std::max(longest_buffer_bytes, unit_);
    return std::min<std::uint64_t>(longest, memory / 8 / (buffer_count + 4));
  }

  std::uint64_t rounds() const noexcept { return (bytes_ + buffer_bytes_ - 1) / buffer_bytes_; }

  pipeline::file_range output_range(std::uint64_t k) const noexcept {
    std::uint64_t const begin = k * buffer_bytes_;
    return {begin, std::min<std::uint64_t>(buffer_bytes_, bytes_ - begin)};
  }

  /// The input, front to back, in pieces that become whole buffers of the output from its end; from
  /// the last unit of the disk before them, so that they end where the piece does.
  pipeline::file_range mirrored_input(std::uint64_t round) const noexcept {
    auto const out = output_range(rounds() - 1 - round);
    std::uint64_t const begin = bytes_ - out.offset_bytes - out.length_bytes;
    std::uint64_t const aligned = round_down(begin, std::uint64_t{alignment_});
    return {aligned, begin + out.length_bytes - aligned};
  }

  void report_progress(std::uint64_t more_bytes) {
    done_bytes_ += more_bytes;
    if (options_.on_progress)
      options_.on_progress({sort_progress::phase::writing_output, done_bytes_, bytes_});
  }

  storage& store_;
  item_checks const& checks_;
  io::file_ptr input_;
  std::string output_;
  std::uint64_t bytes_;
  sort_options const& options_;
  std::size_t alignment_;
  std::size_t unit_;
  std::size_t buffer_bytes_;
  std::uint64_t done_bytes_ = 0;
  pipeline::network_report report_;
};

}  // namespace

std::optional<sort_report> copy_if_in_order(storage& store, item_checks const& checks,
                                            std::string const& input, std::string const& output,
                                            std::uint64_t bytes, sort_options const& options) {
  ordered_copy copy(store, checks, input, output, bytes, options);
  if (!copy.is_possible()) return std::nullopt;
  direction const d = copy.sample();
  if (d == direction::none || !copy.run(d)) return std::nullopt;
  std::uint64_t const items = bytes / checks.item_bytes;
  return sort_report{.items = items,
                     .input_bytes = bytes,
                     .output_items = items,
                     .memory_bytes = options.memory_bytes,
                     .networks = {std::move(copy.report())}};
}

}  // namespace outsize::detail
