// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/option_words.hpp>

#include <fmt/format.h>

namespace outsize::tool {

std::size_t find_word(std::vector<std::string_view> const& words, std::string_view option,
                      std::string_view text) {
  auto const begins = [text](std::string_view word) { return word.starts_with(text); };
  auto found = std::ranges::find(words, text);
  if (found == words.end() && std::ranges::count_if(words, begins) == 1)
    found = std::ranges::find_if(words, begins);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());

  auto const last = words.end() - 1;
  throw usage_error(fmt::format("{} '{}' is {}; there are {} and {}", option, text,
                                std::ranges::any_of(words, begins) ? "ambiguous" : "unknown",
                                fmt::join(words.begin(), last, ", "), *last));
}

}  // namespace outsize::tool
