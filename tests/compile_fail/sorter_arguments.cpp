// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What sorter and sort refuse, each behind a macro; compiles without any.

#include <iterator>
#include <string>
#include <vector>

#include <outsize/algorithm/sort.hpp>
#include <outsize/algorithm/sorter.hpp>

struct point {
  int x, y;
};
struct by_x {
  bool operator()(point const& a, point const& b) const { return a.x < b.x; }
};
struct by_nothing {
  void operator()(point const&, point const&) const {}
};

using points = outsize::sorter<point, by_x>;

#ifdef SORTER_OF_STRINGS
using strings = outsize::sorter<std::string>;
#endif

#ifdef SORTER_OF_POINTERS
using pointers = outsize::sorter<point const*>;
#endif

#ifdef SORT_OF_STRINGS
void sort_strings(std::vector<std::string> const& in, std::vector<std::string>& out) {
  outsize::sort(in, std::back_inserter(out));
}
#endif

#ifdef COMPARATOR_OF_ANOTHER_TYPE
using words = outsize::sorter<double, by_x>;
#endif

#ifdef COMPARATOR_WITHOUT_RESULT
using unordered = outsize::sorter<point, by_nothing>;
#endif
