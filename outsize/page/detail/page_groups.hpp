// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Many operations at once, which have been sorted so that those that need the same page lie side by
// side: each page is needed once, and those of operations to come are on their way from disk, by
// themselves or several in one request.
//
//   operations:   3 7 | 12 | 20 21 25 | 31 | 33 …
//                 now  ▲   being read  ▲ listed ▲
//
// Threads: as the functions that are called. Layer: page.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include <outsize/page/detail/page_row.hpp>

namespace outsize::detail {

/// Operations that need the same page: from the end of the group before to `end` - 1.
struct page_group {
  std::uint64_t page;
  std::size_t end;
};

/// The groups of operations 0 to count - 1, in order, and what is on its way for them.
class page_group_queue {
 public:
  /// @param most  What may be on its way at the same time; at least one request.
  page_group_queue(std::size_t count, page_row::ahead most)
      : count_(count), room_{most.runs, std::max<std::size_t>(most.pages, 1)} {}

  bool empty() const noexcept { return first_ == pages_.size() && listed_until() == count_; }
  /// Asks for as much as there is room for.
  /// @param list  Called with the first operation of each group, long before its turn: returns the
  /// group.
  /// @param ask   Called with pages in the order of their use, and what may still be on its way:
  /// begins to read the first of them, and returns of how many that was one request; or 0, if it
  /// is one for which there is no room.
  template <typename List, typename Ask>
  void ask_ahead(List list, Ask ask) {
    if (!under_way_.empty() && under_way_.front().groups == 0) {
      ++(under_way_.front().is_run ? room_.runs : room_.pages);
      under_way_.pop_front();
    }
    for (;;) {
      while (pages_.size() - asked_ < most_listed && listed_until() < count_) {
        page_group const next = list(listed_until());
        pages_.push_back(next.page);
        ends_.push_back(next.end);
      }
      auto const not_asked = std::span<std::uint64_t const>(pages_).subspan(asked_);
      std::size_t const asked = not_asked.empty() ? 0 : ask(not_asked, room_);
      if (asked == 0) return;
      asked_ += asked;
      under_way_.push_back({asked, asked > 1});
      --(asked > 1 ? room_.runs : room_.pages);
    }
  }
  /// Takes the first group, which has been dealt with when ask_ahead() is called again.
  /// @pre it has been asked for.
  page_group take() {
    page_group const first{pages_[first_], ends_[first_]};
    ++first_;
    --under_way_.front().groups;
    if (first_ >= most_taken) forget_taken();
    return first;
  }

 private:
  // As many as one request has room for, about; more would only be known earlier.
  static constexpr std::size_t most_listed = 512;
  static constexpr std::size_t most_taken = 4096;

  struct request {
    std::size_t groups;  // that are left
    bool is_run;         // of several pages
  };

  std::size_t listed_until() const noexcept { return ends_.empty() ? taken_until_ : ends_.back(); }
  void forget_taken() {
    taken_until_ = ends_[first_ - 1];
    pages_.erase(pages_.begin(), pages_.begin() + static_cast<std::ptrdiff_t>(first_));
    ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(first_));
    asked_ -= first_;
    first_ = 0;
  }

  std::size_t count_;
  page_row::ahead room_;
  std::vector<std::uint64_t> pages_;  // of groups that are listed, and some that were taken
  std::vector<std::size_t> ends_;     // of the same
  std::size_t taken_until_ = 0;       // by those that are forgotten
  std::size_t first_ = 0;             // of pages_, that is not taken
  std::size_t asked_ = 0;             // of pages_, how many
  std::deque<request> under_way_;     // the first one perhaps used up
};

/// Calls deal(first, group) for all groups of operations 0 to count - 1, in order; when the pages
/// of those that follow have been asked for, as page_group_queue says.
template <typename List, typename Ask, typename Deal>
void for_each_page_group(std::size_t count, page_row::ahead most, List list, Ask ask, Deal deal) {
  page_group_queue groups(count, most);
  for (std::size_t i = 0; !groups.empty();) {
    groups.ask_ahead(list, ask);
    page_group const now = groups.take();
    deal(i, now);
    i = now.end;
  }
}

}  // namespace outsize::detail
