// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What all sorts promise: the output is a function of input and order alone. One suite on each kind
// of item (sort_kind.hpp), held against std::stable_sort, for everything that must not show: disks
// and back-ends, threads, memory, blocks down to a few items, fan-in, and how runs are encoded, of
// which the bytes on disk tell.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/decorators/simulated_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/io/simulation/flash_disk.hpp>
#include <outsize/io/simulation/rotating_disk.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/scratch_directory.hpp>
#include <tests/conformance/sort_kind.hpp>

namespace outsize::conformance {
namespace {

std::vector<kind> const& all_kinds() {
  static std::vector<kind> const kinds = [] {
    std::vector<kind> all;
    add_number_kinds(all);
    add_item_kinds(all);
    add_text_kinds(all);
    return all;
  }();
  return kinds;
}

// ---- what blocks are on ----

bool can_use(io::backend backend) {
  try {
    return io::make_request_queue(backend, 1) != nullptr;
  } catch (io_error const&) {
    return false;
  }
}

/// Bytes in memory; those that end in a thread of their own demand an alignment, as devices do.
disk_options memory_disk(std::size_t alignment_bytes = 1) {
  return {"memory", [alignment_bytes](io::request_queue&) {
            return io::make_memory_file(
                "memory", 1_GiB,
                {.alignment_bytes = alignment_bytes, .own_thread = alignment_bytes > 1});
          }};
}

disk_options simulated_disk(std::unique_ptr<io::disk_model> model) {
  auto const disk = std::make_shared<io::simulated_disk>(std::move(model));
  return {"simulated", [disk](io::request_queue&) -> io::file_ptr {
            return std::make_unique<io::simulated_file>(io::make_memory_file("simulated", 1_GiB),
                                                        disk);
          }};
}

/// Storages of all sorts, with their disks.
std::vector<storage_options> storages_in(std::string const& folder) {
  std::vector<storage_options> all;
  for (auto const backend : {io::backend::threads, io::backend::mmap, io::backend::uring})
    if (can_use(backend)) all.push_back({.disks = {folder}, .backend = backend});
  all.push_back({.disks = {folder}, .direct = false, .checksums = block_checksums::of_all});
  all.push_back({.disks = {memory_disk()}});
  all.push_back({.disks = {memory_disk(512), memory_disk(4096)}});
  all.push_back({.disks = {simulated_disk(std::make_unique<io::flash_disk>()),
                           simulated_disk(std::make_unique<io::rotating_disk>()),
                           simulated_disk(std::make_unique<io::flash_disk>())}});
  return all;
}

// ---- the suite ----

class sort_conformance : public testing::TestWithParam<std::size_t> {
 protected:
  struct expectation {
    way how;
    std::string bytes;
  };

  /// What must come out, for each way that there is.
  std::vector<expectation> expectations() const {
    std::vector<expectation> all;
    for (way const how : {way::plain, way::stable, way::unique, way::combining})
      if (how != way::combining || kind_.combines)
        all.push_back({how, kind_.expect(kind_.input, how)});
    return all;
  }

  /// Whether the next case is tried.
  bool is_chosen() {
    return case_++ % std::max<std::size_t>(kind_.case_stride, scratch::one_of(std::size_t{11})) ==
           0;
  }

  /// Sorts with a storage like this.
  sort_report expect_sorts(expectation const& want, storage_options like,
                           sort_options const& options) {
    like.memory_bytes = 16_MiB;
    storage store(like);
    auto const [bytes, report] = kind_.sort({store, folder_, kind_.input, want.how, options});
    EXPECT_TRUE(bytes == want.bytes)
        << "way " << static_cast<int>(want.how) << ", threads " << like.threads << ", disks "
        << store.disk_names() << ", memory " << options.memory_bytes << ", blocks of "
        << options.block_bytes << ", codec " << static_cast<int>(options.codec);
    EXPECT_EQ(store.allocated_bytes(), 0U);
    return report;
  }

  /// Expects that all runs are encoded, or none. Whether they are said to be is not enough: blocks
  /// that do not become shorter stay as they are.
  static void expect_encoded(bool all, sort_report const& report, expectation const& want) {
    EXPECT_EQ(report.encoded_runs, all ? report.runs : 0);
    double const item_bytes =
        static_cast<double>(want.bytes.size()) / static_cast<double>(report.output_items);
    double const share = static_cast<double>(report.run_disk_bytes) /
                         (static_cast<double>(report.run_items) * item_bytes);
    EXPECT_TRUE(all ? share < 0.95 : share > 0.99) << "of the items, on disk: " << share;
  }

  kind const& kind_ = all_kinds().at(GetParam());
  scratch::directory const dir_;
  std::string const folder_ = dir_.path();
  std::size_t case_ = 0;
};

TEST_P(sort_conformance, does_not_depend_on_disks_threads_or_memory) {
  std::uint64_t const memory = kind_.memory_bytes;
  std::array const sizes{sort_options{.memory_bytes = memory, .block_bytes = 4096},
                         sort_options{.memory_bytes = memory * 5 / 4, .block_bytes = 8192},
                         sort_options{.memory_bytes = memory * 4, .block_bytes = 65536}};
  auto const wanted = expectations();
  std::size_t turn = 0;  // of the ways, another one for each storage with each size
  for (storage_options like : storages_in(folder_)) {
    for (std::size_t const threads : {1, 3})
      for (std::size_t s = 0; s < sizes.size(); ++s) {
        if (!is_chosen()) continue;
        like.threads = threads;
        auto const report = expect_sorts(wanted[(turn + s) % wanted.size()], like, sizes[s]);
        bool const fits = sizes[s].memory_bytes == memory * 4;
        EXPECT_EQ(report.runs == 0, fits) << "the largest memory holds all items";
      }
    ++turn;
  }
}

TEST_P(sort_conformance, does_not_depend_on_codec_threads_or_blocks) {
  std::array const shapes{sort_options{.block_bytes = kind_.least_block_bytes, .most_fan_in = 2},
                          sort_options{.block_bytes = 4096, .most_fan_in = 3},
                          sort_options{.block_bytes = 64_KiB}};
  for (auto const& want : expectations())
    for (auto const codec : {run_codec::none, run_codec::automatic, run_codec::always})
      for (std::size_t const threads : {1, 2, 5})
        for (sort_options options : shapes) {
          if (!is_chosen()) continue;
          options.memory_bytes = kind_.memory_bytes;
          options.codec = codec;
          auto const report =
              expect_sorts(want, {.disks = {memory_disk()}, .threads = threads}, options);
          EXPECT_GT(report.runs, 0U);
          EXPECT_TRUE(report.passes > 1 || options.most_fan_in != 2);
          if (codec == run_codec::automatic) continue;
          expect_encoded(codec == run_codec::always, report, want);
        }
}

INSTANTIATE_TEST_SUITE_P(all, sort_conformance, testing::Range(std::size_t{0}, all_kinds().size()),
                         [](auto const& tested) { return all_kinds().at(tested.param).name; });

}  // namespace
}  // namespace outsize::conformance
