// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A hash table on disk, or in a file, used as std::unordered_map is: a lookup reads one page,
// seldom two.
//
//   key ─hash─▶ bucket = page ─(full)▶ page of overflow           linear hashing: bucket_pages.hpp
//
// It grows bucket by bucket, without a stop in which all is hashed again. Three ways to fill it:
// insert(), which looks whether the key is there; build(), from many items at once, which sorts;
// insert_oblivious(), which does not look, and waits in memory with many others until they go to
// their buckets in order.
//
// Three ways to an item: a reference, through an `iterator`, operator[] or at(), which counts its
// page as changed; a value, through a `const_iterator` or get(), which does not; find_many(), for
// many keys at once, whose pages come all together. References are valid until live_pages() - 1
// other pages have been touched by references, or something is inserted, erased or flushed. After
// an insertion they can still be read: m[key] = m[other] is right.
// Iterators stay valid as long as their item is there. The key of an item must not be changed.
//
// Threads: as std::unordered_map; several may use const functions and const_iterators at once, each
// with iterators of its own: to look through one keeps another page in memory.
// Layer: container. Source: Litwin: Linear hashing, VLDB 1980.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/detail/owned.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/detail/filling.hpp>
#include <outsize/container/detail/hash/hash_table.hpp>
#include <outsize/container/detail/hash/unordered_map_iterator.hpp>
#include <outsize/container/detail/tree/map_item.hpp>
#include <outsize/container/detail/tree/sought_key.hpp>
#include <outsize/container/unordered_map_options.hpp>
#include <outsize/io/disk_file.hpp>

namespace outsize {

/// Values by keys, each of which is there once. See the top of this file for references, iterators
/// and threads.
///
///     outsize::unordered_map<std::uint64_t, account> accounts(store);
///     accounts.build(items<map_item<std::uint64_t, account>>("accounts"));
///     accounts.insert_oblivious({key, a});                 // no I/O now
///     if (auto const found = accounts.get(key)) …
///
/// @tparam Hash  std::hash by default. Its results are mixed, so that those of std::hash, which are
/// the numbers themselves, do. It and KeyEqual may have state, which is given to the constructor
/// and stays with the map. A file does not keep it: it must be opened with the function, and the
/// state, that it was made with.
///
/// I/Os:    Where pages have room for c items and their load is the default: a lookup 1.1 reads at
///          most on average, and exactly 1 but for those that go to overflow; an insertion or
///          erasure a lookup, and a write of each page changed; besides one bucket more for each
///          0.7 c insertions, 2 reads and 3 writes. build(): those of sort(), and a write for each
///          page. Oblivious operations: none, and when m that wait are done in T buckets, a read
///          and a write of each of these, in order, and m / 0.7 c buckets more. Scan: a read of
///          each page, in order, ahead of their use.
/// Memory:  see unordered_map_options; 17 bytes for each page. Of oblivious operations one takes
///          4/3 · (sizeof(value_type) + 32) bytes. build() takes what the storage's budget has
///          free.
/// Disk:    at the default load 1.45 to 1.7 times the items, where pages have room for many; after
///          build() of all that were given to it, also those whose key was there before. erase()
///          gives back pages of overflow, shrink_to_fit() those of buckets.
/// Errors:  io_error where a page must be read, or another written for it; out_of_space and
///          budget_error where it grows; anything that Hash or KeyEqual throws. The operation has
///          not been done then, and all that was there is there; of oblivious ones some may have
///          been done, but all still wait, so that everybody sees what they saw. Otherwise is what
///          erase() of an iterator, insert() of a range and find_many() leave: see there.
///          A destructor that cannot do what waits leaves a file as flushed last.
/// Checked: unordered_map_test.cpp, unordered_map_io_test.cpp, unordered_map_file_test.cpp.
template <stored_item Key, stored_item Value, typename Hash = std::hash<Key>,
          typename KeyEqual = std::equal_to<Key>>
class unordered_map {
  using table = detail::hash_table<Key, Value, Hash, KeyEqual>;
  using pages = detail::bucket_pages;

