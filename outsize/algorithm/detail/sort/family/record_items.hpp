// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Byte strings as items, for the sorting engine: text lines and records, of one length or of many.
//
// In a chunk the bytes of the records are laid from the front and an index of 16-byte entries from
// the back; only the index is sorted, by the order's 64-bit prefix first, and the bytes move once,
// when the sorted chunk is merged out:
//
//   chunk:          | rec rec rec rec ... | ........ free ........ | entry 2 | entry 1 | entry 0 |
//   fixed block:    | rec rec rec rec ... |     (of varying length: packed_block.hpp)
//
// Where records that compare equal cannot be told apart, one that came before in its chunk is only
// counted, in a byte behind the first: at once if it is found (recent_records.hpp), or else where
// the sort of the index comes upon it. When that has been sorted, each gets an entry for the same
// place:
//
//   appended a b a a c:   | recent | a 2 | b 0 | c 0 | .... | c | b | a |
//   sorted:               | recent | a 2 | b 0 | c 0 | .. | a | a | a | b | c |
//
// `Order`: prefix(r) with prefix(a) < prefix(b) ⇒ a before b, compare(a, b), equal_keys(a, b), for
// std::string_view; const and callable from several threads. Records that compare equal keep their
// order. Layer: algorithm. Source: STXXL 2008, section 6.2 (sorting key-pointer pairs).

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/family/recent_records.hpp>
#include <outsize/algorithm/detail/sort/family/reduction.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/detail/byte_words.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/codec/detail/packed_block.hpp>
#include <outsize/codec/detail/record_place.hpp>
#include <outsize/kernel/byte_order.hpp>
#include <outsize/kernel/detail/index_sort.hpp>
#include <outsize/kernel/detail/offset_codes.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>

namespace outsize::detail {

/// What the merge carries about a record: enough to decide most matches without touching it.
struct record_key_ref {
  std::uint64_t prefix;
  char const* data;
  std::size_t length;

  std::string_view record() const noexcept { return {data, length}; }
};

/// Sorted records in memory: in a packed block, side by side with one length, or through a chunk's
/// index.
template <typename Order>
class record_view {
 public:
  using key_type = record_key_ref;

  record_view() = default;

  static record_view of_packed(Order const& order, std::span<std::byte const> block,
                               std::size_t count) {
    return {order, layout::packed, block.data(), block.data() + block.size(), 0, count};
  }
  static record_view of_fixed(Order const& order, std::byte const* data, std::size_t record_bytes,
                              std::size_t count) {
    return {order, layout::fixed, data, nullptr, record_bytes, count};
  }
  /// `record_bytes` 0: of any length.
  static record_view of_index(Order const& order, std::byte const* chunk,
                              prefix_entry const* entries, std::size_t record_bytes,
                              std::size_t count) {
    return {order, layout::index, chunk, entries, record_bytes, count};
  }

  std::size_t size() const noexcept { return size_; }

  key_type key(std::size_t i) const {
    std::string_view const r = record(i);
    std::uint64_t const prefix = layout_ == layout::index ? entries()[i].prefix : order_->prefix(r);
    return {prefix, r.data(), r.size()};
  }

  /// For callers that ask for no prefix.
  key_type key_without_prefix(std::size_t i) const noexcept {
    std::string_view const r = record(i);
    return {0, r.data(), r.size()};
  }

  /// Copies some to `to`, one behind the other, and returns its end. Nothing is asked of the order.
  std::byte* copy_items(std::size_t begin, std::size_t end, std::byte* to) const noexcept {
    for (std::size_t i = begin; i < end; ++i) to = copy_short(record(i), to);
    return to;
  }

  std::uint64_t bytes(std::size_t begin, std::size_t end) const noexcept {
    if (begin == end) return 0;
    if (record_bytes_ != 0) return (end - begin) * record_bytes_;
    if (layout_ == layout::packed) return table().bytes_before(end) - table().bytes_before(begin);
    std::uint64_t sum = 0;
    for (std::size_t i = begin; i < end; ++i)
      sum += record_place::length(data_, entries()[i].place);
    return sum;
  }

