// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The items of an unordered_map: those in the pages of buckets, and what waits to be done to them.
//
//   lookup ─▶ pending_operations ─(not there)▶ page of the bucket ─(full, filter)▶ its chain
//   oblivious operation ─▶ pending_operations ─(full)▶ apply(): all buckets concerned, in order
//
// Invariant: what a key has is what waits for it, or else what is in the pages. Whoever changes
// something in the pages has that applied before which waits for the same key. Threads: const
// functions in company, all else alone. Layer: container.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/input_options.hpp>
#include <outsize/algorithm/detail/item_scan.hpp>
#include <outsize/algorithm/item_sources.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/detail/mixed_bits.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/detail/filling.hpp>
#include <outsize/container/detail/hash/bucket_pages.hpp>
#include <outsize/container/detail/hash/pending_operations.hpp>
#include <outsize/container/detail/tree/map_item.hpp>
#include <outsize/container/unordered_map_options.hpp>
#include <outsize/page/kept_type.hpp>

namespace outsize::detail {

/// The parts of a table, in the order of iteration. The first two are rows of pages.
enum class table_area : std::uint8_t { buckets, overflow, pending, end };

/// Where an item is; of what is pending, a slot alone.
struct table_place {
  table_place() = default;
  table_place(table_area a, std::uint64_t p, std::uint64_t s) noexcept
      : area(a), page(p), slot(s) {}
  table_place(bucket_place const& at) noexcept
      : area(static_cast<table_area>(at.row)), page(at.page), slot(at.slot) {}
  bucket_row row() const noexcept { return static_cast<bucket_row>(area); }
  operator bucket_place() const noexcept { return {row(), page, slot}; }
  bool is_in_page() const noexcept { return area <= table_area::overflow; }

  table_area area = table_area::end;
  std::uint64_t page = 0;
  std::uint64_t slot = 0;
};

/// The order of the hashes of items: one type for all tables of the same items, so that one engine
/// sorts them for all.
template <typename Item>
struct hash_order {
  void const* table;
  std::uint64_t (*hash_in)(void const* table, Item const& item);

  std::uint64_t word(Item const& item) const { return hash_in(table, item); }
  bool operator()(Item const& a, Item const& b) const { return word(a) < word(b); }
};

/// Items by their keys, at a fixed address for iterators.
template <typename Key, typename Value, typename Hash, typename KeyEqual>
class hash_table {
 public:
  using key_type = Key;
  using key_equal = KeyEqual;
  using item = map_item<Key, Value>;
  using operations = pending_operations<item, KeyEqual>;
  using kind = typename operations::kind;

  hash_table(std::unique_ptr<bucket_pages> pages, std::size_t pending_bytes, Hash hash,
             KeyEqual equal)
      : pages_(std::move(pages)),
        hash_(std::move(hash)),
        equal_(std::move(equal)),
        pending_bytes_(pending_bytes) {
    static_assert(stored_item<item>);
    static_assert(alignof(item) <= block::block_cache::buffer_alignment_bytes);
  }
  hash_table(hash_table const&) = delete;
  hash_table& operator=(hash_table const&) = delete;
  ~hash_table() {
    try {
      if (pages_->rows().file() != nullptr) close();
    } catch (...) {  // of the hash function, say; unordered_map::close() tells
    }
  }

  static bucket_items describe_items(Hash const& hash) {
    Key sample{};
    if constexpr (std::is_arithmetic_v<Key>) sample = static_cast<Key>(57);
    auto const hash_items = [hash](std::span<std::byte const> items,
                                   std::span<std::uint64_t> hashes) {
      auto const* const first = reinterpret_cast<item const*>(items.data());
      for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = mixed_bits(hash(first[i].first));
    };
    return {{sizeof(Key), sizeof(Value)},
            sizeof(item),
            alignof(item),
            mixed_bits(hash(sample)),
            hash_items,
            {kept_item<Key>("keys"), kept_item<Value>("values"),
             kept_function<Hash, Key>("the hash function"),
             kept_function<KeyEqual, Key>("the equality")}};
  }
  /// Of a key, or what the hash function takes instead of one; so in all lookups.
  template <typename K>
  std::uint64_t hash_of(K const& key) const {
    return mixed_bits(hash_(key));
  }
  Hash const& hash_function() const noexcept { return hash_; }
  KeyEqual const& equal() const noexcept { return equal_; }

