// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

#include <tools/outsize/permute_request.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::tool {
namespace {

using permutation = permute_request::permutation;

permute_request read(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), std::string("permute"));
  std::vector<char*> argv;
  for (auto& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  return read_permute_request(static_cast<int>(arguments.size()), argv.data()).value();
}

TEST(permute_request, reads_what_to_do) {
  auto const r = read({"--bit-reversal", "in", "-o", "out", "--record=16", "-S", "2M"});
  EXPECT_EQ(r.what, permutation::bit_reversal);
  EXPECT_EQ(r.input, "in");
  EXPECT_EQ(r.output, "out");
  EXPECT_EQ(r.record_bytes, 16U);
  EXPECT_EQ(r.work.memory_bytes, 2U << 20);
  EXPECT_EQ(make_map(r, 5).a, numeric::bit_matrix::bit_reversal(5));
}

TEST(permute_request, knows_all_permutations) {
  auto const map_of = [](std::vector<std::string> words, unsigned bits) {
    words.insert(words.end(), {"in", "-o", "out"});
    return make_map(read(words), bits);
  };
  EXPECT_EQ(map_of({"--transpose", "4:16"}, 6).a, numeric::bit_matrix::transposition(2, 4));
  EXPECT_EQ(map_of({"--gray"}, 6).a, numeric::bit_matrix::gray_code(6));
  EXPECT_EQ(map_of({"--inverse-gray", "--complement", "0x1f"}, 6),
            (numeric::affine_map{numeric::bit_matrix::inverse_gray_code(6), 31}));
  scratch::directory const directory;
  scratch::write_file(directory.path("m"), "11\n01\n");
  auto const map = map_of({"--matrix", directory.path("m"), "--complement=2"}, 2);
  EXPECT_EQ(map.apply(2), 1U);
  EXPECT_THROW(map_of({"--matrix", directory.path("m")}, 3), std::invalid_argument);
  EXPECT_THROW(map_of({"--matrix", directory.path("none")}, 3), io_error);
  EXPECT_THROW(map_of({"--transpose", "4:16"}, 5), std::invalid_argument);
}

TEST(permute_request, refuses_what_makes_no_sense) {
  for (std::vector<std::string> const& arguments :
       std::vector<std::vector<std::string>>{{"in", "-o", "out"},
                                             {"--gray", "in"},
                                             {"--gray", "-o", "out"},
                                             {"--gray", "in", "in2", "-o", "out"},
                                             {"--gray", "--bit-reversal", "in", "-o", "out"},
                                             {"--transpose=3:4", "in", "-o", "out"},
                                             {"--transpose=4", "in", "-o", "out"},
                                             {"--transpose=4:0", "in", "-o", "out"},
                                             {"--gray", "--record=x", "in", "-o", "out"},
                                             {"--gray", "--complement=-1", "in", "-o", "out"}})
    EXPECT_THROW(read(arguments), std::invalid_argument) << arguments[0];
}

}  // namespace
}  // namespace outsize::tool
