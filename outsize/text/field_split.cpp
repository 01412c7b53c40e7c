// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/text/field_split.hpp>

#include <algorithm>
#include <cstddef>

#include <outsize/text/detail/byte_filter.hpp>

namespace outsize::text {
namespace {

void split_at_blanks(std::string_view line, std::vector<std::string_view>& fields) {
  auto const skip = [&](std::size_t at, bool blanks) {
    while (at < line.size() && is_blank(line[at]) == blanks) ++at;
    return at;
  };
  for (std::size_t begin = skip(0, true); begin < line.size();) {
    std::size_t const end = skip(begin, false);
    fields.push_back(line.substr(begin, end - begin));
    if (end == line.size()) return;
    begin = skip(end, true);
    if (begin == line.size()) fields.push_back(line.substr(begin));  // behind blanks at the end
  }
}

}  // namespace

void split_fields(std::string_view line, std::optional<char> separator,
                  std::vector<std::string_view>& fields) {
  fields.clear();
  if (line.empty()) return;
  if (!separator) return split_at_blanks(line, fields);
  if (*separator != whole_line_separator) {
    for (std::size_t end = line.find(*separator); end != std::string_view::npos;
         end = line.find(*separator)) {
      fields.push_back(line.substr(0, end));
      line.remove_prefix(end + 1);
    }
  }
  fields.push_back(line);
}

int compare_fields(std::string_view a, std::string_view b, bool fold) noexcept {
  if (!fold) return a.compare(b);
  std::size_t const common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    int const difference =
        static_cast<unsigned char>(to_upper(a[i])) - static_cast<unsigned char>(to_upper(b[i]));
    if (difference != 0) return difference;
  }
  return int{a.size() > b.size()} - int{a.size() < b.size()};
}

}  // namespace outsize::text
