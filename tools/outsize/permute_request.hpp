// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What the command line of `outsize permute` asks for. Layer: tools. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <outsize/numeric/bit_matrix.hpp>
#include <tools/outsize/pass_command.hpp>

namespace outsize::tool {

struct permute_request : pass_request {
  enum class permutation : std::uint8_t { bit_reversal, transposition, gray, inverse_gray, matrix };
  std::optional<permutation> what;  ///< Always there after read_permute_request.
  std::string option_text;          ///< As it was asked for, for messages.
  std::size_t record_bytes = 8;     ///< --record
  std::size_t block_bytes = 0;      ///< --block; 0: chosen
  std::uint64_t complement = 0;     ///< --complement
  unsigned row_bits = 0;            ///< --transpose: 2^row_bits rows, 2^column_bits columns
  unsigned column_bits = 0;
  std::string matrix_path;  ///< --matrix
};

/// Reads the arguments; nothing if only help was asked for.
/// @throws usage_error naming the argument that cannot be used.
std::optional<permute_request> read_permute_request(int argc, char** argv);

/// The map for a file of 2^record_bits records; reads the file of --matrix.
/// @throws io_error, std::invalid_argument naming file or option if it is malformed or of another
/// size.
numeric::affine_map make_map(permute_request const& request, unsigned record_bits);

}  // namespace outsize::tool
