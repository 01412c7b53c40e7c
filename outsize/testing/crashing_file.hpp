// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What may be left of a file if the power fails at a point of its life: all that was written before
// the last sync, and of what came after it some, in any order, and cut anywhere. One thread at a
// time. Layer: testing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <outsize/io/decorators/file_decorator.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::scratch {

/// Writes and syncs of a file, in order.
class file_journal {
 public:
  void write(std::uint64_t offset, std::span<std::byte const> bytes) {
    steps_.push_back({offset, {bytes.begin(), bytes.end()}});
  }
  void sync() { steps_.push_back({0, {}, true}); }
  std::size_t size() const noexcept { return steps_.size(); }

  /// The file, if the power failed after the first `steps` of them.
  io::file_ptr file_after(std::size_t steps, std::mt19937_64& random) const {
    std::size_t synced = steps;
    while (synced > 0 && !steps_[synced - 1].is_sync) --synced;
    auto file = io::make_memory_file("survivor");
    for (std::size_t i = 0; i < synced; ++i) apply(*file, steps_[i], steps_[i].bytes.size());
    std::vector<std::size_t> loose(steps - synced);
    for (std::size_t i = 0; i < loose.size(); ++i) loose[i] = synced + i;
    std::ranges::shuffle(loose, random);
    for (std::size_t const i : loose) {
      auto const length = steps_[i].bytes.size();
      std::size_t const parts[] = {0, length, random() % (length + 1) / sector * sector};
      apply(*file, steps_[i], parts[random() % 3]);
    }
    return file;
  }

 private:
  struct step {
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes = {};
    bool is_sync = false;
  };
  static constexpr std::size_t sector = 512;

  static void apply(io::file& file, step const& what, std::size_t length) {
    if (length > 0) file.write(what.offset, std::span(what.bytes).first(length))->wait();
  }

  std::vector<step> steps_;
};

/// A file in memory that keeps a journal.
class crashing_file final : public io::file_decorator {
 public:
  explicit crashing_file(std::shared_ptr<file_journal> journal)
      : io::file_decorator(io::make_memory_file("crashing")), journal_(std::move(journal)) {}
  ~crashing_file() override { drain(); }

  void sync() override { journal_->sync(); }
  void start(io::attempt work) noexcept override {
    if (work.kind == io::operation::write)
      journal_->write(work.offset_bytes, {work.data, work.length_bytes});
    inner().start(std::move(work));
  }

 private:
  std::shared_ptr<file_journal> journal_;
};

}  // namespace outsize::scratch
