// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/presorted/presorted.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/presorted/copy_network.hpp>
#include <outsize/algorithm/detail/sort/presorted/input_sample.hpp>
#include <outsize/algorithm/detail/sort/presorted/outliers.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/file_samples.hpp>
#include <outsize/io/output_file.hpp>
#include <outsize/pipeline/file_stages.hpp>
#include <outsize/pipeline/network.hpp>

namespace outsize::detail {
namespace {

std::byte const* middle_of(std::span<std::byte const> items, std::size_t item_bytes) {
  return &items[items.size() / item_bytes / 2 * item_bytes];
}

/// From which end of the input items are taken.
enum class direction : std::uint8_t { none, from_the_front, from_the_end };

/// Joins buffers, each of which is sorted, into one sequence of full buffers, as they come. The
/// last two are held back:
///
///   sent | 1 3 4 4 | 5 7 8 9 |   next: 2 6 7 8
///                    ^ behind 6 of the next: they are mixed; 2 is late
class joint {
 public:
  joint(item_operations const& operations, bool from_the_end, std::size_t buffer_bytes,
        memory_budget& budget, outliers& others)
      : operations_(operations),
        order_(operations, from_the_end),
        buffer_bytes_(buffer_bytes),
        memory_(
            budget.take(round_up(3 * buffer_bytes, page_bytes()) +
                            round_up(operations.scratch_bytes(3 * buffer_bytes) + 1, page_bytes()),
                        "sort: buffers to join")),
        mixed_(memory_.allocate(3 * buffer_bytes)),
        scratch_(memory_.allocate(operations.scratch_bytes(3 * buffer_bytes))),
        outliers_(others) {}

  /// Takes a buffer that is not empty, and sends on what must be in front of all that may follow.
  /// Returns false if there are too many outliers.
  bool take(pipeline::pooled_buffer next, pipeline::ports& p) {
    if (!put_late_aside(next)) return false;
    if (next.size_bytes() == 0) return true;
    if (!put_early_aside(next)) return false;
    mix(next);
    hold(std::move(next), p);
    return true;
  }
  void finish(pipeline::ports& p) {
    fill(front_, back_);
    for (buffer_handle* held : {&front_, &back_})
      if (!items_of(*held).empty()) send(std::move(*held), p);
  }
  std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }

 private:
  using buffer_handle = pipeline::pooled_buffer;
  using items = std::span<std::byte>;

  /// The ends of what is held back: from a place on, all of it.
  struct tails {
    items front, back;
    std::size_t size() const noexcept { return front.size() + back.size(); }
  };

  std::size_t item() const noexcept { return operations_.item_bytes; }

  static items items_of(buffer_handle const& b) { return b ? b.bytes() : items(); }

  static void drop_front(buffer_handle& b, std::size_t bytes) {
    auto const rest = b.bytes().subspan(bytes);
    if (bytes > 0) std::memmove(b.memory().data(), rest.data(), rest.size());
    b.resize(rest.size());
  }

  /// Moves as much as there is room for to the end of a buffer.
  void fill(buffer_handle& b, buffer_handle& from) const {
    if (!b || !from) return;
    std::size_t const bytes = std::min(buffer_bytes_ - b.size_bytes(), from.size_bytes());
    std::memcpy(b.memory().data() + b.size_bytes(), from.memory().data(), bytes);
    b.resize(b.size_bytes() + bytes);
    drop_front(from, bytes);
  }

  bool put_late_aside(buffer_handle& next) {
    if (last_sent_.empty()) return true;
    std::size_t const late = order_.front_before(last_sent_.data(), next.bytes());
    if (!outliers_.put_late(next.bytes().first(late))) return false;
    drop_front(next, late);
    return true;
  }

  /// What is held back and must stand behind an item that was taken after it.
  tails behind(std::byte const* item) {
    auto const front = items_of(front_), back = items_of(back_);
    auto const of_back = back.last(order_.back_behind(back, item));
    if (of_back.size() < back.size()) return {{}, of_back};
    return {front.last(order_.back_behind(front, item)), of_back};
  }

