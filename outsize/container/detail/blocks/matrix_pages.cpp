// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/container/detail/blocks/matrix_pages.hpp>

#include <fmt/format.h>
#include <cmath>
#include <stdexcept>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/units.hpp>

namespace outsize {

page_pool matrix_pool(storage& store, std::uint64_t memory_bytes) {
  constexpr std::size_t spare_pages = 4, least_pages = 12;
  bool const is_named = memory_bytes != 0;
  if (!is_named) memory_bytes = store.memory().fair_bytes() / 8 * 7;
  std::size_t const alignment = store.alignment_bytes();
  auto const page_bytes = std::max<std::size_t>(
      round_down<std::uint64_t>(std::min<std::uint64_t>(memory_bytes / 128, 8_MiB), alignment),
      alignment);
  // What is not named has what it needs at least, or is refused.
  std::size_t const fewest_pages = is_named ? 0 : least_pages + spare_pages;
  auto const pages = std::max(static_cast<std::size_t>(memory_bytes / page_bytes), fewest_pages);
  detail::page_cache_options const paging{.page_bytes = page_bytes,
                                          .cache_pages = pages - std::min(pages, spare_pages),
                                          .spare_pages = spare_pages,
                                          .is_named = is_named,
                                          .least_pages = std::min(pages, least_pages),
                                          .read_ahead_pages = 2,
                                          .batch_pages = page_options().batch_pages};
  return {store, detail::page_cache::make(store.memory(), "page pool", store, paging,
                                          block::make_lru_replacement())};
}

}  // namespace outsize

namespace outsize::detail {
namespace {

/// The longest side of a square of items in a page; where that is possible, one that keeps the rows
/// of a block in whole lines of a processor's cache.
std::size_t side_of_block(std::size_t page_bytes, std::size_t item_bytes) {
  std::size_t const items = page_bytes / item_bytes;
  auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(items)));
  while (side * side > items) --side;
  return std::max<std::size_t>(side >= 64 ? round_down<std::size_t>(side, 16) : side, 1);
}

std::size_t as_block(std::uint64_t items, std::size_t side) {
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(items, 1, side));
}

void check_size(std::uint64_t rows, std::uint64_t columns, std::size_t item_bytes) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 63;
  if (columns != 0 && rows > most_bytes / item_bytes / columns)
    throw std::invalid_argument(fmt::format("matrix: {} · {} items are too many", rows, columns));
}

/// Calls `with` for the pages of a row or column of blocks of an operand.
template <typename With>
void for_panel(matrix_operand const& from, std::uint64_t down, std::uint64_t down_end,
               std::uint64_t across, std::uint64_t across_end, With const& with) {
  for (std::uint64_t i = down; i < down_end; ++i)
    for (std::uint64_t j = across; j < across_end; ++j) with(from.page(i, j));
}

std::vector<page_pin> hold_panel(matrix_operand const& from, std::uint64_t down,
                                 std::uint64_t down_end, std::uint64_t across,
                                 std::uint64_t across_end) {
  std::vector<page_pin> held;
  for_panel(from, down, down_end, across, across_end,
            [&](std::uint64_t page) { held.push_back(from.pages->row().hold(page)); });
  return held;
}

template <typename Expect, typename Hold>
void for_each_strip(matrix_pages const& of, Expect const& expect, Hold const& hold,
                    std::function<void(matrix_strip const&)> const& step) {
  of.row().end_lives();
  std::uint64_t const most = std::max<std::size_t>(of.row().free_pages() / 2, 1);
  std::uint64_t const pages = of.blocks_down() * of.blocks_across();
  auto const end_of_strip = [&](std::uint64_t page) {
    return std::min(page + most, round_down(page, of.blocks_across()) + of.blocks_across());
  };
  for (std::uint64_t page = 0; page < pages;) {
    std::uint64_t const end = end_of_strip(page);
    std::vector<page_pin> pins(static_cast<std::size_t>(end - page));
    std::vector<std::byte*> blocks;
    for (std::uint64_t p = page; p < end; ++p) expect(p);
    for (page_pin& pin : pins) blocks.push_back(hold(page + blocks.size(), pin));
    if (end < pages)
      for (std::uint64_t p = end; p < end_of_strip(end); ++p) expect(p);
    auto const first = of.extent(page), last = of.extent(end - 1);
    step({.first_row = first.first_row,
          .first_column = first.first_column,
          .rows = first.rows,
          .columns = last.first_column + last.columns - first.first_column,
          .block_columns = of.block_columns(),
          .blocks = blocks});
    page = end;
  }
}

