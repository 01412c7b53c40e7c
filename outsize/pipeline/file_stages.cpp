// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/pipeline/file_stages.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

#include <outsize/base/detail/aligned_memory.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::pipeline {
namespace {

/// Called once, with the first error or none.
using transfer_end = std::function<void(std::exception_ptr)>;

/// Memory to be moved from or to a file. What is read behind `needed_bytes`, and may lie behind the
/// end of the file, is of no use.
struct part {
  std::uint64_t file_offset_bytes;
  std::span<std::byte> memory;
  std::size_t needed_bytes;
};

/// The requests of one buffer: the last one to end ends the step.
class transfer : public std::enable_shared_from_this<transfer> {
 public:
  transfer(io::file& file, io::operation kind, transfer_end ended)
      : file_(file), kind_(kind), ended_(std::move(ended)) {}

  /// Moves whole units of the file's alignment, and writes the bytes of `odd` at the front of other
  /// units. Does not throw: what has been issued has to end, whatever comes.
  void begin(std::span<part const> parts, std::span<part const> odd = {}) noexcept {
    try {
      for (part const& p : parts) issue_all(p);
      for (part const& p : odd) write_into_unit(p);
    } catch (...) {
      note_error(std::current_exception());
    }
    one_ended();
  }

 private:
  using unit = outsize::detail::aligned_memory<std::byte>;

  void issue_all(part const& whole) {
    for (std::size_t done = 0; done < whole.memory.size(); done += most_request_bytes) {
      auto const memory =
          whole.memory.subspan(done, std::min(most_request_bytes, whole.memory.size() - done));
      std::size_t const needed = whole.needed_bytes - std::min(whole.needed_bytes, done);
      issue(kind_, {whole.file_offset_bytes + done, memory, std::min(needed, memory.size())},
            [](transfer&) {});
    }
  }

  /// Writes bytes and what lies behind them in their unit of the file already.
  void write_into_unit(part const& p) {
    std::size_t const bytes = file_.alignment_bytes();
    std::shared_ptr<std::byte[]> const memory =
        outsize::detail::allocate_aligned<std::byte>(bytes, bytes);
    std::span const all(memory.get(), bytes);
    std::ranges::fill(all, std::byte{0});
    auto const write = [memory, all, p](transfer& self) {
      std::ranges::copy(p.memory, all.begin());
      self.issue(io::operation::write, {p.file_offset_bytes, all, all.size()},
                 [memory](transfer&) {});
    };
    if (file_.size_bytes() <= p.file_offset_bytes + p.memory.size()) return write(*this);
    issue(io::operation::read, {p.file_offset_bytes, all, p.memory.size()}, write);
  }

  /// Calls `then(*this)` when the request has succeeded.
  template <typename Then>
  void issue(io::operation kind, part const& p, Then then) {
    io::completion ended = [self = shared_from_this(), kind, p, then](io::request const&,
                                                                      io::outcome o) {
      try {
        self->check(kind, p, o);
        then(*self);
      } catch (...) {
        self->note_error(std::current_exception());
      }
      self->one_ended();
    };
    ++left_;
    try {
      if (kind == io::operation::read)
        file_.read(p.file_offset_bytes, p.memory, std::move(ended));
      else
        file_.write(p.file_offset_bytes, p.memory, std::move(ended));
    } catch (...) {
      --left_;
      throw;
    }
  }

  void check(io::operation kind, part const& p, io::outcome o) const {
    if (o.ok() && o.bytes >= p.needed_bytes) return;
    if (o.ok())
      throw changed_file(
          file_.name(),
          fmt::format("cut short: it ends at byte {}, but {} were to be read",
                      p.file_offset_bytes + o.bytes, p.file_offset_bytes + p.needed_bytes));
    throw io_error(o.error_number, kind == io::operation::read ? "read" : "write", file_.name(),
                   p.file_offset_bytes, p.needed_bytes);
  }
  /// The first counts.
  void note_error(std::exception_ptr error) noexcept {
    std::lock_guard const held(mutex_);
    if (!error_) error_ = std::move(error);
  }

  void one_ended() noexcept {
    if (--left_ == 0) ended_(error_);
  }

