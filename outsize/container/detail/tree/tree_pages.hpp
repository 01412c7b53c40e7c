// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The pages of a B+-tree, whatever its keys are: leaves and nodes in two rows of pages with caches
// of their own, those that are free, and what the tree knows about itself.
//
//   nodes    row of short pages     root is kept in memory
//   leaves   row of longer pages    linked both ways, by number
//
// Pages are named by their numbers, which stay when a kept_file moves them. Invariant: a page is
// free or in the tree; free ones hold nothing, and no row ends with one. Threads: as page_row's;
// look() in company, all else alone. Layer: container.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/map_options.hpp>
#include <outsize/io/file.hpp>
#include <outsize/page/detail/page_row.hpp>
#include <outsize/page/detail/page_set.hpp>
#include <outsize/page/kept_type.hpp>

namespace outsize::detail {

class kept_file;

/// A page to be looked at: pinned, or where a cache has no room for that a copy, which is aligned
/// as pages in the cache are.
class page_look {
 public:
  page_look() = default;
  page_look(page_row const& row, std::uint64_t page) : pin_(row.pin(page, page)) {
    if (pin_) return;
    copy_.resize(div_up(row.page_bytes(), sizeof(page_line)));
    row.read(page, 0, std::as_writable_bytes(std::span(copy_)).first(row.page_bytes()));
  }

  /// Whether what others change is seen.
  bool is_pinned() const noexcept { return static_cast<bool>(pin_); }
  std::byte const* data() const noexcept {
    return pin_ ? pin_.bytes().data() : std::as_bytes(std::span(copy_)).data();
  }

 private:
  page_pin pin_;
  std::vector<page_line> copy_;
};

/// What a tree knows about itself; kept in a file as it is.
struct tree_state {
  static constexpr std::uint64_t none = UINT64_MAX;

  std::uint64_t size = 0;     ///< Entries.
  std::uint64_t root = none;  ///< The number of a node, or if height is 0 of a leaf.
  std::uint64_t first_leaf = none;
  std::uint64_t last_leaf = none;
  std::uint64_t height = 0;  ///< Levels of nodes above the leaves.
};

/// What the pages of a tree must hold.
struct tree_layout {
  kept_kind kind;
  std::size_t least_leaf_bytes = 0;
  std::size_t least_node_bytes = 0;
  std::size_t leaf_alignment = 1;

  /// Of leaves to be made: runs have them side by side, each where its entries are aligned.
  std::size_t leaf_bytes(map_options const& options) const {
    return round_up(std::max(options.leaf_bytes, least_leaf_bytes), leaf_alignment);
  }
  std::size_t node_bytes(map_options const& options) const {
    return std::max(options.node_bytes, least_node_bytes);
  }
};

/// See the top of this file.
class tree_pages {
 public:
  /// That stay where they are, as page_row's: one that is referred to, and what two insertions
  /// touch, each of which may split a leaf.
  static constexpr std::size_t live_leaves = 5;
  static constexpr std::size_t live_nodes = 3;
  static constexpr std::size_t most_height = 31;  ///< Levels of nodes above the leaves.
  /// Buffers of leaves that went on in others: an insertion leaves one at most.
  static constexpr std::size_t former_leaves = 2;

  /// On the disks of a storage. @throws budget_error, io_error; std::invalid_argument (placement).
  static std::unique_ptr<tree_pages> on_disks(storage& store, tree_layout const& layout,
                                              map_options const& options);
  /// In a new kept_file, at a path or in a file that is open. @throws io_error, budget_error.
  static std::unique_ptr<tree_pages> create(storage& store, std::string const& path,
                                            tree_layout const& layout, map_options const& options);
  static std::unique_ptr<tree_pages> create(storage& store, io::file_ptr file,
                                            tree_layout const& layout, map_options const& options);
  /// In one that is there. @throws io_error, format_error, budget_error.
  static std::unique_ptr<tree_pages> open(storage& store, std::string const& path, io::access mode,
                                          tree_layout const& layout, map_options const& options);
  static std::unique_ptr<tree_pages> open(storage& store, io::file_ptr file, io::access mode,
                                          tree_layout const& layout, map_options const& options);
  tree_pages(tree_pages const&) = delete;
  tree_pages& operator=(tree_pages const&) = delete;
  /// Frees the space of pages on disks; closes a file, but cannot tell of errors.
  ~tree_pages();

