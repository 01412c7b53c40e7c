// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/arena_heap.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include <outsize/base/units.hpp>

namespace outsize::bsp::detail {
namespace {

constexpr std::uint32_t page_size = arena_heap::page_bytes;
constexpr std::uint32_t slab_size = arena_heap::slab_bytes;
constexpr std::uint32_t slab_pages = slab_size / page_size;
constexpr std::uint32_t class_count = open_slabs::class_count;
constexpr std::uint32_t slab_note = 1U << 31;  // | class; notes of other runs are lengths
constexpr std::uint32_t whole_pages = 255;     // instead of a class
constexpr std::uint32_t no_kind = 256;         // for a wrong pointer
constexpr std::uint32_t slab_head_bytes = 16;  // before the bits of free objects
constexpr std::uint32_t most_small_alignment = 2048;

/// The objects of a slab of one class: `count` ones of `bytes`, the first one at `first`. Offsets
/// are divided by `bytes` as they are multiplied by `reciprocal` and shifted by 32.
struct size_class {
  std::uint32_t bytes;
  std::uint32_t first;
  std::uint32_t count;
  std::uint32_t alignment;
  std::uint64_t reciprocal;
};

constexpr size_class make_class(std::uint32_t bytes, std::uint32_t most_alignment) {
  std::uint32_t const alignment = std::min(bytes & (~bytes + 1), most_alignment);
  std::uint32_t const words = div_up(slab_size / bytes, 64U);
  std::uint32_t const first = round_up(slab_head_bytes + 8 * words, alignment);
  return {.bytes = bytes,
          .first = first,
          .count = (slab_size - first) / bytes,
          .alignment = alignment,
          .reciprocal = (std::uint64_t{1} << 32) / bytes + 1};
}

struct size_classes {
  size_class of[class_count];
  std::uint8_t by_units[1024];  // of 16 bytes, rounded up
  std::uint32_t most_bytes;
};

/// Multiples of 16 up to 128, then eight sizes between powers of two, then fractions of a slab.
/// Sizes for which whole pages take less get these.
constexpr size_classes make_classes() {
  size_classes all{};
  std::uint32_t kind = 0;
  for (std::uint32_t bytes = 16; bytes < 128; bytes += 16)
    all.of[kind++] = make_class(bytes, most_small_alignment);
  for (std::uint32_t bytes = 128; bytes < 4096; bytes += std::bit_floor(bytes) / 8)
    all.of[kind++] = make_class(bytes, most_small_alignment);
  for (std::uint32_t count = 16; count >= 5; --count)
    all.of[kind++] = make_class(round_down((slab_size - 64) / count, 64U), 64);
  all.most_bytes = all.of[class_count - 1].bytes;
  for (std::uint32_t units = 0, at = 0; units * 16 <= all.most_bytes; ++units) {
    while (all.of[at].bytes < units * 16) ++at;
    bool const are_pages_better = round_up(units * 16, page_size) < all.of[at].bytes;
    all.by_units[units] =
        static_cast<std::uint8_t>(are_pages_better && units > 0 ? whole_pages : at);
  }
  return all;
}

constexpr size_classes classes = make_classes();
static_assert(classes.of[class_count - 1].bytes == 13056 && classes.of[class_count - 1].count == 5);

/// The class of a request, or `whole_pages`.
std::uint32_t kind_of(std::size_t bytes, std::size_t alignment) {
  std::size_t const least = alignment <= 16 ? bytes : std::max(bytes, alignment);
  if (least > classes.most_bytes || alignment > most_small_alignment) return whole_pages;
  std::uint32_t kind = classes.by_units[(least + 15) / 16];
  while (kind < class_count && classes.of[kind].alignment < alignment) ++kind;
  return kind < class_count ? kind : whole_pages;
}

}  // namespace

/// The head of a slab: which objects are free, and which words of these bits are not 0.
struct arena_heap::slab {
  std::uint64_t open_words;
  std::uint64_t free_count;

