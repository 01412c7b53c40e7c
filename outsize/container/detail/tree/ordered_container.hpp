// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What map, multimap, set and multiset are: a B+-tree on disk, used as the containers of the
// standard library are.
//
// Iterators stay valid and at their entries whatever is inserted, and whatever else is erased;
// leaves may be split, merged and written to disk meanwhile. Const access gives values and changes
// nothing; what a mutable iterator of a map is dereferenced to is a reference, and counts its leaf
// as changed (decision 0022). Invariant: btree.hpp's. Threads: as the standard library's
// containers; several may use const functions and const iterators at once. Layer: container.
// Source: STXXL 2008, section 5.5.

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
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/detail/owned.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/container/detail/filling.hpp>
#include <outsize/container/detail/piece_comparison.hpp>
#include <outsize/container/detail/tree/btree.hpp>
#include <outsize/container/detail/tree/btree_batch.hpp>
#include <outsize/container/detail/tree/btree_builder.hpp>
#include <outsize/container/detail/tree/btree_iterator.hpp>
#include <outsize/container/detail/tree/btree_reader.hpp>
#include <outsize/container/detail/tree/map_item.hpp>
#include <outsize/container/detail/tree/sought_key.hpp>
#include <outsize/container/map_options.hpp>
#include <outsize/page/kept_type.hpp>

namespace outsize {

class storage;
storage& default_storage();

/// A sorted container on the disks of a storage, or in a file. Value is void for sets; is_unique:
/// equal keys are not kept. Use it by the names map, multimap, set, multiset.
///
///     outsize::map<std::uint64_t, account> accounts(store);
///     accounts.insert({7, a});
///     for (auto [number, account] : std::as_const(accounts)) …
///     accounts.find_many(numbers, found);                     // far faster than one by one
///
/// I/Os:    With B entries in a leaf and n nodes' worth of keys in the cache: a search reads a node
///          for each level that is not in memory and a leaf, O(log_B N); an insertion or erasure
///          also writes that leaf when it leaves the cache, O(1/B) others amortised. A scan of K
///          entries reads K / B leaves or a few more, ahead of their use. Bulk construction writes
///          N / (fill · B) leaves. A batch reads each leaf that it needs once.
/// Memory:  the caches and spare buffers of options, if they name them, as long as the container
///          lives; else as much of that as others can do without, while there are entries; and
///          at most 17 bytes for each page.
/// Errors:  io_error, out_of_space, budget_error of anything that needs a page; what a comparison
///          throws. Unless it says otherwise, a function that throws has changed nothing. A changed
///          page that cannot be written stays in memory, and the next call that needs its place
///          says so again. format_error of anything that needs a page of a file that is damaged, as
///          far as that can be seen (docs/containers/map.md).
/// Checked: map_test.cpp, map_file_test.cpp, map_throw_test.cpp, map_faults_test.cpp,
///          map_io_test.cpp, kept_damage_test.cpp, btree_test.cpp.
template <typename Key, typename Value, typename Less, bool is_unique>
class ordered_container {
  static constexpr bool is_map = !std::is_void_v<Value>;

 public:
  using key_type = Key;
  using mapped_type = Value;
  /// What const iterators give, and files and ranges to build from hold: the key, or map_item.
  using value_type = typename std::conditional_t<is_map, std::type_identity<map_item<Key, Value>>,
                                                 std::type_identity<Key>>::type;
  using key_compare = Less;
  struct value_compare {
    [[no_unique_address]] Less less;
    bool operator()(value_type const& a, value_type const& b) const {
      return less(detail::key_of<Key>(a), detail::key_of<Key>(b));
    }
  };
  using size_type = std::uint64_t;
  using difference_type = std::ptrdiff_t;

 private:
  using tree = detail::btree<Key, value_type, Less>;
  // In the place of Value, which may be void.
  using value =
      typename std::conditional_t<is_map, std::type_identity<Value>, std::type_identity<Key>>::type;