  /// Asks for a record a few steps before it is merged: indexed ones lie anywhere in their chunk,
  /// and blocks are more at once than the processor follows by itself. Inlined always: GCC takes a
  /// function that does nothing but prefetch for one that does nothing, and drops calls of it.
  [[gnu::always_inline]] void will_need(std::size_t i) const noexcept {
    constexpr std::size_t distance = 8;
    std::size_t const next = i + distance;
    if (next >= size_) return;
    if (layout_ == layout::index) {
      std::uint64_t const place = entries()[next].place;
      prefetch(data_ + record_place::offset(place), place & record_place::long_record);
    } else if (layout_ == layout::fixed) {
      prefetch(data_ + next * record_bytes_, record_bytes_);
    } else {
      std::size_t const length = table().length(next);
      prefetch(data_ + table()[next].place - length, length);
    }
  }

 private:
  enum class layout : std::uint8_t { packed, fixed, index };

  record_view(Order const& order, layout how, std::byte const* data, void const* table,
              std::size_t record_bytes, std::size_t size)
      : order_(&order),
        data_(data),
        table_(table),
        record_bytes_(record_bytes),
        size_(size),
        layout_(how) {}

  /// The beginning of a record of so many bytes: what follows, the processor sees coming.
  [[gnu::always_inline]] static void prefetch(std::byte const* record, std::size_t bytes) noexcept {
    constexpr std::size_t line = 64, lines = 4;
    for (std::size_t at = 0; at < std::min(bytes, lines * line); at += line)
      __builtin_prefetch(record + at);
  }

  prefix_entry const* entries() const noexcept { return static_cast<prefix_entry const*>(table_); }
  packed_table table() const noexcept { return packed_table(table_); }
  char const* chars(std::size_t offset) const noexcept {
    return reinterpret_cast<char const*>(data_) + offset;
  }

  std::string_view record(std::size_t i) const noexcept {
    if (layout_ == layout::index) return record_place::record(data_, entries()[i].place);
    if (layout_ == layout::fixed) return {chars(i * record_bytes_), record_bytes_};
    std::size_t const length = table().length(i);
    return {chars(table()[i].place - length), length};
  }

  Order const* order_ = nullptr;
  std::byte const* data_ = nullptr;
  void const* table_ = nullptr;
  std::size_t record_bytes_ = 0;
  std::size_t size_ = 0;
  layout layout_ = layout::fixed;
};

/// Whether records that compare equal have the same bytes, so that nobody can tell them apart.
template <typename Order>
bool equals_are_alike(Order const& order) noexcept {
  if constexpr (requires { order.equals_are_alike(); }) {
    return order.equals_are_alike();
  } else {
    return false;
  }
}

template <typename Items>
class record_chunk {
 public:
  record_chunk(grant& memory, std::size_t bytes) : memory_(memory.allocate(bytes)) {}

  std::size_t count() const noexcept { return count_; }
  /// Of the records alone.
  std::uint64_t bytes() const noexcept { return record_bytes_; }
  std::size_t largest_item_bytes() const noexcept { return largest_; }
  /// Of the chunk's memory.
  std::size_t used_bytes() const noexcept { return used_ + count_ * sizeof(prefix_entry); }
  void clear() noexcept {
    count_ = distinct_ = used_ = record_bytes_ = largest_ = 0;
    is_indexed_ = true;
    counts_repeats_ = false;
    recent_ = {};
  }
  std::span<std::byte> memory() const noexcept { return memory_.bytes(); }