  bucket_pages const& pages() const noexcept { return *pages_; }
  operations const* pending() const noexcept { return pending_.get(); }
  bool has_pending() const noexcept { return pending_ && !pending_->empty(); }
  /// Changes whenever an iterator must look for its item again.
  std::uint64_t version() const noexcept { return pages_->version() + put_count_; }

  // ---- in company ----

  /// Shows the item of a key to found(item, place), if there is one; whether there is.
  template <typename K, typename Found>
  bool look_up(K const& key, Found&& found) const {
    std::uint64_t const hash = hash_of(key);
    if (auto const* const waits = waiting(hash, key)) {
      if (waits->what == kind::assign)
        found(waits->item, table_place(table_area::pending, 0, pending_->slot_of(hash, key)));
      return waits->what == kind::assign;
    }
    if (pages_->numbers().count() == 0) return false;
    std::optional<bucket_place> at = pages_->first(hash);
    std::uint64_t const bucket = at->page;
    for (std::uint64_t steps = 0; at; ++steps) {
      auto const view = pages_->rows().view(at->row, at->page);
      auto const items = items_of(view);
      check_items(at->row, items, bucket);
      if (auto const slot = find_in(items, key); slot < items.size()) {
        found(items[slot], table_place({at->row, at->page, slot}));
        return true;
      }
      at = view.next(hash);
      if (steps > pages_->rows().page_count(bucket_row::overflow))
        pages_->rows().refuse("damaged: a chain without an end");
    }
    return false;
  }
  template <typename K>
  std::optional<table_place> find(K const& key) const {
    std::optional<table_place> place;
    look_up(key, [&](item const&, table_place const& at) { place = at; });
    return place;
  }
  /// Shows the items of many keys, key_of(0) to key_of(count - 1), to found(index, item).
  template <typename KeyOf, typename Found>
  void look_up_many(std::size_t count, KeyOf key_of, Found found) const {
    for (std::size_t begin = 0; begin < count; begin += batch_keys)
      look_up_batch(begin, std::min(count, begin + batch_keys), key_of, found);
  }
  /// Items, of which those that wait are counted by looking whether they are there.
  std::uint64_t size() const {
    if (!has_pending()) return pages_->size();
    std::vector<std::uint64_t> slots;
    for (std::uint64_t slot = 0; slot < pending_->slot_count(); ++slot)
      if ((*pending_)[slot].what != kind::none) slots.push_back(slot);
    std::uint64_t there = 0;
    look_up_many_in_pages(
        slots.size(), [&](std::size_t i) -> Key const& { return (*pending_)[slots[i]].item.first; },
        [&](std::size_t, item const&) { ++there; });
    return pages_->size() + pending_->count(kind::assign) - there;
  }

  // ---- alone ----

