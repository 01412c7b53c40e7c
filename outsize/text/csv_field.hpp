// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The value of one field of a CSV record, without the quotes around it. Layer: text. Pure
// functions, usable from any number of threads. They take any bytes; what they say of a record that
// csv_scanner.hpp would refuse means nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <outsize/algorithm/csv_scanner.hpp>
#include <outsize/text/line_key.hpp>

namespace outsize::text {

/// Returns the value of the field with so many fields in front of it; empty if there are not as
/// many. Most values lie in the record; one with a quote inside is put together in `room`. The CR
/// of the record's end belongs to no field.
std::string_view csv_field(std::string_view record, std::size_t index, csv_format format,
                           std::string& room);

/// Returns `key` as a key of one field: one without an end ends with its field. Throws
/// std::invalid_argument if it ends in another field than it begins.
line_key one_field_key(line_key key);

/// Returns the part of a field's value that `key`, which is of one field, is about.
std::string_view key_part(std::string_view value, line_key const& key) noexcept;

}  // namespace outsize::text