  /// Items that wait for their places while many go past them would fill what is held back, and at
  /// last make all that follow late. The last ones of the next buffer may be such.
  bool put_early_aside(buffer_handle const& next) {
    auto const early = behind(middle_of(next.bytes(), item()));
    if (early.size() <= buffer_bytes_ / 2) return true;
    // In the order of the pass: equal ones in front were taken first, or last.
    auto const first = order_.is_from_the_end() ? early.back : early.front;
    auto const second = order_.is_from_the_end() ? early.front : early.back;
    if (!outliers_.put_early(first) || !outliers_.put_early(second)) return false;
    if (!early.front.empty()) front_.resize(front_.size_bytes() - early.front.size());
    if (!early.back.empty()) back_.resize(back_.size_bytes() - early.back.size());
    return true;
  }

  /// Sees that nothing that is held back must stand behind an item of `next`.
  void mix(buffer_handle& next) {
    auto const tail = behind(next.bytes().data());
    if (tail.size() == 0) return;
    auto const last = (tail.back.empty() ? tail.front : tail.back).last(item());
    auto const head = next.bytes().first(order_.front_before(last.data(), next.bytes()));
    // Those that are nearer to the front of the file come first.
    items const forward[] = {tail.front, tail.back, head},
                backward[] = {head, tail.front, tail.back};
    std::byte* end = mixed_.data();
    for (items const some : order_.is_from_the_end() ? backward : forward)
      end = std::ranges::copy(some, end).out;
    operations_.sort({mixed_.data(), end}, scratch_.bytes());
    std::byte const* from = mixed_.data();
    for (items const some : forward)
      from = std::ranges::copy_n(from, std::ssize(some), some.begin()).in;
  }

  void hold(buffer_handle next, pipeline::ports& p) {
    if (!front_) return void(front_ = std::move(next));
    fill(front_, back_);
    if (!back_) return void(back_ = std::move(next));
    fill(back_, next);
    if (next.size_bytes() == 0) return;
    send(std::move(front_), p);
    front_ = std::move(back_);
    back_ = std::move(next);
  }

  void send(buffer_handle b, pipeline::ports& p) {
    auto const last = b.bytes().last(item());
    last_sent_.assign(last.begin(), last.end());
    sent_bytes_ += b.size_bytes();
    p.convey(std::move(b));
  }

  item_operations const& operations_;
  passing_order order_;
  std::size_t buffer_bytes_;
  grant memory_;
  buffer mixed_, scratch_;
  outliers& outliers_;
  buffer_handle front_, back_;  // in order; nothing in them must stand behind what has been taken
  std::vector<std::byte> last_sent_;
  std::uint64_t sent_bytes_ = 0;
};

class ordered_copy {
 public:
  ordered_copy(storage& store, item_operations const& operations, std::string const& input,
               std::string output, std::uint64_t bytes, sort_options const& options)
      : store_(store),
        operations_(operations),
        inputs_({input}, output),
        input_(block::open_file(store, input)),
        opened_(input_->version()),
        samples_(opened_.size_bytes),
        output_(std::move(output)),
        bytes_(bytes),
        options_(options),
        memory_bytes_(options.memory_bytes),
        alignment_(input_->alignment_bytes()),
        unit_(std::lcm(alignment_, operations.item_bytes)),
        buffer_bytes_(longest_buffer()) {}

  /// Whether buffers of whole items and whole units of the disk are short enough, and the input is
  /// still as long as it was.
  bool is_possible() const noexcept {
    return buffer_bytes_ > 0 && bytes_ >= buffer_bytes_ && opened_.size_bytes == bytes_;
  }

  /// From which end there are fewer outliers, if those fit in memory.
  direction sample() {
    std::size_t const piece = std::min(buffer_bytes_, std::max(unit_, round_down(64_KiB, unit_)));
    std::size_t const scratch_bytes = round_up(operations_.scratch_bytes(piece) + 1, page_bytes());
    input_sample const sample(*input_, bytes_, piece, unit_, store_.memory());
    if (!sample.is_complete()) return direction::none;
    auto pieces = sample.pieces();
    grant memory = store_.memory().take(scratch_bytes, "sort: sample");
    buffer const scratch = memory.allocate(scratch_bytes);
    for (auto const some : pieces)
      if (!operations_.in_order(some, false)) operations_.sort(some, scratch.bytes());
    std::uint64_t const forward = outliers_of(pieces, false);
    std::ranges::reverse(pieces);
    std::uint64_t const backward = outliers_of(pieces, true);
    // An estimate: the room is twice as large.
    if (std::min(forward, backward) > outliers::capacity_bytes(outlier_memory(), operations_))
      return direction::none;
    return forward <= backward ? direction::from_the_front : direction::from_the_end;
  }