 public:
  using const_iterator = tree_const_iterator<tree>;
  using iterator = typename std::conditional_t<is_map, std::type_identity<tree_iterator<tree>>,
                                               std::type_identity<tree_const_iterator<tree>>>::type;
  using const_reverse_iterator = tree_reverse_iterator<const_iterator>;
  using reverse_iterator = tree_reverse_iterator<iterator>;

  /// An empty one on the disks of `store`, which must outlive it. @throws budget_error, io_error
  /// (the disks' files cannot be made).
  explicit ordered_container(storage& store = default_storage(), map_options const& options = {},
                             Less less = {})
      : ordered_container(store, detail::tree_pages::on_disks(store, layout(), options),
                          std::move(less)) {}
  /// One with entries, of equal ones, if is_unique, the first: of a range or a file, or between two
  /// iterators, which are built; or of a list, which are inserted one by one. @throws as build() or
  /// insert(), besides.
  template <source_of<value_type> In>
  ordered_container(storage& store, In&& in, map_options const& options = {}, Less less = {})
      : ordered_container(store, options, std::move(less)) {
    build(std::forward<In>(in));
  }
  template <std::input_iterator I, std::sentinel_for<I> S>
  ordered_container(storage& store, I from, S to, map_options const& options = {}, Less less = {})
      : ordered_container(store, std::ranges::subrange(std::move(from), std::move(to)), options,
                          std::move(less)) {}
  ordered_container(storage& store, std::initializer_list<value_type> entries,
                    map_options const& options = {}, Less less = {})
      : ordered_container(store, options, std::move(less)) {
    insert(entries);
  }
  /// The same on the disks of default_storage().
  template <std::input_iterator I, std::sentinel_for<I> S>
  ordered_container(I from, S to)
      : ordered_container(default_storage(), std::move(from), std::move(to)) {}
  ordered_container(std::initializer_list<value_type> entries)
      : ordered_container(default_storage(), entries) {}
  /// An empty one in a new file, to be opened again: what flush() has made durable is there,
  /// however the process ends. @throws io_error, EEXIST if it is there already; budget_error.
  /// Nothing is left of it then.
  static ordered_container create(std::string const& path, storage& store = default_storage(),
                                  map_options const& options = {}, Less less = {}) {
    return {store, detail::tree_pages::create(store, path, layout(), options), std::move(less)};
  }
  /// One that was created in a file, with the same comparison. was_closed() tells whether it was
  /// closed, or is what the last flush() left. Read only: what changes it throws io_error (EACCES).
  /// @throws io_error if it cannot be opened, EBUSY while it is open elsewhere and one of both
  /// would change it; format_error if the file is none of this type's (kept_type.hpp) or has
  /// another order, or is of a newer format, cut short, or damaged; budget_error.
  static ordered_container open(std::string const& path, storage& store = default_storage(),
                                io::access mode = io::access::read_write,
                                map_options const& options = {}, Less less = {}) {
    return {store, detail::tree_pages::open(store, path, mode, layout(), options), std::move(less)};
  }
  /// The same in a file that is open: one that is empty, and one that create() has filled.
  static ordered_container create(storage& store, io::file_ptr file,
                                  map_options const& options = {}, Less less = {}) {
    return {store, detail::tree_pages::create(store, std::move(file), layout(), options),
            std::move(less)};
  }
  static ordered_container open(storage& store, io::file_ptr file,
                                io::access mode = io::access::read_write,
                                map_options const& options = {}, Less less = {}) {
    return {store, detail::tree_pages::open(store, std::move(file), mode, layout(), options),
            std::move(less)};
  }
  ordered_container(ordered_container&&) noexcept = default;
  ordered_container& operator=(ordered_container&&) noexcept = default;
  /// Replaces all entries. @throws as insert(); some of the new ones are there then.
  ordered_container& operator=(std::initializer_list<value_type> entries) {
    clear();
    insert(entries);
    return *this;
  }

  // ---- size ----

  bool empty() const noexcept { return size() == 0; }
  size_type size() const noexcept { return tree_->size(); }
  static constexpr size_type max_size() noexcept {
    return std::numeric_limits<difference_type>::max() / sizeof(value_type);
  }
  /// Removes all; iterators are at the end afterwards. I/Os: none. @throws io_error (EACCES).
  void clear() { tree_->clear(); }
  key_compare key_comp() const { return tree_->less(); }
  /// Compares entries by their keys.
  value_compare value_comp() const { return value_compare{tree_->less()}; }

