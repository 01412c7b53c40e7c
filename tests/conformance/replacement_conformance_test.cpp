// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What a block_cache promises whatever chooses the blocks that leave: under every policy, on disks
// that are well, slow and failing, blocks hold what a model says, and each I/O is accounted for.
//
// Random tests print their seed on failure; OUTSIZE_TEST_SEED repeats one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/block_cache.hpp>
#include <outsize/block/placement.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/block/typed_block.hpp>
#include <outsize/io/decorators/counting_file.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::block {
namespace {

std::uint64_t chosen_seed() {
  char const* const given = std::getenv("OUTSIZE_TEST_SEED");
  return given != nullptr ? std::stoull(given) : std::random_device{}();
}

/// A policy of a user's own, and a bad one: what was used last leaves first.
class most_recent final : public replacement {
 public:
  void start(std::size_t slot_count) override { slots_.reserve(slot_count); }
  void enter(std::size_t slot, block_id) noexcept override { slots_.push_back(slot); }
  void leave(std::size_t slot) noexcept override { std::erase(slots_, slot); }
  std::size_t choose() noexcept override { return slots_.back(); }

 private:
  std::vector<std::size_t> slots_;
};

/// Another, which knows the blocks: long ones leave before short ones.
class longest_first final : public replacement {
 public:
  void start(std::size_t slot_count) override { length_of_.assign(slot_count, 0); }
  void enter(std::size_t slot, block_id block) noexcept override {
    length_of_[slot] = block.length_bytes;
  }
  void leave(std::size_t slot) noexcept override { length_of_[slot] = 0; }
  std::size_t choose() noexcept override {
    return static_cast<std::size_t>(std::ranges::max_element(length_of_) - length_of_.begin());
  }

 private:
  std::vector<std::uint32_t> length_of_;
};

/// Any policy, held to what is said of the calls in replacement.hpp.
class checked final : public replacement {
 public:
  explicit checked(std::unique_ptr<replacement> inner) : inner_(std::move(inner)) {}

  void start(std::size_t slot_count) override {
    EXPECT_TRUE(in_set_.empty());
    in_set_.resize(slot_count);
    inner_->start(slot_count);
  }
  void enter(std::size_t slot, block_id block) noexcept override {
    EXPECT_FALSE(in_set_.at(slot));
    EXPECT_TRUE(block);
    in_set_[slot] = true;
    inner_->enter(slot, block);
  }
  void leave(std::size_t slot) noexcept override {
    EXPECT_TRUE(in_set_.at(slot));
    in_set_[slot] = false;
    inner_->leave(slot);
  }
  std::size_t choose() noexcept override {
    EXPECT_NE(std::ranges::count(in_set_, true), 0);
    std::size_t const slot = inner_->choose();
    EXPECT_TRUE(in_set_.at(slot));
    return slot;
  }