  /// Copies the record in, if there is room for it and its index entry, and it is none too long.
  bool append(Items const& family, std::string_view record) {
    if (count_ == 0) begin(family, record);
    return append(family, record, recent_.hash_of(record));
  }
  /// The same for many, up to the first that there is no room for; returns how many there were
  /// before it. Those that came before in the chunk are asked for in advance.
  std::size_t append(Items const& family, std::span<std::string_view const> records) {
    if (count_ == 0 && !records.empty()) begin(family, records.front());
    std::array<recent_records::hash, 32> hashes;
    for (std::size_t done = 0; done < records.size();) {
      auto const some = records.subspan(done, std::min(hashes.size(), records.size() - done));
      recent_.look_ahead(some, memory_.data(), hashes);
      for (std::size_t i = 0; i < some.size(); ++i)
        if (!append(family, some[i], hashes[i])) return done + i;
      done += some.size();
    }
    return records.size();
  }

  /// Whether records can be read to where they stay, before their index is made: those of one
  /// length that is known from their places.
  static bool may_be_filled(std::size_t record_bytes) noexcept {
    return record_bytes != 0 && !record_place::is_long(record_bytes);
  }
  /// Free bytes for whole records side by side; of an empty chunk whole pages, if it is long, so
  /// that what is read to the next chunk begins at a page too. @pre may_be_filled(bytes), and
  /// nothing was appended.
  std::span<std::byte> room(std::size_t bytes) const noexcept {
    std::size_t const index_bytes = count_ * sizeof(prefix_entry);
    std::size_t records = (memory_.size() - used_ - index_bytes) / (bytes + sizeof(prefix_entry));
    std::size_t const of_pages = std::lcm(bytes, page_bytes()) / bytes;
    if (used_ == 0 && records >= 16 * of_pages) records = round_down(records, of_pages);
    return memory_.bytes().subspan(used_, records * bytes);
  }
  /// The first `records` of room(record_bytes) are filled.
  void grow(std::size_t record_bytes, std::size_t records) noexcept {
    std::size_t const bytes = records * record_bytes;
    count_ += records;
    distinct_ += records;
    used_ += bytes;
    record_bytes_ += bytes;
    if (records == 0) return;
    largest_ = record_bytes;
    is_indexed_ = false;
  }

  /// Sorts the records in up to `most_parts` parts at once, and of each leaves what is to be left.
  std::vector<record_view<typename Items::order_type>> sort(
      Items const& family, executor& threads, std::size_t most_parts,
      equal_items equals = equal_items::kept) {
    auto const all = entries_in_input_order();
    std::size_t const part_count = distinct_ < 1024 ? 1 : most_parts;
    std::vector<std::span<prefix_entry>> parts(part_count);
    threads.parallel_for(part_count, [&](std::size_t p) {
      std::size_t const begin = distinct_ * p / part_count;
      auto const part = all.subspan(begin, distinct_ * (p + 1) / part_count - begin);
      if (!is_indexed_) make_index(family, begin, part);
      parts[p] = sort_part(family, part, equals);
    });
    is_indexed_ = true;
    if (equals == equal_items::kept) give_repeats(parts);
    std::vector<record_view<typename Items::order_type>> views;
    for (auto const& part : parts) views.push_back(view_of(family, part));
    return views;
  }

  /// The same in one part, by the calling thread.
  record_view<typename Items::order_type> sort_whole(Items const& family) {
    OUTSIZE_ASSERT(is_indexed_);
    std::array parts{sort_part(family, entries_in_input_order(), equal_items::kept)};
    give_repeats(parts);
    return view_of(family, parts[0]);
  }

 private:
  static constexpr std::size_t most_repeats = 255;

  /// Counts what the sort of the index finds to be equal.
  struct repeats_in_sort {
    record_chunk* chunk;
    bool wanted() const noexcept { return chunk->counts_repeats_; }
    bool operator()(std::uint64_t place, std::uint64_t later) const noexcept {
      return chunk->add_repeats(place, 1 + static_cast<std::size_t>(chunk->repeats_of(later)));
    }
  };