  // ---- iterators ----

  iterator begin() { return {*tree_, tree_->begin()}; }
  iterator end() { return {*tree_, {}}; }
  const_iterator begin() const { return {*tree_, tree_->begin()}; }
  const_iterator end() const { return {*tree_, {}}; }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reverse_iterator rbegin() { return reverse_iterator(end()); }
  reverse_iterator rend() { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }
  const_reverse_iterator crbegin() const { return rbegin(); }
  const_reverse_iterator crend() const { return rend(); }
  /// Leaves touched last by references that stay valid.
  static constexpr std::size_t live_leaves() noexcept { return detail::tree_pages::live_leaves; }

  // ---- scans at the speed of the disk ----

  /// All entries, or those from `from` to before `to`, in the order of their keys. The container
  /// stays as it is as long as the reader is used. @throws io_error.
  tree_reader<tree, false> forward() const { return forward(begin(), end()); }
  tree_reader<tree, false> forward(const_iterator from, const_iterator to) const {
    return {*tree_, from.position(), to.position()};
  }
  /// As forward(): by this name algorithms ask for it that take the container as a range.
  tree_reader<tree, false> pieces() const { return forward(); }
  /// The same in the other order, from the one before `to` on.
  tree_reader<tree, true> backward() const { return backward(begin(), end()); }
  tree_reader<tree, true> backward(const_iterator from, const_iterator to) const {
    return {*tree_, from.position(), to.position()};
  }

  // ---- search ----

  // By a key; or by anything else that the comparison takes, if it is transparent (std::less<> is):
  // it is compared as it is, though it may become a key, and several keys may be equal to it. But
  // integers are compared by value, also where operator< is not. If the comparison is of keys
  // alone, what is looked for is made one.

  template <key_or<Key, Less> K = Key>
  iterator find(K const& key) {
    return {*tree_, look_for(key, [&](auto const& k) { return tree_->find(k); })};
  }
  template <key_or<Key, Less> K = Key>
  const_iterator find(K const& key) const {
    return {*tree_, look_for(key, [&](auto const& k) { return tree_->find(k); })};
  }
  template <key_or<Key, Less> K = Key>
  bool contains(K const& key) const {
    return !look_for(key, [&](auto const& k) { return tree_->find(k); }).is_end();
  }
  /// CPU: O(result). I/Os: a scan's of these.
  template <key_or<Key, Less> K = Key>
  size_type count(K const& key) const {
    if constexpr (is_unique && std::same_as<K, Key>) return contains(key) ? 1 : 0;
    auto const [from, to] = equal_range(key);
    return static_cast<size_type>(std::distance(from, to));
  }
  template <key_or<Key, Less> K = Key>
  iterator lower_bound(K const& key) {
    return {*tree_, look_for(key, [&](auto const& k) { return tree_->lower_bound(k); })};
  }
  template <key_or<Key, Less> K = Key>
  const_iterator lower_bound(K const& key) const {
    return {*tree_, look_for(key, [&](auto const& k) { return tree_->lower_bound(k); })};
  }
  template <key_or<Key, Less> K = Key>
  iterator upper_bound(K const& key) {
    return {*tree_, look_for(key, [&](auto const& k) { return tree_->upper_bound(k); })};
  }
  template <key_or<Key, Less> K = Key>
  const_iterator upper_bound(K const& key) const {
    return {*tree_, look_for(key, [&](auto const& k) { return tree_->upper_bound(k); })};
  }
  template <key_or<Key, Less> K = Key>
  std::pair<iterator, iterator> equal_range(K const& key) {
    return {lower_bound(key), upper_bound(key)};
  }
  template <key_or<Key, Less> K = Key>
  std::pair<const_iterator, const_iterator> equal_range(K const& key) const {
    return {lower_bound(key), upper_bound(key)};
  }
  /// The value of a key, or of the first of equal ones; where a mutable iterator would count its
  /// leaf as changed, this changes nothing.
  template <key_or<Key, Less> K = Key>
  std::optional<value> get(K const& key) const
    requires is_map
  {
    std::optional<value> found;
    look_for(key, [&](auto const& k) {
      tree_->visit(k, [&](auto const&, value_type const& entry) { found = entry.second; });
    });
    return found;
  }

