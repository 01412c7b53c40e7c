// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the library of compression of one stream has allocated, counted against a budget. The
// library allocates it itself, and how much is known only when it has read a header. One thread at
// a time. Layer: io.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <outsize/base/memory_budget.hpp>

namespace outsize::io::detail {

/// A grant that grows with what is needed. Nothing is counted if there is no budget.
class codec_grant {
 public:
  /// @param name  Of the file, for messages.
  /// @param kind  What takes the memory, likewise; it outlives the grant.
  codec_grant(memory_budget* budget, std::string name, std::string_view kind);

  /// Makes it `bytes`, unless it is more. @throws budget_error that names the file and the kind,
  /// what there is and what is needed.
  void cover(std::uint64_t bytes);

 private:
  memory_budget* budget_;
  std::string name_;
  std::string_view kind_;
  std::optional<grant> taken_;
};

}  // namespace outsize::io::detail