  prefix_entry* end_of_entries() noexcept {
    return reinterpret_cast<prefix_entry*>(memory_.data() + memory_.size());
  }
  prefix_entry* first_entry() noexcept { return end_of_entries() - distinct_; }

  /// Of an empty chunk: keeps no record twice where none can be told from another, and there is
  /// room for the means.
  void begin(Items const& family, std::string_view first) {
    std::size_t const bytes = recent_records::memory_bytes(memory_.size());
    counts_repeats_ = family.item_bytes() == 0 && equals_are_alike(family.order()) &&
                      bytes + first.size() < memory_.size() / 2;
    used_ = counts_repeats_ ? bytes : 0;
    if (counts_repeats_) recent_ = recent_records(memory_.bytes().first(bytes));
  }

  bool append(Items const& family, std::string_view record, recent_records::hash hash) {
    std::size_t const index_bytes = (count_ + 1) * sizeof(prefix_entry);
    if (used_ + index_bytes > memory_.size() || record.size() > most_record_bytes) return false;
    bool const is_long = record_place::is_long(record.size());
    std::size_t const header = is_long ? sizeof(length_type) : 0;
    std::size_t const counter = counts_repeats_ ? 1 : 0;
    if (used_ + header + record.size() + counter + index_bytes > memory_.size()) return false;
    if (!is_long && repeat(record, hash)) return true;
    std::byte* const place = memory_.data() + used_;
    if (is_long) {
      auto const length = static_cast<length_type>(record.size());
      std::memcpy(place, &length, sizeof length);
    }
    std::byte* const end = copy_short(record, place + header);
    if (counts_repeats_) *end = std::byte{0};
    ++distinct_;
    *first_entry() = {record_place::encode(used_, record.size()), family.order().prefix(record)};
    used_ += header + record.size() + counter;
    largest_ = std::max(largest_, record.size());
    count(record);
    return true;
  }

  /// Counts a record that is known to be in the chunk once more, if it is.
  bool repeat(std::string_view record, recent_records::hash hash) {
    std::uint64_t const next = record_place::encode(used_, record.size());
    auto const place = recent_.find_or_note(record, hash, memory_.data(), next);
    if (!place) return false;
    if (!add_repeats(*place, 1)) {
      recent_.note(hash, next);
      return false;
    }
    count(record);
    return true;
  }
  /// If a byte can count them.
  bool add_repeats(std::uint64_t place, std::size_t more) noexcept {
    std::byte& repeats = repeats_of(place);
    std::size_t const sum = static_cast<std::size_t>(repeats) + more;
    if (sum > most_repeats) return false;
    repeats = static_cast<std::byte>(sum);
    return true;
  }
  /// Stands behind the record.
  std::byte& repeats_of(std::uint64_t place) noexcept {
    auto const record = record_place::record(memory_.data(), place);
    return memory_.data()[record.data() + record.size() - reinterpret_cast<char*>(memory_.data())];
  }

  void count(std::string_view record) noexcept {
    ++count_;
    record_bytes_ += record.size();
  }

  /// The index grew downwards, if there is one: turned round, parts are stretches of the input.
  std::span<prefix_entry> entries_in_input_order() {
    std::span<prefix_entry> const all(first_entry(), distinct_);
    if (is_indexed_) std::reverse(all.begin(), all.end());
    return all;
  }

  /// Gives each record of the sorted parts, which lie side by side, as many entries as it was
  /// appended. Their room is in front of them, so that what is written never reaches what is yet to
  /// be read, but for entries that have been counted as repetitions of the same record.
  void give_repeats(std::span<std::span<prefix_entry>> parts) {
    if (!counts_repeats_) return;
    constexpr std::size_t ahead = 16;
    prefix_entry* to = end_of_entries() - count_;
    for (auto& part : parts) {
      prefix_entry* const begin = to;
      std::optional<std::uint64_t> last;
      for (std::size_t i = 0; i < part.size(); ++i) {
        if (i + ahead < part.size()) __builtin_prefetch(&repeats_of(part[i + ahead].place));
        prefix_entry const entry = part[i];
        if (entry.place == last) continue;
        last = entry.place;
        to = std::fill_n(to, 1 + static_cast<std::size_t>(repeats_of(entry.place)), entry);
      }
      part = {begin, to};
    }
    OUTSIZE_ASSERT(to == end_of_entries());
    distinct_ = count_;
    counts_repeats_ = false;
  }

