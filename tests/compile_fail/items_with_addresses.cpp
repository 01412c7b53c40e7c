// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Items that hold addresses, given to all that keeps items, behind two macros. Compiles without
// these, as the user can vouch for a type.

#include <functional>
#include <iterator>
#include <string_view>
#include <vector>

#include <outsize/algorithm/is_sorted.hpp>
#include <outsize/algorithm/merge.hpp>
#include <outsize/algorithm/nth_element.hpp>
#include <outsize/algorithm/reduce_by_key.hpp>
#include <outsize/algorithm/sort.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/algorithm/top_k.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/block/typed_block.hpp>
#include <outsize/container/deque.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/migrating_stack.hpp>
#include <outsize/container/queue.hpp>
#include <outsize/container/sequence.hpp>
#include <outsize/container/set.hpp>
#include <outsize/container/stack.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>

template <int place>
struct named {
  int number;
  std::string_view name;
  friend bool operator<(named const& a, named const& b) { return a.number < b.number; }
};

// The user knows that these names are of the program's own text, say.
template <>
inline constexpr bool outsize::enable_external_item<named<0>> = true;

inline void keep(outsize::storage& store) {
  outsize::vector<named<0>> v(store);
  outsize::sorter<named<0>> s(store);
}

#ifdef ALGORITHMS
inline void sort_all(std::vector<named<2>> two, std::vector<named<3>> three,
                     std::vector<named<4>> four, std::vector<std::vector<named<5>>> five,
                     std::vector<named<6>> six, std::vector<named<7>> seven) {
  auto const first = [](auto const& a, auto const&) { return a; };
  outsize::sort(two, two.begin());
  (void)outsize::is_sorted(three);
  outsize::top_k(four, four.begin(), 3);
  outsize::merge(five, five[0].begin());
  outsize::reduce_by_key(six, six.begin(), std::less<>(), first);
  (void)outsize::nth_element(seven, 3);
}
using sorted = outsize::sorter<named<1>>;
inline auto const file = outsize::items<named<8>>("file");
using block = outsize::block::typed_block<named<9> const>;
#endif

#ifdef CONTAINERS
inline void keep_all(outsize::storage& store) {
  outsize::vector<named<1>> v(store);
  outsize::deque<named<2>> d(store);
  outsize::stack<named<3>> s(store);
  outsize::queue<named<4>> q(store);
  outsize::sequence<named<5>> n(store);
  outsize::set<named<6>> keys(store);
  outsize::map<int, named<7>> values(store);
}
using hashed = outsize::unordered_map<int, named<8>>;
using migrating = outsize::migrating_stack<named<9>>;
#endif
