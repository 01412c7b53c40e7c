// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/linux/fiber.hpp>

#include <cxxabi.h>
#include <sys/mman.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <cstring>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define OUTSIZE_BSP_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OUTSIZE_BSP_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define OUTSIZE_BSP_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OUTSIZE_BSP_TSAN 1
#endif
#endif
#ifdef OUTSIZE_BSP_ASAN
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef OUTSIZE_BSP_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#include <outsize/base/assert.hpp>
#include <outsize/base/detail/closed_memory.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>

namespace outsize::bsp::detail {

namespace {

/// A stack is not dropped so close to the frame that suspended: the switch itself lies there.
constexpr std::size_t margin_bytes = 8_KiB;

/// The exceptions that a thread handles, as the C++ ABI of Itanium lays them out (section 2.2.2).
struct handled_exceptions {
  void* caught = nullptr;
  unsigned int uncaught = 0;

  /// Exchanges them with those of this thread.
  void swap() noexcept {
    handled_exceptions now;
    void* const of_thread = abi::__cxa_get_globals();
    std::memcpy(&now, of_thread, sizeof now);
    std::memcpy(of_thread, this, sizeof now);
    *this = now;
  }
};

#ifdef OUTSIZE_BSP_ASAN
void leave_for(void** fake_stack, std::byte const* bottom, std::size_t bytes) {
  __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
}
void arrive(void* fake_stack, void const** bottom_left, std::size_t* bytes_left) {
  __sanitizer_finish_switch_fiber(fake_stack, bottom_left, bytes_left);
}
/// The objects on the stack of a fiber that was given up are left as they are, on purpose.
bool keeps_stack(std::byte const* stack, std::size_t bytes) {
  __lsan_register_root_region(stack, bytes);
  return true;
}
#else
bool keeps_stack(std::byte const* /*stack*/, std::size_t /*bytes*/) { return false; }
void leave_for(void** /*fake_stack*/, std::byte const* /*bottom*/, std::size_t /*bytes*/) {}
void arrive(void* /*fake_stack*/, void const** /*bottom_left*/, std::size_t* /*bytes_left*/) {}
#endif

#ifdef OUTSIZE_BSP_TSAN
void* new_thread_state() { return __tsan_create_fiber(0); }
void* thread_state() { return __tsan_get_current_fiber(); }
void switch_thread_state(void* to) { __tsan_switch_to_fiber(to, 0); }
void delete_thread_state(void* of) { __tsan_destroy_fiber(of); }
#else
void* new_thread_state() { return nullptr; }
void* thread_state() { return nullptr; }
void switch_thread_state(void* /*to*/) {}
void delete_thread_state(void* /*of*/) {}
#endif

/// The stack is not of the library's making.
struct kept_stack {
  void deallocate(boost::context::stack_context& /*of*/) noexcept {}
};

}  // namespace

class fiber::machinery {
 public:
  machinery(std::size_t stack_bytes, std::function<void()> body)
      : body_(std::move(body)), stack_bytes_(round_up(stack_bytes, page_bytes())) {
    void* const got = ::mmap(nullptr, stack_bytes_ + page_bytes(), PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (got == MAP_FAILED) throw std::bad_alloc();
    guard_ = static_cast<std::byte*>(got);
    stack_ = guard_ + page_bytes();
    if (::mprotect(stack_, stack_bytes_, PROT_READ | PROT_WRITE) != 0) {
      ::munmap(guard_, stack_bytes_ + page_bytes());
      throw std::bad_alloc();
    }
    thread_state_ = new_thread_state();
    boost::context::stack_context context;
    context.size = stack_bytes_;
    context.sp = stack_ + stack_bytes_;
    new (&own_) boost::context::fiber(
        std::allocator_arg, boost::context::preallocated(context.sp, context.size, context),
        kept_stack(), [this](boost::context::fiber&& caller) { return run(std::move(caller)); });
  }

  machinery(machinery const&) = delete;
  machinery& operator=(machinery const&) = delete;

  ~machinery() {
    // One that has not ended would be unwound here, on this thread; so it is left as it is.
    if (has_ended_) own_.~fiber();
    delete_thread_state(thread_state_);
    if (!has_ended_ && keeps_stack(stack_, stack_bytes_)) return;
    outsize::detail::open_memory({stack_, stack_bytes_});  // whatever is next at these addresses
    ::munmap(guard_, stack_bytes_ + page_bytes());
  }

  void resume() {
    OUTSIZE_ASSERT(!has_ended_);
    handled_.swap();
    void* fake_stack = nullptr;
    caller_thread_state_ = thread_state();
    leave_for(&fake_stack, stack_, stack_bytes_);
    switch_thread_state(thread_state_);
    own_ = std::move(own_).resume();
    arrive(fake_stack, nullptr, nullptr);
    handled_.swap();
  }

  void suspend() {
    lowest_ = static_cast<std::byte*>(__builtin_frame_address(0));
    void* fake_stack = nullptr;
    leave_for(&fake_stack, static_cast<std::byte const*>(caller_stack_), caller_stack_bytes_);
    switch_thread_state(caller_thread_state_);
    caller_ = std::move(caller_).resume();
    arrive(fake_stack, &caller_stack_, &caller_stack_bytes_);
  }

  bool has_ended() const noexcept { return has_ended_; }

  std::size_t trim_stack() noexcept {
    if (lowest_ == nullptr) return 0;
    auto const used_from = static_cast<std::size_t>(lowest_ - stack_);
    std::size_t const unused =
        used_from <= margin_bytes ? 0 : (used_from - margin_bytes) / page_bytes() * page_bytes();
    if (unused != 0) ::madvise(stack_, unused, MADV_DONTNEED);
    return stack_bytes_ - unused;
  }

 private:
  boost::context::fiber run(boost::context::fiber&& caller) {
    arrive(nullptr, &caller_stack_, &caller_stack_bytes_);
    caller_ = std::move(caller);
    body_();
    has_ended_ = true;
    leave_for(nullptr, static_cast<std::byte const*>(caller_stack_), caller_stack_bytes_);
    switch_thread_state(caller_thread_state_);
    return std::move(caller_);
  }

  std::function<void()> body_;
  std::size_t stack_bytes_;
  std::byte* guard_ = nullptr;
  std::byte* stack_ = nullptr;
  std::byte* lowest_ = nullptr;  // in use when it was suspended last
  handled_exceptions handled_;   // while it is suspended: its own; else: its caller's
  void* thread_state_ = nullptr;
  void* caller_thread_state_ = nullptr;
  void const* caller_stack_ = nullptr;
  std::size_t caller_stack_bytes_ = 0;
  bool has_ended_ = false;
  boost::context::fiber caller_;
  union {
    boost::context::fiber own_;
  };
};

fiber::fiber(std::size_t stack_bytes, std::function<void()> body)
    : inside_(std::make_unique<machinery>(stack_bytes, std::move(body))) {}
fiber::~fiber() = default;

void fiber::resume() { inside_->resume(); }
void fiber::suspend() { inside_->suspend(); }
bool fiber::has_ended() const noexcept { return inside_->has_ended(); }
std::size_t fiber::trim_stack() noexcept { return inside_->trim_stack(); }

}  // namespace outsize::bsp::detail