 private:
  std::unique_ptr<replacement> inner_;
  std::vector<bool> in_set_;
};

struct policy {
  char const* name;
  std::function<std::unique_ptr<replacement>()> make;
};
std::array<policy, 4> const policies{{
    {"lru", make_lru_replacement},
    {"random", [] { return make_random_replacement(7); }},
    {"most_recent", [] { return std::make_unique<most_recent>(); }},
    {"longest_first", [] { return std::make_unique<longest_first>(); }},
}};

struct disk_state {
  char const* name;
  bool own_thread;
  io::fault_odds odds;
};
std::array<disk_state, 3> const disk_states{{
    {"well", false, {}},
    {"slow", true, {.shorten = 0.2, .hold = 0.3, .max_delay = std::chrono::microseconds(100)}},
    {"failing", true, {.fail = 0.1, .hold = 0.2, .max_delay = std::chrono::microseconds(100)}},
}};

/// A cache and what must be in it: for each block the number of which it is full.
class replacement_conformance
    : public testing::TestWithParam<std::tuple<std::size_t, std::size_t, std::size_t, bool>> {
 protected:
  std::uint64_t const seed = chosen_seed();
  std::mt19937_64 random{seed};
  disk_state const state = disk_states[std::get<1>(GetParam())];
  std::shared_ptr<io::io_tally> tally = std::make_shared<io::io_tally>();
  storage store{options()};
  grant memory = store.memory().take(64_KiB, "test");
  std::unique_ptr<placement> where = store.new_placement();
  bool const in_groups = std::get<3>(GetParam());  // blocks of one length, that have neighbours
  std::size_t const block_count = 1 + random() % (in_groups ? 12 : 5);
  block_cache cache{store,
                    memory,
                    {.block_bytes = 256,
                     .block_count = block_count,
                     .spare_count = std::get<2>(GetParam()),
                     .write_bytes = in_groups ? std::size_t{3} * 256 : 0},
                    std::make_unique<checked>(policies[std::get<0>(GetParam())].make())};

  struct block {
    block_id id;
    std::uint64_t value;
  };
  std::map<std::size_t, block> model;
  std::map<std::size_t, pinned_block> held;  // by the same numbers
  std::size_t next_number = 0;
  std::uint64_t next_value = 1;

  storage_options options() {
    storage_options all{.memory_bytes = 1_MiB, .threads = 1};
    auto odds = state.odds;
    odds.seed = seed;
    for (int d = 0; d < 2; ++d)
      all.disks.emplace_back(
          "memory", [this, plan = std::make_shared<io::fault_plan>(odds)](auto&) -> io::file_ptr {
            return std::make_unique<io::counting_file>(
                std::make_unique<io::faulty_file>(
                    io::make_memory_file("memory", 1_GiB, {.own_thread = state.own_thread}), plan),
                tally);
          });
    return all;
  }

  void TearDown() override {
    held.clear();
    for (auto const& [number, b] : model) store.free(b.id);
  }

  /// Whether `operation` succeeded. It may fail where the disks do, and must where all is pinned.
  bool succeeds(std::function<void()> const& operation) {
    try {
      operation();
      return true;
    } catch (budget_error const&) {
      EXPECT_EQ(cache.pinned_count(), block_count);
    } catch (io_error const& e) {
      EXPECT_NE(state.odds.fail, 0) << e.what();
    }
    return false;
  }

  std::size_t any_number() {
    return std::next(model.begin(), static_cast<long>(random() % model.size()))->first;
  }

  void expect_content(pinned_block const& pinned, block const& b) {
    typed_block<std::uint64_t const> const items(pinned.bytes());
    ASSERT_EQ(pinned.id(), b.id);
    EXPECT_TRUE(std::ranges::all_of(items, [&](auto item) { return item == b.value; }))
        << items[0] << " instead of " << b.value;
  }

  void change(pinned_block& pinned, block& b) {
    b.value = next_value++;
    std::ranges::fill(typed_block<std::uint64_t>(pinned.change()).items(), b.value);
  }

  void add() {
    block_id const id = store.allocate(in_groups ? 256 : 8 * (1 + random() % 32), *where);
    if (!succeeds([&] {
          auto pinned = cache.pin_new(id);
          change(pinned, model[next_number++] = {id, 0});
        }))
      store.free(id);
  }

  void remove() {
    std::size_t const number = any_number();
    held.erase(number);
    cache.drop(model[number].id);
    store.free(model[number].id);
    model.erase(number);
  }

  void use(bool changes, bool holds) {
    std::size_t const number = any_number();
    block& b = model[number];
    succeeds([&] {
      auto pinned = cache.pin(b.id);
      expect_content(pinned, b);
      if (changes) change(pinned, b);
      if (holds) held[number] = std::move(pinned);
    });
  }

  void change_held() {
    auto const any = std::next(held.begin(), static_cast<long>(random() % held.size()));
    expect_content(any->second, model[any->first]);
    change(any->second, model[any->first]);
    if (random() % 2 == 0) held.erase(any);
  }

  void step() {
    if (model.empty()) return add();
    switch (random() % 12) {
      case 0:
        return add();
      case 1:
        return model.size() > 12 ? remove() : add();
      case 2:
        return held.empty() ? void() : change_held();
      case 3:
        return held.clear();
      case 4:
        return random() % 2 == 0 ? void(succeeds([&] { cache.prefetch(model[any_number()].id); }))
                                 : cache.try_prefetch(model[any_number()].id);
      case 5:
        return random() % 8 == 0 ? void(succeeds([&] { cache.flush(); })) : void();
      default:
        return use(random() % 2 == 0, random() % 4 == 0);
    }
  }
};

TEST_P(replacement_conformance, blocks_hold_what_was_put_into_them_and_each_io_is_counted) {
  SCOPED_TRACE("OUTSIZE_TEST_SEED=" + std::to_string(seed));
  for (int i = 0; i < 3000; ++i) {
    step();
    ASSERT_FALSE(HasFailure()) << "step " << i;
    ASSERT_LE(held.size(), block_count);
  }
  held.clear();
  for (int attempt = 0; attempt < 100 && !succeeds([&] { cache.flush(); }); ++attempt) continue;
  EXPECT_EQ(tally->reads().requests, cache.counts().misses + cache.counts().prefetches);
  if (!in_groups) {
    EXPECT_EQ(tally->writes().requests, cache.counts().write_backs);
  } else if (block_count > 4) {
    EXPECT_LT(tally->writes().requests, cache.counts().write_backs);
  }
  for (auto const& [number, b] : model) {
    std::vector<std::uint64_t> items(b.id.length_bytes / 8);
    for (int attempt = 0; attempt < 100; ++attempt)
      if (succeeds([&] { store.read(b.id, std::as_writable_bytes(std::span(items)))->wait(); }))
        break;
    EXPECT_TRUE(std::ranges::all_of(items, [&](auto item) { return item == b.value; })) << number;
  }
}

INSTANTIATE_TEST_SUITE_P(all, replacement_conformance,
                         testing::Combine(testing::Range(std::size_t{0}, policies.size()),
                                          testing::Range(std::size_t{0}, disk_states.size()),
                                          testing::Values(std::size_t{0}, std::size_t{1},
                                                          std::size_t{3}),
                                          testing::Bool()),
                         [](auto const& of) {
                           return std::string(policies[std::get<0>(of.param)].name) + "_" +
                                  disk_states[std::get<1>(of.param)].name + "_spare_" +
                                  std::to_string(std::get<2>(of.param)) +
                                  (std::get<3>(of.param) ? "_in_groups" : "");
                         });

}  // namespace
}  // namespace outsize::block