/// One tile of a product after the other, and for each the blocks between: see add_product().
class product_run {
 public:
  product_run(matrix_pages& c, matrix_operand a, matrix_operand b, executor& team,
              block_kernel const& kernel)
      : c_(c),
        a_(a),
        b_(b),
        team_(team),
        kernel_(kernel),
        tile_(tile_of_product(c.blocks_down(), c.blocks_across(), c.row().free_pages())) {}

  void run() {
    std::vector<area> tiles;
    for (std::uint64_t i = 0; i < c_.blocks_down(); i += tile_.down)
      for (std::uint64_t j = 0; j < c_.blocks_across(); j += tile_.across)
        tiles.push_back({i, std::min(i + tile_.down, c_.blocks_down()), j,
                         std::min(j + tile_.across, c_.blocks_across())});
    for (std::size_t t = 0; t < tiles.size(); ++t)
      add_to_tile(tiles[t], t + 1 < tiles.size() ? &tiles[t + 1] : nullptr);
  }

 private:
  struct area {
    std::uint64_t down, down_end, across, across_end;
  };

  void expect(area const& tile, std::uint64_t k) const {
    for_panel(a_, tile.down, tile.down_end, k, k + 1,
              [&](std::uint64_t page) { a_.pages->row().expect(page); });
    for_panel(b_, k, k + 1, tile.across, tile.across_end,
              [&](std::uint64_t page) { b_.pages->row().expect(page); });
  }

  void add_to_tile(area const& tile, area const* next) {
    std::vector<page_pin> held;
    std::vector<std::byte*> result;
    auto const with_result = [&](auto const& with) {
      for_panel({&c_}, tile.down, tile.down_end, tile.across, tile.across_end, with);
    };
    expect(tile, 0);  // again, so that it does not leave for the tile
    with_result([&](std::uint64_t page) { c_.row().expect(page); });
    with_result([&](std::uint64_t page) {
      held.push_back(c_.row().hold_to_change(page));
      result.push_back(held.back().change().data());
    });
    for (std::uint64_t k = 0; k < a_.blocks_across(); ++k) {
      auto const left = hold_panel(a_, tile.down, tile.down_end, k, k + 1);
      auto const right = hold_panel(b_, k, k + 1, tile.across, tile.across_end);
      if (k + 1 < a_.blocks_across())
        expect(tile, k + 1);
      else if (next != nullptr)
        expect(*next, 0);
      add_products(tile, k, result, left, right);
    }
  }

  /// The products of a panel; those of a block in strips where the team would else have little to
  /// share.
  void add_products(area const& tile, std::uint64_t k, std::span<std::byte* const> result,
                    std::span<page_pin const> left, std::span<page_pin const> right) {
    std::size_t const width = right.size();
    std::size_t const strips =
        std::min(div_up(4 * team_.threads(), result.size()), c_.block_rows());
    auto const inner = static_cast<std::size_t>(
        std::min<std::uint64_t>(inner_block(), a_.columns() - k * inner_block()));
    team_.parallel_for(result.size() * strips, [&](std::size_t task) {
      std::size_t const block = task / strips;
      auto const& a = left[block / width];
      auto const& b = right[block % width];
      if (!a || !b) return;  // zeros
      auto const extent =
          c_.extent(c_.page(tile.down + block / width, tile.across + block % width));
      std::size_t const strip_rows = div_up(extent.rows, strips);
      std::size_t const first = std::min(task % strips * strip_rows, extent.rows);
      block_product const how{.rows = std::min(strip_rows, extent.rows - first),
                              .columns = extent.columns,
                              .inner = inner,
                              .c_stride = c_.block_columns(),
                              .a_stride = a_.pages->block_columns(),
                              .b_stride = b_.pages->block_columns(),
                              .a_transposed = a_.transposed,
                              .b_transposed = b_.transposed};
      if (how.rows == 0) return;
      std::size_t const a_first = first * (a_.transposed ? 1 : how.a_stride);
      kernel_(result[block] + first * how.c_stride * c_.item_bytes(),
              a.bytes().data() + a_first * c_.item_bytes(), b.bytes().data(), how);
    });
  }

  std::size_t inner_block() const {
    return a_.transposed ? a_.pages->block_rows() : a_.pages->block_columns();
  }

  matrix_pages& c_;
  matrix_operand a_, b_;
  executor& team_;
  block_kernel const& kernel_;
  product_tile tile_;
};

}  // namespace

