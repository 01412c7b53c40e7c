// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Heaps in arenas whose pages cannot be touched unless they are in use, and hold rubbish when they
// come, against models from the standard library.

#include <outsize/bsp/detail/arena_heap.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>

namespace outsize::bsp::detail {
namespace {

constexpr std::size_t page = arena_heap::page_bytes;
constexpr std::size_t slab = arena_heap::slab_bytes;
constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

class mapping {
 public:
  mapping(std::size_t bytes, int protection)
      : bytes_(bytes),
        place_(static_cast<std::byte*>(::mmap(
            nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    EXPECT_NE(static_cast<void*>(place_), MAP_FAILED);
  }
  mapping(mapping const&) = delete;
  mapping& operator=(mapping const&) = delete;
  ~mapping() { ::munmap(place_, bytes_); }

  std::byte* at(std::size_t offset) const { return place_ + offset; }
  /// The first place that is a multiple of 2 MiB and 64 KiB more.
  std::byte* barely_aligned() const {
    auto const address = reinterpret_cast<std::uintptr_t>(place_);
    return place_ + (round_up(address, std::uintptr_t{2_MiB}) - address) + slab;
  }
  std::size_t resident_pages() const {
    std::vector<unsigned char> is_resident(div_up(bytes_, page));
    EXPECT_EQ(::mincore(place_, bytes_, is_resident.data()), 0);
    return static_cast<std::size_t>(
        std::ranges::count_if(is_resident, [](unsigned char c) { return (c & 1) != 0; }));
  }

 private:
  std::size_t bytes_;
  std::byte* place_;
};

/// A heap and its owner.
class arena {
 public:
  explicit arena(std::size_t bytes)
      : bytes_(bytes),
        memory_(bytes + 4_MiB, PROT_NONE),
        tables_(arena_heap::table_bytes(bytes), PROT_READ | PROT_WRITE),
        entered_(div_up(bytes / page, std::size_t{64})),
        heap(memory_.barely_aligned(), bytes, tables_.at(0), {this, enter, leave, fail}) {}

  std::size_t bytes() const { return bytes_; }
  std::byte* begin() const { return memory_.barely_aligned(); }
  mapping const& tables() const { return tables_; }
  bool is_entered(std::size_t index) const { return (entered_[index / 64] >> index % 64 & 1) != 0; }

  /// Compares the bits of used pages with the calls of enter and leave.
  void check_pages() const {
    EXPECT_TRUE(std::ranges::equal(heap.used_pages(), entered_));
    std::uint64_t count = 0;
    for (std::uint64_t const bits : entered_) count += static_cast<unsigned>(std::popcount(bits));
    EXPECT_EQ(heap.used_bytes(), count * page);
  }
  void check_empty() {
    EXPECT_LE(heap.used_bytes(), slab);
    heap.trim();
    EXPECT_FALSE(heap.trim());
    EXPECT_EQ(heap.used_bytes(), 0U);
    EXPECT_EQ(heap.allocate(bytes_), begin());
    heap.free(begin());
    EXPECT_EQ(heap.used_bytes(), 0U);
    EXPECT_TRUE(faults.empty());
  }

 private:
  /// Marks pages, whose bits are clear, as entered, or not any more.
  void note(std::uint64_t first, std::uint64_t count, bool are_entered) {
    EXPECT_GT(count, 0U);
    ASSERT_LE((first + count) * page, bytes_);
    while (count > 0) {
      std::uint64_t const length = std::min<std::uint64_t>(count, 64 - first % 64);
      std::uint64_t const bits = ~std::uint64_t{0} >> (64 - length) << first % 64;
      std::uint64_t& word = entered_[first / 64];
      ASSERT_EQ(heap.used_pages()[first / 64] & bits, 0U) << "page " << first;
      ASSERT_EQ(word & bits, are_entered ? 0 : bits) << "page " << first;
      word ^= bits;
      first += length;
      count -= length;
    }
  }
  static bool enter(void* context, std::uint64_t first, std::uint64_t count) noexcept {
    auto& self = *static_cast<arena*>(context);
    ++self.enter_count;
    if (self.random != nullptr && (*self.random)() % 16 < self.refused_in_16) {
      ++self.refused_count;
      return false;
    }
    std::byte* const at = self.begin() + first * page;
    if (::mprotect(at, count * page, PROT_READ | PROT_WRITE) != 0) return false;
    self.note(first, count, true);
    if (self.brings_rubbish) std::memset(at, 0xDB, count * page);
    return true;
  }
  static void leave(void* context, std::uint64_t first, std::uint64_t count) noexcept {
    auto& self = *static_cast<arena*>(context);
    self.note(first, count, false);
    std::byte* const at = self.begin() + first * page;
    EXPECT_EQ(::madvise(at, count * page, MADV_DONTNEED), 0);
    EXPECT_EQ(::mprotect(at, count * page, PROT_NONE), 0);
  }
  static void fail(void* context, char const* reason) noexcept {
    static_cast<arena*>(context)->faults.emplace_back(reason);
  }

  std::size_t bytes_;
  mapping memory_;
  mapping tables_;
  std::vector<std::uint64_t> entered_;

 public:
  arena_heap heap;
  std::vector<std::string> faults;
  std::size_t enter_count = 0;
  std::size_t refused_count = 0;
  bool brings_rubbish = true;
  std::mt19937_64* random = nullptr;  // says which pages are refused
  std::uint64_t refused_in_16 = 16;
};

// ---- a model of the allocations ----

/// Both ends and samples between them.
template <typename F>
void for_some_offsets(std::size_t bytes, F const& f) {
  std::size_t const dense = 128;
  for (std::size_t i = 0; i < std::min(bytes, dense); ++i) f(i);
  for (std::size_t i = dense; i < bytes; i += i + dense < bytes ? 509 : 1) f(i);
}

class model {
 public:
  model(arena& a, std::uint64_t seed) : arena_(a), heap_(a.heap), random_(seed) {}

  void step(unsigned allocations_in_16) {
    unsigned const chance = random_() % 16;
    if (live_.empty() || chance < allocations_in_16) {
      allocate();
    } else if (chance < 14) {
      free(any());
    } else {
      reallocate(any());
    }
  }
  void check() const {
    arena_.check_pages();
    for (auto const& [at, what] : live_) check(at, what);
    EXPECT_TRUE(arena_.faults.empty());
  }
  void free_all() {
    while (!live_.empty()) free(any());
  }
  std::mt19937_64& random() { return random_; }

 private:
  struct allocation {
    std::size_t bytes;
    std::size_t usable_bytes;
    std::size_t key;
  };
  using allocations = std::map<std::byte*, allocation>;

  static std::byte value(std::size_t key, std::size_t offset) {
    return static_cast<std::byte>((key + offset) * 0x9E37'79B9'7F4A'7C15 >> 56);
  }
  std::size_t random_bytes() { return random_() % (std::size_t{1} << random_() % 18); }
  allocations::iterator any() {
    auto const at = live_.lower_bound(arena_.begin() + random_() % arena_.bytes());
    return at == live_.end() ? live_.begin() : at;
  }
  void check(std::byte* at, allocation const& what) const { check(at, what, what.bytes); }
  void check(std::byte* at, allocation const& what, std::size_t kept_bytes) const {
    std::size_t wrong = 0;
    for_some_offsets(what.bytes, [&](std::size_t i) {
      wrong += i < kept_bytes && at[i] != value(what.key, i) ? 1 : 0;
    });
    EXPECT_EQ(wrong, 0U) << what.bytes << " bytes at " << at - arena_.begin();
  }
  void add(void* p, std::size_t bytes, std::size_t alignment) {
    auto* const at = static_cast<std::byte*>(p);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignment, 0U);
    EXPECT_TRUE(heap_.owns(p));
    allocation const what{bytes, heap_.usable_bytes(p), random_()};
    EXPECT_GE(what.usable_bytes, std::max<std::size_t>(bytes, 1));
    auto const [place, is_new] = live_.emplace(at, what);
    ASSERT_TRUE(is_new);
    if (auto const next = std::next(place); next != live_.end()) {
      EXPECT_LE(at + what.usable_bytes, next->first);
    }
    if (place != live_.begin()) {
      auto const& [before, held] = *std::prev(place);
      EXPECT_LE(before + held.usable_bytes, at);
    }
    auto const first = static_cast<std::size_t>(at - arena_.begin());
    for (std::size_t i = first / page; i * page < first + what.usable_bytes; ++i)
      EXPECT_TRUE(arena_.is_entered(i));
    for_some_offsets(bytes, [&](std::size_t i) { at[i] = value(what.key, i); });
  }
  void allocate() {
    std::size_t const bytes = random_bytes();
    if (random_() % 4 == 0) return allocate_zeroed(bytes);
    std::size_t const alignment = random_() % 4 != 0 ? 16 : std::size_t{1} << random_() % 16;
    if (void* const p = heap_.allocate(bytes, alignment); p != nullptr)
      add(p, bytes, std::max<std::size_t>(alignment, 16));
  }
  void allocate_zeroed(std::size_t bytes) {
    void* const p = heap_.allocate_zeroed(bytes, 1);
    if (p == nullptr) return;
    auto const* const at = static_cast<std::byte const*>(p);
    EXPECT_EQ(std::count(at, at + bytes, std::byte{0}), static_cast<std::ptrdiff_t>(bytes));
    add(p, bytes, 16);
  }
  void free(allocations::iterator which) {
    check(which->first, which->second);
    heap_.free(which->first);
    live_.erase(which);
  }
  void reallocate(allocations::iterator which) {
    auto const [at, what] = *which;
    check(at, what);
    std::size_t const bytes =
        random_() % 2 == 0 ? random_bytes() : random_() % (2 * what.bytes + 2);
    void* const p = heap_.reallocate(at, bytes);
    if (p == nullptr) {
      EXPECT_GT(bytes, what.usable_bytes);
      return check(at, what);
    }
    live_.erase(which);
    check(static_cast<std::byte*>(p), what, std::min(bytes, what.bytes));
    add(p, bytes, 16);
  }

  arena& arena_;
  arena_heap& heap_;
  std::mt19937_64 random_;
  allocations live_;
};

/// Fills and empties the arena several times.
void expect_like_model(std::size_t bytes, std::uint64_t refused_in_16) {
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  arena a(bytes);
  model m(a, seed);
  std::mt19937_64 refusals(seed + 1);
  if (refused_in_16 > 0) a.random = &refusals;
  a.refused_in_16 = refused_in_16;
  for (unsigned const allocations_in_16 : {12U, 7U, 4U, 13U, 7U, 2U}) {
    for (int i = 0; i < 1000 && !testing::Test::HasFailure(); ++i) m.step(allocations_in_16);
    m.check();
  }
  if (refused_in_16 > 0) {
    EXPECT_GT(a.refused_count, 0U);
  }
  m.free_all();
  a.random = nullptr;
  a.check_pages();
  a.check_empty();
}

TEST(arena_heap, keeps_all_that_is_allocated_apart) {
  for (std::size_t const pages : {1U, 15U, 16U, 64U, 67U, 1023U, 4096U, 9000U}) {
    SCOPED_TRACE(pages);
    expect_like_model(pages * page, 0);
  }
}

TEST(arena_heap, is_unharmed_if_its_owner_refuses_pages) {
  for (std::uint64_t const refused_in_16 : {1U, 8U, 15U})
    expect_like_model(16_MiB + 3 * page, refused_in_16);
}

// ---- the lowest place ----

/// Pages, used or not, with the plainest search.
class page_model {
 public:
  page_model(std::size_t page_count, std::size_t base_page)
      : is_used_(page_count), base_page_(base_page) {}

  std::optional<std::size_t> find(std::size_t count, std::size_t alignment) const {
    for (std::size_t first = 0; first + count <= is_used_.size(); ++first)
      if ((base_page_ + first) % alignment == 0 && has_free(first, count)) return first;
    return std::nullopt;
  }
  bool has_free(std::size_t first, std::size_t count) const {
    if (first + count > is_used_.size()) return false;
    auto const begin = is_used_.begin() + static_cast<std::ptrdiff_t>(first);
    return std::find(begin, begin + static_cast<std::ptrdiff_t>(count), true) ==
           begin + static_cast<std::ptrdiff_t>(count);
  }
  void mark(std::size_t first, std::size_t count, bool is_used) {
    std::fill_n(is_used_.begin() + static_cast<std::ptrdiff_t>(first), count, is_used);
  }

 private:
  std::vector<bool> is_used_;
  std::size_t base_page_;
};

/// Runs of pages in a heap and in the model.
class run_trial {
 public:
  run_trial(std::size_t page_count, std::uint64_t seed)
      : arena_(page_count * page),
        model_(page_count, reinterpret_cast<std::uintptr_t>(arena_.begin()) / page),
        random_(seed),
        most_count_(std::max<std::size_t>(page_count / 10, 5)) {
    arena_.brings_rubbish = false;
  }

  void step() {
    std::size_t const chance = random_() % 8;
    if (runs_.empty() || chance < 4) return allocate();
    auto const which =
        std::next(runs_.begin(), static_cast<std::ptrdiff_t>(random_() % runs_.size()));
    return chance < 7 ? free(which) : resize(which);
  }
  void finish() {
    arena_.check_pages();
    while (!runs_.empty()) free(runs_.begin());
    arena_.check_empty();
  }

 private:
  using runs = std::map<std::size_t, std::size_t>;  // first page, count

  std::size_t random_count() { return 5 + random_() % (1 + random_() % most_count_); }
  std::byte* at(std::optional<std::size_t> first) const {
    return first ? arena_.begin() + *first * page : nullptr;
  }
  void add(std::size_t first, std::size_t count) {
    model_.mark(first, count, true);
    runs_[first] = count;
  }
  void allocate() {
    std::size_t const count = random_count();
    std::size_t const alignment = random_() % 3 == 0 ? std::size_t{1} << random_() % 10 : 1;
    std::size_t const bytes = count * page - random_() % page;
    auto const expected = model_.find(count, alignment);
    ASSERT_EQ(arena_.heap.allocate(bytes, alignment * page), at(expected));
    if (expected) add(*expected, count);
  }
  void free(runs::iterator which) {
    arena_.heap.free(at(which->first));
    model_.mark(which->first, which->second, false);
    runs_.erase(which);
  }
  void resize(runs::iterator which) {
    auto const [first, old_count] = *which;
    std::size_t const count = random_count();
    bool const is_in_place =
        count <= old_count || model_.has_free(first + old_count, count - old_count);
    auto const expected = is_in_place ? first : model_.find(count, 1);
    ASSERT_EQ(arena_.heap.reallocate(at(first), count * page), at(expected));
    if (!expected) return;
    model_.mark(first, old_count, false);
    runs_.erase(which);
    add(*expected, count);
  }

  arena arena_;
  page_model model_;
  std::mt19937_64 random_;
  std::size_t most_count_;
  runs runs_;
};

TEST(arena_heap, places_pages_as_low_as_possible) {
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (std::size_t const pages : {5U, 64U, 200U, 1024U, 2500U}) {
    SCOPED_TRACE(pages);
    run_trial trial(pages, seed);
    for (int i = 0; i < 1500; ++i) ASSERT_NO_FATAL_FAILURE(trial.step());
    trial.finish();
  }
}

TEST(arena_heap, places_objects_as_low_as_possible) {
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  arena a(8_MiB);
  for (std::size_t const bytes : {16U, 1024U, 5000U}) {
    std::vector<void*> used;
    while (a.heap.used_bytes() < 6 * slab || used.size() < 6)
      used.push_back(a.heap.allocate(bytes));
    std::size_t const slabs_bytes = a.heap.used_bytes();
    std::set<void*> kept;  // one in each slab
    std::erase_if(used, [&](void* p) {
      auto const offset = static_cast<std::size_t>(static_cast<std::byte*>(p) - a.begin());
      auto* const home = a.begin() + round_down(offset, slab);
      bool const is_first = kept.lower_bound(home) == kept.end();
      if (is_first) kept.insert(p);
      return is_first;
    });
    EXPECT_TRUE(std::ranges::is_sorted(used));
    std::set<void*> unused;
    std::shuffle(used.begin(), used.end(), random);
    for (int i = 0; i < 2000; ++i) {
      if (!used.empty() && (unused.empty() || random() % 2 == 0)) {
        a.heap.free(used.back());
        unused.insert(used.back());
        used.pop_back();
      } else if (!unused.empty()) {
        void* const p = a.heap.allocate(bytes);
        ASSERT_EQ(p, *unused.begin());
        unused.erase(p);
        used.insert(used.begin() + static_cast<std::ptrdiff_t>(random() % (used.size() + 1)), p);
      }
    }
    EXPECT_EQ(a.heap.used_bytes(), slabs_bytes);
    for (void* const p : used) a.heap.free(p);
    for (void* const p : kept) a.heap.free(p);
    a.heap.trim();
  }
  a.check_empty();
}

TEST(arena_heap, finds_an_aligned_place_behind_many_that_are_not) {
  arena a(256 * 32 * page);
  a.brings_rubbish = false;
  for (std::size_t i = 0; i < a.bytes() / page; ++i)
    ASSERT_EQ(a.heap.allocate(page), a.begin() + i * page);
  auto const free_pages = [&a](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) a.heap.free(a.begin() + i * page);
  };
  for (std::size_t i = 0; i < 100; ++i) free_pages(i * 32 + 1, 24);
  EXPECT_EQ(a.heap.allocate(1), nullptr);
  free_pages(200 * 32, 16);
  void* const p = a.heap.allocate(1);
  EXPECT_TRUE(p > a.begin() + 200 * 32 * page && p < a.begin() + (200 * 32 + 1) * page);
  free_pages(150 * 32, 17);
  free_pages(220 * 32, 32);
  EXPECT_EQ(a.heap.allocate(slab, slab), a.begin() + 220 * 32 * page);  // is sure to fit
  EXPECT_EQ(a.heap.allocate(slab, slab), a.begin() + 150 * 32 * page);
  EXPECT_EQ(a.heap.allocate(slab, slab), a.begin() + (220 * 32 + 16) * page);
  EXPECT_EQ(a.heap.allocate(slab, slab), nullptr);
  a.check_pages();
}

// ---- requests ----

TEST(arena_heap, aligns_as_it_is_asked) {
  arena a(64_MiB);
  std::vector<void*> all;
  for (std::size_t const bytes : {0U, 1U, 100U, 4000U, 4096U, 5000U, 13'056U, 13'057U, 70'000U})
    for (std::size_t alignment = 1; alignment <= 2_MiB; alignment *= 2) {
      void* const p = a.heap.allocate(bytes, alignment);
      ASSERT_NE(p, nullptr) << bytes << ' ' << alignment;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % std::max<std::size_t>(alignment, 16), 0U);
      std::memset(p, 1, a.heap.usable_bytes(p));
      all.push_back(p);
    }
  for (void* const p : all) a.heap.free(p);
  a.check_empty();
}

TEST(arena_heap, refuses_sizes_and_alignments_that_cannot_be) {
  arena a(1_MiB);
  for (std::size_t const bytes :
       {most, most - 1, most - 15, most - 16, most - page, most / 2 + 1, std::size_t{1_MiB} + 1}) {
    EXPECT_EQ(a.heap.allocate(bytes), nullptr) << bytes;
    EXPECT_EQ(a.heap.allocate(bytes, 2_MiB), nullptr) << bytes;
    EXPECT_EQ(a.heap.allocate_zeroed(bytes, 1), nullptr) << bytes;
  }
  for (std::size_t const alignment : {std::size_t{0}, std::size_t{3}, std::size_t{24}, page + 16,
                                      most, most / 2 + 1, std::size_t{4_MiB}})
    EXPECT_EQ(a.heap.allocate(1, alignment), nullptr) << alignment;
  EXPECT_EQ(a.heap.allocate_zeroed(most / 2 + 2, 2), nullptr);
  EXPECT_EQ(a.heap.allocate_zeroed(2, most / 2 + 2), nullptr);
  EXPECT_EQ(a.heap.allocate_zeroed(std::size_t{1} << 32, std::size_t{1} << 32), nullptr);
  void* const p = a.heap.allocate(100'000);
  EXPECT_EQ(a.heap.reallocate(p, most), nullptr);
  EXPECT_EQ(a.heap.reallocate(p, 1_MiB + 1), nullptr);
  EXPECT_EQ(a.heap.usable_bytes(p), round_up(std::size_t{100'000}, page));
  a.heap.free(p);
  a.check_empty();
}

TEST(arena_heap, has_a_place_of_its_own_for_nothing) {
  arena a(1_MiB);
  void* const p = a.heap.allocate(0);
  void* const q = a.heap.allocate_zeroed(0, most);
  void* const r = a.heap.reallocate(nullptr, 0);
  EXPECT_EQ((std::set<void*>{nullptr, p, q, r}).size(), 4U);
  EXPECT_EQ(a.heap.reallocate(p, 0), p);
  for (void* const each : {p, q, r}) a.heap.free(each);
  a.heap.free(nullptr);
  EXPECT_EQ(a.heap.usable_bytes(nullptr), 0U);
  a.check_empty();
}

TEST(arena_heap, wastes_little) {
  arena a(1_MiB);
  a.brings_rubbish = false;
  for (std::size_t bytes = 1; bytes < 40'000; bytes += bytes < 600 ? 1 : 13) {
    void* const p = a.heap.allocate(bytes);
    std::size_t const wasted = a.heap.usable_bytes(p) - bytes;
    std::size_t const allowed = bytes > 13'056  ? page - 1
                                : bytes > 8_KiB ? bytes / 6
                                                : std::max<std::size_t>(bytes / 8, 15);
    ASSERT_LE(wasted, allowed) << bytes;
    a.heap.free(p);
  }
  a.check_empty();
}

TEST(arena_heap, resizes_in_place_where_it_can) {
  arena a(1_MiB);
  auto* const p = static_cast<std::byte*>(a.heap.allocate(20 * page));
  EXPECT_EQ(a.heap.reallocate(p, 30 * page), p);
  EXPECT_EQ(a.heap.reallocate(p, 5 * page), p);
  EXPECT_EQ(a.heap.used_bytes(), 5 * page);
  void* const q = a.heap.allocate(5 * page);
  EXPECT_EQ(q, p + 5 * page);
  std::memset(p, 7, 5 * page);
  auto* const r = static_cast<std::byte*>(a.heap.reallocate(p, 6 * page));
  EXPECT_EQ(r, p + 10 * page);
  EXPECT_EQ(std::count(r, r + 5 * page, std::byte{7}), 5 * static_cast<std::ptrdiff_t>(page));
  void* const small = a.heap.reallocate(r, 100);
  EXPECT_EQ(a.heap.usable_bytes(small), 112U);
  EXPECT_EQ(a.heap.reallocate(small, 112), small);
  EXPECT_EQ(a.heap.reallocate(small, 60), small);
  EXPECT_NE(a.heap.reallocate(small, 20), small);
  EXPECT_TRUE(a.faults.empty());
}

TEST(arena_heap, always_can_make_smaller) {
  std::mt19937_64 random(1);
  arena a(1_MiB);
  void* const p = a.heap.allocate(10 * page);
  void* const q = a.heap.allocate(5000);
  a.random = &random;
  EXPECT_EQ(a.heap.reallocate(p, 100), p);
  EXPECT_EQ(a.heap.usable_bytes(p), page);
  EXPECT_EQ(a.heap.reallocate(q, 100), q);
  EXPECT_EQ(a.heap.reallocate(q, 20'000), nullptr);
  EXPECT_EQ(a.heap.reallocate(p, 20'000), nullptr);
  EXPECT_EQ(a.heap.allocate(100), nullptr);
  a.random = nullptr;
  a.heap.free(p);
  a.heap.free(q);
  a.check_empty();
}

// ---- pages ----

TEST(arena_heap, keeps_one_empty_slab) {
  arena a(1_MiB);
  for (int i = 0; i < 100; ++i) a.heap.free(a.heap.allocate(64));
  EXPECT_EQ(a.enter_count, 1U);
  EXPECT_EQ(a.heap.used_bytes(), slab);
  a.heap.free(a.heap.allocate(640));
  EXPECT_EQ(a.heap.used_bytes(), slab);
  EXPECT_TRUE(a.heap.trim());
  EXPECT_EQ(a.heap.used_bytes(), 0U);
  a.heap.free(a.heap.allocate(64));
  void* const p = a.heap.allocate(1_MiB);  // where the empty slab is
  EXPECT_EQ(p, a.begin());
  a.heap.free(p);
  a.check_empty();
}

TEST(arena_heap, has_the_bits_of_used_pages_first_in_its_tables) {
  arena a(1_MiB);
  void* const p = a.heap.allocate(3 * page, page);
  std::ignore = a.heap.allocate(4 * page, 8 * page);
  a.heap.free(p);
  std::uint64_t bits = 0;
  std::memcpy(&bits, a.tables().at(0), sizeof bits);
  EXPECT_EQ(std::popcount(bits), 4);
  EXPECT_EQ(a.heap.used_pages().data(), static_cast<void*>(a.tables().at(0)));
  a.check_pages();
}

TEST(arena_heap, touches_tables_only_for_pages_in_use) {
  arena a(64_GiB);
  a.brings_rubbish = false;
  std::vector<void*> all;
  for (std::size_t bytes = 1; bytes <= 1_MiB; bytes += bytes / 8 + 1)
    all.push_back(a.heap.allocate(bytes));
  EXPECT_LE(a.tables().resident_pages(), 24U);
  void* const p = a.heap.allocate(40_GiB, 1_GiB);
  if (p == nullptr) GTEST_SKIP() << "the system promises no such memory";
  void* const q = a.heap.allocate(20_GiB);
  ASSERT_NE(q, nullptr);
  for (void* const each : {p, q}) {
    auto* const at = static_cast<std::byte*>(each);
    at[0] = at[20_GiB - 1] = std::byte{1};
  }
  EXPECT_EQ(a.heap.allocate(10_GiB), nullptr);
  a.heap.free(p);
  EXPECT_EQ(a.heap.allocate(40_GiB, 1_GiB), p);
  a.heap.free(q);
  a.heap.free(p);
  for (void* const each : all) a.heap.free(each);
  a.check_empty();
}

// ---- wrong pointers ----

TEST(arena_heap, reports_wrong_pointers_and_leaves_them_alone) {
  arena a(1_MiB);
  auto* const object = static_cast<std::byte*>(a.heap.allocate(100));
  auto* const freed = static_cast<std::byte*>(a.heap.allocate(100));
  auto* const run = static_cast<std::byte*>(a.heap.allocate(5 * page));
  auto* const freed_run = static_cast<std::byte*>(a.heap.allocate(5 * page));
  std::byte outside{};
  a.heap.free(freed);
  a.heap.free(freed_run);
  std::uint64_t const used_bytes = a.heap.used_bytes();
  std::pair<void*, std::string> const wrong[] = {{freed, "freed before"},
                                                 {freed_run, "freed before"},
                                                 {freed_run + 3 * page, "freed before"},
                                                 {freed_run + 16 * page, "freed before"},
                                                 {object + 1, "into an allocation"},
                                                 {object + 16, "into an allocation"},
                                                 {a.begin(), "into an allocation"},
                                                 {a.begin() + 16, "into an allocation"},
                                                 {a.begin() + slab - 1, "into an allocation"},
                                                 {run + 1, "into an allocation"},
                                                 {run + page, "into an allocation"},
                                                 {run + 4 * page, "into an allocation"},
                                                 {a.begin() - 1, "out of the arena"},
                                                 {a.begin() + a.bytes(), "out of the arena"},
                                                 {&outside, "out of the arena"}};
  for (auto const& [p, reason] : wrong) {
    a.faults.clear();
    a.heap.free(p);
    EXPECT_EQ(a.heap.usable_bytes(p), 0U);
    EXPECT_EQ(a.heap.reallocate(p, 1000), nullptr);
    ASSERT_EQ(a.faults.size(), 3U) << reason;
    for (auto const& each : a.faults) EXPECT_NE(each.find(reason), each.npos) << each;
  }
  EXPECT_EQ(a.heap.used_bytes(), used_bytes);
  a.faults.clear();
  EXPECT_EQ(a.heap.allocate(100), freed);
  for (void* const p : {object, freed, run}) a.heap.free(p);
  a.check_empty();
}

}  // namespace
}  // namespace outsize::bsp::detail
