// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The search for the item of a rank in passes over a sequence that does not fit in memory.
//
//   pass 1:  |············ sample of all ············|          one at random of each group
//                    low ──┐      ┌── high                      around the rank in the sample
//   pass 2:  ── counted ── |·kept·| ── left out ──              all that lie between, if they fit
//
// If they do not fit, the sample of them gives narrower bounds for a third pass, and so on. Groups
// are of one item at first and become twice as large whenever the memory is full. Items are ordered
// as sort orders them and then by their place in the sequence, so that any number may be equal.
//
// Invariant: the item searched for lies between the bounds of the last pass that was right, which
// a pass tells by counting. With m items in memory a pass leaves at most 6·n/√m of n, so that two
// passes are enough for m^1.5 / 6 items, whatever they are; a sample that misleads, which is
// unlikely, costs one pass more. The result is exact. Seeded, and the same for any memory. One
// thread. Layer: algorithm. Source: Floyd, Rivest: Expected time bounds for selection, 1975.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <span>

namespace outsize::detail {

/// An item, as its family encodes it, and its place in the sequence.
template <typename Item>
struct placed_item {
  Item value;
  std::uint64_t place;
};

template <typename Family>
class rank_search {
 public:
  using item = typename Family::item;
  using entry = placed_item<item>;

  /// Looks for the item of `rank`, from 0. Keeps entries in `room`, at least 64.
  rank_search(Family const& family, std::span<entry> room, std::uint64_t rank)
      : family_(family), room_(room.first(room.size() / 2 * 2)), rank_(rank) {}

  /// Before each pass over the whole sequence.
  void begin_pass() {
    seen_ = below_ = inside_ = in_group_ = chosen_ = 0;
    group_ = 1;
    kept_ = 0;
  }

  /// The next item, as it was given; T has the size of `item`.
  template <typename T>
  void add(T const& given) {
    static_assert(sizeof(T) == sizeof(item));
    item raw;
    std::memcpy(static_cast<void*>(&raw), &given, sizeof raw);
    entry const e{family_.encode(raw), seen_++};
    // Without a jump for each bound: nobody can predict which side an item is on.
    bool const is_below = bounds_.has_low & before(e, bounds_.low);
    bool const is_above = bounds_.has_high & before(bounds_.high, e);
    below_ += is_below ? 1 : 0;
    if (!(is_below | is_above)) keep(e);
  }

  /// After a pass: the item, as it was given; or nothing, and then another pass is needed.
  /// @pre the rank is less than seen().
  std::optional<item> end_pass() {
    if (rank_ < below_) {
      bounds_ = {outer_.low, bounds_.low, outer_.has_low, true};
    } else if (rank_ - below_ >= inside_) {
      bounds_ = {bounds_.high, outer_.high, true, outer_.has_high};
    } else if (group_ == 1) {
      return family_.decode(select(rank_ - below_).value);
    } else {
      outer_ = bounds_;
      narrow();
    }
    return std::nullopt;
  }

  /// Items in the pass.
  std::uint64_t seen() const noexcept { return seen_; }

 private:
  /// What lies between, the bounds included, is looked at.
  struct interval {
    entry low{}, high{};
    bool has_low = false, has_high = false;
  };

  bool before(entry const& a, entry const& b) const {
    return static_cast<bool>(
        family_.before(a.value, b.value) |
        (!family_.before(b.value, a.value) & static_cast<int>(a.place < b.place)));
  }

  /// Keeps one item of each group, at a random place in it.
  void keep(entry const& e) {
    ++inside_;
    if (in_group_ == chosen_) room_[kept_++] = e;
    if (++in_group_ < group_) return;
    if (kept_ == room_.size()) thin();
    in_group_ = 0;
    chosen_ = group_ == 1 ? 0 : random_() % group_;
  }

  /// Makes groups twice as large: of two neighbours one stays.
  void thin() {
    kept_ /= 2;
    for (std::size_t i = 0; i < kept_; ++i) room_[i] = room_[2 * i + random_() % 2];
    group_ *= 2;
  }

  /// The entry of `rank` among those kept.
  entry const& select(std::uint64_t rank) {
    auto const at = room_.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(room_.begin(), at, room_.begin() + static_cast<std::ptrdiff_t>(kept_),
                     [this](entry const& a, entry const& b) { return before(a, b); });
    return *at;
  }

  /// Bounds four standard deviations of the sample to each side of the rank.
  void narrow() {
    std::uint64_t const middle = (rank_ - below_) / group_;
    auto const margin = static_cast<std::uint64_t>(2 * std::sqrt(static_cast<double>(kept_))) + 2;
    if (middle > margin && middle - margin < kept_) {
      bounds_.low = select(middle - margin);
      bounds_.has_low = true;
    }
    if (middle + margin < kept_) {
      bounds_.high = select(middle + margin);
      bounds_.has_high = true;
    }
  }

  Family const& family_;
  std::span<entry> room_;
  std::uint64_t rank_;
  std::mt19937_64 random_{1};  // NOLINT(cert-msc51-cpp): the same passes each time
  interval bounds_;            // of this pass
  interval outer_;             // of the last pass that was right
  std::uint64_t seen_ = 0;
  std::uint64_t below_ = 0;   // the bounds, in this pass
  std::uint64_t inside_ = 0;  // them
  std::uint64_t group_ = 1;
  std::uint64_t in_group_ = 0;  // items of the current group
  std::uint64_t chosen_ = 0;    // its item to be kept
  std::size_t kept_ = 0;
};

}  // namespace outsize::detail
