// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/permute_request.hpp>

#include <fmt/format.h>
#include <bit>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <tools/outsize/option_rows.hpp>
#include <tools/outsize/options.hpp>
#include <tools/outsize/record_scan.hpp>

namespace outsize::tool {
namespace {

constexpr char const* about_permute =
    "Permutes the records of a file, however much larger than memory: record x goes to place A x,\n"
    "the bits of x being multiplied by a matrix over GF(2). There are 2^n records.";

using permutation = permute_request::permutation;

void set_permutation(permute_request& r, permutation what, std::string text) {
  if (r.what)
    throw usage_error(fmt::format("options {} and {} are incompatible", r.option_text, text));
  r.what = what;
  r.option_text = std::move(text);
}

/// Decimal, or hexadecimal after 0x.
std::uint64_t parse_number(std::string_view text, std::string_view what) {
  bool const is_hexadecimal = text.starts_with("0x");
  auto const digits = is_hexadecimal ? text.substr(2) : text;
  std::uint64_t value = 0;
  char const* const last = digits.data() + digits.size();
  auto const [end, status] = std::from_chars(digits.data(), last, value, is_hexadecimal ? 16 : 10);
  if (status != std::errc{} || end != last)
    throw usage_error(fmt::format("{} '{}' is no number below 2^64", what, text));
  return value;
}

unsigned parse_power_of_two(std::string_view text, std::string_view what) {
  std::uint64_t const value = parse_number(text, what);
  if (!std::has_single_bit(value))
    throw usage_error(fmt::format("{} '{}' is no power of two", what, text));
  return static_cast<unsigned>(std::countr_zero(value));
}

void set_transposition(permute_request& r, std::string_view text) {
  set_permutation(r, permutation::transposition, fmt::format("--transpose {}", text));
  auto const colon = text.find(':');
  if (colon == std::string_view::npos)
    throw usage_error(fmt::format("--transpose '{}' is not ROWS:COLUMNS", text));
  r.row_bits = parse_power_of_two(text.substr(0, colon), "--transpose: the number of rows");
  r.column_bits = parse_power_of_two(text.substr(colon + 1), "--transpose: the number of columns");
}

option permutation_row(permute_request& r, std::string const& name, permutation what,
                       std::string help) {
  return {.name = name, .help = std::move(help), .handler = [&r, name, what](auto) {
            set_permutation(r, what, "--" + name);
          }};
}

option_table make_table(permute_request& r) {
  option_table table("outsize permute [OPTIONS] FILE -o FILE", about_permute);
  table.heading("which permutation")
      .add(permutation_row(r, "bit-reversal", permutation::bit_reversal,
                           "place x is x with its n bits reversed"))
      .add({.name = "transpose",
            .takes = argument::required,
            .value = "ROWS:COLUMNS",
            .help = "the file is a matrix, stored row by row",
            .handler = [&](std::string_view text) { set_transposition(r, text); }})
      .add(permutation_row(r, "gray", permutation::gray, "place x is the Gray code of x"))
      .add(permutation_row(r, "inverse-gray", permutation::inverse_gray, "the inverse of --gray"))
      .add({.name = "matrix",
            .takes = argument::required,
            .value = "FILE",
            .help = "A: n lines of n digits 0 or 1, those of bit 0 first",
            .handler =
                [&](std::string_view text) {
                  set_permutation(r, permutation::matrix, fmt::format("--matrix {}", text));
                  r.matrix_path = text;
                }})
      .add({.name = "complement",
            .takes = argument::required,
            .value = "NUMBER",
            .help = "place A x xor NUMBER, rather than A x",
            .handler =
                [&](std::string_view text) { r.complement = parse_number(text, "--complement"); }})
      .heading("what to do")
      .add({.name = "record",
            .takes = argument::required,
            .value = "BYTES",
            .help = "size of a record: 1, 2, 4, 8 (default), 16, 32 or 64",
            .handler =
                [&](std::string_view text) { r.record_bytes = parse_number(text, "--record"); }})
      .add(pass_rows(r))
      .heading("with what")
      .add(resource_rows(r.work))
      .add(size_row("block", "least unit of reading and writing (default: chosen)", r.block_bytes))
      .heading("what to tell")
      .add(report_rows(r.work));
  return table;
}

numeric::bit_matrix read_matrix(std::string const& path) {
  auto scan = record_scan::of_lines(path, '\n');
  std::string text;
  while (scan.next()) text.append(scan.current()).push_back('\n');
  try {
    return numeric::bit_matrix::parse(text);
  } catch (std::invalid_argument const& e) {
    throw std::invalid_argument(fmt::format("{}: {}", path, e.what()));
  }
}

numeric::bit_matrix make_matrix(permute_request const& r, unsigned record_bits) {
  switch (r.what.value()) {
    case permutation::bit_reversal:
      return numeric::bit_matrix::bit_reversal(record_bits);
    case permutation::transposition:
      if (r.row_bits + r.column_bits > numeric::max_bit_count)
        throw std::invalid_argument(fmt::format("{}: more than 2^64 records", r.option_text));
      return numeric::bit_matrix::transposition(r.row_bits, r.column_bits);
    case permutation::gray:
      return numeric::bit_matrix::gray_code(record_bits);
    case permutation::inverse_gray:
      return numeric::bit_matrix::inverse_gray_code(record_bits);
    case permutation::matrix:
      return read_matrix(r.matrix_path);
  }
  return {};
}

}  // namespace

std::optional<permute_request> read_permute_request(int argc, char** argv) {
  permute_request r;
  if (!parse_pass_request(make_table(r), argc, argv, r)) return std::nullopt;
  if (!r.what)
    throw usage_error(
        "no permutation given; there are --bit-reversal, --transpose, --gray, --inverse-gray and "
        "--matrix");
  if (r.what == permutation::matrix) r.work.note_read(r.matrix_path);
  return r;
}

numeric::affine_map make_map(permute_request const& r, unsigned record_bits) {
  auto matrix = make_matrix(r, record_bits);
  if (matrix.size() != record_bits)
    throw std::invalid_argument(fmt::format("{}: is for 2^{} records, {} has 2^{}", r.option_text,
                                            matrix.size(), r.input, record_bits));
  return {matrix, r.complement};
}

}  // namespace outsize::tool
