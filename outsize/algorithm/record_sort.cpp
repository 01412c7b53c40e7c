// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/record_sort.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <outsize/algorithm/detail/file_merge.hpp>
#include <outsize/algorithm/merge.hpp>
#include <outsize/record/detail/record_word.hpp>

namespace outsize {
namespace {

using detail::ordered_bits;
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

/// Numbers as they lie in files, in the order of their ordered bits.
struct number_order {
  ordered_bits bits;

  template <std::unsigned_integral U>
  std::uint64_t word(U number) const noexcept {
    return bits.encode(number);
  }
  template <std::unsigned_integral U>
  bool operator()(U a, U b) const noexcept {
    return word(a) < word(b);
  }
};

}  // namespace

/// Equal numbers are equal bytes, and the vector kernels sort them.
template <std::unsigned_integral U>
struct detail::family_of<U, number_order> {
  static constexpr bool keeps_input_order = true;
};
template <std::unsigned_integral U>
struct detail::kind_of<U, number_order> {
  static item_kind make(number_order less) {
    using width = number_form::width;
    return item_kind(
        number_form{sizeof(U) == 4 ? width::word32 : width::word64, {.key = less.bits}, {}});
  }
};

namespace {

/// The lengths of records that are items of a type, if a word decides their order.
using short_lengths = std::index_sequence<8, 12, 16, 24, 32>;

template <typename Use, std::size_t... Bytes>
bool with_short_records(record_order const& order, Use const& use, std::index_sequence<Bytes...>) {
  auto const use_if = [&]<std::size_t Length>(detail::short_record<Length> item) {
    if (order.format().item_bytes != Length) return false;
    use(item, detail::record_word(order));
    return true;
  };
  return (use_if(detail::short_record<Bytes>()) || ...);
}

/// Calls use(T(), less) with a type of items of the format and their order by a word, if there is
/// one; else says false.
template <typename Use>
bool with_words(record_order const& order, Use const& use) {
  if (sorts_by_value(order)) {
    number_order const numbers{bits_of(order)};
    order.format().item_bytes == 4 ? use(std::uint32_t{}, numbers) : use(std::uint64_t{}, numbers);
    return true;
  }
  return detail::record_word::serves(order) && with_short_records(order, use, short_lengths());
}

/// As which items records of the format are sorted, if a word decides their order.
std::optional<detail::item_kind> kind_of_words(record_order const& order) {
  std::optional<detail::item_kind> found;
  with_words(order, [&](auto item, auto less) {
    found = detail::kind_of<decltype(item), decltype(less)>::make(less);
  });
  return found;
}

detail::record_items<record_order> other_records(record_order const& order) {
  return {order, order.format().item_bytes};
}

}  // namespace

sort_report sort_records(storage& store, sort_paths const& paths, record_order const& order,
                         sort_options const& options) {
  if (auto const kind = kind_of_words(order))
    return detail::sort_item_files(store, *kind, paths, options);
  auto const fill = [](auto& engine, io::input_stream& in) {
    detail::fill_records_of_one_length(engine, in);
  };
  return detail::sort_files(store, other_records(order), {}, paths, options, fill);
}

sort_plan plan_record_sort(storage& store, sort_paths const& paths, record_order const& order,
                           sort_options const& options) {
  if (auto const kind = kind_of_words(order))
    return detail::plan_item_files(store, *kind, paths, options);
  return detail::plan_files(store, other_records(order), paths, options);
}

sort_report merge_records(storage& store, sort_paths const& paths, record_order const& order,
                          sort_options const& options) {
  sort_report report;
  bool const by_words = with_words(order, [&](auto item, auto less) {
    report = detail::merge_files_of_items<decltype(item)>(store, paths.inputs,
                                                          output_path{paths.output}, less, options);
  });
  if (by_words) return report;
  return detail::merge_files(store, order, {.item_bytes = order.format().item_bytes}, paths,
                             options);
}

sort_plan plan_record_merge(storage& store, sort_paths const& paths, record_order const& order,
                            sort_options const& options) {
  return detail::plan_merge_files(store, order, order.format().item_bytes, paths, options);
}

}  // namespace outsize