 public:
  using key_type = Key;
  using mapped_type = Value;
  using value_type = map_item<Key, Value>;
  using hasher = Hash;
  using key_equal = KeyEqual;
  using size_type = std::uint64_t;
  using difference_type = std::ptrdiff_t;
  using iterator = unordered_map_iterator<table, false>;
  using const_iterator = unordered_map_iterator<table, true>;

  /// An empty one on the disks of `store`, which must outlive it. @throws budget_error, io_error;
  /// std::invalid_argument (load, placement).
  explicit unordered_map(storage& store = default_storage(),
                         unordered_map_options const& options = {}, Hash hash = {},
                         KeyEqual equal = {})
      : unordered_map(std::make_unique<pages>(store, table::describe_items(hash), options), options,
                      std::move(hash), std::move(equal)) {}
  /// One with items, of those with the same key the first: of a range or a file, or between two
  /// iterators, which are built; or of a list, which are inserted one by one. @throws as build() or
  /// insert(), besides.
  template <source_of<map_item<Key, Value>> In>
  unordered_map(storage& store, In&& in, unordered_map_options const& options = {}, Hash hash = {},
                KeyEqual equal = {})
      : unordered_map(store, options, std::move(hash), std::move(equal)) {
    build(std::forward<In>(in));
  }
  template <std::input_iterator I, std::sentinel_for<I> S>
  unordered_map(storage& store, I from, S to, unordered_map_options const& options = {},
                Hash hash = {}, KeyEqual equal = {})
      : unordered_map(store, std::ranges::subrange(std::move(from), std::move(to)), options,
                      std::move(hash), std::move(equal)) {}
  unordered_map(storage& store, std::initializer_list<value_type> list,
                unordered_map_options const& options = {}, Hash hash = {}, KeyEqual equal = {})
      : unordered_map(store, options, std::move(hash), std::move(equal)) {
    insert(list);
  }
  /// The same on the disks of default_storage().
  template <std::input_iterator I, std::sentinel_for<I> S>
  unordered_map(I from, S to) : unordered_map(default_storage(), std::move(from), std::move(to)) {}
  unordered_map(std::initializer_list<value_type> list) : unordered_map(default_storage(), list) {}
  /// An empty one in a new file, to be opened again: what flush() has made durable is there,
  /// however the process ends. @throws io_error, EEXIST if it is there already; budget_error.
  /// Nothing is left of it then.
  static unordered_map create(std::string const& path, storage& store = default_storage(),
                              unordered_map_options const& options = {}, Hash hash = {},
                              KeyEqual equal = {}) {
    return {pages::create(store, path, table::describe_items(hash), options), options,
            std::move(hash), std::move(equal)};
  }
  /// One that was created in a file; was_closed() tells whether it was closed, or is what the last
  /// flush() left. Read only: all that changes it, or hands out references, throws io_error
  /// (EACCES).
  /// @throws io_error if it cannot be opened, EBUSY while it is open elsewhere and one of both
  /// would change it; format_error if the file is no unordered_map of these keys, values and hash
  /// function, is of a newer format, cut short, or damaged; budget_error.
  static unordered_map open(std::string const& path, storage& store = default_storage(),
                            io::access mode = io::access::read_write,
                            unordered_map_options const& options = {}, Hash hash = {},
                            KeyEqual equal = {}) {
    return {pages::open(store, path, mode, table::describe_items(hash), options), options,
            std::move(hash), std::move(equal)};
  }
  /// The same in a file that is open; an empty one, to be created in.
  static unordered_map create(io::file_ptr file, storage& store,
                              unordered_map_options const& options = {}, Hash hash = {},
                              KeyEqual equal = {}) {
    return {pages::create(store, std::move(file), table::describe_items(hash), options), options,
            std::move(hash), std::move(equal)};
  }
  static unordered_map open(io::file_ptr file, storage& store, io::access mode,
                            unordered_map_options const& options = {}, Hash hash = {},
                            KeyEqual equal = {}) {
    return {pages::open(store, std::move(file), mode, table::describe_items(hash), options),
            options, std::move(hash), std::move(equal)};
  }
  /// One that was moved from can only be destroyed, or assigned to.
  unordered_map(unordered_map&&) noexcept = default;
  unordered_map& operator=(unordered_map&&) noexcept = default;
  /// Replaces all items. @throws as insert(); some of the new ones are there then.
  unordered_map& operator=(std::initializer_list<value_type> list) {
    clear();
    insert(list);
    return *this;
  }

