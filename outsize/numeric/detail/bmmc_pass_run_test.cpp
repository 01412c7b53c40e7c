// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A pass moves everything, or ends with an error that names the stage, whichever request fails.

#include <outsize/numeric/detail/bmmc_pass_run.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/fault_plan.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::numeric {
namespace {

constexpr unsigned size = 12, load_bits = 8, block_bits = 4;
constexpr std::uint64_t requests = std::uint64_t{1} << (size - block_bits);

bmmc_pass reversal() {
  affine_map const map{bit_matrix::bit_reversal(size), 1};
  return bmmc_plan(map, {load_bits, block_bits}).passes()[0];
}

/// Reverses the bits by files of which the `which`-th request at `where` fails; returns what failed
/// by the error, if there was one.
std::string reverse_with_a_fault(io::fault_point where, std::uint64_t which) {
  auto const plan = std::make_shared<io::fault_plan>();
  plan->script(where, which, io::fault::fail(EIO));
  std::vector<std::uint64_t> records(std::size_t{1} << size);
  for (std::size_t i = 0; i < records.size(); ++i) records[i] = i;
  auto inner = io::make_memory_file("in");
  inner->write(0, std::as_bytes(std::span(records)))->wait();
  io::faulty_file in(std::move(inner), plan), out(io::make_memory_file("out"), plan);

  storage store({.memory_bytes = 64_KiB, .threads = 2});
  auto const pass = reversal();
  std::string failed;
  try {
    run_bmmc_pass(store, pass, {in, out}, {.record_bytes = 8, .buffer_count = 3});
  } catch (io_error const& e) {
    failed = e.operation();
  }
  EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
  if (failed.empty()) {
    out.read(0, std::as_writable_bytes(std::span(records)))->wait();
    for (std::uint64_t i = 0; i < records.size(); ++i) EXPECT_EQ(pass.map().apply(records[i]), i);
  }
  return failed;
}

TEST(bmmc_pass_run, ends_with_an_error_or_the_right_bytes_whatever_request_fails) {
  for (std::uint64_t which = 0; which < requests + 2; which += which % 5 + 1) {
    bool const fails = which < requests;
    EXPECT_EQ(reverse_with_a_fault(io::fault_point::read, which), fails ? "read" : "") << which;
    EXPECT_EQ(reverse_with_a_fault(io::fault_point::write, which), fails ? "write" : "") << which;
  }
}

TEST(bmmc_pass_run, knows_the_sizes_of_records) {
  for (std::size_t const bytes : {1U, 2U, 4U, 8U, 16U, 32U, 64U})
    EXPECT_TRUE(is_bmmc_record_size(bytes));
  for (std::size_t const bytes : {0U, 3U, 12U, 128U}) EXPECT_FALSE(is_bmmc_record_size(bytes));
}

}  // namespace
}  // namespace outsize::numeric
