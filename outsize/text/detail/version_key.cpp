// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Every step reads the text forwards through a cursor, so that a filter needs no copy of the text.
// The code is a sequence of bytes that compares as the text without suffix does, see prefix_writer.
#include <outsize/text/detail/version_key.hpp>

namespace outsize::text {
namespace {

template <typename Cursor>
bool at_digit(Cursor const& at) noexcept {
  return is_digit(at.value());
}

template <typename Cursor>
bool at_other_byte(Cursor const& at) noexcept {
  return !at.done() && !at_digit(at);
}

// The place of a byte that is no digit; the end of the run comes behind ~ only.
int constexpr rank_of_end = 1;

int rank_of_byte(char byte) noexcept {
  if (byte == '~') return 0;
  int const value = static_cast<unsigned char>(byte);
  return is_letter(byte) ? value : value + 256;
}

template <typename Cursor>
int rank(Cursor const& at) noexcept {
  return at_other_byte(at) ? rank_of_byte(at.value()) : rank_of_end;
}

template <typename Cursor>
void skip_zeros(Cursor& at) noexcept {
  while (at.value() == '0') at.next();
}

// Compares the numbers at `a` and `b`, both without leading zeros, and moves behind them.
template <typename Cursor>
int compare_numbers(Cursor& a, Cursor& b) noexcept {
  int first_difference = 0;
  for (; at_digit(a) && at_digit(b); a.next(), b.next()) {
    if (first_difference == 0) first_difference = a.value() - b.value();
  }
  if (at_digit(a)) return 1;
  if (at_digit(b)) return -1;
  return first_difference;
}

template <typename Cursor>
int compare_runs(Cursor a, Cursor b) noexcept {
  while (!a.done() || !b.done()) {
    for (; at_other_byte(a) || at_other_byte(b); a.next(), b.next()) {
      if (int const order = rank(a) - rank(b)) return order;
    }
    skip_zeros(a);
    skip_zeros(b);
    if (int const order = compare_numbers(a, b)) return order;
  }
  return 0;
}

// Returns whether a group of a suffix, a dot and a letter or ~, begins at `at`.
template <typename Cursor>
bool at_suffix_group(Cursor at) noexcept {
  if (at.value() != '.') return false;
  at.next();
  return is_letter(at.value()) || at.value() == '~';
}

// Returns where the longest suffix begins, which is at the front for a name like ".profile".
template <typename Cursor>
char const* suffix_of(Cursor at) noexcept {
  for (;;) {
    char const* const suffix = at.position();
    while (at_suffix_group(at)) {
      at.next();
      while (is_letter(at.value()) || at_digit(at) || at.value() == '~') at.next();
    }
    if (at.done()) return suffix;
    at.next();
  }
}

// What decides before any run is looked at.
enum class name_class { empty, dot, dot_dot, hidden, ordinary };

template <typename Cursor>
name_class class_of(Cursor at) noexcept {
  if (at.done()) return name_class::empty;
  if (at.value() != '.') return name_class::ordinary;
  at.next();
  if (at.done()) return name_class::dot;
  if (at.value() != '.') return name_class::hidden;
  at.next();
  return at.done() ? name_class::dot_dot : name_class::hidden;
}

template <typename Cursor>
int compare_names(Cursor a, Cursor b) noexcept {
  name_class const left = class_of(a);
  name_class const right = class_of(b);
  if (left != right) return left < right ? -1 : 1;
  if (left < name_class::hidden) return 0;
  int const order = compare_runs(a.until(suffix_of(a)), b.until(suffix_of(b)));
  return order != 0 ? order : compare_runs(a, b);
}

// Collects the bytes of a code: one for each other byte, which are few enough for it; for a number,
// and for none at the end of the text, the rank of the end, its count of digits and the digits.
class prefix_writer {
 public:
  bool full() const noexcept { return room_ == 0; }
  std::uint64_t result() const noexcept { return code_ << (8 * room_); }

  // Adds `raise` to the next byte, which saves ordinary names a byte for their class.
  void raise_next(int raise) noexcept { raise_ = raise; }

  void put(int byte) noexcept {
    if (full()) return;
    code_ = (code_ << 8) | static_cast<unsigned char>(byte + raise_);
    raise_ = 0;
    --room_;
  }

  // Closes the code with its largest end, so that it ties with all longer numbers.
  void put_overflow() noexcept {
    while (!full()) put(0xff);
  }

 private:
  std::uint64_t code_ = 0;
  int raise_ = 0;
  int room_ = 8;
};

// Maps ~, end, 52 letters and 193 others to 0...246, in their order.
int byte_code(char byte) noexcept {
  if (byte == '~') return 0;
  if (is_letter(byte)) return 2 + (byte >= 'a' ? byte - 'a' + 26 : byte - 'A');
  int const value = static_cast<unsigned char>(byte);
  int const skipped = (value > '9' ? 10 : 0) + (value > 'Z' ? 26 : 0) + (value > 'z' ? 26 : 0) +
                      (value > '~' ? 1 : 0);
  return 2 + 52 + value - skipped;
}

template <typename Cursor>
void put_number(prefix_writer& out, Cursor& at) noexcept {
  int constexpr most_digits = 255;
  skip_zeros(at);
  int digits = 0;
  for (Cursor ahead = at; at_digit(ahead) && digits < most_digits; ahead.next()) ++digits;
  out.put(rank_of_end);
  out.put(digits);
  if (digits == most_digits) return out.put_overflow();
  for (; at_digit(at) && !out.full(); at.next()) out.put(at.value() - '0');
}

template <typename Cursor>
std::uint64_t prefix_of(Cursor at) noexcept {
  prefix_writer out;
  name_class const what = class_of(at);
  int const code_of_class = static_cast<int>(what);
  if (what < name_class::hidden) {
    out.put(code_of_class);
    return out.result();
  }
  at = at.until(suffix_of(at));
  if (what == name_class::hidden) {
    out.put(code_of_class);
  } else {
    out.raise_next(code_of_class);
  }
  while (!out.full()) {
    for (; at_other_byte(at) && !out.full(); at.next()) out.put(byte_code(at.value()));
    put_number(out, at);
  }
  return out.result();
}

}  // namespace

int compare_version(std::string_view a, std::string_view b, byte_filter const* filter) noexcept {
  char const* const a_end = a.data() + a.size();
  char const* const b_end = b.data() + b.size();
  if (filter == nullptr) {
    return compare_names(raw_cursor(a.data(), a_end), raw_cursor(b.data(), b_end));
  }
  return compare_names(filtered_cursor(a.data(), a_end, *filter),
                       filtered_cursor(b.data(), b_end, *filter));
}

std::uint64_t version_prefix(std::string_view text, byte_filter const* filter) noexcept {
  char const* const end = text.data() + text.size();
  if (filter == nullptr) return prefix_of(raw_cursor(text.data(), end));
  return prefix_of(filtered_cursor(text.data(), end, *filter));
}

}  // namespace outsize::text