  // ---- size ----

  /// Without const, after what waits has been done. With it, the same number, but for what waits
  /// its keys are looked up, each time.
  size_type size() {
    table_->apply();
    return table_->size();
  }
  size_type size() const { return table_->size(); }
  bool empty() { return size() == 0; }
  bool empty() const { return size() == 0; }
  /// Adds buckets, so that none will be added until there are so many items. On an empty map this
  /// costs nothing, no disk either until buckets are used, and all of its buckets will be equally
  /// long. Asks first whether there is the space. @throws std::length_error if it is more than
  /// max_size(), besides; as out_of_space and budget_error then tell, nothing was done.
  void reserve(size_type items) {
    if (items > max_size()) throw std::length_error("unordered_map: too many items");
    table_->reserve(items);
  }
  /// Takes buckets away that were added for items that have been erased, but none that build() or
  /// reserve() began with. I/Os: of each that goes, 2 reads and 1 write.
  void shrink_to_fit() { table_->shrink_to_fit(); }
  /// I/Os: none; the space of all pages is free.
  void clear() { table_->clear(); }
  size_type bucket_count() const noexcept { return table_->pages().numbers().count(); }
  static constexpr size_type max_size() noexcept {
    return std::numeric_limits<difference_type>::max() / sizeof(value_type);
  }
  /// Items for each bucket, and how many there may be before buckets are added: options.load of
  /// those that have room in its page.
  double load_factor() const {
    return bucket_count() == 0 ? 0
                               : static_cast<double>(size()) / static_cast<double>(bucket_count());
  }
  double max_load_factor() const noexcept {
    return static_cast<double>(table_->pages().most_load());
  }
  hasher hash_function() const { return table_->hash_function(); }
  key_equal key_eq() const { return table_->equal(); }

  // ---- lookup ----

  // By a key; or by anything else that Hash and KeyEqual take, if both are transparent: it is
  // hashed and compared as it is, though it may become a key. Otherwise it is made one.

  /// The value of a key, if it is there.
  template <key_or<Key, Hash, KeyEqual> K = Key>
  std::optional<Value> get(K const& key) const {
    std::optional<Value> value;
    look_for(key, [&](auto const& k) {
      table_->look_up(k, [&](value_type const& item, auto const&) { value = item.second; });
    });
    return value;
  }
  template <key_or<Key, Hash, KeyEqual> K = Key>
  bool contains(K const& key) const {
    return look_for(key, [&](auto const& k) { return table_->find(k).has_value(); });
  }
  template <key_or<Key, Hash, KeyEqual> K = Key>
  size_type count(K const& key) const {
    return contains(key) ? 1 : 0;
  }
  template <key_or<Key, Hash, KeyEqual> K = Key>
  const_iterator find(K const& key) const {
    const_iterator found = end();
    look_for(key, [&](auto const& k) {
      table_->look_up(k, [&](value_type const& item, detail::table_place const& at) {
        found = const_iterator(table_.get(), at, item.first);
      });
    });
    return found;
  }
  /// Only the iterator's use counts the page as changed.
  template <key_or<Key, Hash, KeyEqual> K = Key>
  iterator find(K const& key) {
    iterator found = end();
    look_for(key, [&](auto const& k) {
      table_->look_up_to_change(k, [&](value_type const& item, detail::table_place const& at) {
        found = iterator(table_.get(), at, item.first);
      });
    });
    return found;
  }
  /// From the item of a key to the next one, or twice the end. If it is there, what waits is done.
  /// @throws io_error of the next one's page, besides.
  template <key_or<Key, Hash, KeyEqual> K = Key>
  std::pair<iterator, iterator> equal_range(K const& key) {
    iterator const at = find(key);
    return {at, at == end() ? at : std::next(at)};
  }
  /// The same, but that what waits is not done: it comes last.
  template <key_or<Key, Hash, KeyEqual> K = Key>
  std::pair<const_iterator, const_iterator> equal_range(K const& key) const {
    const_iterator const at = find(key);
    return {at, at == end() ? at : std::next(at)};
  }
  /// Calls f(index, item) for each key that is there, in no order. Each page is read once for 65536
  /// keys, many at the same time. Memory: 16 bytes for each of these keys. @throws besides what f
  /// throws; it may have been called.
  template <std::invocable<std::size_t, value_type const&> F>
  void find_many(std::span<Key const> keys, F f) const {
    table_->look_up_many(
        keys.size(), [&](std::size_t i) -> Key const& { return keys[i]; }, std::ref(f));
  }
  /// The same; found[i] becomes the value of keys[i], or nothing. After a failure some are missing.
  /// @pre found.size() == keys.size().
  void find_many(std::span<Key const> keys, std::span<std::optional<Value>> found) const {
    OUTSIZE_ASSERT(keys.size() == found.size());
    std::ranges::fill(found, std::nullopt);
    find_many(keys, [&](std::size_t i, value_type const& item) { found[i] = item.second; });
  }
  /// @throws std::out_of_range, besides.
  Value& at(Key const& key) {
    auto const place = table_->find_to_change(key);
    if (!place) throw std::out_of_range("unordered_map: no such key");
    return table_->change(*place).second;
  }
  Value at(Key const& key) const {
    auto const value = get(key);
    if (!value) throw std::out_of_range("unordered_map: no such key");
    return *value;
  }
  /// Inserts a value-initialised one, if there is none.
  Value& operator[](Key const& key) {
    value_type const item(key, Value());  // as the key may lie in a page that leaves
    auto const place = table_->find_to_change(item.first);
    return table_->change(place ? *place : table_->insert(item)).second;
  }

