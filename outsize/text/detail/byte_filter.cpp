// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The five tables that the options can ask for, made at compile time.
#include <outsize/text/detail/byte_filter.hpp>

namespace outsize::text {
namespace {

constexpr byte_filter dictionary_only(true, false, false);
constexpr byte_filter dictionary_folded(true, false, true);
constexpr byte_filter printable_only(false, true, false);
constexpr byte_filter printable_folded(false, true, true);
constexpr byte_filter folded_only(false, false, true);

}  // namespace

byte_filter const* filter_of(ordering const& order) noexcept {
  if (order.dictionary) return order.fold ? &dictionary_folded : &dictionary_only;
  if (order.printable) return order.fold ? &printable_folded : &printable_only;
  return order.fold ? &folded_only : nullptr;
}

}  // namespace outsize::text
