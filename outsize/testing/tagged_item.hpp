// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items that show whether those of equal keys kept their order. Layer: testing.

#include <cstdint>

namespace outsize::scratch {

struct tagged_item {
  std::uint32_t key;
  std::uint32_t tag;  // not compared: shows who came first

  friend bool operator==(tagged_item const&, tagged_item const&) = default;
};

struct by_key {
  bool operator()(tagged_item const& a, tagged_item const& b) const { return a.key < b.key; }
};

}  // namespace outsize::scratch