matrix_pages::matrix_pages(page_pool const& pool, std::uint64_t rows, std::uint64_t columns,
                           std::size_t item_bytes)
    : pool_(pool), rows_(rows), columns_(columns), item_bytes_(item_bytes) {
  check_size(rows, columns, item_bytes);
  std::size_t const side = side_of_block(pool.page_bytes(), item_bytes);
  block_rows_ = as_block(rows, side);
  block_columns_ = as_block(columns, side);
  down_ = div_up<std::uint64_t>(rows, block_rows_);
  across_ = div_up<std::uint64_t>(columns, block_columns_);
  std::size_t const page_bytes =
      round_up(block_rows_ * block_columns_ * item_bytes, pool.store().alignment_bytes());
  row_ = pages_in_pool(pool, item_bytes, 0, page_bytes);
  row_->reach(0, down_ * across_);
}

void for_each_block(matrix_pages& into, page_row::content old,
                    std::span<matrix_operand const> sources, bool zeros_stay,
                    block_step const& step) {
  bool const keeps = old == page_row::content::kept;
  into.row().end_lives();
  // As far ahead as there is room beside the blocks of this step.
  std::uint64_t const ahead =
      std::clamp<std::uint64_t>(into.row().free_pages() / (sources.size() + 1), 1, 5) - 1;
  std::uint64_t const pages = into.blocks_down() * into.blocks_across();
  auto const place = [&](matrix_operand const& from, std::uint64_t page) {
    return from.page(page / into.blocks_across(), page % into.blocks_across());
  };
  auto const expect = [&](std::uint64_t page) {
    if (page >= pages) return;
    for (auto const& from : sources) from.pages->row().expect(place(from, page));
    if (keeps) into.row().expect(page);
  };
  for (std::uint64_t page = 0; page < pages; ++page) {
    // All of them each time, so that they do not leave for each other.
    for (std::uint64_t next = page; next <= page + ahead; ++next) expect(next);
    std::vector<page_pin> held;
    std::vector<std::byte const*> bytes;
    for (auto const& from : sources) {
      held.push_back(from.pages->row().hold(place(from, page)));
      bytes.push_back(held.back() ? held.back().bytes().data() : nullptr);
    }
    bool const all_zeros = std::ranges::count(bytes, nullptr) == std::ssize(bytes);
    if (zeros_stay && all_zeros && into.row().holds_zeros(page)) continue;
    auto target = into.row().hold_to_change(page, old);
    step(into.extent(page), target.change().data(), bytes);
  }
}

void read_strips(matrix_pages const& from, std::function<void(matrix_strip const&)> const& step) {
  // What only reads gets bytes that it could change, so that strips are of one kind.
  auto const hold = [&](std::uint64_t page, page_pin& pin) {
    pin = from.row().hold(page);
    return pin ? const_cast<std::byte*>(pin.bytes().data()) : nullptr;
  };
  for_each_strip(
      from, [&](std::uint64_t page) { from.row().expect(page); }, hold, step);
}

void replace_strips(matrix_pages& into, std::function<void(matrix_strip const&)> const& step) {
  auto const hold = [&](std::uint64_t page, page_pin& pin) {
    pin = into.row().hold_to_change(page, page_row::content::replaced);
    return pin.change().data();
  };
  for_each_strip(
      into, [](std::uint64_t) {}, hold, step);
}

product_tile tile_of_product(std::uint64_t down, std::uint64_t across, std::size_t pages) noexcept {
  auto const fits = [&](std::uint64_t s, std::uint64_t t) { return s * t + 2 * (s + t) <= pages; };
  std::uint64_t side = 1;
  while (fits(side + 1, side + 1)) ++side;
  // A result with fewer blocks in one direction leaves room for more in the other.
  product_tile tile{std::min(down, side), std::min(across, side)};
  while (tile.down < down && fits(tile.down + 1, tile.across)) ++tile.down;
  while (tile.across < across && fits(tile.down, tile.across + 1)) ++tile.across;
  // As many tiles, of more even sizes.
  return {div_up(down, div_up(down, tile.down)), div_up(across, div_up(across, tile.across))};
}

void add_product(matrix_pages& c, matrix_operand a, matrix_operand b, executor& team,
                 block_kernel const& kernel) {
  OUTSIZE_ASSERT(a.columns() == b.rows() && c.rows() == a.rows() && c.columns() == b.columns());
  c.row().end_lives();
  if (c.rows() == 0 || c.columns() == 0 || a.columns() == 0) return;
  one_blas_thread const alone;
  product_run(c, a, b, team, kernel).run();
}

}  // namespace outsize::detail
