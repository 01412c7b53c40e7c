// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Memory that is there, but that nobody may use for now: a buffer of a cache that is not pinned.
//
// Where AddressSanitizer watches, each read and each write of closed memory stops the program and
// says where; elsewhere nothing happens, and nothing is spent. Nor must it be used for requests,
// which some back-ends carry out by threads of the program. Memory is open until it is closed, and
// has to be open when it is given back. Any thread; of memory that no other thread closes or opens.
// Layer: base.

#include <cstddef>
#include <span>

namespace outsize::detail {

/// Whether uses of closed memory are noticed.
bool notices_closed_memory() noexcept;

/// @pre `memory` begins and ends at multiples of 8 bytes.
void close_memory(std::span<std::byte const> memory) noexcept;
void open_memory(std::span<std::byte const> memory) noexcept;

}  // namespace outsize::detail
