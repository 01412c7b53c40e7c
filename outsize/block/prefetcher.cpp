// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/prefetcher.hpp>

#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/block/detail/prefetch_schedule.hpp>

namespace outsize::block {

prefetcher::prefetcher(block_device& device, buffer_pool& pool, std::vector<block_id> order,
                       std::size_t ahead, frame_end where)
    : device_(device),
      pool_(pool),
      ahead_(ahead),
      where_(where),
      blocks_(std::move(order)),
      issued_(blocks_.size()) {
  OUTSIZE_ASSERT(ahead > 0 && blocks_.size() <= UINT32_MAX);
  if (device.disk_speeds().size() > 1) {
    std::vector<std::uint32_t> disk_of;
    disk_of.reserve(blocks_.size());
    for (block_id const& id : blocks_) disk_of.push_back(id.disk);
    schedule_ = prefetch_schedule(disk_of, device.disk_speeds(), ahead);
  }
  try {
    read_ahead();
  } catch (...) {
    end_reads();
    throw;
  }
}

prefetcher::~prefetcher() { end_reads(); }

void prefetcher::end_reads() noexcept {
  for (auto& [index, read] : untaken_) {
    if (!read.request->cancel()) read.request->wait_outcome();
    pool_.release(read.place);
  }
}

void prefetcher::issue(std::size_t index) {
  frame const place = pool_.try_acquire();
  OUTSIZE_ASSERT(!place.empty());
  try {
    // The place is noted first: once the read is issued, nothing may fail that would lose sight of
    // it.
    reading& read = untaken_.emplace(index, reading{place, nullptr}).first->second;
    std::size_t const length = blocks_[index].length_bytes;
    auto const part = where_ == frame_end::front ? place.first(length) : place.last(length);
    read.request = device_.read(blocks_[index], part);
  } catch (...) {
    untaken_.erase(index);
    pool_.release(place);
    throw;
  }
  issued_[index] = true;
}

void prefetcher::read_ahead() {
  for (; next_scheduled_ < blocks_.size(); ++next_scheduled_) {
    std::size_t const index = schedule_.empty() ? next_scheduled_ : schedule_[next_scheduled_];
    if (issued_[index]) continue;
    if (untaken_.size() >= ahead_) return;
    issue(index);
  }
}

frame prefetcher::take(std::size_t index) {
  if (!issued_[index]) issue(index);
  auto const read = untaken_.find(index);
  OUTSIZE_ASSERT(read != untaken_.end());
  device_.wait_for_block(blocks_[index], *read->second.request);
  frame const place = read->second.place;
  untaken_.erase(read);
  try {
    read_ahead();  // now, so that the disks work while the user does
  } catch (...) {
    pool_.release(place);
    throw;
  }
  return place;
}

bool prefetcher::ready(std::size_t index) const {
  auto const read = untaken_.find(index);
  return read != untaken_.end() && read->second.request->poll();
}

void prefetcher::release(frame taken) {
  pool_.release(taken);
  read_ahead();
}

}  // namespace outsize::block