  // ---- insert and erase ----

  /// Inserts an item, unless its key is there; says where it is, and whether it was inserted.
  std::pair<iterator, bool> insert(value_type const& item) {
    value_type const copy = item;  // which may lie in a page that leaves
    auto const place = table_->find_to_change(copy.first);
    return {iterator(table_.get(), place ? *place : table_->insert(copy), copy.first), !place};
  }
  /// Hints are of no use, here and below; they are there for code that gives one.
  iterator insert(const_iterator, value_type const& item) { return insert(item).first; }
  /// Inserts items one by one. @throws as insert(); those before have been inserted.
  template <std::input_iterator Iterator>
  void insert(Iterator from, Iterator to) {
    for (; from != to; ++from) emplace(*from);
  }
  void insert(std::initializer_list<value_type> items) { insert(items.begin(), items.end()); }
  /// As insert() of value_type(arguments…); also std::piecewise_construct and two tuples.
  template <typename... Arguments>
    requires std::constructible_from<value_type, Arguments...>
  std::pair<iterator, bool> emplace(Arguments&&... arguments) {
    return insert(value_type(std::forward<Arguments>(arguments)...));
  }
  template <typename... Arguments>
    requires std::constructible_from<value_type, Arguments...>
  iterator emplace_hint(const_iterator, Arguments&&... arguments) {
    return emplace(std::forward<Arguments>(arguments)...).first;
  }
  /// Inserts a key that is not there, with Value(arguments…); these are not used if it is.
  template <typename... Arguments>
    requires std::constructible_from<Value, Arguments...>
  std::pair<iterator, bool> try_emplace(Key const& key, Arguments&&... arguments) {
    Key const copy = key;  // which may lie in a page that leaves
    if (auto const place = table_->find_to_change(copy))
      return {iterator(table_.get(), *place, copy), false};
    value_type const item(copy, Value(std::forward<Arguments>(arguments)...));
    return {iterator(table_.get(), table_->insert(item), copy), true};
  }
  template <typename... Arguments>
    requires std::constructible_from<Value, Arguments...>
  iterator try_emplace(const_iterator, Key const& key, Arguments&&... arguments) {
    return try_emplace(key, std::forward<Arguments>(arguments)...).first;
  }
  std::pair<iterator, bool> insert_or_assign(Key const& key, Value const& value) {
    value_type const copy(key, value);
    auto inserted = insert(copy);
    if (!inserted.second) inserted.first->second = copy.second;
    return inserted;
  }
  iterator insert_or_assign(const_iterator, Key const& key, Value const& value) {
    return insert_or_assign(key, value).first;
  }
  /// Returns how many items were erased.
  size_type erase(Key const& key) {
    Key const copy = key;
    auto const place = table_->find_to_change(copy);
    if (place) table_->erase(copy, *place);
    return place ? 1 : 0;
  }
  /// Returns the place of the next item; if that cannot be read, or its key be hashed or compared,
  /// throws, and the item is erased all the same. Iterators at others stay valid, and their order
  /// is the same, but for what waits: that is done first.
  iterator erase(const_iterator at) {
    table_->apply();
    auto const place = table_->find(at.key_);
    OUTSIZE_ASSERT(place.has_value());  // it has been erased
    table_->erase(at.key_, *place);
    return iterator(table_.get(), *place);
  }

