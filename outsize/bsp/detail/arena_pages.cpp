// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/arena_pages.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

#include <outsize/base/units.hpp>

namespace outsize::bsp::detail {

namespace {

constexpr std::uint32_t pages_of_slab = 16;
constexpr std::uint32_t fan_out = 16;  // of the tree over longest runs

}  // namespace

arena_tables::arena_tables(std::uint64_t page_count) noexcept {
  auto const add = [this](std::uint64_t table_bytes) {
    std::uint64_t const at = bytes;
    bytes += round_up(table_bytes, std::uint64_t{64});
    return at;
  };
  std::uint64_t const words = div_up(page_count, std::uint64_t{64});
  add(8 * words);
  notes = add(4 * page_count);
  std::uint64_t size = words;
  for (;; ++top_of_runs) {
    std::uint64_t const above = div_up(size, std::uint64_t{fan_out});
    longest_runs[top_of_runs] = add(4 * above * fan_out);
    if (above == 1) break;
    size = above;
  }
  size = div_up(page_count, std::uint64_t{pages_of_slab});
  for (;; ++top_of_slabs) {
    size = div_up(size, std::uint64_t{64});
    open_slabs[top_of_slabs] = add(8 * open_slabs::class_count * size);
    if (size == 1) break;
  }
}

// ---- runs of pages ----

arena_runs::arena_runs(std::byte* tables, arena_tables const& at, std::uint32_t page_count,
                       std::uint64_t base_page) noexcept
    : used_(at_offset<std::uint64_t>(tables, 0)),
      notes_(at_offset<std::uint32_t>(tables, at.notes)),
      top_(at.top_of_runs),
      page_count_(page_count),
      base_page_(base_page) {
  for (unsigned level = 0; level <= top_; ++level)
    longest_[level] = at_offset<std::uint32_t>(tables, at.longest_runs[level]);
  note_free(0, page_count);
  refresh(0);
}

std::uint64_t arena_runs::free_bits(std::uint32_t word) const noexcept {
  std::uint32_t const beyond = (word + 1) * 64 > page_count_ ? (word + 1) * 64 - page_count_ : 0;
  return ~used_[word] & (~std::uint64_t{0} >> beyond);
}

/// Bits of pages where runs of free ones begin.
std::uint64_t arena_runs::run_beginnings(std::uint32_t word) const noexcept {
  std::uint64_t const bits = free_bits(word);
  std::uint64_t const before = word == 0 ? 0 : ~used_[word - 1] >> 63;
  return bits & ~(bits << 1 | before);
}

void arena_runs::mark(std::uint32_t first, std::uint32_t count, bool is_used) noexcept {
  while (count > 0) {
    std::uint32_t const begin = first % 64;
    std::uint32_t const length = std::min(count, 64 - begin);
    std::uint64_t const bits = ~std::uint64_t{0} >> (64 - length) << begin;
    std::uint64_t& word = used_[first / 64];
    word = is_used ? word | bits : word & ~bits;
    first += length;
    count -= length;
  }
}

/// Notes at the arena's end are never read, and would touch the end of the table.
void arena_runs::note_free(std::uint32_t first, std::uint32_t count) noexcept {
  notes_[first] = count;
  if (first + count < page_count_) notes_[first + count - 1] = count;
}

/// Brings the tree up to date with the runs that begin in 64 pages.
void arena_runs::refresh(std::uint32_t word) noexcept {
  std::uint32_t longest = 0;
  for (std::uint64_t bits = run_beginnings(word); bits != 0; bits &= bits - 1)
    longest = std::max(longest, notes_[word * 64 + lowest_bit(bits)]);
  std::uint32_t index = word;
  for (unsigned level = 0; longest_[level][index] != longest; ++level) {
    longest_[level][index] = longest;
    if (level == top_) return;
    index /= fan_out;
    std::uint32_t const* const below = longest_[level] + index * fan_out;
    longest = *std::max_element(below, below + fan_out);
  }
}

/// The lowest run in 64 pages that does not begin before a page and is long enough.
std::uint32_t arena_runs::run_in(std::uint32_t word, std::uint32_t from_page,
                                 std::uint64_t count) const noexcept {
  for (std::uint64_t bits = run_beginnings(word); bits != 0; bits &= bits - 1) {
    std::uint32_t const run = word * 64 + lowest_bit(bits);
    if (run >= from_page && notes_[run] >= count) return run;
  }
  return none;
}

/// The first of the words from one on in which a run begins that is long enough.
std::uint32_t arena_runs::next_word(std::uint32_t from_word, std::uint64_t count) const noexcept {
  unsigned level = 0;
  std::uint32_t index = from_word;
  for (; level < top_ && index % fan_out == 0; ++level) index /= fan_out;
  while (longest_[level][index] < count) {
    ++index;
    for (; level < top_ && index % fan_out == 0; ++level) index /= fan_out;
    if (level == top_ && index == fan_out) return none;
  }
  while (level > 0) {
    index *= fan_out;
    --level;
    while (longest_[level][index] < count) ++index;
  }
  return index;
}

std::uint32_t arena_runs::next_run(std::uint32_t from_page, std::uint64_t count) const noexcept {
  std::uint32_t word = from_page / 64;
  if (word == word_count()) return none;
  if (std::uint32_t const run = run_in(word, from_page, count); run != none) return run;
  if (++word == word_count()) return none;
  word = next_word(word, count);
  return word == none ? none : run_in(word, 0, count);
}

arena_runs::place arena_runs::find(std::uint64_t count, std::uint64_t alignment) const noexcept {
  constexpr unsigned most_tries = 64;
  auto const aligned = [this, alignment](std::uint32_t run) {
    return round_up(base_page_ + run, alignment) - base_page_;
  };
  std::uint32_t run = next_run(0, count);
  for (unsigned tries = 1; run != none; ++tries) {
    std::uint64_t const first = aligned(run);
    if (first + count > page_count_) break;
    if (first + count <= std::uint64_t{run} + notes_[run])
      return {run, static_cast<std::uint32_t>(first)};
    std::uint32_t const sure = tries == most_tries ? next_run(run, count + alignment - 1) : none;
    run = sure != none ? sure : next_run(run + 1, count);
  }
  return {};
}

void arena_runs::take(place at, std::uint32_t count) noexcept {
  std::uint32_t const end = at.run + notes_[at.run];
  std::uint32_t const behind = at.first + count;
  notes_[at.run] = 0;
  if (end < page_count_) notes_[end - 1] = 0;
  mark(at.first, count, true);
  if (at.run < at.first) note_free(at.run, at.first - at.run);
  if (behind < end) note_free(behind, end - behind);
  refresh(at.run / 64);
  if (behind < page_count_ && behind / 64 != at.run / 64) refresh(behind / 64);
  used_count_ += count;
}

void arena_runs::give(std::uint32_t first, std::uint32_t count) noexcept {
  std::uint32_t begin = first;
  std::uint32_t const behind = first + count;
  std::uint32_t const end = behind + free_behind_used(behind);
  notes_[first] = 0;
  if (behind < end) notes_[behind] = 0;
  if (end < page_count_ && behind < end) notes_[end - 1] = 0;
  if (begin > 0 && is_free(begin - 1)) {
    begin -= notes_[begin - 1];
    notes_[first - 1] = 0;
  }
  mark(first, count, false);
  note_free(begin, end - begin);
  refresh(begin / 64);
  if (behind < page_count_ && behind / 64 != begin / 64) refresh(behind / 64);
  used_count_ -= count;
}

// ---- slabs that have free objects ----

open_slabs::open_slabs(std::byte* tables, arena_tables const& at) noexcept : top_(at.top_of_slabs) {
  for (unsigned level = 0; level <= top_; ++level)
    levels_[level] = at_offset<std::uint64_t>(tables, at.open_slabs[level]);
}

void open_slabs::add(std::uint32_t kind, std::uint32_t slab) noexcept {
  bool goes_on = true;
  for (unsigned level = 0; level <= top_ && goes_on; ++level, slab /= 64) {
    std::uint64_t& bits = word(level, kind, slab / 64);
    goes_on = bits == 0;
    bits |= std::uint64_t{1} << slab % 64;
  }
}

void open_slabs::remove(std::uint32_t kind, std::uint32_t slab) noexcept {
  bool goes_on = true;
  for (unsigned level = 0; level <= top_ && goes_on; ++level, slab /= 64) {
    std::uint64_t& bits = word(level, kind, slab / 64);
    bits &= ~(std::uint64_t{1} << slab % 64);
    goes_on = bits == 0;
  }
}

std::uint32_t open_slabs::lowest(std::uint32_t kind) const noexcept {
  if (word(top_, kind, 0) == 0) return none;
  std::uint32_t index = 0;
  for (unsigned level = top_ + 1; level-- > 0;)
    index = index * 64 + lowest_bit(word(level, kind, index));
  return index;
}

}  // namespace outsize::bsp::detail
