// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/memory_budget.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/detail/memory_registry.hpp>
#include <outsize/base/detail/process_mark.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize {

std::size_t page_bytes() noexcept {
  static std::size_t const bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

namespace {

std::size_t whole_pages(std::size_t bytes) noexcept {
  return round_up(bytes == 0 ? std::size_t{1} : bytes, page_bytes());
}

constexpr std::size_t long_page_bytes = 2_MiB;

void* map_anywhere(std::size_t bytes) noexcept {
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/// How far behind the end of a long page.
std::size_t behind_long_page(void const* place) noexcept {
  return reinterpret_cast<std::uintptr_t>(place) % long_page_bytes;
}

/// What has `least_bytes` begins where a long page can. MAP_FAILED if the system refuses.
void* map(std::size_t bytes, std::size_t least_bytes = long_page_bytes) noexcept {
  void* const mapped = map_anywhere(bytes);
  if (bytes < least_bytes || mapped == MAP_FAILED || behind_long_page(mapped) == 0) return mapped;
  ::munmap(mapped, bytes);
  std::size_t const room = long_page_bytes - page_bytes();
  void* const longer = map_anywhere(bytes + room);
  if (longer == MAP_FAILED) return longer;
  auto* const begin = static_cast<std::byte*>(longer);
  std::size_t const before = (long_page_bytes - behind_long_page(longer)) % long_page_bytes;
  if (before > 0) ::munmap(begin, before);
  if (room > before) ::munmap(begin + before + bytes, room - before);
  return begin + before;
}

/// A hint only: without huge pages everything works, with more misses of the address cache, and
/// disks move less in the same time.
void advise_long_pages(void* place, std::size_t bytes) noexcept {
  if (bytes >= long_page_bytes) ::madvise(place, bytes, MADV_HUGEPAGE);
}

/// Else a page that is used could bring others with it that are released.
void advise_short_pages(void* place, std::size_t bytes) noexcept {
  ::madvise(place, bytes, MADV_NOHUGEPAGE);
}

void empty_pages(void* place, std::size_t bytes) noexcept {
  int const outcome = ::madvise(place, bytes, MADV_DONTNEED);
  OUTSIZE_ASSERT(outcome == 0);
  advise_short_pages(place, bytes);
}

}  // namespace

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

void memory_budget::release(std::uint64_t bytes) noexcept {
  used_bytes_.fetch_sub(bytes);
  registry_->note_release();
}

memory_budget::memory_budget(std::uint64_t total_bytes)
    : total_bytes_(total_bytes), registry_(std::make_unique<detail::memory_registry>(*this)) {}

memory_budget::~memory_budget() {
  OUTSIZE_ASSERT((grant_count() == 0 || !process_.is_current()) &&
                 "a memory budget goes before what has memory of it");
}

grant::account::account(memory_budget& b, std::uint64_t total, std::string name)
    : budget(b), asker(std::move(name)), total_bytes_(total) {}

std::uint64_t grant::account::total_bytes() const noexcept {
  std::lock_guard const lock(mutex_);
  return total_bytes_;
}

std::uint64_t grant::account::free_bytes() const noexcept {
  std::lock_guard const lock(mutex_);
  return total_bytes_ - used_bytes_;
}

std::uint64_t grant::account::peak_used_bytes() const noexcept {
  std::lock_guard const lock(mutex_);
  return peak_used_bytes_;
}

void grant::account::extend(std::uint64_t bytes) noexcept {
  std::lock_guard const lock(mutex_);
  total_bytes_ += bytes;
}

std::uint64_t grant::account::shrink(std::uint64_t bytes) noexcept {
  std::lock_guard const lock(mutex_);
  bytes = std::min(bytes, total_bytes_ - used_bytes_);
  total_bytes_ -= bytes;
  spare_.keep_at_most(total_bytes_ - used_bytes_);
  return bytes;
}

void grant::account::keep_pages() noexcept {
  std::lock_guard const lock(mutex_);
  keeps_pages_ = true;
}

void grant::account::take(std::uint64_t bytes) {
  std::lock_guard const lock(mutex_);
  count(bytes);
  spare_.keep_at_most(total_bytes_ - used_bytes_);
}

void grant::account::charge_beyond() noexcept {
  std::lock_guard const lock(mutex_);
  charges_beyond_ = true;
}

bool grant::account::try_extend(std::uint64_t bytes) noexcept {
  std::lock_guard const lock(mutex_);
  if (!charges_beyond_ || !budget.try_reserve(bytes)) return false;
  total_bytes_ += bytes;
  return true;
}

void grant::account::charge(std::uint64_t bytes) {
  std::lock_guard const lock(mutex_);
  if (std::uint64_t const free = total_bytes_ - used_bytes_; bytes > free && charges_beyond_) {
    for (std::uint64_t const more :
         {round_up<std::uint64_t>(bytes - free, page_bytes()), bytes - free})
      if (budget.try_reserve(more)) {
        total_bytes_ += more;
        break;
      }
  }
  count(bytes);
  spare_.keep_at_most(total_bytes_ - used_bytes_);
}

void grant::account::give_back(std::uint64_t bytes) noexcept {
  std::lock_guard const lock(mutex_);
  used_bytes_ -= bytes;
}

std::byte* grant::account::take_pages(std::size_t bytes) {
  std::lock_guard const lock(mutex_);
  count(bytes);
  std::byte* const pages = spare_.take(bytes);
  if (pages == nullptr) used_bytes_ -= bytes;
  return pages;
}

void grant::account::give_pages_back(std::byte* pages, std::size_t bytes,
                                     std::size_t released_bytes) noexcept {
  std::lock_guard const lock(mutex_);
  used_bytes_ -= bytes - released_bytes;
  if (keeps_pages_ && released_bytes == 0) try {
      return spare_.put(pages, bytes);
    } catch (std::bad_alloc const&) {
    }
  ::munmap(pages, bytes);
}

void grant::account::count(std::uint64_t bytes) {
  std::uint64_t const free = total_bytes_ - used_bytes_;
  if (bytes > free) throw budget_error(asker, free, bytes);
  used_bytes_ += bytes;
  peak_used_bytes_ = std::max(peak_used_bytes_, used_bytes_);
}

/// A grant of bytes that were reserved.
grant memory_budget::granted(std::uint64_t bytes, std::string asker) {
  std::unique_ptr<grant::account> account;
  try {
    account = std::make_unique<grant::account>(*this, bytes, std::move(asker));
    registry_->add(*account);
  } catch (...) {
    release(bytes);
    throw;
  }
  ++grant_count_;
  return grant(std::move(account));
}

grant memory_budget::take(std::uint64_t bytes, std::string asker) {
  registry_->reserve(bytes, asker);
  return granted(bytes, std::move(asker));
}

grant memory_budget::take(memory_claim const& claim, std::string asker) {
  std::uint64_t const share = registry_->reserve_share(claim);
  grant taken = granted(share, std::move(asker));
  if (share < claim.least) taken.extend(claim.least - share);
  return taken;
}

std::optional<grant> memory_budget::try_take(std::uint64_t bytes, std::string asker) {
  if (!try_reserve(bytes)) return std::nullopt;
  return granted(bytes, std::move(asker));
}

void memory_budget::require(std::uint64_t bytes, std::string const& asker) const {
  registry_->require(bytes, asker);
}

std::uint64_t memory_budget::share_of(memory_claim const& claim) const {
  return registry_->share_of(claim, registry_->kept_bytes());
}

std::uint64_t memory_budget::fair_bytes() const {
  return registry_->share_of({0, total_bytes(), total_bytes()}, 0);
}

std::uint64_t memory_budget::obtainable_bytes() const { return registry_->obtainable_bytes(); }

memory_report memory_budget::report() const {
  return {total_bytes_, free_bytes(), registry_->division()};
}

std::string memory_report::explain() const {
  std::string text =
      fmt::format("{} of memory, {} free\n", format_bytes(total_bytes), format_bytes(free_bytes));
  auto const add_row = [&text](auto const& has, auto const& least, auto const& knee,
                               auto const& most, std::string const& who) {
    text += fmt::format("  {:<10} {:<10} {:<10} {:<10} {}\n", has, least, knee, most, who);
  };
  add_row("has", "least", "knee", "most", "who");
  for (auto const& [asker, has, claim] : shares)
    if (has > 0 || claim.least > 0)
      add_row(format_bytes(has), format_bytes(claim.least), format_bytes(claim.knee),
              format_bytes(claim.most), asker);
  return text;
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
  if (!account_->process().is_current()) {  // buffers of what is never destroyed may remain
    static_cast<void>(account_.release());
    return;
  }
  std::uint64_t const bytes = account_->total_bytes();
  OUTSIZE_ASSERT(account_->free_bytes() == bytes);
  memory_budget& budget = account_->budget;
  budget.registry_->remove(*account_);
  account_.reset();  // with the pages that it keeps
  budget.release(bytes);
  --budget.grant_count_;  // it may be gone from here on
}

std::uint64_t grant::total_bytes() const noexcept { return account_ ? account_->total_bytes() : 0; }

std::uint64_t grant::free_bytes() const noexcept { return account_ ? account_->free_bytes() : 0; }
std::uint64_t grant::peak_used_bytes() const noexcept {
  return account_ ? account_->peak_used_bytes() : 0;
}

std::string const& grant::asker() const noexcept {
  // Never destroyed, as grants may be used by destructors of objects with static lifetime.
  static std::string const& nobody = *new std::string;
  return account_ ? account_->asker : nobody;
}

void grant::extend(std::uint64_t bytes) {
  OUTSIZE_ASSERT(account_ != nullptr);
  account_->budget.registry_->reserve(bytes, account_->asker);
  account_->extend(bytes);
}

std::uint64_t grant::shrink(std::uint64_t bytes) noexcept {
  OUTSIZE_ASSERT(account_ != nullptr);
  bytes = account_->shrink(bytes);
  if (bytes > 0) account_->budget.release(bytes);
  return bytes;
}

void grant::charge(std::uint64_t bytes) {
  OUTSIZE_ASSERT(account_ != nullptr);
  account_->charge(bytes);
}

void grant::charge_beyond() noexcept {
  OUTSIZE_ASSERT(account_ != nullptr);
  account_->charge_beyond();
}

bool grant::try_extend(std::uint64_t bytes) noexcept {
  OUTSIZE_ASSERT(account_ != nullptr);
  return account_->try_extend(bytes);
}

void grant::discharge(std::uint64_t bytes) noexcept {
  OUTSIZE_ASSERT(account_ != nullptr);
  account_->give_back(bytes);
}

void grant::keep_pages() noexcept {
  OUTSIZE_ASSERT(account_ != nullptr);
  account_->keep_pages();
}

buffer grant::allocate_for_overwrite(std::size_t bytes) {
  OUTSIZE_ASSERT(account_ != nullptr);
  std::size_t const rounded = whole_pages(bytes);
  if (std::byte* const kept = account_->take_pages(rounded)) return {kept, rounded, account_.get()};
  return allocate(bytes);
}

buffer grant::allocate(std::size_t bytes) {
  OUTSIZE_ASSERT(account_ != nullptr);
  bytes = whole_pages(bytes);
  account_->take(bytes);
  void* const place = map(bytes);
  if (place == MAP_FAILED) {
    account_->give_back(bytes);
    throw std::bad_alloc();
  }
  advise_long_pages(place, bytes);
  return {static_cast<std::byte*>(place), bytes, account_.get()};
}

buffer grant::allocate_released(std::size_t bytes) {
  OUTSIZE_ASSERT(account_ != nullptr);
  bytes = whole_pages(bytes);
  void* const place = map(bytes, 4 * long_page_bytes);
  if (place == MAP_FAILED) throw std::bad_alloc();
  advise_short_pages(place, bytes);
  return {static_cast<std::byte*>(place), bytes, account_.get(), bytes};
}

void buffer::release_pages(std::size_t offset_bytes, std::size_t bytes) noexcept {
  OUTSIZE_ASSERT(offset_bytes % page_bytes() == 0 && bytes % page_bytes() == 0);
  empty_pages(data_ + offset_bytes, bytes);
  released_bytes_ += bytes;
  owner_->give_back(bytes);
}

void buffer::release_all_pages() noexcept {
  owner_->give_back(size_ - released_bytes_);
  released_bytes_ = size_;
  empty_pages(data_, size_);
}

void buffer::restore_pages(std::size_t offset_bytes, std::size_t bytes) {
  OUTSIZE_ASSERT(offset_bytes % page_bytes() == 0 && bytes % page_bytes() == 0);
  owner_->take(bytes);
  released_bytes_ -= bytes;
  advise_long_pages(data_ + offset_bytes, bytes);
}

buffer::buffer(buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      released_bytes_(std::exchange(other.released_bytes_, 0)),
      owner_(std::exchange(other.owner_, nullptr)) {}

buffer& buffer::operator=(buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(released_bytes_, other.released_bytes_);
  std::swap(owner_, other.owner_);
  return *this;
}

buffer::~buffer() {
  if (data_ == nullptr || !owner_->process().is_current()) return;
  owner_->give_pages_back(data_, size_, released_bytes_);
}

}  // namespace outsize