  /// @pre it is in a page.
  item& change(table_place const& place) {
    OUTSIZE_ASSERT(place.is_in_page());
    return *reinterpret_cast<item*>(pages_->change(bucket_place(place)));
  }
  /// As look_up(), of an item of the pages, which can be changed there.
  template <typename K, typename Found>
  void look_up_to_change(K const& key, Found&& found) {
    if (waiting(hash_of(key), key) != nullptr) apply();
    look_up(key, found);
  }
  std::optional<table_place> find_to_change(Key const& key) {
    std::optional<table_place> place;
    look_up_to_change(key, [&](item const&, table_place const& at) { place = at; });
    return place;
  }
  /// Calls f(index) for many keys in the order of their buckets, equal ones in theirs, with the
  /// pages that will be needed on their way. It may change the table.
  template <typename KeyOf, typename F>
  void for_each_by_bucket(std::size_t count, KeyOf key_of, F f) {
    apply();
    for (std::size_t begin = 0; begin < count; begin += batch_keys) {
      std::vector<request> requests(std::min(count - begin, batch_keys));
      bool const has_buckets = pages_->numbers().count() > 0;
      for (std::size_t i = 0; i < requests.size(); ++i)
        requests[i] = {has_buckets ? pages_->first(hash_of(key_of(begin + i))).page : 0, begin + i};
      if (!has_buckets) {
        for (request const& each : requests) f(each.index);
        continue;
      }
      std::ranges::sort(requests, {}, [](request const& r) { return std::pair(r.page, r.index); });
      visit_pages(bucket_row::buckets, std::span<request const>(requests), &request::page,
                  [&](std::span<request const> some) {
                    for (request const& each : some) f(each.index);
                  });
    }
  }
  /// @pre its key is not there.
  table_place insert(item const& added) {
    return pages_->insert(hash_of(added.first), std::as_bytes(std::span(&added, 1)));
  }
  void erase(Key const& key, table_place const& place) { pages_->erase(hash_of(key), place); }
  /// Notes what will be done to a key, instead of what waits for it.
  void put_pending(item const& operand, kind what) {
    pages_->rows().check_writable();
    std::uint64_t const hash = hash_of(operand.first);
    if (pending_ && pending_->full() && waiting(hash, operand.first) == nullptr) apply();
    if (!pending_)
      pending_ = std::make_unique<operations>(pages_->rows().store(), pending_bytes(), equal_,
                                              pending_bytes_ > 0);
    pending_->put(hash, operand, what);
    ++put_count_;
  }
  /// Does all that waits, bucket by bucket. After a failure what has been done is done, and all
  /// still waits, to be done again.
  void apply() {
    if (!has_pending()) return;
    pages_->reserve(pages_->size() + pending_->count(kind::assign));
    if (pages_->numbers().count() > 0)
      visit_pages(bucket_row::buckets, pending_->by_bucket(pages_->numbers()), &placed::bucket,
                  [this](std::span<placed const> some) { apply_to_bucket(some); });
    drop_pending();
    ++put_count_;
  }
  /// Erases all items that are unwanted, bucket by bucket; how many.
  template <typename Unwanted>
  std::uint64_t erase_if(Unwanted& unwanted) {
    apply();
    std::uint64_t const before = pages_->size();
    std::uint64_t ahead = 0;
    for (std::uint64_t bucket = 0; bucket < pages_->numbers().count(); ++bucket) {
      std::uint64_t const end = std::min(pages_->numbers().count(),
                                         bucket + pages_->rows().ahead_pages(bucket_row::buckets));
      for (ahead = std::max(ahead, bucket + 1); ahead < end; ++ahead)
        pages_->rows().prefetch(bucket_row::buckets, ahead);
      erase_from_bucket(bucket, unwanted);
    }
    return before - pages_->size();
  }
  void reserve(std::uint64_t items) {
    apply();
    pages_->reserve(items);
  }
  void shrink_to_fit() {
    apply();
    pages_->shrink_to_fit();
  }
  void clear() {
    pages_->clear();
    if (pending_) drop_pending();
  }
  void flush() {
    apply();
    pages_->flush();
  }
  void close() {
    apply();
    pages_->close();
  }

  /// Replaces all by the items of `in`, of those with the same key the first; after a failure all
  /// is as before.
  template <typename In>
  void build(In&& in, sort_options options) {
    pages_->rows().check_writable();
    if (options.memory_bytes == 0) options.memory_bytes = memory_for_sorting(options);
    sorter<item, hash_order<item>> sorted(pages_->rows().store(), by_hash(), options);
    scan_source<item>(pages_->rows().store(), std::forward<In>(in), options,
                      [&](std::span<item const> some) {
                        sorted.push(some);
                        return true;
                      });
    sorted.sort();
    bucket_pages::renewal renewed(*pages_);
    fill(sorted);
    renewed.keep();
    pending_.reset();
    ++put_count_;
  }

 private:
  using operation = typename operations::operation;
  using placed = typename operations::placed;
  struct request {
    std::uint64_t page;
    std::size_t index;  // of the key
  };
  static constexpr std::size_t batch_keys = std::size_t{1} << 16;
  static constexpr std::uint64_t most_pending_bytes = 64_MiB;
  static constexpr std::uint64_t share_beside_sorting = 8;

  hash_order<item> by_hash() const noexcept {
    return {this, [](void const* table, item const& one) {
              return static_cast<hash_table const*>(table)->hash_of(one.first);
            }};
  }
  static std::span<item const> items_of(bucket_view const& view) noexcept {
    return {reinterpret_cast<item const*>(view.items().data()), view.items().size() / sizeof(item)};
  }
  template <typename K>
  std::size_t find_in(std::span<item const> items, K const& key) const {
    std::size_t slot = 0;
    while (slot < items.size() && !equal_(items[slot].first, key)) ++slot;
    return slot;
  }

