// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/run_recorder.hpp>

#include <algorithm>

#include <outsize/base/units.hpp>

namespace outsize::bsp::detail {

namespace {

constexpr std::size_t all_entries = 64 * 1024;
constexpr std::int64_t first_bin_ns = 1'000'000;

std::uint32_t ranks_per_row_of(std::uint32_t count, std::uint32_t most_rows) {
  return std::max<std::uint32_t>(div_up(count, most_rows), 1);
}

}  // namespace

run_recorder::run_recorder(std::uint32_t count, clock::time_point (*clock_now)())
    : clock_(clock_now),
      begin_(clock_now()),
      most_entries_(std::clamp<std::size_t>(all_entries / std::max(count, 1U), 4, 4096)),
      ranks_(count),
      spans_(1) {
  timeline_.ranks_per_row = ranks_per_row_of(count, most_rows);
  timeline_.rows = div_up(count, timeline_.ranks_per_row);
  timeline_.bin_ns = first_bin_ns;
  timeline_.computing_ns.resize(timeline_.rows * most_bins);
  timeline_.moving_ns.resize(timeline_.rows * most_bins);
}

std::int64_t run_recorder::elapsed() const noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(clock_() - begin_).count();
}

// ---- activity ----

/// Notes the times of a processor up to now.
void run_recorder::settle(rank_state& of, std::uint32_t rank, std::int64_t now_ns) noexcept {
  std::int64_t const past = now_ns - of.since_ns;
  if (of.has_ended || past <= 0) return;
  superstep_counts& entry = entry_of(of, of.superstep);
  std::uint32_t const row = rank / timeline_.ranks_per_row;
  if (of.is_computing) {
    entry.computing_ns += past;
    computing_ns_ += past;
    spread(timeline_.computing_ns, row, of.since_ns, now_ns);
  } else if (of.moving > 0) {
    entry.moving_ns += past;
    spread(timeline_.moving_ns, row, of.since_ns, now_ns);
  } else {
    entry.waiting_ns += past;
  }
  of.since_ns = now_ns;
}

void run_recorder::spread(std::vector<float>& to, std::uint32_t row, std::int64_t begin_ns,
                          std::int64_t end_ns) noexcept {
  reach(end_ns);
  std::int64_t const width = timeline_.bin_ns;
  float* const bins = to.data() + row * most_bins;
  for (std::int64_t bin = begin_ns / width; bin * width < end_ns; ++bin) {
    std::int64_t const begin = std::max(begin_ns, bin * width);
    std::int64_t const end = std::min(end_ns, (bin + 1) * width);
    bins[bin] += static_cast<float>(end - begin);
  }
}

/// Makes bins long enough to reach a moment.
void run_recorder::reach(std::int64_t end_ns) noexcept {
  while (end_ns > timeline_.bin_ns * static_cast<std::int64_t>(most_bins)) double_bins();
}

void run_recorder::double_bins() noexcept {
  for (std::vector<float>* const all : {&timeline_.computing_ns, &timeline_.moving_ns}) {
    for (std::uint32_t row = 0; row < timeline_.rows; ++row) {
      float* const bins = all->data() + row * most_bins;
      for (std::size_t i = 0; i < most_bins / 2; ++i) bins[i] = bins[2 * i] + bins[2 * i + 1];
      std::fill_n(bins + most_bins / 2, most_bins / 2, 0.0F);
    }
  }
  timeline_.bin_ns *= 2;
}

void run_recorder::begin_computing(std::uint32_t rank) noexcept {
  std::lock_guard const held(mutex_);
  settle(ranks_[rank], rank, elapsed());
  ranks_[rank].is_computing = true;
}

void run_recorder::end_computing(std::uint32_t rank) noexcept {
  std::lock_guard const held(mutex_);
  settle(ranks_[rank], rank, elapsed());
  ranks_[rank].is_computing = false;
}

void run_recorder::move(std::uint32_t rank, std::ptrdiff_t pieces) noexcept {
  std::lock_guard const held(mutex_);
  rank_state& of = ranks_[rank];
  if (of.moving == 0 || of.moving + pieces == 0) settle(of, rank, elapsed());
  of.moving += pieces;
}

void run_recorder::end(std::uint32_t rank) noexcept {
  std::lock_guard const held(mutex_);
  rank_state& of = ranks_[rank];
  if (of.has_ended) return;
  settle(of, rank, elapsed());
  of.has_ended = true;
  ++ended_;
  std::int64_t& last = spans_[of.superstep / merged_].end_ns;
  last = std::max(last, of.since_ns);
}

