// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Types, operations and buffers of the random program.

#include "items.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace random_program {
namespace {

constexpr std::byte guard{0xa5};

template <typename T>
T number_for(operation folded_by, random_numbers& random, int ranks) {
  std::uint64_t drawn = random.next();
  if constexpr (std::is_floating_point_v<T>) {
    static constexpr T factors[] = {1, -1, 2, T(0.5)};  // up to 64 of them stay far from overflow
    if (folded_by == operation::product) return factors[drawn & (ranks <= 64 ? 3 : 1)];
    return static_cast<T>(static_cast<int>(drawn % 2001) - 1000);
  } else {
    // Only these wrap as in C everywhere: Open MPI saturates narrow sums in vectors.
    if (std::is_unsigned_v<T> && sizeof(T) >= 4) return static_cast<T>(drawn);
    if (std::is_unsigned_v<T> && folded_by == operation::product)
      return static_cast<T>(drawn % 16 != 0);
    if (folded_by == operation::product) return static_cast<T>(1 - static_cast<int>(drawn & 2));
    if (folded_by == operation::logical) return static_cast<T>(drawn % 3);
    if (folded_by != operation::sum) return static_cast<T>(drawn);
    auto limit = static_cast<std::uint64_t>(std::numeric_limits<T>::max()) /
                 static_cast<std::uint64_t>(ranks);
    auto magnitude = static_cast<std::int64_t>(limit == 0 ? 0 : drawn / 2 % limit);
    bool is_negative = std::is_signed_v<T> && (drawn >> 63) != 0;
    return static_cast<T>(is_negative ? -magnitude : magnitude);
  }
}

template <typename T>
std::uint64_t bits_of(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

template <typename T>
void store_number(std::byte* at, operation folded_by, random_numbers& random, int ranks) {
  T value = number_for<T>(folded_by, random, ranks);
  std::memcpy(at, &value, sizeof value);
}

void store_truth(std::byte* at, operation, random_numbers& random, int) {
  bool value = random.one_in(2);
  std::memcpy(at, &value, sizeof value);
}

template <typename T>
std::uint64_t hash_number(std::byte const* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return bits_of(value);
}

template <typename T>
struct value_and_place {
  T value;
  int place;
};

// Few values, so that places decide.
template <typename T>
void store_pair(std::byte* at, operation, random_numbers& random, int) {
  value_and_place<T> pair{static_cast<T>(random.below(5)), random.below(1000)};
  std::memcpy(at, &pair, sizeof pair);
}

template <typename T>
std::uint64_t hash_pair(std::byte const* at) {
  value_and_place<T> pair;
  std::memcpy(&pair, at, sizeof pair);
  return mix(bits_of(pair.value)) ^ static_cast<std::uint64_t>(pair.place);
}

template <typename T>
item_type integer(MPI_Datatype handle) {
  using enum operation;
  return {handle,
          sizeof(T),
          store_number<T>,
          hash_number<T>,
          {sum, product, maximum, minimum, bit, logical}};
}

template <typename T>
item_type real(MPI_Datatype handle) {
  using enum operation;
  return {handle, sizeof(T), store_number<T>, hash_number<T>, {sum, product, maximum, minimum}};
}

template <typename T>
item_type pair(MPI_Datatype handle) {
  return {handle, sizeof(value_and_place<T>), store_pair<T>, hash_pair<T>, {operation::location}};
}

std::vector<item_type> make_types() {
  using uc = unsigned char;
  return {
      integer<signed char>(MPI_SIGNED_CHAR),
      integer<uc>(MPI_UNSIGNED_CHAR),
      integer<short>(MPI_SHORT),
      integer<unsigned short>(MPI_UNSIGNED_SHORT),
      integer<int>(MPI_INT),
      integer<unsigned>(MPI_UNSIGNED),
      integer<long>(MPI_LONG),
      // Open MPI 4.1.4 compares these as if they had a sign.
      {MPI_UNSIGNED_LONG,
       sizeof(unsigned long),
       store_number<unsigned long>,
       hash_number<unsigned long>,
       {operation::sum, operation::product, operation::bit, operation::logical}},
      integer<long long>(MPI_LONG_LONG),
      integer<unsigned long long>(MPI_UNSIGNED_LONG_LONG),
      integer<std::int8_t>(MPI_INT8_T),
      integer<std::int16_t>(MPI_INT16_T),
      integer<std::int32_t>(MPI_INT32_T),
      integer<std::int64_t>(MPI_INT64_T),
      integer<std::uint8_t>(MPI_UINT8_T),
      integer<std::uint16_t>(MPI_UINT16_T),
      integer<std::uint32_t>(MPI_UINT32_T),
      integer<std::uint64_t>(MPI_UINT64_T),
      real<float>(MPI_FLOAT),
      real<double>(MPI_DOUBLE),
      real<long double>(MPI_LONG_DOUBLE),
      {MPI_C_BOOL, 1, store_truth, hash_number<uc>, {operation::logical}},
      {MPI_BYTE, 1, store_number<uc>, hash_number<uc>, {operation::bit}},
      {MPI_CHAR, 1, store_number<uc>, hash_number<uc>, {}},
      {MPI_WCHAR, sizeof(wchar_t), store_number<wchar_t>, hash_number<wchar_t>, {}},
      pair<float>(MPI_FLOAT_INT),
      pair<double>(MPI_DOUBLE_INT),
      pair<long>(MPI_LONG_INT),
      pair<int>(MPI_2INT),
      pair<short>(MPI_SHORT_INT),
      pair<long double>(MPI_LONG_DOUBLE_INT),
  };
}

std::vector<item_type> const& types() {
  static std::vector<item_type> const all = make_types();
  return all;
}

MPI_Op draw_op(operation kind, random_numbers& random) {
  MPI_Op bits[] = {MPI_BAND, MPI_BOR, MPI_BXOR}, logic[] = {MPI_LAND, MPI_LOR, MPI_LXOR};
  switch (kind) {
    case operation::sum:
      return MPI_SUM;
    case operation::product:
      return MPI_PROD;
    case operation::maximum:
      return MPI_MAX;
    case operation::minimum:
      return MPI_MIN;
    case operation::bit:
      return bits[random.below(3)];
    case operation::logical:
      return logic[random.below(3)];
    default:
      return random.one_in(2) ? MPI_MAXLOC : MPI_MINLOC;
  }
}

}  // namespace

item_type const& draw_type(random_numbers& random) {
  return types()[static_cast<std::size_t>(random.below(static_cast<int>(types().size())))];
}

reduction draw_reduction(random_numbers& random) {
  for (;;) {
    item_type const& type = draw_type(random);
    if (type.operations.empty()) continue;
    int count = static_cast<int>(type.operations.size());
    operation kind = type.operations[static_cast<std::size_t>(random.below(count))];
    return {&type, kind, draw_op(kind, random)};
  }
}

layout::layout(std::vector<int> const& block_counts, random_numbers& random)
    : counts(block_counts), places(block_counts.size()) {
  for (int block : random.permutation(static_cast<int>(counts.size()))) {
    items += random.one_in(3) ? random.below(5) : 0;
    places[static_cast<std::size_t>(block)] = items;
    items += counts[static_cast<std::size_t>(block)];
  }
}

pair_items::pair_items(scene& s, bool symmetric)
    : key_(s.group.next()),
      ranks_(s.on.size),
      most_((s.group.one_in(10) ? 1 << 17 : 1 << 11) / ranks_ + 2),
      symmetric_(symmetric) {}

int pair_items::between(int source, int destination) const {
  if (symmetric_ && source > destination) std::swap(source, destination);
  random_numbers random(key_ ^ static_cast<std::uint64_t>(source * ranks_ + destination));
  return random.one_in(4) ? 0 : random.skewed(most_);
}

std::vector<int> pair_items::of_rank(int source) const {
  std::vector<int> result;
  for (int other = 0; other < ranks_; ++other) result.push_back(between(source, other));
  return result;
}

std::vector<int> pair_items::to_rank(int destination) const {
  std::vector<int> result;
  for (int other = 0; other < ranks_; ++other) result.push_back(between(other, destination));
  return result;
}

buffer::buffer(item_type const& type, int items)
    : type_(&type), items_(items), bytes_(static_cast<std::size_t>(items) * type.bytes, guard) {}

void buffer::fill(random_numbers random, operation folded_by, int ranks) {
  for (int i = 0; i < items_; ++i)
    type_->store(static_cast<std::byte*>(at(i)), folded_by, random, ranks);
}

void buffer::fill_part(int first, int count, random_numbers random) {
  for (int i = first; i < first + count; ++i)
    type_->store(static_cast<std::byte*>(at(i)), operation::maximum, random, 1);
}

std::uint64_t buffer::hash(int first, int count) const {
  std::uint64_t result = static_cast<std::uint64_t>(count);
  for (int i = first; i < first + count; ++i)
    result = mix(result ^ type_->hash(bytes_.data() + static_cast<std::size_t>(i) * type_->bytes));
  return result;
}

std::uint64_t buffer::hash(layout const& blocks) const {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < blocks.counts.size(); ++i)
    result = mix(result ^ hash(blocks.places[i], blocks.counts[i]));
  return result;
}

void buffer::check_gaps(layout const& blocks) const {
  std::vector<bool> covered(static_cast<std::size_t>(items_));
  for (std::size_t i = 0; i < blocks.counts.size(); ++i)
    std::fill_n(covered.begin() + blocks.places[i], blocks.counts[i], true);
  for (std::size_t i = 0; i < bytes_.size(); ++i)
    check(covered[i / type_->bytes] || bytes_[i] == guard, "gaps between blocks are left alone");
}

}  // namespace random_program
