// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// An array of items on disk, used as std::vector is; some of its pages are in memory at any time.
//
//   items:   | 0 1 2 3 | 4 5 6 7 | 8 9 … |          page_row: which pages are in memory
//              page 0    page 1    page 2
//
// There are three ways to an item. A reference, through an `iterator` or operator[], marks its page
// as changed. A value, through a `const_iterator` or const operator[], does not. A span of the
// items of a page (changing(), or a vector_reader's) is for loops that must be fast.
//
// A reference, or a span of changing(), stays valid while references touch at most live_pages() - 1
// other pages and its item stays in the vector. live_pages() is at least 2, so that two items can
// always be exchanged. Const access and flush() do not end it; write_many() does, and so does
// flush() of a kept file (create()). Debug builds stop if an item was changed through a reference
// that was no longer valid.
//
// An iterator is valid as long as its item is in the vector, even if the vector is moved or
// swapped. An `iterator` is a value of two words; items may store it as a link to other items.
//
// Invariant: the pages hold size() items, one after the other. Threads: as std::vector; several may
// use const functions and const_iterators at once. Layer: container. Source: STXXL 2008, sections
// 5.1, 5.6.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include <outsize/block/storage.hpp>
#include <outsize/container/detail/array/paged_array.hpp>
#include <outsize/page/page_options.hpp>

namespace outsize {

/// An array of items on the disks of a storage, or in a file, whose pages are cached. See the top
/// of this file for references, iterators and threads. See paged_array.hpp for the functions that
/// it shares with deque: nearly all.
///
///     outsize::vector<edge> edges(store);                 // or (store, {a, b}), (store, range) …
///     for (…) edges.push_back(e);
///     std::sort(edges.begin(), edges.end());              // works; outsize::sort is faster
///     for (edge e : std::as_const(edges)) …               // changes nothing, so writes nothing
///
/// I/Os:    Random access at most one read, and one write if a changed page must leave. A scan
///          ⌈N / items of a page⌉ reads, ahead of their use, and the same number of writes if it
///          changes items. Pages that nothing was ever written to are neither written nor read.
/// Memory:  while there are items, up to 24 pages of the storage's budget, eight of them whatever
///          others need; while they are read at random, up to three quarters of the budget, at
///          most 4 GiB. Instead, the pages that the options name, as long as the vector lives.
///          17 bytes for each page.
/// Errors:  io_error from any access to an item whose page is not in memory: the vector is as it
///          was. A page that cannot be written stays in memory, and the next call that needs its
///          place throws again. out_of_space, budget_error if the vector grows, or changes a page
///          for the first time (of a kept file, since the last flush()). budget_error also from the
///          first access to the items of a file.
/// Checked: vector_test.cpp, vector_iterator_test.cpp, item_batch_test.cpp.
template <typename T>
class vector : public detail::paged_array<vector<T>, T> {
  using base = detail::paged_array<vector<T>, T>;

 public:
  using size_type = typename base::size_type;

