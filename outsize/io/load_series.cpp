// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/load_series.hpp>

#include <algorithm>
#include <utility>

namespace outsize::io {
namespace {

void add_part(load_totals& to, load_totals const& all, double share) {
  to.read_bytes += all.read_bytes * share;
  to.written_bytes += all.written_bytes * share;
  to.cpu_seconds += all.cpu_seconds * share;
}

}  // namespace

void load_series::add(double seconds, load_totals const& now) {
  if (std::exchange(has_begun_, true)) {
    spread(last_seconds_, seconds,
           {now.read_bytes - last_.read_bytes, now.written_bytes - last_.written_bytes,
            now.cpu_seconds - last_.cpu_seconds});
  }
  last_seconds_ = seconds;
  last_ = now;
}

void load_series::double_bins() {
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    load_totals const one = std::exchange(bins_[i], {});
    add_part(bins_[i / 2], one, 1);
  }
  bins_.resize((bins_.size() + 1) / 2);
  bin_seconds_ *= 2;
}

void load_series::spread(double begin, double end, load_totals const& increase) {
  while (end >= static_cast<double>(most_bins_) * bin_seconds_) double_bins();
  auto const bin_of = [this](double at) { return static_cast<std::size_t>(at / bin_seconds_); };
  std::size_t const first = bin_of(begin), last = bin_of(end);
  if (bins_.size() <= last) bins_.resize(last + 1);
  if (first == last) return add_part(bins_[last], increase, 1);
  double rest = 1;
  for (std::size_t b = first; b < last; ++b) {
    double const from = std::max(begin, static_cast<double>(b) * bin_seconds_);
    double const to = static_cast<double>(b + 1) * bin_seconds_;
    double const share = std::min(rest, (to - from) / (end - begin));
    add_part(bins_[b], increase, share);
    rest -= share;
  }
  add_part(bins_[last], increase, rest);
}

}  // namespace outsize::io