  std::uint64_t* free_bits() noexcept { return at_offset<std::uint64_t>(bytes(), slab_head_bytes); }
  std::byte* bytes() noexcept { return static_cast<std::byte*>(static_cast<void*>(this)); }
};

/// Where a pointer leads: to an object of a slab, or to the first page of a run.
struct arena_heap::target {
  std::uint32_t kind = no_kind;
  std::uint32_t index = 0;
  slab* home = nullptr;
};

std::size_t arena_heap::table_bytes(std::uint64_t arena_bytes) noexcept {
  return arena_tables(arena_bytes / page_bytes).bytes;
}

arena_heap::arena_heap(std::byte* arena, std::uint64_t arena_bytes, std::byte* tables,
                       arena_owner const& owner) noexcept
    : arena_(arena),
      arena_bytes_(arena_bytes),
      owner_(owner),
      runs_(tables, arena_tables(arena_bytes / page_bytes),
            static_cast<std::uint32_t>(arena_bytes / page_bytes),
            reinterpret_cast<std::uintptr_t>(arena) / page_bytes),
      open_(tables, arena_tables(arena_bytes / page_bytes)) {}

arena_heap::slab* arena_heap::slab_at(std::uint32_t index) const noexcept {
  return at_offset<slab>(arena_, std::uint64_t{index} * slab_bytes);
}

[[gnu::cold]] arena_heap::target arena_heap::fault(char const* reason) const noexcept {
  owner_.fail(owner_.context, reason);
  return {};
}

[[gnu::always_inline]] inline arena_heap::target arena_heap::find_object(
    std::uint64_t offset, std::uint32_t kind) const noexcept {
  size_class const& c = classes.of[kind];
  // Wraps around in the head of the slab, and is too large then.
  std::uint32_t const distance = static_cast<std::uint32_t>(offset % slab_bytes) - c.first;
  auto const index = static_cast<std::uint32_t>(distance * c.reciprocal >> 32);
  if (index >= c.count || index * c.bytes != distance)
    return fault("heap: the pointer leads into an allocation, not to its beginning");
  slab* const home = slab_at(static_cast<std::uint32_t>(offset / slab_bytes));
  if ((home->free_bits()[index / 64] >> index % 64 & 1) != 0)
    return fault("heap: the pointer leads to memory that is not allocated (freed before?)");
  return {.kind = kind, .index = index, .home = home};
}

[[gnu::always_inline]] inline arena_heap::target arena_heap::find(void const* p) const noexcept {
  std::uint64_t const offset = offset_of(p);
  if (offset >= arena_bytes_) return fault("heap: the pointer leads out of the arena");
  std::uint64_t const at = offset / page_bytes;
  std::uint32_t const note = runs_.note(at / slab_pages * slab_pages);
  if (note >= slab_note) return find_object(offset, note - slab_note);
  auto const index = static_cast<std::uint32_t>(at);
  if (runs_.is_free(index))
    return fault("heap: the pointer leads to memory that is not allocated (freed before?)");
  if (offset % page_bytes != 0 || runs_.note(index) == 0)
    return fault("heap: the pointer leads into an allocation, not to its beginning");
  return {.kind = whole_pages, .index = index};
}

std::size_t arena_heap::bytes_of(target const& t) const noexcept {
  if (t.kind == no_kind) return 0;
  if (t.kind == whole_pages) return std::size_t{runs_.note(t.index)} * page_bytes;
  return classes.of[t.kind].bytes;
}

std::size_t arena_heap::usable_bytes(void const* p) const noexcept {
  return p == nullptr ? 0 : bytes_of(find(p));
}

void* arena_heap::allocate(std::size_t bytes, std::size_t alignment) noexcept {
  std::uint32_t const kind = kind_of(bytes, alignment);
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) return nullptr;
  return kind == whole_pages ? allocate_pages(bytes, alignment) : allocate_object(kind);
}

void* arena_heap::allocate_zeroed(std::size_t count, std::size_t item_bytes) noexcept {
  if (item_bytes != 0 && count > std::numeric_limits<std::size_t>::max() / item_bytes)
    return nullptr;
  void* const p = allocate(count * item_bytes);
  if (p != nullptr) std::memset(p, 0, count * item_bytes);
  return p;
}

void arena_heap::free(void* p) noexcept {
  if (p == nullptr) return;
  target const t = find(p);
  if (t.kind < class_count) return free_object(t);
  if (t.kind == whole_pages) give_pages(t.index, runs_.note(t.index));
}

void* arena_heap::reallocate(void* p, std::size_t bytes) noexcept {
  if (p == nullptr) return allocate(bytes);
  target const from = find(p);
  if (from.kind == no_kind) return nullptr;
  std::size_t const held = bytes_of(from);
  std::uint32_t const kind = kind_of(bytes, 16);
  bool const is_run = from.kind == whole_pages;
  if (is_run ? kind == whole_pages && resize_pages(from.index, bytes)
             : kind == from.kind || (bytes <= held && bytes > held / 2))
    return p;
  if (void* const moved = allocate(bytes); moved != nullptr) {
    std::memcpy(moved, p, std::min(bytes, held));
    free(p);
    return moved;
  }
  if (bytes > held) return nullptr;
  if (is_run) resize_pages(from.index, bytes);
  return p;
}

bool arena_heap::trim() noexcept {
  if (empty_ == nullptr) return false;
  remove_slab(runs_.note(std::uint64_t{index_of(empty_)} * slab_pages) - slab_note, empty_);
  return true;
}