  io::file& file_;
  io::operation kind_;
  transfer_end ended_;
  std::atomic<std::size_t> left_{1};  // requests, and one more until all are issued
  std::mutex mutex_;                  // guards error_ while requests are under way
  std::exception_ptr error_;
};

/// Ends a step as its transfer has ended; if that has succeeded, calls `first` before.
template <typename First>
transfer_end ending(step_completion done, First first) {
  return [done, first](std::exception_ptr const& error) {
    if (error) return done.failed(error);
    first();
    done.done();
  };
}
transfer_end ending(step_completion done) {
  return ending(done, [] {});
}

/// Where a file that asks for alignment must be cut: its last unit was written as a whole.
class odd_end {
 public:
  /// The file, as long as it is now, is going to have bytes up to `end_bytes`, in the unit that
  /// ends at `unit_end_bytes`.
  void note(io::file const& file, std::uint64_t end_bytes, std::uint64_t unit_end_bytes) {
    if (unit_end_bytes < unit_end_bytes_) return;
    if (end_bytes < unit_end_bytes)
      end_bytes = std::max(end_bytes, std::min(unit_end_bytes, file.size_bytes()));
    end_bytes_ = std::max(unit_end_bytes == unit_end_bytes_ ? end_bytes_ : 0, end_bytes);
    unit_end_bytes_ = unit_end_bytes;
  }
  /// @pre nobody writes to the file. What lies behind the unit stays.
  void cut(io::file& file) const {
    if (end_bytes_ < unit_end_bytes_ && file.size_bytes() == unit_end_bytes_)
      file.resize(end_bytes_);
  }

 private:
  std::uint64_t end_bytes_ = 0;
  std::uint64_t unit_end_bytes_ = 0;
};

/// What write_to() knows between two buffers: of a file that asks for alignment, bytes behind the
/// last whole unit, which wait for more.
///
///     file:     | unit | unit | unit | tail |
///     buffer:     head |       body        | the next tail |
class gathered_output {
 public:
  gathered_output(io::file& to, std::uint64_t offset_bytes)
      : to_(to), unit_(to.alignment_bytes()), begin_(offset_bytes) {}

  void start() {
    if (begin_ % unit_ != 0)
      throw std::invalid_argument(fmt::format("{}: cannot write at offset {}: not a multiple of {}",
                                              to_.name(), begin_, unit_));
    next_ = begin_;
    tail_.clear();
    tail_.reserve(unit_);
  }

  /// Writes all units that are whole now. What does not fill one is kept, and written by finish().
  void write(pooled_buffer& b, step_completion done) {
    auto const bytes = b.bytes();
    if (tail_.size() + bytes.size() < unit_) {
      tail_.insert(tail_.end(), bytes.begin(), bytes.end());
      return done.done();
    }
    if (tail_.empty()) return write_body(bytes, done);
    std::size_t const head_bytes = unit_ - tail_.size();
    std::shared_ptr<std::byte[]> const memory =
        outsize::detail::allocate_aligned<std::byte>(unit_, unit_);
    std::ranges::copy(tail_, memory.get());
    auto* const head =
        std::ranges::copy(bytes.first(head_bytes), memory.get() + tail_.size()).out - head_bytes;
    std::vector parts{part{next_, {memory.get(), unit_}, unit_}};
    next_ += unit_;
    // The body moves to the front, where it is aligned, as long as it is written.
    auto const body = take_body(bytes.subspan(head_bytes));
    std::memmove(bytes.data(), body.data(), body.size());
    parts.push_back({next_ - body.size(), bytes.first(body.size()), body.size()});
    auto const move_back = [memory, head, bytes, body] {
      std::memmove(body.data(), bytes.data(), body.size());
      std::memcpy(bytes.data(), head, static_cast<std::size_t>(body.data() - bytes.data()));
    };
    std::make_shared<transfer>(to_, io::operation::write, ending(done, move_back))->begin(parts);
  }

