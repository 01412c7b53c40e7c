// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The table of letters is the only place that ties a letter to its member.
#include <outsize/text/ordering.hpp>

#include <array>
#include <stdexcept>

#include <fmt/format.h>

namespace outsize::text {
namespace {

struct option {
  char letter;
  bool ordering::*flag;
};

constexpr std::array<option, 11> options{{{'b', &ordering::blanks},
                                          {'d', &ordering::dictionary},
                                          {'f', &ordering::fold},
                                          {'g', &ordering::general},
                                          {'h', &ordering::human},
                                          {'i', &ordering::printable},
                                          {'M', &ordering::month},
                                          {'n', &ordering::numeric},
                                          {'R', &ordering::random},
                                          {'r', &ordering::reverse},
                                          {'V', &ordering::version}}};

// `b` and `r` go with everything, so the message leaves them out; `d` hides an `i`.
std::string conflicting_letters(ordering order) {
  order.blanks = false;
  order.reverse = false;
  if (order.dictionary) order.printable = false;
  std::string letters;
  for (auto const& [letter, flag] : options) {
    if (order.*flag) letters += letter;
  }
  return letters;
}

}  // namespace

bool ordering::is_default() const noexcept {
  ordering rest = *this;
  rest.reverse = false;
  return rest == ordering{};
}

bool set_option(ordering& order, char letter) noexcept {
  for (auto const& [name, flag] : options) {
    if (name == letter) {
      order.*flag = true;
      return true;
    }
  }
  return false;
}

void require_compatible(ordering const& order) {
  // A version may be read from filtered text, or it may be shuffled; a number or a month may not.
  bool const as_text = order.version || order.random || order.dictionary || order.printable;
  int const kinds =
      int{order.numeric} + int{order.general} + int{order.human} + int{order.month} + int{as_text};
  if (kinds > 1) {
    throw std::invalid_argument(
        fmt::format("options '-{}' are incompatible", conflicting_letters(order)));
  }
}

}  // namespace outsize::text