  // ---- many searches at once ----

  /// Calls f(index, entry) for each key that is there (of equal entries for the first one), in the
  /// order of the keys. I/Os: a read for each leaf with a key, options.batch_leaves of them at
  /// a time; where one leaf in five or more has a key, requests of up to 2 MiB that read the others
  /// too. Memory: a key and 8 bytes for each, of 2^20 keys at a time. @throws io_error, and
  /// what f throws; f may have been called.
  template <std::invocable<std::size_t, value_type const&> F>
  void find_many(std::span<Key const> keys, F f) const {
    if (empty()) return;
    detail::shown_leaf<tree> leaves(*tree_);
    detail::btree_batch<tree>(*tree_).for_each(
        keys.size(), [&](std::size_t i) -> Key const& { return keys[i]; },
        [&](std::size_t i, std::uint64_t page) {
          if constexpr (is_unique) {
            bool const is_there = tree_->visit_in(leaves.show(page), keys[i],
                                                  [&](value_type const& entry) { f(i, entry); });
            // Of a file it is looked again, as it may be damaged: a search sees whether it is.
            if (is_there || !tree_->pages().are_checked()) return;
          }
          tree_->visit(keys[i], [&](auto const&, value_type const& entry) { f(i, entry); });
        });
  }
  /// The same; found[i] becomes the value of keys[i], or nothing. @pre as many of both.
  void find_many(std::span<Key const> keys, std::span<std::optional<value>> found) const
    requires is_map
  {
    OUTSIZE_ASSERT(keys.size() == found.size());
    for (auto& one : found) one.reset();
    find_many(keys, [&](std::size_t i, value_type const& entry) { found[i] = entry.second; });
  }

  // ---- insertion ----

