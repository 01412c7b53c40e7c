// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Counter-based generation: mixed bits of an arithmetic progression. Changing anything
// here changes the golden hashes of generator_test.cpp, and with them every measurement's input.
//
// A line is, by three bits of its draw: one of 1024 lines (1 of 8), one of 16 prefixes of 20 to 83
// bytes and then text (1 of 8), or 4 to 11 random characters and then text (the rest). Text is
// words of 2 to 9 letters with single blanks between. Its length is uniform and cuts the last word
// off.
#include <tools/outsize/generator.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <outsize/base/detail/mixed_bits.hpp>
#include <tools/outsize/options.hpp>

namespace outsize::tool {
namespace {

using outsize::detail::mixed_bits;

constexpr std::uint64_t step = outsize::detail::mixed_step;

constexpr std::uint64_t asc_step_bits = 20;
constexpr std::uint64_t near_places = 1024;
constexpr std::uint64_t one_as_f64 = 0x3ff0'0000'0000'0000U;
constexpr std::uint64_t exponent_of_f64 = 0x7ff0'0000'0000'0000U;
constexpr std::uint64_t few_values = 16;
constexpr std::size_t zipf_ranks = 1 << 16;
constexpr unsigned zipf_index_bits = 16;

constexpr std::size_t pair_bytes = 16;
constexpr std::uint64_t triple_values = 4096;
constexpr std::size_t record_bytes = 100;
constexpr std::size_t line_min_bytes = 20;
constexpr std::size_t line_max_bytes = 200;
constexpr std::uint64_t line_pool = 1024;
constexpr std::uint64_t line_prefixes = 16;

/// Scales a draw to [0, bound).
constexpr std::uint64_t below(std::uint64_t bound, std::uint64_t draw) {
  return outsize::detail::scaled_bits(draw, bound);
}

/// Keys of sequences that must not meet although they come from one seed.
enum class purpose : std::uint64_t { few = 1, zipf, pool, prefix, word, same };

constexpr std::uint64_t derive(std::uint64_t key, purpose what) {
  return mixed_bits(key ^ static_cast<std::uint64_t>(what) * 0xd1342543de82ef95U);
}

/// Draws one after another for the inside of an item.
struct sequence {
  std::uint64_t state;
  std::uint64_t next() { return mixed_bits(state += step); }
};

void store_little(char* at, std::uint64_t value) {
  unsigned char bytes[8];
  for (unsigned i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(value >> (8 * i));
  std::memcpy(at, bytes, sizeof bytes);
}

/// Writes eight of the 64 characters '!' to '`', one for each byte of the draw.
void store_printable(char* at, std::uint64_t draw) {
  store_little(at, (draw & 0x3f3f3f3f3f3f3f3fU) + 0x2121212121212121U);
}

}  // namespace

std::string item_kind_list() {
  std::string list;
  for (auto const name : item_kind_names) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

item_kind parse_item_kind(std::string_view name) {
  auto const* found = std::ranges::find(item_kind_names, name);
  if (found != item_kind_names.end()) {
    return static_cast<item_kind>(found - item_kind_names.begin());
  }
  throw usage_error(fmt::format("unknown kind '{}'; there are {}", name, item_kind_list()));
}

generator::generator(item_kind kind, std::uint64_t seed)
    : kind_(kind), key_(mixed_bits(seed + step)) {
  if (kind == item_kind::u64_zipf) zipf_ = make_zipf_table();
  if (kind == item_kind::lines) words_ = make_word_table();
}

generator::zipf_table generator::make_zipf_table() {
  constexpr std::uint64_t unit = std::uint64_t{1} << 47;
  zipf_table table;
  std::uint64_t total = 0;
  for (std::uint64_t rank = 0; rank < zipf_ranks; ++rank) {
    table.cumulative.push_back(total += unit / (rank + 1));
  }
  std::uint32_t rank = 0;
  for (std::uint64_t entry = 0; entry < std::uint64_t{1} << zipf_index_bits; ++entry) {
    std::uint64_t const least = below(total, entry << (64 - zipf_index_bits));
    while (table.cumulative[rank] <= least) ++rank;
    table.first_rank.push_back(rank);
  }
  return table;
}

std::uint64_t generator::zipf_table::operator()(std::uint64_t draw) const noexcept {
  std::uint64_t const point = below(cumulative.back(), draw);
  std::uint64_t rank = first_rank[draw >> (64 - zipf_index_bits)];
  while (cumulative[rank] <= point) ++rank;
  return rank;
}

generator::word_table generator::make_word_table() {
  word_table table;
  table.slots.assign(table.lengths.size() * word_table::slot_bytes, ' ');
  sequence letters{static_cast<std::uint64_t>(purpose::word)};
  for (std::size_t word = 0; word < table.lengths.size(); ++word) {
    std::size_t const length = 2 + below(8, letters.next());
    table.lengths[word] = static_cast<std::uint8_t>(length + 1);
    char* const slot = table.slots.data() + word * word_table::slot_bytes;
    std::generate_n(slot, length,
                    [&] { return static_cast<char>('a' + below(26, letters.next())); });
  }
  return table;
}

void generator::word_table::write(std::uint64_t random_state, char* at,
                                  char const* end) const noexcept {
  sequence random{random_state};
  while (at < end) {
    std::uint64_t choices = random.next();
    for (int i = 0; i < 8 && at < end; ++i, choices >>= 8) {
      std::size_t const word = choices & 255;
      std::memcpy(at, slots.data() + word * slot_bytes, slot_bytes);
      at += lengths[word];
    }
  }
}

std::uint64_t generator::limit() const noexcept {
  constexpr std::uint64_t intervals = std::uint64_t{1} << (64 - asc_step_bits);
  switch (kind_) {
    case item_kind::u64_asc:
    case item_kind::u64_desc:
      return intervals;
    case item_kind::u64_near:
      return intervals - near_places;
    default:
      return std::numeric_limits<std::uint64_t>::max();
  }
}

std::size_t generator::buffer_bytes(std::size_t count) const noexcept {
  switch (kind_) {
    case item_kind::pairs:
    case item_kind::triples:
      return count * pair_bytes;
    case item_kind::records:
      return count * record_bytes;
    case item_kind::lines:
      return count * line_max_bytes + word_table::slot_bytes;
    default:
      return count * sizeof(std::uint64_t);
  }
}

std::size_t generator::write(std::uint64_t first, std::size_t count, char* into) const noexcept {
  char* at = into;
  for (std::uint64_t i = first; i < first + count; ++i) {
    switch (kind_) {
      case item_kind::pairs:
      case item_kind::triples:
        at = write_pair(i, at);
        break;
      case item_kind::records:
        at = write_record(i, at);
        break;
      case item_kind::lines:
        at = write_line(i, at);
        break;
      default:
        store_little(at, number(i));
        at += sizeof(std::uint64_t);
    }
  }
  return static_cast<std::size_t>(at - into);
}

std::uint64_t generator::draw(std::uint64_t index) const noexcept {
  return mixed_bits(key_ + index * step);
}

std::uint64_t generator::number(std::uint64_t index) const noexcept {
  std::uint64_t const random = draw(index);
  // One item in each interval of 2^20 numbers.
  std::uint64_t const ascending = index << asc_step_bits | random >> (64 - asc_step_bits);
  switch (kind_) {
    case item_kind::u64_asc:
      return ascending;
    case item_kind::u64_desc:
      return ~ascending;
    case item_kind::u64_near:
      return ascending + (random % near_places << asc_step_bits);
    case item_kind::u64_few:
      return mixed_bits(derive(key_, purpose::few) + random % few_values);
    case item_kind::u64_zipf:
      return mixed_bits(derive(key_, purpose::zipf) + zipf_(random));
    case item_kind::u64_same:
      return derive(key_, purpose::same);
    case item_kind::f64:
      return (random & ~exponent_of_f64) | one_as_f64;
    default:
      return random;
  }
}

char* generator::write_pair(std::uint64_t index, char* into) const noexcept {
  std::uint64_t const key = draw(index);
  std::uint64_t const values = mixed_bits(key);
  std::uint64_t const small = below(triple_values, values << 32) | below(triple_values, values)
                                                                       << 32;
  store_little(into, key);
  store_little(into + sizeof key, kind_ == item_kind::pairs ? index : small);
  return into + pair_bytes;
}

char* generator::write_record(std::uint64_t index, char* into) const noexcept {
  constexpr char digits[] = "0123456789abcdef";
  sequence random{draw(index)};
  for (std::size_t at = 0; at < record_bytes - 8; at += 8)
    store_printable(into + at, random.next());
  store_printable(into + record_bytes - 8, random.next());
  into[10] = ' ';
  for (unsigned i = 0; i < 16; ++i) into[11 + i] = digits[index >> (60 - 4 * i) & 15];
  into[27] = ' ';
  into[record_bytes - 1] = '\n';
  return into + record_bytes;
}

char* generator::write_line(std::uint64_t index, char* into) const noexcept {
  std::uint64_t self = draw(index);
  std::uint64_t const shape = self % 8;
  if (shape == 0) self = derive(key_, purpose::pool) + self / 8 % line_pool;
  sequence random{self};

  std::uint64_t const head = random.next();
  std::size_t const length = line_min_bytes + below(line_max_bytes - line_min_bytes + 1, head) - 1;
  char* at = into;
  char* const end = into + length;
  // What is written past the end is covered by the newline and the next line.
  if (shape == 1) {
    std::uint64_t const prefix = mixed_bits(derive(key_, purpose::prefix) + head % line_prefixes);
    at += std::min<std::size_t>(20 + prefix % 64, length);
    words_.write(prefix, into, at);
  } else {
    store_printable(at, random.next());
    store_printable(at + 8, random.next());
    at += 4 + head % 8;
    *at++ = ' ';
  }
  words_.write(random.next(), at, end);
  *end = '\n';
  return end + 1;
}

}  // namespace outsize::tool