std::uint32_t arena_heap::take_pages(std::uint64_t count, std::uint64_t alignment) noexcept {
  do {
    arena_runs::place const at = runs_.find(count, alignment);
    if (at.first != arena_runs::none && owner_.enter(owner_.context, at.first, count)) {
      runs_.take(at, static_cast<std::uint32_t>(count));
      return at.first;
    }
  } while (trim());
  return arena_runs::none;
}

void arena_heap::give_pages(std::uint32_t first, std::uint32_t count) noexcept {
  runs_.give(first, count);
  owner_.leave(owner_.context, first, count);
}

void* arena_heap::allocate_pages(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes > arena_bytes_) return nullptr;
  std::uint64_t const count = div_up(std::max<std::uint64_t>(bytes, 1), std::uint64_t{page_bytes});
  std::uint32_t const first = take_pages(count, std::max<std::uint64_t>(alignment / page_bytes, 1));
  if (first == arena_runs::none) return nullptr;
  runs_.note(first) = static_cast<std::uint32_t>(count);
  return page_at(first);
}

/// In place; fails for a larger size if the pages behind are in use, or refused.
bool arena_heap::resize_pages(std::uint32_t first, std::size_t bytes) noexcept {
  if (bytes > arena_bytes_) return false;
  std::uint32_t& held = runs_.note(first);
  auto const count =
      static_cast<std::uint32_t>(div_up(std::max<std::size_t>(bytes, 1), page_bytes));
  std::uint32_t const old_count = held;
  std::uint32_t const behind = first + old_count;
  if (count > old_count) {
    std::uint32_t const more = count - old_count;
    if (runs_.free_behind_used(behind) < more || !owner_.enter(owner_.context, behind, more))
      return false;
    runs_.take({behind, behind}, more);
  }
  held = count;
  if (count < old_count) give_pages(first + count, old_count - count);
  return true;
}

[[gnu::always_inline]] inline void* arena_heap::allocate_object(std::uint32_t kind) noexcept {
  slab* const s = lowest_[kind] != nullptr ? lowest_[kind] : add_slab(kind);
  if (s == nullptr) return nullptr;
  if (s == empty_) empty_ = nullptr;
  size_class const& c = classes.of[kind];
  std::uint32_t const at = lowest_bit(s->open_words);
  std::uint64_t& bits = s->free_bits()[at];
  std::uint32_t const index = at * 64 + lowest_bit(bits);
  bits &= bits - 1;
  --s->free_count;
  if (bits == 0) {
    s->open_words &= s->open_words - 1;
    if (s->open_words == 0) close(kind, s);
  }
  return s->bytes() + c.first + std::size_t{index} * c.bytes;
}

[[gnu::always_inline]] inline void arena_heap::free_object(target const& t) noexcept {
  slab* const s = t.home;
  s->free_bits()[t.index / 64] |= std::uint64_t{1} << t.index % 64;
  bool const was_full = s->open_words == 0;
  s->open_words |= std::uint64_t{1} << t.index / 64;
  if (was_full) open(t.kind, s);
  if (++s->free_count < classes.of[t.kind].count) return;
  trim();
  empty_ = s;
}

arena_heap::slab* arena_heap::add_slab(std::uint32_t kind) noexcept {
  std::uint32_t const first = take_pages(slab_pages, slab_pages);
  if (first == arena_runs::none) return nullptr;
  runs_.note(first) = slab_note + kind;
  slab* const s = slab_at(first / slab_pages);
  std::uint32_t const count = classes.of[kind].count;
  std::uint32_t const words = div_up(count, 64U);
  for (std::uint32_t word = 0; word < words; ++word) s->free_bits()[word] = ~std::uint64_t{0};
  s->free_bits()[words - 1] >>= words * 64 - count;
  s->open_words = ~std::uint64_t{0} >> (64 - words);
  s->free_count = count;
  open(kind, s);
  return s;
}

void arena_heap::remove_slab(std::uint32_t kind, slab* s) noexcept {
  if (s == empty_) empty_ = nullptr;
  close(kind, s);
  give_pages(index_of(s) * slab_pages, slab_pages);
}

void arena_heap::open(std::uint32_t kind, slab* s) noexcept {
  open_.add(kind, index_of(s));
  if (lowest_[kind] == nullptr || s < lowest_[kind]) lowest_[kind] = s;
}

void arena_heap::close(std::uint32_t kind, slab* s) noexcept {
  open_.remove(kind, index_of(s));
  if (lowest_[kind] != s) return;
  std::uint32_t const next = open_.lowest(kind);
  lowest_[kind] = next == open_slabs::none ? nullptr : slab_at(next);
}

}  // namespace outsize::bsp::detail
