// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/memory_budget.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize {

std::size_t page_bytes() noexcept {
  static std::size_t const bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

bool memory_budget::try_reserve(std::uint64_t bytes) noexcept {
  std::uint64_t used = used_bytes_.load();
  do {
    if (bytes > total_bytes_ - used) return false;
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes));
  std::uint64_t peak = peak_bytes_.load();
  while (peak < used + bytes && !peak_bytes_.compare_exchange_weak(peak, used + bytes)) {
  }
  return true;
}

/// Shared by a grant and its buffers; at a fixed address, so that the grant can move.
struct grant::account {
  memory_budget& budget;
  std::atomic<std::uint64_t> total_bytes;
  std::string asker;
  std::atomic<std::uint64_t> used_bytes{0};

  account(memory_budget& b, std::uint64_t total, std::string name)
      : budget(b), total_bytes(total), asker(std::move(name)) {}

  void take(std::uint64_t bytes) {
    std::uint64_t used = used_bytes.load();
    do {
      if (std::uint64_t const free = total_bytes.load() - used; bytes > free)
        throw budget_error(asker, free, bytes);
    } while (!used_bytes.compare_exchange_weak(used, used + bytes));
  }
};

grant memory_budget::take(std::uint64_t bytes, std::string asker) {
  if (!try_reserve(bytes)) throw budget_error(std::move(asker), free_bytes(), bytes);
  try {
    return grant(std::make_unique<grant::account>(*this, bytes, std::move(asker)));
  } catch (...) {
    release(bytes);
    throw;
  }
}

grant::grant(std::unique_ptr<account> a) : account_(std::move(a)) {}
grant::grant() = default;
grant::grant(grant&& other) noexcept = default;

grant& grant::operator=(grant&& other) noexcept {
  std::swap(account_, other.account_);
  return *this;
}

grant::~grant() {
  if (!account_) return;
  OUTSIZE_ASSERT(account_->used_bytes.load() == 0);
  account_->budget.release(account_->total_bytes.load());
}

std::uint64_t grant::total_bytes() const noexcept {
  return account_ ? account_->total_bytes.load() : 0;
}

std::uint64_t grant::free_bytes() const noexcept {
  return account_ ? account_->total_bytes.load() - account_->used_bytes.load() : 0;
}

std::string const& grant::asker() const noexcept {
  static std::string const nobody;
  return account_ ? account_->asker : nobody;
}

void grant::extend(std::uint64_t bytes) {
  OUTSIZE_ASSERT(account_ != nullptr);
  memory_budget& budget = account_->budget;
  if (!budget.try_reserve(bytes)) throw budget_error(account_->asker, budget.free_bytes(), bytes);
  account_->total_bytes += bytes;
}

void grant::charge(std::uint64_t bytes) {
  OUTSIZE_ASSERT(account_ != nullptr);
  account_->take(bytes);
}

void grant::discharge(std::uint64_t bytes) noexcept { account_->used_bytes.fetch_sub(bytes); }

buffer grant::allocate(std::size_t bytes) {
  OUTSIZE_ASSERT(account_ != nullptr);
  bytes = round_up(bytes == 0 ? std::size_t{1} : bytes, page_bytes());
  account_->take(bytes);
  void* const place =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) {
    account_->used_bytes.fetch_sub(bytes);
    throw std::bad_alloc();
  }
  // A hint only: without huge pages everything works, with more misses of the address cache.
  if (bytes >= 2_MiB) ::madvise(place, bytes, MADV_HUGEPAGE);
  return {static_cast<std::byte*>(place), bytes, account_.get()};
}

buffer::buffer(buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      owner_(std::exchange(other.owner_, nullptr)) {}

buffer& buffer::operator=(buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(owner_, other.owner_);
  return *this;
}

buffer::~buffer() {
  if (data_ == nullptr) return;
  ::munmap(data_, size_);
  owner_->used_bytes.fetch_sub(size_);
}

}  // namespace outsize
