// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/page/detail/page_runs.hpp>

#include <algorithm>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/block_device.hpp>

namespace outsize::detail {

std::size_t page_runs::memory_bytes(page_run_options const& options) {
  return round_up(options.bytes * options.count, outsize::page_bytes());
}

page_runs::page_runs(grant& memory, std::size_t page_bytes, page_run_options const& options)
    : page_bytes_(page_bytes),
      run_pages_(options.count == 0 ? 0 : options.bytes / page_bytes),
      run_bytes_(options.bytes),
      is_named_(options.is_named),
      runs_(options.count) {
  if (options.count > 0 && is_named_) take_memory(memory);
}

void page_runs::take_memory(grant& memory) {
  memory_ = memory.allocate(memory_bytes());
  for (std::size_t i = 0; i < runs_.size(); ++i)
    runs_[i].memory = memory_.bytes().subspan(i * run_bytes_, run_bytes_);
}

void page_runs::give_memory(give_cost most) noexcept {
  bool const is_kept = std::ranges::any_of(runs_, [most](run const& each) {
    bool const is_expected = std::ranges::find(each.marked, true) != each.marked.end();
    return each.holds > 0 || (is_expected && most == give_cost::unused);
  });
  if (!memory_ || is_named_ || is_kept) return;
  forget_all();
  for (run& each : runs_) each.memory = {};
  memory_ = {};
}

page_runs::~page_runs() { forget_all(); }

page_runs::run* page_runs::oldest_free() noexcept {
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    run& each = runs_[next_];
    next_ = (next_ + 1) % runs_.size();
    if (each.holds == 0) return &each;
  }
  return nullptr;
}

bool page_runs::begin(page_space& space, std::uint64_t first, std::vector<bool> marked) {
  run* const with = oldest_free();
  if (with == nullptr) return false;
  end(*with);
  std::size_t const count = marked.size();
  auto place = space.place(first);
  place.length_bytes = static_cast<std::uint32_t>(count * page_bytes_);
  // Nothing is marked that is not being read.
  with->reading = space.device().read(place, with->memory.first(count * page_bytes_));
  with->place = place;
  with->first = first;
  with->marked = std::move(marked);
  return true;
}

void page_runs::end(run& of) noexcept {
  of.marked.clear();
  auto const reading = std::exchange(of.reading, nullptr);
  if (reading && !reading->cancel()) reading->wait_outcome();
}

page_runs::run const* page_runs::find(std::uint64_t page) const noexcept {
  for (run const& each : runs_)
    if (each.is_marked(page)) return &each;
  return nullptr;
}

bool page_runs::has(std::uint64_t page) const noexcept { return find(page) != nullptr; }

/// The run in which a page is marked, when its bytes are there; nullptr if there is none, or it
/// could not be read.
page_runs::run* page_runs::arrived(page_space& space, std::uint64_t page) {
  auto* const from = const_cast<run*>(find(page));
  if (from == nullptr) return nullptr;
  if (auto const reading = std::exchange(from->reading, nullptr)) try {
      space.device().wait_for_block(from->place, *reading);
    } catch (io_error const&) {  // whoever reads the page by itself will be told, if it fails again
      from->marked.clear();
      return nullptr;
    }
  return from;
}

std::span<std::byte const> page_runs::take(page_space& space, std::uint64_t page) {
  run* const from = arrived(space, page);
  if (from == nullptr) return {};
  from->marked[page - from->first] = false;
  return from->memory.subspan((page - from->first) * page_bytes_, page_bytes_);
}

page_runs::hold page_runs::hold_pages(page_space& space, std::uint64_t page) {
  run* const from = arrived(space, page);
  if (from == nullptr) return {};
  std::uint64_t first = page;
  std::uint64_t last = page + 1;
  while (first > from->first && from->is_marked(first - 1)) --first;
  while (from->is_marked(last)) ++last;
  ++from->holds;
  return {static_cast<std::size_t>(from - runs_.data()), first,
          from->memory.subspan((first - from->first) * page_bytes_, (last - first) * page_bytes_)};
}

void page_runs::forget(std::uint64_t page) noexcept {
  if (auto* const in = const_cast<run*>(find(page))) in->marked[page - in->first] = false;
}

void page_runs::forget_all() noexcept {
  for (run& each : runs_) end(each);
}

}  // namespace outsize::detail