  /// Whether the copy was complete.
  bool run(direction d) {
    bool const from_the_end = d == direction::from_the_end;
    io::output_file out = block::make_output_file(store_, output_, bytes_);
    out.contents().count_into(&store_.file_statistics());
    if (alignment_ % out.contents().alignment_bytes() != 0) return false;
    outliers others(store_.memory(), outlier_memory(), operations_, from_the_end);
    std::optional<std::uint64_t> const ordered_bytes = copy(out.contents(), from_the_end, others);
    if (!ordered_bytes) return false;
    io::finish_reading(*input_, opened_, store_.options().on_growth, samples_);
    if (others.bytes() > 0)
      reports_.push_back(others.merge_into(out.contents(), *ordered_bytes, store_.memory(),
                                           copy_network(store_, "merge outliers", options_),
                                           buffer_bytes_, options_.stop));
    out.commit(bytes_, inputs_);
    return true;
  }

  /// What the last run did.
  std::vector<pipeline::network_report>& reports() noexcept { return reports_; }

 private:
  std::size_t longest_buffer() const noexcept {
    std::uint64_t const longest = std::max(copy_shape::longest_buffer_bytes, unit_);
    std::uint64_t const share = std::min<std::uint64_t>(
        longest, memory_bytes_ / 4 / (copy_shape::buffers + copy_shape::most_threads));
    // Auxiliary buffers are scratch.
    std::size_t const scratch = std::max(unit_, operations_.scratch_bytes(unit_));
    return round_down(static_cast<std::size_t>(share / scratch * unit_), unit_);
  }
  std::uint64_t outlier_memory() const noexcept {
    return round_down(memory_bytes_ / 2, std::uint64_t{page_bytes()});
  }

  /// About how many bytes of the input are outliers, if it is like these sorted pieces of it, in
  /// the order in which they are taken: how many are on the other side of the middles of both
  /// pieces before theirs, or after it. One piece may be all outliers.
  std::uint64_t outliers_of(std::vector<std::span<std::byte>> const& pieces, bool from_the_end) {
    passing_order order(operations_, from_the_end);
    auto const middle = [&](std::size_t p) { return middle_of(pieces[p], operations_.item_bytes); };
    std::uint64_t found = 0;
    for (std::size_t p = 1; p < pieces.size(); ++p) {
      std::size_t const two_before = std::max<std::size_t>(p, 2) - 2;
      found += std::min(order.front_before(middle(p - 1), pieces[p]),
                        order.front_before(middle(two_before), pieces[p]));
    }
    for (std::size_t p = 0; p + 1 < pieces.size(); ++p) {
      std::size_t const two_behind = std::min(p + 2, pieces.size() - 1);
      found += std::min(order.back_behind(pieces[p], middle(p + 1)),
                        order.back_behind(pieces[p], middle(two_behind)));
    }
    // From the end, of many that compare equal the last ones taken come first, and all are late.
    if (from_the_end)
      for (auto const some : pieces)
        if (!order.follows(some.data(), some.last(operations_.item_bytes).data()))
          found += some.size();
    double const share =
        static_cast<double>(found) / static_cast<double>(pieces.size() * pieces[0].size());
    return static_cast<std::uint64_t>(share * static_cast<double>(bytes_));
  }

