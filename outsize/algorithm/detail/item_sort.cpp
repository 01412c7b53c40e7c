// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/item_sort.hpp>

#include <outsize/algorithm/detail/file_sort.hpp>
#include <outsize/algorithm/detail/input_options.hpp>
#include <outsize/algorithm/detail/item_scan.hpp>
#include <outsize/algorithm/sort_plan.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/io/input_stream.hpp>
#include <outsize/io/output_stream.hpp>
#include <outsize/record/detail/cut_short.hpp>

namespace outsize::detail {
namespace {

/// Takes the memory of input streams out of what a sort may use, if that is named.
/// @throws budget_error if nothing is left for it.
grant take_stream_memory(storage& store, std::uint64_t stream_bytes, sort_options& options) {
  std::uint64_t& named = options.memory_bytes;
  if (named != 0 && named <= stream_bytes)
    throw budget_error("sort", named, stream_bytes + min_sort_memory_bytes);
  if (named != 0) named -= stream_bytes;
  return store.memory().take(stream_bytes, "input stream");
}

}  // namespace

struct item_sort::streams {
  streams(storage& s, sort_options& options, sort_input from)
      : store(s),
        reading(input_options(s, options)),
        compress(options.compress),
        memory_bytes(from == sort_input::memory ? 0 : io::input_stream_memory_bytes(reading)),
        memory(take_stream_memory(s, memory_bytes, options)) {}

  storage& store;
  io::input_stream_options reading;
  io::compression compress;
  std::uint64_t memory_bytes;
  grant memory;
};

item_sort::item_sort(storage& store, item_kind const& kind, sort_options options, sort_input from)
    : streams_(std::make_unique<streams>(store, options, from)) {
  bool const is_part = from == sort_input::part;
  if (is_part && options.memory_bytes != 0) options = with_memory(options, options.memory_bytes);
  engine_ = make_item_engine(store, kind, std::move(options), is_part ? 0 : streams_->memory_bytes);
}

item_sort::~item_sort() = default;

void item_sort::fill_from(std::string const& path, item_watcher const& see) {
  auto const in = block::open_input(streams_->store, path, streams_->memory, streams_->reading);
  std::size_t const item = engine_->item_bytes();
  std::uint64_t total = 0;
  for (;;) {
    auto const room = engine_->room();
    std::size_t const got = in->read(room);
    total += got;
    if (got % item != 0) throw_cut_short(in->name(), total, item);
    if (see) see(room.first(got));
    engine_->grow(got / item);
    if (got < room.size()) return;
    engine_->chunk_full();
  }
}

sort_report item_sort::write_to(std::string const& path, std::function<void()> const& fill,
                                io::input_watch const* inputs) {
  io::output_stream_options writing{.block_bytes = streams_->reading.block_bytes,
                                    .compress = streams_->compress};
  if (inputs != nullptr) writing.inputs = *inputs;
  auto const out = block::open_output(streams_->store, path, writing);
  fill();
  engine_->finish_input(out->alignment_bytes());
  drain(*engine_, *out);
  return engine_->report();
}

std::uint64_t memory_of(storage& store, sort_options const& options) {
  if (options.memory_bytes != 0) return options.memory_bytes;
  return store.memory().fair_bytes();
}

std::uint64_t memory_beside_sink(storage& store, sort_options const& options) {
  std::uint64_t const all = memory_of(store, options);
  return options.memory_bytes != 0
             ? all
             : std::max(all / 4 * 3, std::min<std::uint64_t>(all, min_sort_memory_bytes));
}

sort_report sort_in_place(storage& store, item_kind const& kind, std::span<std::byte const> from,
                          std::byte* to, sort_options const& options) {
  if (options.stop.stop_requested()) throw cancelled("sort");
  if (!from.empty() && from.data() != to) std::memmove(to, from.data(), from.size());
  kind.sort_in_place({to, from.size()}, store.threads());
  std::uint64_t const items = from.size() / kind.number_bytes();
  std::uint64_t const moved = 2 * from.size();
  if (options.on_progress)
    options.on_progress(
        {.now = sort_progress::phase::done, .done_bytes = moved, .total_bytes = moved});
  return {.items = items, .input_bytes = from.size(), .output_items = items};
}

}  // namespace outsize::detail
