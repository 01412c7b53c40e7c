// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/detail/bmmc_pass_run.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/numeric/detail/tiled_permutation.hpp>
#include <outsize/pipeline/file_stages.hpp>

namespace outsize::numeric {
namespace {

// A part of a load for one thread: enough of them to even out, each worth the hand-over.
constexpr std::uint64_t parts_per_thread = 4;
constexpr std::uint64_t least_part_bytes = 64 << 10;

// ------------------------------------------------------------------- permuting within a load

template <std::size_t Bytes>
struct opaque_record {
  std::array<std::uint64_t, Bytes / 8> words;
};

using permute_function = void (*)(bmmc_pass const&, tiled_permutation const&, std::uint64_t load,
                                  pipeline::pooled_buffer const& source,
                                  pipeline::pooled_buffer const& target, tile_range);

template <class Record>
void permute_tiles(bmmc_pass const& pass, tiled_permutation const& tiles, std::uint64_t load,
                   pipeline::pooled_buffer const& source, pipeline::pooled_buffer const& target,
                   tile_range range) {
  permute_load<Record>(pass, tiles, load, source.as<Record>(), target.as<Record>(), range);
}

/// Nothing for sizes that are not supported.
permute_function permute_function_for(std::size_t record_bytes) noexcept {
  switch (record_bytes) {
    case 1:
      return permute_tiles<std::uint8_t>;
    case 2:
      return permute_tiles<std::uint16_t>;
    case 4:
      return permute_tiles<std::uint32_t>;
    case 8:
      return permute_tiles<std::uint64_t>;
    case 16:
      return permute_tiles<opaque_record<16>>;
    case 32:
      return permute_tiles<opaque_record<32>>;
    case 64:
      return permute_tiles<opaque_record<64>>;
    default:
      return nullptr;
  }
}

/// Permutes all of a load, by several threads.
class load_permuter {
 public:
  load_permuter(executor& threads, bmmc_pass const& pass, std::size_t record_bytes)
      : threads_(threads),
        pass_(pass),
        tiles_(pass.slot_matrix(), record_bytes),
        permute_(permute_function_for(record_bytes)) {
    std::uint64_t const load_bytes = pass.records_per_load() * record_bytes;
    parts_ = std::clamp<std::uint64_t>(load_bytes / least_part_bytes, 1,
                                       threads.threads() * parts_per_thread);
    parts_ = std::min(parts_, tiles_.tile_count());
  }

  void operator()(pipeline::pooled_buffer& load, pipeline::pooled_buffer& auxiliary) const {
    auxiliary.resize(load.size_bytes());
    std::uint64_t const count = tiles_.tile_count();
    threads_.parallel_for(parts_, [&](std::size_t part) {
      tile_range const range{count * part / parts_, count * (part + 1) / parts_};
      permute_(pass_, tiles_, load.round(), load, auxiliary, range);
    });
    load.swap_payload(auxiliary);
  }

 private:
  executor& threads_;
  bmmc_pass const& pass_;
  tiled_permutation tiles_;
  permute_function permute_;
  std::uint64_t parts_;
};

// ------------------------------------------------------------------- one pass

/// The pieces of a load, given its ascending blocks: neighbours are joined.
std::vector<pipeline::file_piece> join_blocks(std::vector<std::uint64_t> const& blocks,
                                              std::size_t block_bytes) {
  std::vector<pipeline::file_piece> pieces;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i > 0 && blocks[i] == blocks[i - 1] + 1) {
      pieces.back().length_bytes += block_bytes;
    } else {
      pieces.push_back({blocks[i] * block_bytes, i * block_bytes, block_bytes});
    }
  }
  return pieces;
}

}  // namespace

bool is_bmmc_record_size(std::size_t record_bytes) noexcept {
  return permute_function_for(record_bytes) != nullptr;
}

pipeline::network_report run_bmmc_pass(storage& store, bmmc_pass const& pass, bmmc_pass_files files,
                                       bmmc_pass_options const& options) {
  OUTSIZE_ASSERT(is_bmmc_record_size(options.record_bytes) && options.buffer_count >= 2);
  std::size_t const block_bytes = pass.records_per_block() * options.record_bytes;
  std::size_t const loads = options.buffer_count - 1;
  pipeline::network_options how = options.network;
  how.errors_name_stages = false;
  pipeline::network network(store.memory(), std::move(how));
  network.buffers({.name = "loads",
                   .buffer_bytes = pass.records_per_load() * options.record_bytes,
                   .count = loads,
                   .rounds = pass.load_count()}) |
      pipeline::read_pieces(files.from,
                            [&](pipeline::pooled_buffer const& b) {
                              return join_blocks(pass.source_blocks(b.round()), block_bytes);
                            },
                            {.depth = loads}) |
      pipeline::stage("permute", load_permuter(store.threads(), pass, options.record_bytes)) |
      pipeline::write_pieces(files.to,
                             [&](pipeline::pooled_buffer const& b) {
                               return join_blocks(pass.target_blocks(b.round()), block_bytes);
                             },
                             {.depth = loads});
  network.run(options.stop);
  return network.report();
}

}  // namespace outsize::numeric