  /// Inserts many, in the order of their buckets, of those with the same key the first; returns how
  /// many were inserted. What waits is done first. I/Os and memory: as find_many(), and a write for
  /// each bucket changed, and those of growth. @param items  Of value_type, or what becomes it, but
  /// none of this map's. @throws as insert(); some have been inserted.
  template <std::ranges::random_access_range Range>
    requires std::ranges::sized_range<Range> && source_of<Range, map_item<Key, Value>>
  size_type insert_many(Range&& items) {
    auto const first = std::ranges::begin(items);
    auto const item_at = [&](std::size_t i) -> decltype(auto) {
      return first[static_cast<std::ranges::range_difference_t<Range>>(i)];
    };
    size_type inserted = 0;
    table_->for_each_by_bucket(
        std::ranges::size(items),
        [&](std::size_t i) { return static_cast<value_type>(item_at(i)).first; },
        [&](std::size_t i) { inserted += insert(item_at(i)).second ? 1 : 0; });
    return inserted;
  }
  size_type insert_many(std::initializer_list<value_type> items) {
    return insert_many(std::span(items));
  }
  /// Erases many keys likewise; how many were erased. @throws as erase(); some have been erased.
  size_type erase_many(std::initializer_list<Key> keys) { return erase_many(std::span(keys)); }
  size_type erase_many(std::span<Key const> keys) {
    size_type erased = 0;
    table_->for_each_by_bucket(
        keys.size(), [&](std::size_t i) -> Key const& { return keys[i]; },
        [&](std::size_t i) { erased += erase(keys[i]); });
    return erased;
  }
  /// Erases all items that are unwanted; how many. I/Os: one scan, and a write of each bucket that
  /// has lost some. @throws as erase(), and what `unwanted` throws; some have been erased.
  template <std::predicate<value_type const&> Predicate>
  size_type erase_if(Predicate unwanted) {
    return table_->erase_if(unwanted);
  }

  /// Will have inserted an item, or replaced its value if the key is there, without looking now.
  /// All other functions see it so already. It waits with others, of which the last one of each key
  /// counts, until their memory is full, or something else is done to one of their keys, or all
  /// shall be shown in order or counted, or an iterator goes on that can change items, or flush().
  /// @throws what doing what waits throws, if their memory is full: the item is not inserted then.
  void insert_oblivious(value_type const& item) {
    value_type const copy = item;  // which may lie in a page that is written anew
    table_->put_pending(copy, table::kind::assign);
  }
  /// Will have erased a key, if it is there; as insert_oblivious().
  void erase_oblivious(Key const& key) { table_->put_pending({key, Value()}, table::kind::erase); }

  /// Replaces all that is there by the items of a range or file, in any order; of those with the
  /// same key the first stays. There are as many buckets as all of these items want, and they stay:
  /// how many keys differ is known when the pages are written. So where many are the same,
  /// insert_oblivious() or sort_unique() of another container before is better. Pages are written
  /// once, in order. Disk: what is there stays until the new pages are complete, so both; where
  /// there is no room for that, clear() first. @throws budget_error, io_error, out_of_space;
  /// format_error of a file that is cut short; what the input, Hash or KeyEqual throws. All is as
  /// before then, also what waits.
  template <source_of<map_item<Key, Value>> In>
  void build(In&& in, sort_options options = {}) {
    table_->build(std::forward<In>(in), std::move(options));
  }

