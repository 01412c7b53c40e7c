// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What blocks and streams of blocks refuse to hold, each behind a macro; compiles without any.

#include <string>

#include <outsize/block/item_blocks.hpp>
#include <outsize/block/typed_block.hpp>

struct point {
  int x, y;
};

using points = outsize::block::typed_block<point const, point, 2>;
static_assert(points::alignment_bytes >= alignof(point));

#ifdef BLOCK_OF_STRINGS
using strings = outsize::block::typed_block<std::string>;
#endif

#ifdef INFO_WITH_A_POINTER
using named = outsize::block::typed_block<point, char const*>;
#endif

#ifdef WRITER_OF_STRINGS
using stream = outsize::block::block_item_writer<std::string>;
#endif