  /// That of records which lie side by side, from number `first` on.
  void make_index(Items const& family, std::size_t first, std::span<prefix_entry> index) const {
    std::size_t const bytes = family.item_bytes();
    std::size_t at = first * bytes;
    for (prefix_entry& e : index) {
      auto const* const record = reinterpret_cast<char const*>(memory_.data() + at);
      e = {record_place::encode(at, bytes), family.order().prefix({record, bytes})};
      at += bytes;
    }
  }

  /// Returns what is left of the part, at its beginning.
  std::span<prefix_entry> sort_part(Items const& family, std::span<prefix_entry> part,
                                    equal_items equals) {
    auto const record = [this](std::uint64_t place) {
      return record_place::record(memory_.data(), place);
    };
    auto const fetch = [this](std::uint64_t place, std::size_t depth)
        __attribute__((always_inline)) {
      __builtin_prefetch(memory_.data() + record_place::offset(place) + depth);
    };
    index_sort(family.order(), record, fetch, repeats_in_sort{this})(part);
    if (equals == equal_items::kept) return part;
    auto const repeated = std::ranges::unique(part, [&](auto const& a, auto const& b) {
      return a.prefix == b.prefix && family.order().equal_keys(record(a.place), record(b.place));
    });
    return part.first(part.size() - repeated.size());
  }

  record_view<typename Items::order_type> view_of(Items const& family,
                                                  std::span<prefix_entry const> part) const {
    return record_view<typename Items::order_type>::of_index(
        family.order(), memory_.data(), part.data(), family.item_bytes(), part.size());
  }

  buffer memory_;
  std::size_t count_ = 0;
  std::size_t distinct_ = 0;  // that have an entry; others are repetitions of one of these
  std::size_t used_ = 0;
  std::uint64_t record_bytes_ = 0;
  std::size_t largest_ = 0;
  bool is_indexed_ = true;       // there are entries, in the opposite order
  bool counts_repeats_ = false;  // how often it came again is behind each record
  recent_records recent_;
};

/// The family of byte strings under Order, all of `item_bytes`, or of any length if that is 0.
template <typename Order>
class record_items {
 public:
  using order_type = Order;
  using view = record_view<Order>;
  using key_type = record_key_ref;
  using chunk = record_chunk<record_items>;
  static constexpr bool fixed_size = false;
  static constexpr bool combines = false;
  static constexpr bool sorts_out_of_place = false;
  static constexpr std::size_t chunk_entry_bytes = sizeof(prefix_entry);
  static constexpr bool merges_by_copying = false;
  static constexpr bool has_key_codec = false;
  struct key_less {
    Order const* order;
    static std::uint64_t leading(key_type const& key) noexcept { return key.prefix; }
    bool operator()(key_type const& a, key_type const& b) const {
      if (a.prefix != b.prefix) return a.prefix < b.prefix;
      return order->compare(a.record(), b.record()) < 0;
    }
  };

  /// A block's first record, if it is short. Of a longer one it predicts approximately: by its
  /// beginning, or of records of one length, whose keys may be anywhere, by its prefix.
  struct trigger {
    std::array<char, 30> start;
    std::uint8_t length;
    bool exact;

    std::string_view record() const noexcept { return {start.data(), length}; }
    std::uint64_t prefix() const noexcept {
      std::uint64_t word;
      std::memcpy(&word, start.data(), sizeof word);
      return word;
    }
  };

