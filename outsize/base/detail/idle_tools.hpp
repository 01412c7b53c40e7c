// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Tables and other memory that a computation needs for a moment and that are costly to make, kept
// for the next one: there are as many as were ever in use at once. One for each thread would be
// more, as bodies of an executor also run on the threads that give it work.
//
//   thread ──take()──▶ its own slot, or any other, or a new tool ──end of the lease──▶ its own slot
//
// Mostly a thread finds in its slot what it has put there, and nobody else touches that cache line.
// Any thread may use it. Layer: base.

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace outsize::detail {

/// What tools of all kinds have in common: those that are idle go when a team of threads ends.
class idle_tools_base {
 public:
  idle_tools_base(idle_tools_base const&) = delete;
  idle_tools_base& operator=(idle_tools_base const&) = delete;

  static void drop_all() noexcept;

 protected:
  idle_tools_base() = default;
  ~idle_tools_base() = default;

  /// Makes tools known to drop_all(). To be called when they are complete: it may come at once.
  void add() noexcept;

  static constexpr std::size_t slot_count = 128;
  /// Where this thread looks first.
  static std::size_t own_slot() noexcept;

 private:
  virtual void drop() noexcept = 0;

  idle_tools_base* next_ = nullptr;
};

/// Tools of one kind. It must live until the process ends: make it by `new` in a static reference,
/// as threads may be at work when destructors of statics run.
template <typename Tool>
class idle_tools final : public idle_tools_base {
 public:
  /// A tool in use.
  class lease {
   public:
    lease(lease&& other) noexcept = default;
    ~lease() {
      if (tool_) owner_->put_back(std::move(tool_));
    }
    Tool& operator*() const noexcept { return *tool_; }
    Tool* operator->() const noexcept { return tool_.get(); }

   private:
    friend class idle_tools;
    lease(idle_tools& owner, std::unique_ptr<Tool> tool) noexcept
        : owner_(&owner), tool_(std::move(tool)) {}

    idle_tools* owner_;
    std::unique_ptr<Tool> tool_;
  };

  idle_tools() noexcept { add(); }

  /// An idle tool, as somebody has left it, or a new one. @throws what making one throws.
  lease take() {
    std::size_t const own = own_slot();
    for (std::size_t i = 0; i < slot_count; ++i)
      if (auto tool = take_from(slots_[(own + i) % slot_count])) return {*this, std::move(tool)};
    return {*this, std::make_unique<Tool>()};
  }

 private:
  struct alignas(64) slot {
    std::atomic<Tool*> idle{nullptr};
  };

  static std::unique_ptr<Tool> take_from(slot& from) noexcept {
    if (from.idle.load(std::memory_order_relaxed) == nullptr) return nullptr;
    return std::unique_ptr<Tool>(from.idle.exchange(nullptr, std::memory_order_acquire));
  }

  /// Where all slots are full, it goes.
  void put_back(std::unique_ptr<Tool> tool) noexcept {
    std::size_t const own = own_slot();
    for (std::size_t i = 0; i < slot_count; ++i) {
      Tool* none = nullptr;
      if (slots_[(own + i) % slot_count].idle.compare_exchange_strong(
              none, tool.get(), std::memory_order_release, std::memory_order_relaxed)) {
        tool.release();
        return;
      }
    }
  }

  void drop() noexcept override {
    for (slot& one : slots_) take_from(one);
  }

  std::array<slot, slot_count> slots_;
};

}  // namespace outsize::detail
