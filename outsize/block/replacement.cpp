// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/replacement.hpp>

#include <random>
#include <vector>

namespace outsize::block {
namespace {

/// A ring of slots, the longest unused first; the place before the first slot is its beginning.
class lru final : public replacement {
 public:
  void start(std::size_t slot_count) override {
    ring_.reserve(slot_count + 1);  // used as slots are
    ring_.assign(1, {0, 0});
  }

  void enter(std::size_t slot, block_id) noexcept override {
    std::size_t const at = slot + 1;
    if (at >= ring_.size()) ring_.resize(at + 1);
    std::size_t const last = ring_[0].previous;
    ring_[at] = {last, 0};
    ring_[last].next = at;
    ring_[0].previous = at;
  }

  void leave(std::size_t slot) noexcept override {
    place const& at = ring_[slot + 1];
    ring_[at.previous].next = at.next;
    ring_[at.next].previous = at.previous;
  }

  std::size_t choose() noexcept override { return ring_[0].next - 1; }

 private:
  struct place {
    std::size_t previous, next;
  };
  std::vector<place> ring_;
};

/// The set as an array in any order, and where each slot is in it.
class random_choice final : public replacement {
 public:
  explicit random_choice(std::uint64_t seed) : random_(seed) {}

  void start(std::size_t slot_count) override {
    slots_.reserve(slot_count);
    index_of_.reserve(slot_count);
  }

  void enter(std::size_t slot, block_id) noexcept override {
    if (slot >= index_of_.size()) index_of_.resize(slot + 1);
    index_of_[slot] = slots_.size();
    slots_.push_back(slot);
  }

  void leave(std::size_t slot) noexcept override {
    std::size_t const index = index_of_[slot];
    index_of_[slots_.back()] = index;
    slots_[index] = slots_.back();
    slots_.pop_back();
  }

  // The generator is one that the standard defines exactly; its distributions are not. The bias of
  // the remainder is that of a cache's size against 2^64.
  std::size_t choose() noexcept override { return slots_[random_() % slots_.size()]; }

 private:
  std::mt19937_64 random_;
  std::vector<std::size_t> slots_;
  std::vector<std::size_t> index_of_;
};

}  // namespace

std::unique_ptr<replacement> make_lru_replacement() { return std::make_unique<lru>(); }

std::unique_ptr<replacement> make_random_replacement(std::uint64_t seed) {
  return std::make_unique<random_choice>(seed);
}

}  // namespace outsize::block