  // ---- all items ----

  /// In the order of pages, which insertions may change: an item that is there all the time may
  /// then be seen twice, or not.
  iterator begin() {
    table_->apply();
    return iterator(table_.get(), {detail::table_area::buckets, 0, 0});
  }
  iterator end() noexcept { return iterator(table_.get()); }
  const_iterator begin() const {
    return const_iterator(table_.get(), {detail::table_area::buckets, 0, 0});
  }
  const_iterator end() const noexcept { return const_iterator(table_.get()); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const noexcept { return end(); }

  // ---- pages ----

  /// Items that a page of a bucket has room for.
  size_type page_items() const noexcept {
    return table_->pages().rows().layout(detail::bucket_row::buckets).room;
  }
  /// Pages touched last by references that stay valid; at least 2.
  std::size_t live_pages() const noexcept { return table_->pages().rows().live_pages(); }
  /// What the caches have done: of pages of buckets, and of those of overflow.
  std::pair<block::block_cache_counts, block::block_cache_counts> cache_counts() const {
    return {table_->pages().rows().counts(detail::bucket_row::buckets),
            table_->pages().rows().counts(detail::bucket_row::overflow)};
  }
  /// Does what waits, and writes what was changed. A file's content is durable then. @throws as
  /// above; all can be tried again. But if the file cannot be synced, nobody knows what is on disk:
  /// this and close() then fail for good (EIO), and the file holds what was flushed last, or now,
  /// when it is opened again.
  void flush() { table_->flush(); }
  /// Flushes, and ends the map: it can be destroyed, or assigned to. @throws as flush(); it is as
  /// it was then.
  void close() {
    table_->close();
    table_.reset();
  }
  /// Whether the file had been closed when it was opened; if not, the map is as the last flush()
  /// left it. True of others.
  bool was_closed() const noexcept {
    auto const* const file = table_->pages().rows().file();
    return file == nullptr || file->was_closed();
  }

  /// Whether both have the same keys with the same values. I/Os: a scan of one, and find_many() in
  /// the other. Memory: as that, and an item for each of its keys.
  friend bool operator==(unordered_map const& a, unordered_map const& b)
    requires std::equality_comparable<Value>
  {
    return a.size() == b.size() && a.is_part_of(b);
  }
  friend void swap(unordered_map& a, unordered_map& b) noexcept { std::swap(a.table_, b.table_); }
  void swap(unordered_map& other) noexcept { std::swap(table_, other.table_); }

 private:
  unordered_map(std::unique_ptr<pages> from, unordered_map_options const& options, Hash hash,
                KeyEqual equal)
      : table_(std::make_unique<table>(std::move(from), options.pending_bytes, std::move(hash),
                                       std::move(equal))) {}

  template <typename K, typename Look>
  static decltype(auto) look_for(K const& key, Look look) {
    return detail::look_for<Key, Hash, KeyEqual>(key, look);
  }
  /// Whether all items are in another map too, with the same values.
  bool is_part_of(unordered_map const& other) const {
    constexpr std::size_t most_at_once = std::size_t{1} << 16;
    std::vector<value_type> some;
    const_iterator const last = end();
    for (const_iterator at = begin(); at != last;) {
      some.clear();
      for (; at != last && some.size() < most_at_once; ++at) some.push_back(*at);
      std::size_t same = 0;
      other.table_->look_up_many(
          some.size(), [&](std::size_t i) -> Key const& { return some[i].first; },
          [&](std::size_t i, value_type const& item) {
            if (item.second == some[i].second) ++same;
          });
      if (same < some.size()) return false;
    }
    return true;
  }

  detail::owned<table> table_;
};

/// Erases all items that are unwanted; how many. As the member function.
template <typename Key, typename Value, typename Hash, typename KeyEqual, typename Predicate>
auto erase_if(unordered_map<Key, Value, Hash, KeyEqual>& from, Predicate unwanted) {
  return from.erase_if(std::move(unwanted));
}

}  // namespace outsize