  /// That those of a page in a file are of this bucket, as far as the first one tells.
  void check_items(bucket_row row, std::span<item const> items, std::uint64_t bucket) const {
    pages_->check_count(row, items.size());
    if (!items.empty() && pages_->rows().file() != nullptr)
      pages_->check_bucket(hash_of(items.front().first), bucket);
  }

  /// What waits for a key, if anything does.
  template <typename K>
  operation const* waiting(std::uint64_t hash, K const& key) const {
    if (!has_pending()) return nullptr;
    auto const& found = pending_->find(hash, key);
    return found.what == kind::none ? nullptr : &found;
  }
  /// With its memory, unless that is named.
  void drop_pending() noexcept {
    if (pending_bytes_ == 0) return pending_.reset();
    pending_->clear();
  }
  std::size_t pending_bytes() const {
    if (pending_bytes_ > 0) return pending_bytes_;
    return static_cast<std::size_t>(
        std::min(pages_->rows().store().memory().total_bytes() / 16, most_pending_bytes));
  }

  /// Shows requests that are in the order of their pages to visit(those of one page), with the
  /// pages that will be needed on their way.
  template <typename Request, typename Visit>
  void visit_pages(bucket_row row, std::span<Request const> requests,
                   std::uint64_t Request::*page_of, Visit visit) const {
    std::size_t soon = 0;     // the first one whose page is not asked for yet
    std::uint64_t ahead = 0;  // pages asked for
    while (!requests.empty()) {
      for (; soon < requests.size() && ahead < pages_->rows().ahead_pages(row); ++soon)
        if (soon == 0 || requests[soon].*page_of != requests[soon - 1].*page_of) {
          pages_->rows().prefetch(row, requests[soon].*page_of);
          ++ahead;
        }
      auto const last = std::ranges::find_if(requests, [&](Request const& each) {
        return each.*page_of != requests.front().*page_of;
      });
      auto const count = static_cast<std::size_t>(last - requests.begin());
      visit(requests.first(count));
      requests = requests.subspan(count);
      soon = std::max(soon, count) - count;
      --ahead;
    }
  }

  template <typename KeyOf, typename Found>
  void look_up_batch(std::size_t begin, std::size_t end, KeyOf& key_of, Found& found) const {
    if (!has_pending())
      return look_up_many_in_pages(
          end - begin, [&](std::size_t i) -> decltype(auto) { return key_of(begin + i); },
          [&](std::size_t i, item const& each) { found(begin + i, each); });
    std::vector<std::size_t> others;
    for (std::size_t i = begin; i < end; ++i) {
      auto const* const waits = waiting(hash_of(key_of(i)), key_of(i));
      if (waits == nullptr)
        others.push_back(i);
      else if (waits->what == kind::assign)
        found(i, waits->item);
    }
    look_up_many_in_pages(
        others.size(), [&](std::size_t i) -> decltype(auto) { return key_of(others[i]); },
        [&](std::size_t i, item const& each) { found(others[i], each); });
  }
  /// First in the buckets, then in what follows in their chains.
  template <typename KeyOf, typename Found>
  void look_up_many_in_pages(std::size_t count, KeyOf key_of, Found found) const {
    if (pages_->numbers().count() == 0) return;
    std::vector<request> requests(count), others;
    for (std::size_t i = 0; i < count; ++i)
      requests[i] = {pages_->first(hash_of(key_of(i))).page, i};
    std::uint64_t steps = 0;
    for (auto row = bucket_row::buckets; !requests.empty(); row = bucket_row::overflow) {
      if (steps++ > pages_->rows().page_count(bucket_row::overflow))
        pages_->rows().refuse("damaged: a chain without an end");
      std::ranges::sort(requests, {}, &request::page);
      visit_pages(row, std::span<request const>(requests), &request::page,
                  [&](std::span<request const> some) {
                    auto const view = pages_->rows().view(row, some.front().page);
                    auto const items = items_of(view);
                    check_items(row, items,
                                pages_->numbers().of(hash_of(key_of(some.front().index))));
                    for (auto const& [page, i] : some) {
                      auto const slot = find_in(items, key_of(i));
                      if (slot < items.size())
                        found(i, items[slot]);
                      else if (auto const next = view.next(hash_of(key_of(i))))
                        others.push_back({next->page, i});
                    }
                  });
      requests = std::exchange(others, {});
    }
  }

