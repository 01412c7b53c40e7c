// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Words that an option takes, as --sort=numeric. A pure function of its arguments. Layer: tools.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tools/outsize/options.hpp>

namespace outsize::tool {

/// A word and what it stands for.
template <typename Meaning>
struct option_word {
  std::string_view word;
  Meaning meaning;
};

/// Returns the place of the word that `text` is, or of the only one that begins with it.
///
/// Errors:  usage_error naming the option, the text and all words.
std::size_t find_word(std::vector<std::string_view> const& words, std::string_view option,
                      std::string_view text);

/// Returns what `text` stands for. As names of options, words may be abbreviated.
///
/// Errors:  usage_error naming the option, the text and all words.
template <typename Meaning, std::size_t Count>
Meaning meaning_of(std::array<option_word<Meaning>, Count> const& words, std::string_view option,
                   std::string_view text) {
  std::vector<std::string_view> names(Count);
  std::ranges::transform(words, names.begin(), &option_word<Meaning>::word);
  return words[find_word(names, option, text)].meaning;
}

}  // namespace outsize::tool