  /// Adds an entry; of equal ones behind those that are there. If is_unique and there is one with
  /// this key, nothing is added, and the result says so. The result is a pair of iterator and bool,
  /// or where equal keys are kept an iterator. A map takes a std::pair too.
  auto insert(value_type const& entry) {
    auto const [at, is_new] = tree_->insert(entry);
    if constexpr (is_unique)
      return std::pair(iterator(*tree_, at), is_new);
    else
      return iterator(*tree_, at);
  }
  /// The same; no search is needed if the entry belongs just before `hint`.
  iterator insert(const_iterator hint, value_type const& entry) {
    return {*tree_, tree_->insert(hint.position(), entry).first};
  }
  /// The same of value_type(arguments…); of a map also std::piecewise_construct and two tuples.
  template <typename... Arguments>
    requires std::constructible_from<value_type, Arguments...>
  auto emplace(Arguments&&... arguments) {
    return insert(value_type(std::forward<Arguments>(arguments)...));
  }
  template <typename... Arguments>
    requires std::constructible_from<value_type, Arguments...>
  iterator emplace_hint(const_iterator hint, Arguments&&... arguments) {
    return insert(hint, value_type(std::forward<Arguments>(arguments)...));
  }
  /// Adds a key that is not there, with value(arguments…); these are not used, and its leaf does
  /// not count as changed, if it is.
  template <typename... Arguments>
    requires(is_map && is_unique && std::constructible_from<value, Arguments...>)
  std::pair<iterator, bool> try_emplace(Key const& key, Arguments&&... arguments) {
    if (auto const at = tree_->find(key); !at.is_end()) return {iterator(*tree_, at), false};
    return insert({key, value(std::forward<Arguments>(arguments)...)});
  }
  template <typename... Arguments>
    requires(is_map && is_unique && std::constructible_from<value, Arguments...>)
  iterator try_emplace(const_iterator hint, Key const& key, Arguments&&... arguments) {
    if (auto const at = tree_->find(key); !at.is_end()) return {*tree_, at};
    return insert(hint, {key, value(std::forward<Arguments>(arguments)...)});
  }
  /// Adds entries one by one. @throws as insert(); those before have been added.
  template <std::input_iterator Iterator>
  void insert(Iterator from, Iterator to) {
    for (; from != to; ++from) emplace(*from);
  }
  void insert(std::initializer_list<value_type> entries) { insert(entries.begin(), entries.end()); }
  /// Adds many, in the order of their keys, of equal ones in theirs; returns how many were added.
  /// I/Os and memory: as find_many(); each leaf is written once. @throws as insert(); some have
  /// been added. @param entries  Of value_type, or what becomes it. None of this container's.
  template <std::ranges::random_access_range Range>
    requires std::ranges::sized_range<Range> && source_of<Range, value_type>
  size_type insert_many(Range&& entries) {
    auto const first = std::ranges::begin(entries);
    auto const entry_at = [&](std::size_t i) -> decltype(auto) {
      return first[static_cast<std::ranges::range_difference_t<Range>>(i)];
    };
    size_type const before = size();
    detail::btree_batch<tree>(*tree_).for_each(
        std::ranges::size(entries), [&](std::size_t i) { return key_in(entry_at(i)); },
        [&](std::size_t i, std::uint64_t) { tree_->insert(entry_at(i)); });
    return size() - before;
  }
  size_type insert_many(std::initializer_list<value_type> entries) {
    return insert_many(std::span(entries));
  }
  /// Adds a key with a value, or gives the value to the key that is there.
  std::pair<iterator, bool> insert_or_assign(Key const& key, value const& assigned)
    requires(is_map && is_unique)
  {
    value_type const entry(key, assigned);  // they may lie in a leaf that leaves
    return assigned_if_old(tree_->insert(entry), entry);
  }
  iterator insert_or_assign(const_iterator hint, Key const& key, value const& assigned)
    requires(is_map && is_unique)
  {
    value_type const entry(key, assigned);
    return assigned_if_old(tree_->insert(hint.position(), entry), entry).first;
  }
  /// The value of a key, which is added with Value() if it is not there. The reference is valid as
  /// an iterator's, so m[key] = m[other] is right; the leaf counts as changed.
  value& operator[](Key const& key)
    requires(is_map && is_unique)
  {
    return lend(tree_->insert({key, value()}).first);
  }
  /// @throws std::out_of_range, besides.
  value& at(Key const& key)
    requires(is_map && is_unique)
  {
    auto const place = tree_->find(key);
    if (place.is_end()) throw std::out_of_range("map: no such key");
    return lend(place);
  }
  value at(Key const& key) const
    requires(is_map && is_unique)
  {
    if (auto const found = get(key)) return *found;
    throw std::out_of_range("map: no such key");
  }

  // ---- bulk construction ----

  /// Replaces all that is there by the entries of a file or range that is sorted by key; of equal
  /// ones, if is_unique, the first is kept. Iterators are at the end afterwards. @param fill  The
  /// part of each leaf and node that is used, 0.25 to 1: less leaves room for what is inserted
  /// later. I/Os: reading the input; ⌈N / (fill · B)⌉ writes of leaves. Disk: what is there stays
  /// until the new pages are complete, so both; where there is no room for that, clear() first.
  /// @throws format_error at an entry that comes before its predecessor; std::invalid_argument
  /// (fill); what the input throws; as all other functions. All is as before then, iterators too.
  /// @pre the input is not this container.
  template <source_of<value_type> In>
  void build_sorted(In&& in, double fill = 1) {
    builder target(*tree_, fill);
    detail::scan_source<value_type>(
        *store_, std::forward<In>(in), {},
        [&](std::span<value_type const> some) { return push(target, some); });
    target.finish();
  }
  /// The same from an input in any order, which is sorted first, in what memory the storage has
  /// free; it may be this container. I/Os, disk: sorting's besides.
  template <source_of<value_type> In>
  void build(In&& in, double fill = 1) {
    builder target(*tree_, fill);  // takes its memory before the sorter takes what is free
    auto sorted = make_sorter();
    detail::scan_source<value_type>(*store_, std::forward<In>(in), {},
                                    [&](std::span<value_type const> some) {
                                      sorted.push(some);
                                      return true;
                                    });
    for (sorted.sort(); !sorted.empty();) {
      auto const some = sorted.pull();
      push(target, some);
      sorted.skip(some.size());
    }
    target.finish();
  }

