// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Many operations at once, which have been sorted so that those that need the same page lie side by
// side: each page is needed once, and those of operations to come are on their way from disk.
//
//   operations:   3 7 | 12 | 20 21 25 | 31 …
//                 now    ▲ being read ▲
//
// Threads: as the functions that are called. Layer: container.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace outsize::detail {

/// Operations that need the same page: from the end of the group before to `end` - 1.
struct page_group {
  std::uint64_t page;
  std::size_t end;
};

/// Calls deal(first, group) for all groups of operations 0 to count - 1, in order; when the pages
/// of the `window` groups from that one on have been asked for.
/// @param ask  Called with the first operation of each group: begins to read its page, and returns
/// the group.
template <typename Ask, typename Deal>
void for_each_page_group(std::size_t count, std::size_t window, Ask ask, Deal deal) {
  window = std::max<std::size_t>(window, 1);
  std::deque<page_group> asked;
  for (std::size_t i = 0, ahead = 0; i < count;) {
    while (ahead < count && asked.size() < window) {
      asked.push_back(ask(ahead));
      ahead = asked.back().end;
    }
    page_group const now = asked.front();
    asked.pop_front();
    deal(i, now);
    i = now.end;
  }
}

}  // namespace outsize::detail