  /// Writes what is left, and gives the file its length. Waits.
  void finish() {
    if (tail_.empty()) return;
    auto const ended = std::make_shared<std::promise<void>>();
    auto const end = [ended](std::exception_ptr const& error) {
      error ? ended->set_exception(error) : ended->set_value();
    };
    odd_end last;
    last.note(to_, next_ + tail_.size(), next_ + unit_);
    std::vector const odd{part{next_, tail_, tail_.size()}};
    std::make_shared<transfer>(to_, io::operation::write, end)->begin({}, odd);
    ended->get_future().get();
    last.cut(to_);
  }

 private:
  void write_body(std::span<std::byte> bytes, step_completion done) {
    auto const body = take_body(bytes);
    std::vector const parts{part{next_ - body.size(), body, body.size()}};
    std::make_shared<transfer>(to_, io::operation::write, ending(done))->begin(parts);
  }

  /// The whole units of `bytes`, which count as written; the rest is the tail.
  std::span<std::byte> take_body(std::span<std::byte> bytes) {
    auto const body = bytes.first(round_down(bytes.size(), unit_));
    auto const rest = bytes.subspan(body.size());
    tail_.assign(rest.begin(), rest.end());
    next_ += body.size();
    return body;
  }

  io::file& to_;
  std::size_t unit_;
  std::uint64_t begin_;
  std::uint64_t next_ = 0;  // the place of the tail
  std::vector<std::byte> tail_;
};

/// What read_from() knows between two buffers.
class range_input {
 public:
  range_input(io::file& from, file_range range, std::size_t item_bytes)
      : from_(from), range_(range), item_bytes_(std::max<std::size_t>(item_bytes, 1)) {}

  void start() {
    next_ = range_.offset_bytes;
    if (range_.length_bytes % item_bytes_ != 0)
      throw format_error(fmt::format("{}: {} bytes are not a whole number of items of {} bytes",
                                     from_.name(), range_.length_bytes, item_bytes_));
  }

  void read(pooled_buffer& b, step_completion done) {
    std::uint64_t const left = range_.offset_bytes + range_.length_bytes - next_;
    if (left == 0) return done.done(verdict::end);
    // Where it begins inside of a unit of the file, the beginning of that is read too.
    std::size_t const unit = from_.alignment_bytes();
    auto const lead = static_cast<std::size_t>(next_ % unit);
    std::size_t const length = std::min<std::uint64_t>(left, most(b.capacity_bytes(), lead));
    auto const memory = b.memory().first(round_up(lead + length, unit));
    b.resize(length);
    if (length == left) b.mark_last();
    auto const move_to_front = [memory, lead, length] {
      if (lead > 0) std::memmove(memory.data(), memory.data() + lead, length);
    };
    std::vector const parts{part{next_ - lead, memory, lead + length}};
    next_ += length;
    std::make_shared<transfer>(from_, io::operation::read, ending(done, move_to_front))
        ->begin(parts);
  }

 private:
  /// What a buffer holds: whole items; and if that does not leave half of it empty, so many that
  /// the next one begins with a unit.
  std::size_t most(std::size_t capacity_bytes, std::size_t lead_bytes) const {
    std::size_t const room = capacity_bytes - std::min(capacity_bytes, lead_bytes);
    if (room < item_bytes_)
      throw std::invalid_argument(fmt::format(
          "{}: buffers of {} bytes hold no item of {} bytes{}", from_.name(), capacity_bytes,
          item_bytes_,
          lead_bytes > 0 ? fmt::format(" that begins inside of {}", from_.alignment_bytes()) : ""));
    std::size_t const unit = from_.alignment_bytes();
    std::size_t const both = lead_bytes == 0 ? std::lcm(item_bytes_, unit) : item_bytes_;
    std::size_t const by_units = round_down_any(room, both);
    return by_units > room / 2 ? by_units : round_down_any(room, item_bytes_);
  }
  static std::size_t round_down_any(std::size_t bytes, std::size_t of) {
    return bytes - bytes % of;
  }