  // ---- erasure ----

  /// Removes an entry; returns the one behind it. Leaves that are too empty are merged; if that
  /// fails they stay so, and nobody is told.
  iterator erase(const_iterator at) {
    auto const place = at.position();
    auto const next = tree_->after(place);
    detail::tree_cursor const follows(tree_->cursors(), next.leaf, next.slot);
    tree_->erase(place, 1);
    return {*tree_, {follows.leaf(), follows.slot()}};
  }
  iterator erase(iterator at)
    requires is_map
  {
    return erase(const_iterator(at));
  }
  /// Removes all with this key; how many. @throws as the next one.
  size_type erase(Key const& key) {
    size_type const before = size();
    if constexpr (is_unique) {
      if (auto const at = tree_->find(key); !at.is_end()) tree_->erase(at, 1);
    } else {
      auto const [from, to] = std::as_const(*this).equal_range(key);
      erase(from, to);
    }
    return before - size();
  }
  /// Removes all with these keys, in their order; how many were removed. I/Os and memory: as
  /// find_many(), and of leaves that are merged their neighbours; each leaf is written once.
  /// @throws as erase(); some have been removed.
  size_type erase_many(std::initializer_list<Key> keys) { return erase_many(std::span(keys)); }
  size_type erase_many(std::span<Key const> keys) {
    size_type const before = size();
    detail::btree_batch<tree>(*tree_).for_each(
        keys.size(), [&](std::size_t i) -> Key const& { return keys[i]; },
        [&](std::size_t i, std::uint64_t) { erase(keys[i]); });
    return before - size();
  }
  /// Removes all entries that are unwanted; how many. CPU, I/Os: one scan, and a write of each leaf
  /// that has lost some; those that are too empty are merged. @throws as erase(), and what
  /// `unwanted` throws; some have been removed.
  template <std::predicate<value_type const&> Predicate>
  size_type erase_if(Predicate unwanted) {
    // One iterator goes over all, so that it reads ahead; it follows its entry when leaves are
    // merged.
    size_type const before = size();
    const_iterator const last = cend();
    for (const_iterator at = cbegin(); at != last;) {
      if (!std::invoke(unwanted, *at)) {
        ++at;
        continue;
      }
      const_iterator const from = at;
      do ++at;
      while (at != last && std::invoke(unwanted, *at));
      erase(from, at);
      if (at != last) ++at;  // which is wanted
    }
    return before - size();
  }
  /// Removes a range, leaf by leaf. @throws as all other functions; some may have been removed.
  iterator erase(const_iterator from, const_iterator to) {
    detail::tree_cursor const end(to.at_);
    auto at = from.position();
    while (at != detail::tree_position{end.leaf(), end.slot()}) {
      bool const is_last = at.leaf == end.leaf();
      std::uint32_t const until = is_last ? end.slot() : tree_->show(at.leaf).count;
      if (until < at.slot) tree_->pages().refuse_range();
      auto const next = is_last ? to.position() : tree_->after({at.leaf, until - 1});
      detail::tree_cursor const follows(tree_->cursors(), next.leaf, next.slot);
      tree_->erase(at, until - at.slot);
      at = {follows.leaf(), follows.slot()};
    }
    return {*tree_, at};
  }

  // ---- disk ----

  /// Writes what was changed; what is in a file is durable then, and references end. @throws
  /// io_error of the first page that cannot be written; all are still there. If the file cannot be
  /// synced, nobody knows what is on disk: this and close() then fail for good (EIO), and the file
  /// holds what was flushed last, or now, when it is opened again.
  void flush() { tree_->flush(); }
  /// Flushes, and ends the container: it can be destroyed, or assigned to. @throws as flush(); it
  /// is as it was then. The destructor does so too, but cannot tell of errors.
  void close() {
    tree_->close();
    tree_.reset();
  }
  /// Whether the file had been closed when it was opened; if not, this is what the last flush()
  /// left. True of others.
  bool was_closed() const noexcept { return tree_->pages().was_closed(); }
  /// What the caches have done.
  block::block_cache_counts leaf_cache_counts() const {
    return tree_->pages().leaves().row().counts();
  }
  block::block_cache_counts node_cache_counts() const {
    return tree_->pages().nodes().row().counts();
  }

