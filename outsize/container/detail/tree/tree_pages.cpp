// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/container/detail/tree/tree_pages.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <exception>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/page/detail/disk_pages.hpp>
#include <outsize/page/detail/kept_file.hpp>
#include <outsize/page/detail/page_run_writer.hpp>

namespace outsize::detail {
namespace {

constexpr std::uint64_t most_node_cache_bytes = 256_MiB;
constexpr std::uint64_t most_read_ahead_bytes = 32_MiB;
constexpr std::uint64_t most_run_bytes = 2_MiB;
constexpr std::size_t spare_nodes = 4;
// Of a cache: the live ones, the root, others' looks, two that are read ahead.
constexpr std::size_t least_leaves = tree_pages::live_leaves + 4, least_nodes = 8;

/// How pages of one kind are kept.
struct paging {
  page_cache_options cache;
  page_run_options runs = {};
};

std::shared_ptr<page_row> make_row(storage& store, std::unique_ptr<page_space> space,
                                   std::string const& asker, paging const& as,
                                   std::unique_ptr<block::replacement> policy) {
  auto& device = space->device();
  auto cache = page_cache::make(store.memory(), asker, device, as.cache, std::move(policy));
  std::uint64_t const named_bytes = as.runs.is_named ? page_runs::memory_bytes(as.runs) : 0;
  return std::make_shared<page_row>(store, std::move(space), std::move(cache), as.cache.page_bytes,
                                    store.memory().take(named_bytes, asker), as.runs);
}

paging leaf_paging(storage& store, std::size_t page_bytes, map_options const& options) {
  std::uint64_t const bytes =
      options.leaf_cache_bytes > 0 ? options.leaf_cache_bytes : store.memory().total_bytes() / 8;
  std::uint64_t const ahead_bytes =
      options.read_ahead_bytes > 0
          ? options.read_ahead_bytes
          : std::min({store.memory().total_bytes() / 16, bytes / 2, most_read_ahead_bytes});
  std::size_t const run_bytes = round_down<std::uint64_t>(
      std::min<std::uint64_t>(ahead_bytes / 8, most_run_bytes), page_bytes);
  std::size_t const group_bytes = page_cache_options::group_bytes(bytes);
  std::uint64_t const held_bytes = bytes - block::block_cache::group_count * group_bytes;
  return {{.page_bytes = page_bytes,
           .cache_pages = std::max<std::size_t>(held_bytes / page_bytes, least_leaves),
           .spare_pages = options.spare_leaves,
           .is_named = options.leaf_cache_bytes > 0,
           .write_bytes = group_bytes,
           .live_pages = tree_pages::live_leaves,
           .least_pages = least_leaves,
           .former_pages = tree_pages::former_leaves},
          {run_bytes, run_bytes > page_bytes ? ahead_bytes / run_bytes : 0,
           options.read_ahead_bytes > 0}};
}

paging node_paging(storage& store, std::size_t page_bytes, map_options const& options) {
  std::uint64_t const bytes =
      options.node_cache_bytes > 0
          ? options.node_cache_bytes
          : std::min(store.memory().total_bytes() / 32, most_node_cache_bytes);
  return {{.page_bytes = page_bytes,
           .cache_pages = std::max<std::size_t>(bytes / page_bytes, least_nodes),
           .spare_pages = spare_nodes,
           .is_named = options.node_cache_bytes > 0,
           .live_pages = tree_pages::live_nodes,
           .least_pages = least_nodes}};
}

}  // namespace

tree_pages::tree_pages(storage& store, rows made, std::shared_ptr<kept_file> file,
                       map_options const& options)
    : file_(std::move(file)),
      leaves_(std::move(made.leaves)),
      nodes_(std::move(made.nodes)),
      store_(store),
      most_batch_leaves_(options.batch_leaves),
      runs_(made.runs.count),
      run_bytes_(made.runs.bytes),
      scans_(std::make_shared<std::atomic<std::size_t>>(0)) {}

page_row::ahead tree_pages::scan_ahead() const noexcept {
  // Two askings and the run that is being used are a scan's share.
  std::size_t const scans = std::max<std::size_t>(*scans_, 1);
  return {(std::max<std::size_t>(runs_ / scans, 3) - 1) / 2,
          std::max<std::size_t>(batch_leaves() / scans / 2, 1)};
}

page_row::ahead tree_pages::batch_ahead() const noexcept {
  // All but the run that is being used.
  std::size_t const scans = std::max<std::size_t>(*scans_, 1);
  return {std::max<std::size_t>(runs_ / scans, 2) - 1, batch_leaves()};
}

std::size_t tree_pages::batch_leaves() const noexcept {
  // As many that have been used must be in the cache, so that under LRU these leave for others
  // before those that are expected.
  std::size_t const room = (leaves_.row().cache_pages() - live_leaves - 1) / 2;
  return std::min(most_batch_leaves_, std::max<std::size_t>(room, 2) - 1);
}

std::size_t tree_pages::scan_leaves() const noexcept {
  std::size_t const in_runs = runs_ * run_bytes_ / leaves_.row().page_bytes();
  return std::max<std::size_t>(std::max(in_runs, batch_leaves()) / 2, 2);
}

grant tree_pages::memory_for_bulk() const {
  return store_.memory().take(page_run_writer::memory_bytes(leaves_.row().page_bytes(), run_bytes_),
                              "bulk construction");
}

std::uint64_t tree_pages::memory_to_sort_bytes() const noexcept {
  std::uint64_t const free = store_.memory().obtainable_bytes();
  return free - free / 16;
}

std::unique_ptr<tree_pages> tree_pages::on_disks(storage& store, tree_layout const& layout,
                                                 map_options const& options) {
  auto const make_space = [&](std::size_t page_bytes, std::size_t run_bytes) {
    auto where =
        options.placement ? store.new_placement(*options.placement) : store.new_placement();
    return std::make_unique<disk_pages>(store, page_bytes, std::move(where), 0,
                                        std::max<std::size_t>(run_bytes / page_bytes, 1));
  };
  auto const alignment = store.alignment_bytes();
  auto const leaves = leaf_paging(store, round_up(layout.leaf_bytes(options), alignment), options);
  auto const nodes = node_paging(store, round_up(layout.node_bytes(options), alignment), options);
  return std::unique_ptr<tree_pages>(
      new tree_pages(store,
                     {make_row(store, make_space(leaves.cache.page_bytes, leaves.runs.bytes),
                               "leaves of a tree", leaves, options.replacement()),
                      make_row(store, make_space(nodes.cache.page_bytes, 0), "nodes of a tree",
                               nodes, options.replacement()),
                      leaves.runs},
                     nullptr, options));
}

std::unique_ptr<tree_pages> tree_pages::create(storage& store, std::string const& path,
                                               tree_layout const& layout,
                                               map_options const& options) {
  return in(store,
            kept_file::create(store, path, layout.kind,
                              {layout.leaf_bytes(options), layout.node_bytes(options)}),
            layout, options);
}

std::unique_ptr<tree_pages> tree_pages::create(storage& store, io::file_ptr file,
                                               tree_layout const& layout,
                                               map_options const& options) {
  return in(store,
            kept_file::create(store, std::move(file), layout.kind,
                              {layout.leaf_bytes(options), layout.node_bytes(options)}),
            layout, options);
}

std::unique_ptr<tree_pages> tree_pages::open(storage& store, std::string const& path,
                                             io::access mode, tree_layout const& layout,
                                             map_options const& options) {
  return in(store, kept_file::open(store, path, mode, layout.kind), layout, options);
}

std::unique_ptr<tree_pages> tree_pages::open(storage& store, io::file_ptr file, io::access mode,
                                             tree_layout const& layout,
                                             map_options const& options) {
  return in(store, kept_file::open(store, std::move(file), mode, layout.kind), layout, options);
}

bool tree_pages::was_closed() const noexcept { return file_ == nullptr || file_->was_closed(); }

std::unique_ptr<tree_pages> tree_pages::in(storage& store, std::shared_ptr<kept_file> file,
                                           tree_layout const& layout, map_options const& options) {
  auto leaf_space = std::make_unique<kept_pages>(file, 0);
  auto node_space = std::make_unique<kept_pages>(file, 1);
  if (leaf_space->page_bytes() < layout.least_leaf_bytes ||
      leaf_space->page_bytes() % layout.leaf_alignment != 0)
    file->refuse("page_bytes[0]", leaf_space->page_bytes());
  if (node_space->page_bytes() < layout.least_node_bytes)
    file->refuse("page_bytes[1]", node_space->page_bytes());
  auto const leaves = leaf_paging(store, leaf_space->page_bytes(), options);
  auto const nodes = node_paging(store, node_space->page_bytes(), options);
  auto made = std::unique_ptr<tree_pages>(
      new tree_pages(store,
                     {make_row(store, std::move(leaf_space), "leaves of " + file->name(), leaves,
                               options.replacement()),
                      make_row(store, std::move(node_space), "nodes of " + file->name(), nodes,
                               options.replacement()),
                      leaves.runs},
                     file, options));
  made->recall(file->state());
  file->keep();
  return made;
}

/// What the file says of its tree must fit its pages, so that nothing else need be checked.
void tree_pages::recall(std::span<std::byte const> bytes) {
  bool const has_pages = leaves_.used() > 0 || nodes_.used() > 0;
  // There is none before the first flush.
  bool const is_state = bytes.size() == sizeof state_ || (bytes.empty() && !has_pages);
  if (!is_state) file_->refuse("state_bytes", bytes.size());
  if (!bytes.empty()) std::memcpy(&state_, bytes.data(), sizeof state_);
  auto const check = [this](bool is_sound, char const* field, std::uint64_t value) {
    if (!is_sound) file_->refuse(field, value);
  };
  auto const is_page = [](page_set const& pages, std::uint64_t page) {
    return page < pages.row().end() && !pages.row().holds_zeros(page);
  };
  auto const [size, root, first, last, height] = state_;
  auto const [key_bytes, value_bytes] = file_->item_bytes();
  // Entries have these bytes at least. Each level has a node, and few enough have room for all.
  std::uint64_t const most = leaves_.row().page_bytes() / (key_bytes + value_bytes);
  check(height <= std::min<std::uint64_t>(nodes_.used(), most_height), "height", height);
  if (root == tree_state::none) {
    check(!has_pages && height == 0, "root", root);
    check(size == 0, "size", size);
    check(first == tree_state::none, "first_leaf", first);
    check(last == tree_state::none, "last_leaf", last);
    return;
  }
  check(size <= leaves_.used() * most, "size", size);
  check(is_page(leaves_, first), "first_leaf", first);
  check(is_page(leaves_, last), "last_leaf", last);
  if (height > 0) {
    check(is_page(nodes_, root), "root", root);
  } else {
    check(root == first && root == last, "root", root);
  }
}

tree_pages::~tree_pages() {
  try {
    if (file_ == nullptr)
      clear();
    else if (is_used_ && !is_closed_)
      close();
  } catch (std::exception const&) {  // close() tells
  }
}

std::span<std::byte const> tree_pages::state_bytes() const noexcept {
  return std::as_bytes(std::span(&state_, 1));
}

void tree_pages::check_writable() const {
  if (file_) file_->check_writable();
}

void tree_pages::refuse(char const* kind, std::uint64_t page) const {
  throw format_error(fmt::format("{}: damaged: {} {}", file_->name(), kind, page));
}

void tree_pages::refuse_field(char const* field, std::uint64_t value) const {
  file_->refuse(field, value);
}

void tree_pages::refuse_order() const {
  throw format_error(file_->name() +
                     ": its keys are in another order than that of this comparison");
}

void tree_pages::refuse_range() const {
  OUTSIZE_ASSERT(file_ != nullptr);  // a mistake of the caller's, then
  throw format_error(file_->name() + ": damaged: a range of entries without an end");
}

void tree_pages::flush() {
  leaves_.row().flush();
  nodes_.row().flush();
  if (file_) file_->commit(state_bytes());
}

void tree_pages::close() {
  if (file_ && !file_->is_writable()) return;
  flush();
  if (file_) file_->close(state_bytes());
  is_closed_ = true;
}

void tree_pages::clear() {
  leaves_.clear();
  nodes_.clear();
  state_ = {};
}

}  // namespace outsize::detail
