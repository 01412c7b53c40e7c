// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/process_mark.hpp>

#include <pthread.h>

#include <cerrno>
#include <utility>

#include <outsize/base/error.hpp>

namespace outsize::detail {

std::atomic<std::uint32_t> fork_count{0};

namespace {

/// Before main(), so that no fork goes uncounted.
[[maybe_unused]] int const is_counting =
    ::pthread_atfork(nullptr, nullptr, [] { fork_count.fetch_add(1, std::memory_order_relaxed); });

}  // namespace

void process_mark::refuse(std::string what) { throw io_error(EOWNERDEAD, "use", std::move(what)); }

}  // namespace outsize::detail