  /// Whether both have the same entries. I/Os: a scan of both, up to the first that differ.
  friend bool operator==(ordered_container const& a, ordered_container const& b)
    requires std::equality_comparable<value_type>
  {
    return a.size() == b.size() && detail::equal_pieces(a.forward(), b.forward());
  }
  /// The order of words, of entries in their own order. I/Os: the same.
  friend auto operator<=>(ordered_container const& a, ordered_container const& b)
    requires detail::ordered_item<value_type>
  {
    return detail::compare_pieces(a.forward(), b.forward());
  }
  friend void swap(ordered_container& a, ordered_container& b) noexcept { a.swap(b); }
  void swap(ordered_container& other) noexcept {
    std::swap(store_, other.store_);
    std::swap(tree_, other.tree_);
  }

 private:
  using builder = detail::btree_builder<Key, value_type, Less>;

  ordered_container(storage& store, std::unique_ptr<detail::tree_pages> pages, Less less)
      : store_(&store),
        tree_(std::make_unique<tree>(std::move(pages), std::move(less), is_unique)) {
    static_assert(stored_item<Key> && stored_item<value>);
    static_assert(std::strict_weak_order<Less, Key, Key>, "Less must compare two keys");
    static_assert(alignof(value_type) <= block::block_cache::buffer_alignment_bytes);
  }

  static detail::tree_layout layout() {
    constexpr char const* names[] = {"multiset", "set", "multimap", "map"};
    detail::kept_kind kind{names[2 * is_map + is_unique],
                           {sizeof(Key), 0},
                           2,
                           {detail::kept_item<Key>("keys"), detail::kept_part(),
                            detail::kept_function<Less, Key>("the order")}};
    if constexpr (is_map) {
      kind.item_bytes[1] = sizeof(Value);
      kind.parts[1] = detail::kept_item<Value>("values");
    }
    return tree::layout(kind);
  }

  template <typename K, typename Look>
  static decltype(auto) look_for(K const& key, Look look) {
    return detail::look_for<Key, Less>(key, look);
  }
  value& lend(detail::tree_position const& at) {
    return reinterpret_cast<typename iterator::pointer>(tree_->lend(at))->second;
  }
  static Key key_in(value_type const& entry) { return detail::key_of<Key>(entry); }
  std::pair<iterator, bool> assigned_if_old(std::pair<detail::tree_position, bool> const& inserted,
                                            value_type const& entry) {
    iterator const there(*tree_, inserted.first);
    if (!inserted.second) there->second = entry.second;
    return {there, inserted.second};
  }

  static bool push(builder& target, std::span<value_type const> some) {
    if (target.push(some) < some.size())
      throw format_error("not sorted by key: an entry comes before its predecessor");
    return true;
  }
  auto make_sorter() const {
    sort_options const options{.memory_bytes = tree_->pages().memory_to_sort_bytes()};
    if constexpr (!is_map) {
      return sorter<Key, Less>(*store_, tree_->less(), options);
    } else if constexpr (std::same_as<Less, std::less<>> || std::same_as<Less, std::less<Key>>) {
      auto const less = in_input_order(by(&value_type::first));
      return sorter<value_type, std::remove_const_t<decltype(less)>>(*store_, less, options);
    } else {
      return sorter<value_type, value_compare>(*store_, value_comp(), options);
    }
  }

  storage* store_;
  detail::owned<tree> tree_;
};

/// Removes all entries that are unwanted; how many. As the member function.
template <typename Key, typename Value, typename Less, bool is_unique, typename Predicate>
auto erase_if(ordered_container<Key, Value, Less, is_unique>& from, Predicate unwanted) {
  return from.erase_if(std::move(unwanted));
}

}  // namespace outsize
