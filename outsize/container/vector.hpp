// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// An array of items on disk, used as std::vector is: some of its pages are in memory at any time.
//
//   items:   | 0 1 2 3 | 4 5 6 7 | 8 9 … |          page_row: which pages are in memory
//              page 0    page 1    page 2
//
// Three ways to an item: a reference, through an `iterator` or operator[], which counts its page as
// changed; a value, through a `const_iterator` or const operator[], which does not; a span of all
// items of a page (changing(), or a vector_reader's) for loops that must be fast.
//
// How long a reference, or a span of changing(), is valid: until live_pages() - 1 other pages have
// been touched by references, or its item is no longer in the vector; flush() and const access do
// not end it. live_pages() is 2 at least, so that two items can always be exchanged. Debug builds
// stop if something is changed through a reference that was no longer valid.
//
// Iterators are valid as long as their item is in the vector, wherever it is moved or swapped to.
// An `iterator` is a value of two words that may be stored in items, as a link to other items.
//
// Invariant: pages hold size() items, side by side. Threads: as std::vector; several may use const
// functions and const_iterators at once. Layer: container. Source: STXXL 2008, sections 5.1, 5.6.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include <outsize/block/storage.hpp>
#include <outsize/container/detail/array/paged_array.hpp>
#include <outsize/page/page_options.hpp>

namespace outsize {

/// An array of items on the disks of a storage, or in a file, whose pages are cached. See the top
/// of this file for references, iterators and threads, and paged_array.hpp for what it can do as
/// deques can: nearly all.
///
///     outsize::vector<edge> edges(store);                 // or (store, {a, b}), (store, range) …
///     for (…) edges.push_back(e);
///     std::sort(edges.begin(), edges.end());              // works; outsize::sort is faster
///     for (edge e : std::as_const(edges)) …               // changes nothing, so writes nothing
///
/// I/Os:    Random access at most one read, and one write if a changed page must leave; a scan
///          ⌈N / items of a page⌉ reads, ahead of their use, and as many writes if it changes
///          items. Pages that were never changed are neither written nor read.
/// Memory:  while there are items, up to 24 pages of the storage's budget, eight of them whatever
///          others need; or as many as the options name, as long as the vector lives. 17 bytes for
///          each page.
/// Errors:  io_error of any access to an item whose page is not in memory: the vector is as it was.
///          A page that cannot be written stays in memory, and the next call that needs its place
///          says so again. out_of_space, budget_error where the vector grows.
/// Checked: vector_test.cpp, vector_iterator_test.cpp, item_batch_test.cpp.
template <typename T>
class vector : public detail::paged_array<vector<T>, T> {
  using base = detail::paged_array<vector<T>, T>;

 public:
  using size_type = typename base::size_type;

  using base::base;
  vector() = default;
  /// As assign(): it stays where it is, in a file if it is in one.
  vector& operator=(std::initializer_list<T> list) {
    this->assign(list);
    return *this;
  }
  /// An empty one in a new file, to be opened again: what flush() has made durable is there,
  /// however the process ends. Otherwise as a vector on disks; but changed pages are written to
  /// other places until the next flush(), which ends references.
  /// @throws io_error, EEXIST if it is there already; budget_error. Nothing is left of it then.
  static vector create(std::string const& path, storage& store = default_storage(),
                       page_options const& options = {}) {
    return vector(detail::create_kept_pages(store, path, detail::kept_vector<T>(), options));
  }
  /// One that was created in a file. It has the pages that it was made with; was_closed() tells
  /// whether it was closed, or is what the last flush() left. Read only: all that changes items,
  /// their number, or hands out references throws io_error (EACCES).
  /// @throws io_error if it cannot be opened, EBUSY while it is open elsewhere and one of both
  /// would change it; format_error if the file is none of vector<T>'s (kept_type.hpp), or is of a
  /// newer format, cut short, or damaged; budget_error.
  static vector open(std::string const& path, storage& store = default_storage(),
                     io::access mode = io::access::read_write, page_options const& options = {}) {
    return vector(detail::open_kept_pages(store, path, mode, detail::kept_vector<T>(), options));
  }
  /// The items of a plain file, item i at byte i · sizeof(T); what is behind the last whole one is
  /// left out. Other programs can read the file after flush() or close(), which give it its length;
  /// the destructor does so too, but cannot tell of errors. If the process ends otherwise, pages
  /// changed since may be there or not. Read only: as open().
  ///
  /// As long as it is open to be changed, no other container, of this process or another one, has
  /// the file open; or any number have it to read. That holds by whatever name it is opened.
  /// @throws io_error if it cannot be opened, EBUSY while another one has it; format_error if it is
  /// the file of a kept container; budget_error.
  static vector open_plain(std::string const& path, storage& store = default_storage(),
                           io::access mode = io::access::read_write,
                           page_options const& options = {}) {
    return vector(detail::bind_pages(store, path, {.mode = mode}, sizeof(T), options));
  }
  /// An empty one in a new plain file, as by open_plain(); its name is durable.
  /// @throws io_error, EEXIST if it is there already; budget_error. Nothing is left of it then.
  static vector create_plain(std::string const& path, storage& store = default_storage(),
                             page_options const& options = {}) {
    return vector(detail::bind_pages(
        store, path,
        {.mode = io::access::read_write, .create = true, .must_be_new = true, .permissions = 0666},
        sizeof(T), options));
  }

  /// Takes the space on disk that so many items need, so that no out_of_space comes before there
  /// are more; it is kept until shrink_to_fit(). Asks first whether there is as much. Items never
  /// move, whether there is room or not. Of a file no space is taken; flush() of a plain one ends
  /// it. I/Os: none. @throws out_of_space, budget_error; io_error (EACCES); std::length_error if it
  /// is more than max_size(). Nothing is taken then.
  void reserve(size_type count) {
    base::check_size(count);
    items_->reserve(count);
  }
  /// Items that fit in the pages that there are.
  size_type capacity() const noexcept { return items_->capacity(); }

  /// Writes what was changed. A file has its length then, and its content is durable. @throws
  /// io_error of the first page that cannot be written; all are still there. If the file cannot be
  /// synced, nobody knows what is on disk: this and close() then fail for good (EIO), and a kept
  /// file holds what was flushed last, or now, when it is opened again.
  void flush() { items_->flush(); }
  /// Flushes, and ends the vector: it can be destroyed, or assigned to. @throws as flush(); it is
  /// as it was then.
  void close() {
    items_->close();
    items_.reset();
  }
  /// Whether the file had been closed when it was opened; if not, the vector is as the last flush()
  /// left it. True of others: a plain file does not tell.
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
