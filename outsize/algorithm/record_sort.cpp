// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/record_sort.hpp>

#include <cstddef>

#include <outsize/algorithm/record_word.hpp>
#include <outsize/algorithm/stream_merge.hpp>

namespace outsize {
namespace {

using detail::ordered_bits;
template <typename U>
using numbers = detail::typed_items<U, std::less<>>;
template <std::size_t Bytes>
using short_records = detail::typed_items<detail::short_record<Bytes>, detail::record_word>;
using kind = record_format::kind;

bool is_number(record_order const& order) noexcept { return order.format().item != kind::bytes; }

ordered_bits bits_of(record_order const& order) {
  kind const k = order.format().item;
  bool const floating = k == kind::f32 || k == kind::f64;
  bool const is_signed = k == kind::i32 || k == kind::i64;
  return {floating    ? ordered_bits::kind::floating_point
          : is_signed ? ordered_bits::kind::signed_integer
                      : ordered_bits::kind::unsigned_integer,
          order.keys().front().reverse};
}

/// Whether the one key is the whole number, so that the vector kernels can sort it.
bool sorts_by_value(record_order const& order) {
  return is_number(order) && order.keys().size() == 1 &&
         order.keys().front().length_bytes == order.format().item_bytes &&
         order.keys().front().type == order.format().item;
}

/// Calls use(family, framing, fill) with what suits the format.
template <typename F>
auto with_family(record_order const& order, F const& use) {
  auto const fill = [](auto& engine, io::input_stream& in) { detail::fill_items(engine, in); };
  if (sorts_by_value(order) && order.format().item_bytes == 4)
    return use(numbers<std::uint32_t>({}, bits_of(order)), fill);
  if (sorts_by_value(order) && order.format().item_bytes == 8)
    return use(numbers<std::uint64_t>({}, bits_of(order)), fill);
  std::size_t const bytes = order.format().item_bytes;
  if (detail::record_word::serves(order)) {
    switch (bytes) {
      case 8:
        return use(short_records<8>(detail::record_word(order)), fill);
      case 12:
        return use(short_records<12>(detail::record_word(order)), fill);
      case 16:
        return use(short_records<16>(detail::record_word(order)), fill);
      case 24:
        return use(short_records<24>(detail::record_word(order)), fill);
      case 32:
        return use(short_records<32>(detail::record_word(order)), fill);
      default:
        break;
    }
  }
  return use(
      detail::record_items<record_order>(order, bytes),
      [](auto& engine, io::input_stream& in) { detail::fill_records_of_one_length(engine, in); });
}

}  // namespace

sort_report sort_records(storage& store, sort_paths const& paths, record_order const& order,
                         sort_options const& options) {
  return with_family(order, [&](auto family, auto const& fill) {
    return detail::sort_files(store, std::move(family), {}, paths, options, fill);
  });
}

sort_plan plan_record_sort(storage& store, sort_paths const& paths, record_order const& order,
                           sort_options const& options) {
  return with_family(order, [&](auto family, auto const&) {
    return detail::plan_files(store, family, paths, options);
  });
}

sort_report merge_records(storage& store, sort_paths const& paths, record_order const& order,
                          sort_options const& options) {
  return detail::merge_files(store, order, {.item_bytes = order.format().item_bytes}, paths,
                             options);
}

sort_plan plan_record_merge(storage& store, sort_paths const& paths, record_order const& order,
                            sort_options const& options) {
  return detail::plan_merge_files(store, order, order.format().item_bytes, paths, options);
}

}  // namespace outsize
