// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Fields of a CSV record as they are written, and their values, without the quotes around them.
// Layer: text. Pure functions, usable from any number of threads. They take any bytes; what they
// say of a record that csv_scanner.hpp would refuse means nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/record/csv_scanner.hpp>
#include <outsize/text/line_key.hpp>

namespace outsize::text {

/// Returns the value of the field with so many fields in front of it; empty if there are not as
/// many. Most values lie in the record; one with a quote inside is put together in `room`. The CR
/// of the record's end belongs to no field.
std::string_view csv_field(std::string_view record, std::size_t index, csv_format format,
                           std::string& room);

/// Returns the value of a field that is written so; it lies in the field or in `room`.
std::string_view csv_value(std::string_view field, csv_format format, std::string& room);

/// Replaces `fields` by those of the record, as they are written; an empty record has none.
void split_csv(std::string_view record, csv_format format, std::vector<std::string_view>& fields);

/// Returns what is behind so many fields and the separator there, the end of the record included;
/// empty if there are not as many.
std::string_view behind_csv_fields(std::string_view record, std::size_t count, csv_format format);

/// Writes a value as a field behind `record`, in quotes if it must be.
void append_csv_field(std::string& record, std::string_view value, csv_format format);

/// Returns `key` as a key of one field: one without an end ends with its field. Throws
/// std::invalid_argument if it ends in another field than it begins.
line_key one_field_key(line_key key);

/// Returns the part of a field's value that `key`, which is of one field, is about.
std::string_view key_part(std::string_view value, line_key const& key) noexcept;

}  // namespace outsize::text