  io::file& from_;
  file_range range_;
  std::size_t item_bytes_;
  std::uint64_t next_ = 0;
};

/// Throws std::invalid_argument if the piece cannot be moved as it is named, or if its last unit,
/// which is read as a whole, is not in the buffer.
void check_piece(io::file const& file, char const* verb, file_piece const& p,
                 pooled_buffer const& b) {
  std::size_t const unit = file.alignment_bytes();
  if (p.file_offset_bytes % unit != 0)
    throw std::invalid_argument(fmt::format("{}: cannot {} at offset {}: not a multiple of {}",
                                            file.name(), verb, p.file_offset_bytes, unit));
  if (p.buffer_offset_bytes > b.capacity_bytes() ||
      p.length_bytes > b.capacity_bytes() - p.buffer_offset_bytes ||
      round_up(p.length_bytes, unit) > b.capacity_bytes() - p.buffer_offset_bytes)
    throw std::invalid_argument(fmt::format("{}: cannot {} {} bytes at {} of a buffer that has {}",
                                            file.name(), verb, p.length_bytes,
                                            p.buffer_offset_bytes, b.capacity_bytes()));
  if (reinterpret_cast<std::uintptr_t>(b.memory().data() + p.buffer_offset_bytes) % unit != 0)
    throw std::invalid_argument(fmt::format("{}: cannot {} at {} of a buffer: not a multiple of {}",
                                            file.name(), verb, p.buffer_offset_bytes, unit));
}

std::string name_or(file_stage_options& options, char const* otherwise) {
  return options.name.empty() ? std::string(otherwise) : std::move(options.name);
}

}  // namespace

stage read_pieces(io::file& from, file_pieces pieces, file_stage_options options) {
  auto begin = [&from, pieces = std::move(pieces)](pooled_buffer& b, step_completion done) {
    auto const all = pieces(b);
    if (all.empty()) return done.done(verdict::end);
    std::size_t end = 0;
    std::vector<part> parts;
    for (file_piece const& p : all) {
      check_piece(from, "read", p, b);
      // Rounded up it is in the buffer, whose memory is pages, and in no other piece.
      parts.push_back({p.file_offset_bytes,
                       b.memory().subspan(p.buffer_offset_bytes,
                                          round_up(p.length_bytes, from.alignment_bytes())),
                       p.length_bytes});
      end = std::max(end, p.buffer_offset_bytes + p.length_bytes);
    }
    b.resize(end);
    std::make_shared<transfer>(from, io::operation::read, ending(done))->begin(parts);
  };
  return asynchronous(name_or(options, "read"), options.depth, std::move(begin));
}

stage read_from(io::file& from, file_range range, file_stage_options options) {
  auto const input = std::make_shared<range_input>(from, range, options.item_bytes);
  return asynchronous(name_or(options, "read"), options.depth,
                      [input](pooled_buffer& b, step_completion done) { input->read(b, done); })
      .on_run([input] { input->start(); }, {});
}

stage write_pieces(io::file& to, file_pieces pieces, file_stage_options options) {
  auto const last = std::make_shared<odd_end>();
  auto begin = [&to, pieces = std::move(pieces), last](pooled_buffer& b, step_completion done) {
    std::size_t const unit = to.alignment_bytes();
    std::vector<part> parts, odd;
    for (file_piece const& p : pieces(b)) {
      check_piece(to, "write", p, b);
      auto const memory = b.memory().subspan(p.buffer_offset_bytes, p.length_bytes);
      auto const body = memory.first(round_down(memory.size(), unit));
      if (!body.empty()) parts.push_back({p.file_offset_bytes, body, body.size()});
      std::uint64_t const body_end = p.file_offset_bytes + body.size();
      if (body.size() < memory.size()) {
        odd.push_back({body_end, memory.subspan(body.size()), memory.size() - body.size()});
        last->note(to, p.file_offset_bytes + memory.size(), body_end + unit);
      } else {
        last->note(to, body_end, body_end);
      }
    }
    std::make_shared<transfer>(to, io::operation::write, ending(done))->begin(parts, odd);
  };
  return asynchronous(name_or(options, "write"), options.depth, std::move(begin))
      .on_run([last] { *last = {}; }, [last, &to] { last->cut(to); });
}

stage write_to(io::file& to, std::uint64_t offset_bytes, file_stage_options options) {
  auto const output = std::make_shared<gathered_output>(to, offset_bytes);
  return asynchronous(name_or(options, "write"), options.depth,
                      [output](pooled_buffer& b, step_completion done) { output->write(b, done); })
      .on_run([output] { output->start(); }, [output] { output->finish(); });
}

}  // namespace outsize::pipeline
