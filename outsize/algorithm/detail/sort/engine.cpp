// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The engine for numbers, and for all other items of one size, compiled once.

#include <outsize/algorithm/detail/sort/engine.hpp>

namespace outsize::detail {

template class typed_items<std::uint32_t, std::less<>>;
template class typed_items<std::uint64_t, std::less<>>;
template class typed_items<word_pair, std::less<>>;
template class sort_engine<number_items<std::uint32_t>>;
template class sort_engine<number_items<std::uint64_t>>;
template class sort_engine<number_items<word_pair>>;
template class sort_engine<kernel_items>;

}  // namespace outsize::detail