  using base::base;
  vector() = default;
  /// Assigns the list as assign() does. The vector stays on its disks, or in its file.
  vector& operator=(std::initializer_list<T> list) {
    this->assign(list);
    return *this;
  }
  /// Creates an empty vector in a new file, which open() opens again. The file keeps the content of
  /// the last flush(), however the process ends. Otherwise the same as a vector on disks, but
  /// changed pages are written to other places until the next flush(), which ends references.
  /// @throws io_error, EEXIST if the path exists; budget_error. No new file is left then.
  static vector create(std::string const& path, storage& store = default_storage(),
                       page_options const& options = {}) {
    return vector(detail::create_kept_pages(store, path, detail::kept_vector<T>(), options));
  }
  /// Opens a vector that create() made. Its pages keep the length that they were made with.
  /// was_closed() tells whether it was closed, or is as the last flush() left it. Read only: calls
  /// that change items or their number, or hand out references, throw io_error (EACCES).
  /// @throws io_error if the file cannot be opened, EBUSY while it is open elsewhere and either of
  /// the two may change it; format_error if it does not hold a vector<T> (kept_type.hpp), or is of
  /// another format, cut short, or damaged; budget_error.
  static vector open(std::string const& path, storage& store = default_storage(),
                     io::access mode = io::access::read_write, page_options const& options = {}) {
    return vector(detail::open_kept_pages(store, path, mode, detail::kept_vector<T>(), options));
  }
  /// Opens a plain file of items, item i at byte i · sizeof(T); bytes behind the last whole one are
  /// left out. Other programs can read the file after flush() or close(), which give it its length.
  /// The destructor does so too, but cannot report errors. If the process ends otherwise, pages
  /// changed since then may be in the file or not. Read only: as open().
  ///
  /// While the file is open to be changed, no other container, of this process or another one, has
  /// it open; or any number have it open to read. This holds under every name of the file.
  /// @throws io_error if the file cannot be opened, EBUSY while another container holds a
  /// conflicting lock; format_error if it is the file of a kept container; budget_error.
  static vector open_plain(std::string const& path, storage& store = default_storage(),
                           io::access mode = io::access::read_write,
                           page_options const& options = {}) {
    return vector(detail::bind_pages(store, path, {.mode = mode}, sizeof(T), options));
  }
  /// Creates an empty vector in a new plain file, used as by open_plain(); its name is durable.
  /// @throws io_error, EEXIST if the path exists; budget_error. No new file is left then.
  static vector create_plain(std::string const& path, storage& store = default_storage(),
                             page_options const& options = {}) {
    return vector(detail::bind_pages(
        store, path,
        {.mode = io::access::read_write, .create = true, .must_be_new = true, .permissions = 0666},
        sizeof(T), options));
  }

  /// Takes the space on disk that `count` items need, so that out_of_space is not thrown before
  /// there are more. Keeps it until shrink_to_fit(). Asks first whether the space is free. Items
  /// never move, with room or without. Takes no space in a file; flush() of a plain file ends the
  /// reservation. I/Os: none. @throws out_of_space, budget_error; io_error (EACCES);
  /// std::length_error if `count` is more than max_size(). Nothing is taken then.
  void reserve(size_type count) {
    base::check_size(count);
    items_->reserve(count);
  }
  /// Returns the number of items that fit in the pages that there are.
  size_type capacity() const noexcept { return items_->capacity(); }

  /// Writes all changed pages. A file has its length then, and its content is durable. @throws
  /// io_error of the first page that cannot be written; all items are still there. If the file
  /// cannot be synced, its content on disk is unknown: flush() and close() then fail for good
  /// (EIO). A kept file that is opened again holds the content of the flush before, or of this one.
  void flush() { items_->flush(); }
  /// Flushes, and ends the vector: it can then only be destroyed, or assigned to. @throws as
  /// flush(); the vector is as it was then.
  void close() {
    items_->close();
    items_.reset();
  }
  /// Returns whether a kept file had been closed when open() opened it; if not, the vector is as
  /// the last flush() left it. Returns true for all other vectors: a plain file does not tell.
  bool was_closed() const noexcept { return items_->was_closed(); }

 private:
  friend base;
  using base::items_;
  static constexpr char const* name = "vector";
  static constexpr std::uint64_t pages_before = 0;
  static page_options const& adapted(page_options const& options) noexcept { return options; }

  explicit vector(detail::pages_of_file pages)
      : base(std::make_unique<typename base::items>(std::move(pages))) {}
};

template <item_source In>
vector(storage&, In&&, page_options = {}) -> vector<source_item_t<In>>;
template <std::input_iterator I, std::sentinel_for<I> S>
vector(storage&, I, S, page_options = {}) -> vector<std::iter_value_t<I>>;
template <stored_item T>
vector(storage&, std::initializer_list<T>, page_options = {}) -> vector<T>;

}  // namespace outsize