  page_set& leaves() noexcept { return leaves_; }
  page_set const& leaves() const noexcept { return leaves_; }
  page_set& nodes() noexcept { return nodes_; }
  page_set const& nodes() const noexcept { return nodes_; }
  tree_state& state() noexcept { return state_; }
  tree_state const& state() const noexcept { return state_; }
  /// Leaves of a batch that are read at the same time.
  std::size_t batch_leaves() const noexcept;
  /// Leaves that a scan asks for at once, at most, before it has used up those that it asked for
  /// before the last time; and what it may begin to read then, as one of all that are open.
  std::size_t scan_leaves() const noexcept;
  page_row::ahead scan_ahead() const noexcept;
  /// What a batch may have on its way, as one of all scans that are open.
  page_row::ahead batch_ahead() const noexcept;
  /// One of the scans that share what is read ahead.
  class scan {
   public:
    explicit scan(tree_pages const& pages) : open_(pages.scans_) { ++*open_; }
    scan(scan const& other) : open_(other.open_) { ++*open_; }
    scan& operator=(scan const&) = delete;
    ~scan() { --*open_; }

   private:
    std::shared_ptr<std::atomic<std::size_t>> open_;
  };
  /// What is to be written at once by bulk construction, and memory for that.
  std::size_t run_bytes() const noexcept { return run_bytes_; }
  grant memory_for_bulk() const;
  /// What a sort of what is to be built may have: what others can do without now, but for an index
  /// of pages.
  std::uint64_t memory_to_sort_bytes() const noexcept;
  /// @throws io_error (EACCES) if they may only be read.
  void check_writable() const;
  /// Whether they come from a file, which something else may have changed: then what is read is
  /// looked at whether it can be.
  bool are_checked() const noexcept { return file_ != nullptr; }
  /// @throws format_error that names the file and a page of it. @pre are_checked()
  [[noreturn]] void refuse(char const* kind, std::uint64_t page) const;
  /// The same, that names what the file says of the tree, or another thing that is wrong.
  [[noreturn]] void refuse_field(char const* field, std::uint64_t value) const;
  [[noreturn]] void refuse_order() const;
  [[noreturn]] void refuse_range() const;
  /// To be called when nothing can be wrong with the whole any more: the destructor leaves a file
  /// as it is before that.
  void begin_use() noexcept { is_used_ = true; }
  bool was_closed() const noexcept;

  /// Makes all durable that has a file; writes it, otherwise. @throws io_error: nothing is lost.
  void flush();
  /// Flushes for the last time. @throws as flush().
  void close();
  /// Gives up all pages, and begins a state without any. @throws io_error, of a file.
  void clear();
  /// Replaces all: as long as it lives, there is a new tree, empty to begin with. Then the old one
  /// is back, unless keep() has given it up. Not to be flushed meanwhile.
  class renewal;

 private:
  static std::unique_ptr<tree_pages> in(storage& store, std::shared_ptr<kept_file> file,
                                        tree_layout const& layout, map_options const& options);

  struct rows {
    std::shared_ptr<page_row> leaves;
    std::shared_ptr<page_row> nodes;
    page_run_options runs = {};  // of leaves
  };
  tree_pages(storage& store, rows made, std::shared_ptr<kept_file> file,
             map_options const& options);
  void recall(std::span<std::byte const> bytes);
  std::span<std::byte const> state_bytes() const noexcept;

  std::shared_ptr<kept_file> file_;
  bool is_closed_ = false;
  page_set leaves_;
  page_set nodes_;
  tree_state state_;
  bool is_used_ = false;
  storage& store_;
  std::size_t most_batch_leaves_;
  std::size_t runs_;
  std::size_t run_bytes_;
  std::shared_ptr<std::atomic<std::size_t>> scans_;  // that are open
};

class tree_pages::renewal {
 public:
  /// @throws io_error (EACCES).
  explicit renewal(tree_pages& pages)
      : pages_(pages),
        leaves_(pages.leaves_),
        nodes_(pages.nodes_),
        old_state_(std::exchange(pages.state_, {})) {}
  renewal(renewal const&) = delete;
  renewal& operator=(renewal const&) = delete;
  ~renewal() {
    if (!is_kept_) pages_.state_ = old_state_;
  }

  void keep() noexcept {
    leaves_.keep();
    nodes_.keep();
    is_kept_ = true;
  }

 private:
  tree_pages& pages_;
  page_set::renewal leaves_;
  page_set::renewal nodes_;
  tree_state old_state_;
  bool is_kept_ = false;
};

}  // namespace outsize::detail