  /// Writes all but outliers in order; how many bytes, or nothing if there are too many of those.
  std::optional<std::uint64_t> copy(io::file& out, bool from_the_end, outliers& others) {
    pipeline::network n(store_.memory(), copy_network(store_, "copy in order", options_));
    std::optional<std::uint64_t> sent_bytes;
    auto const read = pipeline::read_pieces(
        *input_,
        [&](pipeline::pooled_buffer const& b) {
          auto const r = input_range(b.round(), from_the_end);
          return std::vector<pipeline::file_piece>{{r.offset_bytes, 0, r.length_bytes}};
        },
        {.depth = copy_shape::read_depth});
    auto const put_in_order = [&](pipeline::pooled_buffer& b, pipeline::pooled_buffer& scratch) {
      samples_.note(input_range(b.round(), from_the_end).offset_bytes, b.bytes());
      auto const items = b.bytes().last(length_of(b.round()));
      if (!from_the_end) {
        if (!operations_.in_order(items, false)) operations_.sort(items, scratch.memory());
      } else if (operations_.in_order(items, true)) {
        scratch.resize(items.size());
        operations_.reverse(items, scratch.memory().data());
        b.swap_payload(scratch);
      } else {
        std::memmove(b.memory().data(), items.data(), items.size());
        b.resize(items.size());
        operations_.sort(b.bytes(), scratch.memory());
      }
    };
    auto const sorted =
        n.buffers({.buffer_bytes = std::max(buffer_bytes_ + (from_the_end ? 2 * alignment_ : 0),
                                            operations_.scratch_bytes(buffer_bytes_)),
                   .count = copy_shape::buffers,
                   .rounds = rounds()}) |
        read | pipeline::stage("put in order", put_in_order).replicate(copy_threads(store_));
    auto const in_order = n.node("join", {.inputs = {sorted}}, [&](pipeline::ports& p) {
      joint joined(operations_, from_the_end, buffer_bytes_, store_.memory(), others);
      while (auto b = p.accept()) {
        std::size_t const bytes = b->size_bytes();
        if (!joined.take(std::move(*b), p)) return;
        report_progress(bytes);
      }
      joined.finish(p);
      sent_bytes = joined.sent_bytes();
    });
    in_order[0] | pipeline::write_pieces(
                      out,
                      [at = std::uint64_t{0}](pipeline::pooled_buffer const& b) mutable {
                        std::uint64_t const begin = std::exchange(at, at + b.size_bytes());
                        return std::vector<pipeline::file_piece>{{begin, 0, b.size_bytes()}};
                      },
                      {.depth = copy_shape::write_depth});
    n.run(options_.stop);
    reports_.push_back(n.report());
    return sent_bytes;
  }

  std::uint64_t rounds() const noexcept { return (bytes_ + buffer_bytes_ - 1) / buffer_bytes_; }

  std::uint64_t length_of(std::uint64_t round) const noexcept {
    return std::min<std::uint64_t>(buffer_bytes_, bytes_ - round * buffer_bytes_);
  }

  /// What a round takes: the next whole buffer. From the end it may begin anywhere in a unit of the
  /// disk, and is at the end of what is read.
  pipeline::file_range input_range(std::uint64_t round, bool from_the_end) const noexcept {
    std::uint64_t const length = length_of(round);
    if (!from_the_end) return {round * buffer_bytes_, length};
    std::uint64_t const begin = bytes_ - round * buffer_bytes_ - length;
    std::uint64_t const aligned = round_down(begin, std::uint64_t{alignment_});
    return {aligned, begin + length - aligned};
  }

  void report_progress(std::uint64_t more_bytes) {
    done_bytes_ += more_bytes;
    if (options_.on_progress)
      options_.on_progress({sort_progress::phase::writing_output, done_bytes_, bytes_});
  }

  storage& store_;
  item_operations const& operations_;
  io::input_watch inputs_;
  io::file_ptr input_;
  io::file_version opened_;
  io::file_samples samples_;
  std::string output_;
  std::uint64_t bytes_;
  sort_options const& options_;
  std::uint64_t memory_bytes_;
  std::size_t alignment_;
  std::size_t unit_;
  std::size_t buffer_bytes_;
  std::uint64_t done_bytes_ = 0;
  std::vector<pipeline::network_report> reports_;
};

}  // namespace

std::optional<sort_report> copy_if_in_order(storage& store, item_operations const& operations,
                                            std::string const& input, std::string const& output,
                                            std::uint64_t bytes, sort_options const& options) {
  ordered_copy copy(store, operations, input, output, bytes, options);
  if (!copy.is_possible()) return std::nullopt;
  direction const d = copy.sample();
  if (d == direction::none || !copy.run(d)) return std::nullopt;
  std::uint64_t const items = bytes / operations.item_bytes;
  return sort_report{.items = items,
                     .input_bytes = bytes,
                     .output_items = items,
                     .memory_bytes = options.memory_bytes,
                     .networks = std::move(copy.reports())};
}

}  // namespace outsize::detail
