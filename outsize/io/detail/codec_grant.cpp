// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/detail/codec_grant.hpp>

#include <fmt/format.h>

#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::io::detail {

codec_grant::codec_grant(memory_budget* budget, std::string name, std::string_view kind)
    : budget_(budget), name_(std::move(name)), kind_(kind) {}

void codec_grant::cover(std::uint64_t bytes) {
  std::uint64_t const had = taken_ ? taken_->total_bytes() : 0;
  if (budget_ == nullptr || bytes <= had) return;
  try {
    if (!taken_) taken_ = budget_->take(0, name_);
    taken_->extend(bytes - had);
  } catch (budget_error const& e) {
    std::uint64_t const have = had + e.have_bytes();
    throw budget_error(
        name_, have, bytes,
        fmt::format("{}: {} takes {} of memory, and {} are left beside the buffers; have smaller "
                    "ones, or allow more memory",
                    name_, kind_, format_bytes(bytes), format_bytes(have)));
  }
}

}  // namespace outsize::io::detail
