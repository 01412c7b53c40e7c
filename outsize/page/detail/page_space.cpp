// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/page/detail/page_space.hpp>

#include <outsize/base/assert.hpp>

namespace outsize::detail {

void page_space::swap_aside() { OUTSIZE_ASSERT(false); }

}  // namespace outsize::detail
