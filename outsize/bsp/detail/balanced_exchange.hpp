// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// An exchange of items of which some pairs of members have far more than others: in two rounds of
// messages of about equal length.
//
//   member i deals its items for j to the members i + j, i + j + 1, … (mod p), one after the other
//   each of these hands on, to every j, the items that it got for it
//
// The order of items is restored from their numbers, which all can compute. Layer: bsp.
// Source: Bader, Helman, JáJá: Practical parallel algorithms for personalized communication and
// integer sorting, 1996. Checked: balanced_exchange_test.cpp.

#include <cstddef>
#include <cstdint>
#include <span>

#include <outsize/bsp/detail/member.hpp>

namespace outsize::bsp::detail {

/// Sends out[j] to member j, and receives what member i sends into in[i]. All members call it, with
/// the same `item_bytes`. Returns the length of the longest message of items that it sent: if no
/// member sends or receives more than h items, at most h/p + (p − 1)/2 items.
/// Supersteps: 2. I/Os: as two exchanges. Memory: for each member its items twice, beside them.
/// @throws bsp_error  Members send other numbers of items than in[] takes.
std::uint64_t balanced_exchange(member& mine, char const* name,
                                std::span<std::span<std::byte const> const> out,
                                std::span<std::span<std::byte> const> in, std::size_t item_bytes);

}  // namespace outsize::bsp::detail