  /// `order` must outlive it.
  record_items(Order const& order, std::size_t item_bytes)
      : less_{&order}, item_bytes_(item_bytes) {}
  record_items(Order const&& order, std::size_t item_bytes) = delete;

  std::size_t item_bytes() const noexcept { return item_bytes_; }
  Order const& order() const noexcept { return *less_.order; }
  key_less const& less() const noexcept { return less_; }
  /// What merges compare, where all bytes count.
  offset_codes codes() const noexcept
    requires std::same_as<Order, byte_order>
  {
    return offset_codes(order());
  }
  bool equal(key_type const& a, key_type const& b) const {
    if constexpr (requires { codes(); }) return a.record() == b.record();
    return a.prefix == b.prefix && order().equal_keys(a.record(), b.record());
  }

  view block_view(std::span<std::byte const> block, std::size_t count) const {
    return item_bytes_ != 0 ? view::of_fixed(order(), block.data(), item_bytes_, count)
                            : view::of_packed(order(), block, count);
  }

  /// One record on its own.
  view view_of_one(std::span<std::byte const> record) const {
    return view::of_fixed(order(), record.data(), record.size(), 1);
  }

  /// Memory that sort_here() needs for so many bytes of records of one length.
  std::size_t scratch_bytes(std::size_t records_bytes) const noexcept {
    return records_bytes / item_bytes_ * sizeof(prefix_entry) + records_bytes;
  }
  /// Sorts records of one length where they lie, by the calling thread; equal ones stay as they
  /// come. @pre `scratch`, of scratch_bytes(), is aligned as a word.
  void sort_here(std::span<std::byte> records, std::span<std::byte> scratch) const {
    std::span<prefix_entry> const index(reinterpret_cast<prefix_entry*>(scratch.data()),
                                        records.size() / item_bytes_);
    auto* const copies = reinterpret_cast<char*>(index.data() + index.size());
    std::memcpy(copies, records.data(), records.size());
    auto const record_at = [&](std::uint64_t place) {
      return std::string_view(copies + place, item_bytes_);
    };
    for (std::size_t i = 0; i < index.size(); ++i)
      index[i] = {i * item_bytes_, order().prefix(record_at(i * item_bytes_))};
    index_sort(order(), record_at, [&](std::uint64_t place, std::size_t depth) {
      __builtin_prefetch(copies + place + depth);
    })(index);
    std::byte* to = records.data();
    for (prefix_entry const& e : index) to = copy_short(record_at(e.place), to);
  }

  std::size_t size(key_type const& key) const noexcept { return key.length; }
  static std::byte* store(key_type const& key, std::byte* to) noexcept {
    return copy_short(key.record(), to);
  }
  void finish(std::span<std::byte>) const noexcept {}

  trigger make_trigger(key_type const& key) const {
    trigger t{};
    t.exact = key.length <= t.start.size();
    if (holds_prefix(t)) {
      std::memcpy(t.start.data(), &key.prefix, sizeof key.prefix);
      return t;
    }
    t.length = static_cast<std::uint8_t>(std::min(key.length, t.start.size()));
    std::memcpy(t.start.data(), key.data, t.length);
    return t;
  }
  static bool trigger_is_exact(trigger const& t) noexcept { return t.exact; }
  /// @pre the trigger is exact.
  key_type trigger_key(trigger const& t) const { return key_of(t); }
  /// Whether a merge is going to need the block of `a` first, as far as the triggers tell.
  bool trigger_before(trigger const& a, trigger const& b) const {
    return holds_prefix(a) ? a.prefix() < b.prefix() : less_(key_of(a), key_of(b));
  }

 private:
  /// Orders of records of one length look at nothing else.
  bool holds_prefix(trigger const& t) const noexcept { return item_bytes_ != 0 && !t.exact; }
  key_type key_of(trigger const& t) const {
    return {order().prefix(t.record()), t.start.data(), t.length};
  }

  key_less less_;
  std::size_t item_bytes_;
};

}  // namespace outsize::detail
