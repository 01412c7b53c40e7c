// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/lender.hpp>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include <outsize/bsp/detail/transfer_error.hpp>

namespace outsize::bsp::detail {

namespace {

struct piece_grains {
  std::size_t piece;
  grain_run grains;
};

/// Writes under way.
class writes {
 public:
  writes(storage& store, context& of) : store_(store), of_(of) {}
  writes(writes const&) = delete;
  writes& operator=(writes const&) = delete;
  ~writes() { wait(); }

  void issue(piece_grains const& what) {
    std::span<std::byte const> const bytes =
        of_.bytes_of(what.piece)
            .subspan(std::size_t{what.grains.first} * of_.shape().grain_bytes,
                     std::size_t{what.grains.count} * of_.shape().grain_bytes);
    block::block_id const place = of_.place_of(what.piece, what.grains);
    {
      std::lock_guard const held(mutex_);
      ++count_;
    }
    try {
      store_.write(place, bytes,
                   [this, disk = place.disk](io::request const& request, io::outcome& how) {
                     ended(disk, request, how);
                   });
    } catch (...) {
      std::lock_guard const held(mutex_);
      --count_;
      throw;
    }
  }

  void wait() {
    std::unique_lock held(mutex_);
    changed_.wait(held, [this] { return count_ == 0; });
  }
  void check() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void ended(std::uint32_t disk, io::request const& request, io::outcome how) {
    if (how.ok() && how.bytes != request.length_bytes()) how = {EIO, how.bytes};
    std::lock_guard const held(mutex_);
    if (!how.ok() && !failure_) failure_ = transfer_error(store_.disk_name(disk), request, how);
    if (--count_ == 0) changed_.notify_all();
  }

  storage& store_;
  context& of_;
  std::mutex mutex_;  // guards the following members
  std::condition_variable changed_;
  std::size_t count_ = 0;
  std::exception_ptr failure_;
};

/// The part of a range that lies in one piece, and the grains that it touches.
piece_grains grains_in(arena_shape const& shape, std::size_t piece, arena_stretch range) {
  std::uint64_t const piece_begin = piece * std::uint64_t{shape.piece_bytes};
  std::uint64_t const begin = std::max(range.offset_bytes, piece_begin) - piece_begin;
  std::uint64_t const end = std::min(range.offset_bytes + range.length_bytes - piece_begin,
                                     std::uint64_t{shape.piece_bytes});
  auto const first = static_cast<std::uint32_t>(begin / shape.grain_bytes);
  auto const last = static_cast<std::uint32_t>((end - 1) / shape.grain_bytes);
  return {piece, {first, last - first + 1}};
}

template <typename Function>
void for_each_piece(arena_shape const& shape, arena_stretch range, Function const& function) {
  std::size_t const last = (range.offset_bytes + range.length_bytes - 1) / shape.piece_bytes;
  for (std::size_t piece = range.offset_bytes / shape.piece_bytes; piece <= last; ++piece) {
    function(piece);
  }
}

/// Neighbours in one piece together, as ranges that follow one another share grains.
std::vector<piece_grains> all_grains(arena_shape const& shape,
                                     std::span<arena_stretch const> ranges) {
  std::vector<piece_grains> all;
  for (arena_stretch const range : ranges) {
    for_each_piece(shape, range, [&](std::size_t piece) {
      piece_grains const next = grains_in(shape, piece, range);
      grain_run* const before =
          all.empty() || all.back().piece != piece ? nullptr : &all.back().grains;
      if (before == nullptr || next.grains.first < before->first ||
          next.grains.first > before->first + before->count) {
        all.push_back(next);
      } else {
        before->count =
            std::max(before->first + before->count, next.grains.first + next.grains.count) -
            before->first;
      }
    });
  }
  return all;
}

}  // namespace

std::uint64_t lender::save(context& of, std::span<arena_stretch const> ranges) {
  std::vector<piece_grains> changed;
  try {
    writes all(store_, of);
    for (piece_grains const& wanted : all_grains(of.shape(), ranges)) {
      std::size_t const before = changed.size();
      for (grain_run const run : of.unsaved(wanted.piece, wanted.grains)) {
        changed.push_back({wanted.piece, run});
      }
      for (std::size_t i = before; i < changed.size(); ++i) all.issue(changed[i]);
    }
    all.wait();
    all.check();
  } catch (...) {
    for (piece_grains const& each : changed) of.lose(each.piece, each.grains);
    throw;
  }
  std::uint64_t grains = 0;
  for (piece_grains const& each : changed) grains += each.grains.count;
  return grains * of.shape().grain_bytes;
}

bool lender::is_saved(context const& of, arena_stretch range) {
  bool is_so = true;
  for_each_piece(of.shape(), range, [&](std::size_t piece) {
    is_so = is_so && of.is_saved(piece, grains_in(of.shape(), piece, range).grains);
  });
  return is_so;
}

std::vector<lent_stretch> lender::stretches(context const& of, arena_stretch range) {
  arena_shape const& shape = of.shape();
  std::vector<lent_stretch> all;
  for_each_piece(shape, range, [&](std::size_t piece) {
    std::uint64_t const piece_begin = piece * std::uint64_t{shape.piece_bytes};
    std::uint64_t const begin = std::max(range.offset_bytes, piece_begin);
    std::uint64_t const end =
        std::min(range.offset_bytes + range.length_bytes, piece_begin + shape.piece_bytes);
    all.push_back({of.block_of(piece), begin - piece_begin, end - begin});
  });
  return all;
}

}  // namespace outsize::bsp::detail