// ---- supersteps ----

superstep_counts& run_recorder::entry_of(rank_state& of, std::uint64_t superstep) noexcept {
  return of.entries[superstep / merged_];
}

/// Pairs of entries become one.
void run_recorder::merge_entries() {
  auto const halve = [](auto& entries, auto const& join) {
    for (std::size_t i = 0; 2 * i < entries.size(); ++i) {
      auto joined = entries[2 * i];
      if (2 * i + 1 < entries.size()) join(joined, entries[2 * i + 1]);
      entries[i] = joined;
    }
    entries.resize((entries.size() + 1) / 2);
  };
  for (rank_state& of : ranks_) {
    halve(of.entries, [](superstep_counts& a, superstep_counts const& b) { a += b; });
  }
  halve(spans_, [](run_history::span& a, run_history::span const& b) {
    a.end_ns = std::max(a.end_ns, b.end_ns);
  });
  merged_ *= 2;
}

void run_recorder::pass(std::uint32_t rank) {
  std::lock_guard const held(mutex_);
  rank_state& of = ranks_[rank];
  settle(of, rank, elapsed());
  if ((of.superstep + 1) / merged_ == most_entries_) merge_entries();
  std::uint64_t const next = (of.superstep + 1) / merged_;
  if (next == of.entries.size()) of.entries.emplace_back();
  if (next == spans_.size()) spans_.push_back({of.since_ns, of.since_ns});
  std::int64_t& last = spans_[of.superstep / merged_].end_ns;
  last = std::max(last, of.since_ns);
  furthest_ = std::max(furthest_, ++of.superstep);
}

void run_recorder::add(std::uint32_t rank, superstep_counts const& more) noexcept {
  std::lock_guard const held(mutex_);
  entry_of(ranks_[rank], ranks_[rank].superstep) += more;
  moved_bytes_ += more.moved_bytes();
}

void run_recorder::add_to_ended(std::uint32_t rank, superstep_counts const& more) noexcept {
  std::lock_guard const held(mutex_);
  std::uint64_t const present = ranks_[rank].superstep;
  entry_of(ranks_[rank], present - std::min<std::uint64_t>(present, 1)) += more;
  moved_bytes_ += more.moved_bytes();
}

// ---- questions ----

run_recorder::progress run_recorder::now() const {
  std::lock_guard const held(mutex_);
  std::int64_t const now_ns = elapsed();
  std::int64_t computing = computing_ns_;
  for (rank_state const& of : ranks_) {
    if (of.is_computing && !of.has_ended) computing += std::max(now_ns - of.since_ns, {});
  }
  return {furthest_ + 1, ended_, moved_bytes_, static_cast<double>(computing) * 1e-9};
}

superstep_counts run_recorder::total_of(std::uint32_t rank) const {
  std::lock_guard const held(mutex_);
  superstep_counts sum;
  for (superstep_counts const& one : ranks_[rank].entries) sum += one;
  return sum;
}

run_history run_recorder::history() {
  std::lock_guard const held(mutex_);
  std::int64_t const now_ns = elapsed();
  run_history all{.supersteps = furthest_ + 1,
                  .merged = merged_,
                  .ended = ended_,
                  .elapsed_ns = now_ns,
                  .spans = spans_};
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    rank_state& of = ranks_[rank];
    settle(of, rank, now_ns);
    all.processors.push_back(of.entries);
    all.end_ns.push_back(of.since_ns);
    if (!of.has_ended) all.spans[of.superstep / merged_].end_ns = now_ns;
  }
  reach(now_ns);
  all.timeline = {timeline_.ranks_per_row, timeline_.rows, timeline_.bin_ns, {}, {}};
  auto const bins = static_cast<std::size_t>(
      std::clamp<std::int64_t>(div_up(now_ns, timeline_.bin_ns), 1, most_bins));
  for (std::uint32_t row = 0; row < timeline_.rows; ++row) {
    auto const first = static_cast<std::ptrdiff_t>(row * most_bins);
    auto const end = first + static_cast<std::ptrdiff_t>(bins);
    auto const copy = [&](std::vector<float> const& from, std::vector<float>& to) {
      to.insert(to.end(), from.begin() + first, from.begin() + end);
    };
    copy(timeline_.computing_ns, all.timeline.computing_ns);
    copy(timeline_.moving_ns, all.timeline.moving_ns);
  }
  return all;
}

}  // namespace outsize::bsp::detail