  /// Writes a bucket anew, as what waits for its keys says.
  void apply_to_bucket(std::span<placed const> waiting_here) {
    std::uint64_t const bucket = waiting_here.front().bucket;
    // By their hash values, as most items of the bucket are concerned by none of them.
    std::vector<operation const*> wanted;
    for (auto const& each : waiting_here) wanted.push_back(&(*pending_)[each.slot]);
    std::ranges::sort(wanted, {}, &operation::hash);
    auto const is_wanted = [&](std::uint64_t hash, Key const& key) {
      auto const alike = std::ranges::equal_range(wanted, hash, {}, &operation::hash);
      return std::ranges::any_of(
          alike, [&](operation const* each) { return equal_(each->item.first, key); });
    };
    bucket_pages::draft after(*pages_, 0);
    std::uint64_t added = 0, removed = 0;
    auto const chain = pages_->read_bucket(bucket, [&](auto bytes, auto hashes) {
      auto const* const items = reinterpret_cast<item const*>(bytes.data());
      for (std::size_t i = 0; i < hashes.size(); ++i)
        if (is_wanted(hashes[i], items[i].first))
          ++removed;
        else
          after.put(hashes[i], std::as_bytes(std::span(&items[i], 1)));
    });
    for (operation const* const each : wanted)
      if (each->what == kind::assign) {
        after.put(each->hash, std::as_bytes(std::span(&each->item, 1)));
        ++added;
      }
    if (added + removed > 0) pages_->replace(bucket, after, chain, added, removed);
  }

  /// Asks about each item once, and writes the bucket anew if one is unwanted.
  template <typename Unwanted>
  void erase_from_bucket(std::uint64_t bucket, Unwanted& unwanted) {
    std::vector<bool> goes;
    auto const chain = pages_->read_bucket(bucket, [&](auto bytes, auto hashes) {
      auto const* const items = reinterpret_cast<item const*>(bytes.data());
      for (std::size_t i = 0; i < hashes.size(); ++i)
        goes.push_back(std::invoke(unwanted, std::as_const(items[i])));
    });
    auto const removed = static_cast<std::uint64_t>(std::ranges::count(goes, true));
    if (removed == 0) return;
    bucket_pages::draft after(*pages_, 0);
    auto gone = goes.cbegin();
    pages_->read_bucket(bucket, [&](auto bytes, auto hashes) {
      for (std::size_t i = 0; i < hashes.size(); ++i)
        if (!*gone++) after.put(hashes[i], bytes.subspan(i * sizeof(item), sizeof(item)));
    });
    pages_->replace(bucket, after, chain, 0, removed);
  }

  std::uint64_t memory_for_sorting(sort_options const& options) const {
    storage& store = pages_->rows().store();
    std::uint64_t const free_bytes = store.memory().obtainable_bytes();
    std::uint64_t const beside =
        free_bytes / share_beside_sorting +  // places of pages, that come while it is at work
        io::input_stream_memory_bytes(input_options(store, options));
    return std::max<std::uint64_t>(free_bytes - std::min(beside, free_bytes), 1);
  }
  /// Items come in the order of their hash values, and so in that of buckets.
  template <typename Sorted>
  void fill(Sorted& sorted) {
    if (sorted.empty()) return;
    pages_->reserve(sorted.size());
    std::vector<Key> keys;  // of the hash value that has come last
    std::uint64_t last_hash = 0;
    while (!sorted.empty()) {
      std::uint64_t const bucket = pages_->first(hash_of(sorted->first)).page;
      bucket_pages::draft filled(*pages_, 0);
      std::uint64_t added = 0;
      for (; !sorted.empty(); ++sorted) {
        std::uint64_t const hash = hash_of(sorted->first);
        if (pages_->first(hash).page != bucket) break;
        if (std::exchange(last_hash, hash) != hash) keys.clear();
        auto const is_same = [&](Key const& key) { return equal_(key, sorted->first); };
        if (std::ranges::any_of(keys, is_same)) continue;
        keys.push_back(sorted->first);
        filled.put(hash, std::as_bytes(std::span(&*sorted, 1)));
        ++added;
      }
      pages_->replace(bucket, filled, {}, added, 0, page_row::content::replaced);
    }
  }

  std::unique_ptr<bucket_pages> pages_;
  [[no_unique_address]] Hash hash_;
  [[no_unique_address]] KeyEqual equal_;
  std::unique_ptr<operations> pending_;  // once there is something
  std::size_t pending_bytes_;
  std::uint64_t put_count_ = 0;
};

}  // namespace outsize::detail
