// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/output_room.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/block/user_files.hpp>

namespace outsize::detail {
namespace {

/// How far items taken at random from all may be off: of `items` of them the share that comes
/// before any place differs by more than this from the share of all that does, with a probability
/// of 0.0007 (2 exp(-2 x²) for x / √items: Dvoretzky, Kiefer and Wolfowitz, "Asymptotic minimax
/// character of the sample distribution function and of the classical multinomial estimator",
/// 1956, with the constant of Massart, 1990).
double share_by_chance(std::uint64_t items) { return 2 / std::sqrt(static_cast<double>(items)); }

}  // namespace

std::optional<room_layout> lay_out_room(sort_plan const& plan, full_block const& full,
                                        std::uint64_t output_bytes) noexcept {
  if (plan.runs == 0 || plan.passes != 1) return std::nullopt;
  std::uint64_t const spilled = std::min(output_bytes, plan.runs * plan.run_bytes);
  std::uint64_t const kept = output_bytes - spilled;
  std::uint64_t const content = full.items * full.item_bytes;
  std::uint64_t const spread = spilled / content * full.disk_bytes + spilled % content;
  // When a block of a run is needed there is up to a block of each of the others in memory, and
  // perhaps all that has never left it may have gone to the output.
  std::uint64_t const of_each = plan.runs * plan.held_bytes;
  auto const by_chance = static_cast<std::uint64_t>(
      static_cast<double>(output_bytes) * share_by_chance(plan.run_bytes / full.item_bytes));
  std::uint64_t const lead = kept + of_each + by_chance;
  std::uint64_t const length = lead + spread + of_each;
  constexpr std::uint64_t least_saved = 4;  // of what is spilled, for what the room takes besides
  if (length - output_bytes > spilled / least_saved) return std::nullopt;
  return room_layout{.lead = lead, .spread = spread, .length = length, .slot = full.disk_bytes};
}

output_room::output_room(storage& store, room_layout const& layout, std::string const& output)
    : store_(store), layout_(layout), file_(block::make_output_file(store, output, layout.length)) {
  // Blocks, and the memory they are written from, are aligned as the disks ask for.
  if (file_.contents().alignment_bytes() > store.alignment_bytes())
    throw io_error(EINVAL, "put runs in the room of", output);
  disk_options guest(output,
                     [this](io::request_queue& queue) { return file_.contents_through(queue); });
  guest.capacity_bytes = layout.length;
  auto const& like = store.options().disks[0];
  guest.backend = like.backend;
  guest.depth = like.depth;
  guest_.emplace(store, std::move(guest));
}

std::optional<block::block_id> output_room::allocate(std::size_t length_bytes,
                                                     double share_before) {
  auto const behind =
      static_cast<std::uint64_t>(static_cast<double>(layout_.spread) * share_before);
  return guest_->allocate(length_bytes, layout_.lead + behind / layout_.slot * layout_.slot);
}

std::unique_ptr<io::output_stream> output_room::output(io::output_stream_options options) {
  options.counter = &store_.file_statistics();
  return file_.as_stream(store_.file_queue(), options);
}

block::block_id run_places::allocate(std::size_t length_bytes, std::uint64_t items_before) {
  if (kept_ != nullptr) return kept_->allocate(length_bytes);
  if (room_ != nullptr) {
    double const share = static_cast<double>(items_before) / static_cast<double>(items_);
    if (auto const id = room_->allocate(length_bytes, share)) return *id;
  }
  return store_.allocate(length_bytes, *placement_);
}

}  // namespace outsize::detail
