// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A place in an unordered_map: first all pages of buckets, then those of the overflow, one behind
// the other, and last what waits in memory to be put there. An iterator that can change items is in
// pages alone: what waits for its item has been done before it looks for it, and all that waits
// before it goes on.
//
// It knows the key of its item, and looks for it again when items have been moved since, so that it
// stays valid as long as its item is there. It keeps the page in memory that it is in, and has the
// next ones read. Invariant: it is at an item that a lookup of the key would find, or at the end.
// Threads: those of const_iterators in company, each with its own, as to look through one changes
// it; others alone. Layer: container.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/container/detail/hash/hash_table.hpp>

namespace outsize {

/// At an item that can be changed, but for its key (a reference, which counts its page as changed),
/// or if IsConst at one that is read (a value).
template <typename Table, bool IsConst>
class unordered_map_iterator {
  using table = std::conditional_t<IsConst, Table const, Table>;
  using item = typename Table::item;
  using key = typename Table::key_type;
  using area = detail::table_area;

 public:
  using iterator_concept = std::forward_iterator_tag;
  using iterator_category =
      std::conditional_t<IsConst, std::input_iterator_tag, std::forward_iterator_tag>;
  using value_type = item;
  using difference_type = std::ptrdiff_t;
  using reference = std::conditional_t<IsConst, item, item&>;

  class value_pointer {
   public:
    explicit value_pointer(item const& i) : item_(i) {}
    item const* operator->() const noexcept { return &item_; }

   private:
    item item_;
  };
  using pointer = std::conditional_t<IsConst, value_pointer, item*>;

  unordered_map_iterator() = default;
  template <bool IsOtherConst>
    requires(IsConst && !IsOtherConst)
  unordered_map_iterator(unordered_map_iterator<Table, IsOtherConst> const& other) noexcept
      : table_(other.table_),
        place_(other.place_),
        key_(other.key_),
        version_(other.version_),
        ahead_(other.ahead_),
        pin_(other.pin_) {}

  /// @pre not at the end. @throws io_error.
  reference operator*() const {
    find_again();
    if constexpr (IsConst)
      return value();
    else
      return table_->change(place_);
  }
  pointer operator->() const {
    if constexpr (IsConst)
      return value_pointer(**this);
    else
      return &**this;
  }

  /// One that can change items has all done first that waits, so that it comes to that, too; the
  /// order may be another one then, as after insertions. I/Os: a read for each page that it goes on
  /// to, ahead of its use; where it finds its own place again, a lookup; and those of what waits.
  /// @throws io_error, and what doing what waits throws; it stays where it is then.
  unordered_map_iterator& operator++() {
    if constexpr (!IsConst) table_->apply();
    find_again();
    if (pin_ && place_.slot + 1 < count() && !table_->has_pending()) {
      key_ = items()[++place_.slot].first;
      return *this;
    }
    auto next = *this;
    ++next.place_.slot;
    next.settle();
    return *this = std::move(next);
  }
  unordered_map_iterator operator++(int) {
    auto before = *this;
    ++*this;
    return before;
  }

  friend bool operator==(unordered_map_iterator const& a, unordered_map_iterator const& b) {
    if (a.is_end() || b.is_end()) return a.is_end() == b.is_end();
    return a.table_->equal()(a.key_, b.key_);
  }

 private:
  template <typename, bool>
  friend class unordered_map_iterator;
  template <stored_item Key, stored_item Value, typename, typename>
  friend class unordered_map;

  /// The end.
  explicit unordered_map_iterator(table* of) noexcept : table_(of), version_(of->version()) {}
  /// At an item that is there.
  unordered_map_iterator(table* of, detail::table_place const& place, key const& k) noexcept
      : table_(of), place_(place), key_(k), version_(of->version()) {}
  /// At the first item from a place on. @pre if it can be changed, nothing waits.
  unordered_map_iterator(table* of, detail::table_place const& place)
      : table_(of), place_(place), version_(of->version()) {
    settle();
  }

  bool is_end() const noexcept { return place_.area == area::end; }

  void find_again() const {
    OUTSIZE_ASSERT(!is_end());
    if (version_ == table_->version()) return;
    std::optional<detail::table_place> found;
    if constexpr (IsConst)
      found = table_->find(key_);
    else
      found = table_->find_to_change(key_);
    OUTSIZE_ASSERT(found.has_value());  // it has been erased
    pin_.reset();
    place_ = *found;
    version_ = table_->version();
  }
  item value() const {
    if (place_.area == area::pending) return (*table_->pending())[place_.slot].item;
    if (!pin_) show_page();
    if (pin_) return items()[place_.slot];
    item one;
    table_->pages().rows().read_item(place_, std::as_writable_bytes(std::span(&one, 1)));
    return one;
  }
  item const* items() const noexcept {
    auto const begin = table_->pages().rows().layout(place_.row()).begin_bytes;
    return reinterpret_cast<item const*>(pin_->bytes().data() + begin);
  }
  std::uint64_t count() const {
    if (pin_) return reinterpret_cast<detail::bucket_header const*>(pin_->bytes().data())->count;
    return table_->pages().rows().header(place_.row(), place_.page).count;
  }
  /// Pins the page, if it is not blank and there is room for a pin.
  void show_page() const {
    auto pin = table_->pages().rows().pin(place_.row(), place_.page);
    pin_ = pin ? std::make_shared<detail::page_pin const>(std::move(pin)) : nullptr;
  }

  /// Goes to the first item from the place on, which may be none's.
  void settle() {
    OUTSIZE_ASSERT(IsConst || !table_->has_pending());
    if (place_.is_in_page() && !pin_ && place_.page < page_count()) show_page();
    while (place_.is_in_page()) {
      if (place_.page >= page_count())
        next_row();
      else if (place_.slot >= count())
        next_page();
      else if (key_ = value().first; !is_pending())
        return;
      else
        ++place_.slot;
    }
    auto const* const pending = table_->pending();
    for (; pending != nullptr && place_.slot < pending->slot_count(); ++place_.slot)
      if (auto const& each = (*pending)[place_.slot]; each.what == Table::kind::assign) {
        key_ = each.item.first;
        return;
      }
    place_ = {};
  }
  std::uint64_t page_count() const noexcept {
    return table_->pages().rows().page_count(place_.row());
  }
  /// Of what waits in memory the item in the pages is not the one to be seen.
  bool is_pending() const {
    return table_->has_pending() &&
           table_->pending()->find(table_->hash_of(key_), key_).what != Table::kind::none;
  }
  void next_page() {
    place_ = {place_.area, place_.page + 1, 0};
    pin_.reset();
    if (place_.page >= page_count()) return;
    read_ahead();
    show_page();
  }
  void next_row() {
    place_ = {place_.area == area::buckets ? area::overflow : area::pending, 0, 0};
    pin_.reset();
    ahead_ = 0;
    if (place_.is_in_page() && page_count() > 0) show_page();
  }
  void read_ahead() {
    auto const& rows = table_->pages().rows();
    std::uint64_t const end = std::min(page_count(), place_.page + rows.ahead_pages(place_.row()));
    for (ahead_ = std::max(ahead_, place_.page + 1); ahead_ < end; ++ahead_)
      rows.prefetch(place_.row(), ahead_);
  }

  table* table_ = nullptr;
  mutable detail::table_place place_;
  key key_{};
  mutable std::uint64_t version_ = 0;
  std::uint64_t ahead_ = 0;  // of the row: up to where pages have been asked for
  mutable std::shared_ptr<detail::page_pin const> pin_;
};

}  // namespace outsize
