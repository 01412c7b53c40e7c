// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/memory_registry.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/memory_holder.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t most_listed = 8;

}  // namespace

// ---- what is known ----

void memory_registry::add(grant::account& account) {
  if (!budget_.process_.is_current()) return;  // it may be a copy of what was being changed
  std::lock_guard const lock(mutex_);
  account.serial_ = next_serial_++;
  accounts_.emplace_hint(accounts_.end(), account.serial_, &account);
  ++generation_;
}

void memory_registry::remove(grant::account& account) noexcept {
  if (!budget_.process_.is_current()) return;
  std::lock_guard const lock(mutex_);
  OUTSIZE_ASSERT(account.holder_ == nullptr);
  accounts_.erase(account.serial_);
  ++generation_;
}

void memory_registry::add(memory_holder& holder, memory_claim const& claim) {
  std::lock_guard const lock(mutex_);
  grant::account& account = holder.account_;
  OUTSIZE_ASSERT(account.holder_ == nullptr && claim.least <= account.total_bytes());
  account.holder_ = &holder;
  account.claim_ = claim;
  account.in_need_ = claim.least;
  ++generation_;
}

void memory_registry::remove(memory_holder& holder) noexcept {
  std::lock_guard const lock(mutex_);
  holder.account_.holder_ = nullptr;
  ++generation_;
}

void memory_registry::set_claim(memory_holder& holder, memory_claim const& claim,
                                std::uint64_t in_need) {
  std::lock_guard const lock(mutex_);
  OUTSIZE_ASSERT(in_need <= claim.least && claim.least <= holder.account_.total_bytes());
  holder.account_.claim_ = claim;
  holder.account_.in_need_ = in_need;
  ++generation_;
}

/// What has no holder stays as it is.
memory_claim memory_registry::claim_of(grant::account const& account) const noexcept {
  std::uint64_t const has = account.total_bytes();
  if (account.holder_ == nullptr) return memory_claim::fixed(has);
  memory_claim claim = account.claim_;
  // What others have moved meanwhile would have pushed it out of a common cache.
  if (clock() - account.holder_->used_at_.load(std::memory_order_relaxed) > budget_.total_bytes())
    claim.knee = claim.most = claim.least;
  return claim;
}

std::uint64_t memory_registry::floor_of(grant::account const& account, extent how) const noexcept {
  return how == extent::beyond_need && account.holder_ != nullptr ? account.in_need_
                                                                  : claim_of(account).least;
}

memory_share memory_registry::share_shown(grant::account const& account) const {
  memory_claim claim = claim_of(account);
  claim.least = floor_of(account, extent::beyond_need);
  return {account.asker, account.total_bytes(), claim};
}

std::vector<memory_share> memory_registry::division() const {
  std::lock_guard const lock(mutex_);
  std::vector<memory_share> all;
  for (auto const& [serial, account] : accounts_) all.push_back(share_shown(*account));
  return all;
}

std::uint64_t memory_registry::obtainable_bytes() const {
  std::lock_guard const lock(mutex_);
  std::uint64_t const least = sum_of_floors(extent::beyond_least);
  return budget_.total_bytes() - std::min(least, budget_.total_bytes());
}

void memory_registry::require(std::uint64_t bytes, std::string const& asker) const {
  std::lock_guard const lock(mutex_);
  if (sum_of_floors(extent::beyond_need) + bytes > budget_.total_bytes()) refuse(bytes, asker);
}

std::uint64_t memory_registry::share_of(memory_claim const& claim, std::uint64_t kept) const {
  {
    std::lock_guard const lock(mutex_);
    if (auto const fair = shares(0, claim, kept)) return fair->at(0);
  }
  return obtainable_bytes();
}

std::uint64_t memory_registry::share_of(memory_holder const& holder,
                                        memory_claim const& claim) const {
  std::lock_guard const lock(mutex_);
  std::uint64_t const serial = holder.account_.serial_;
  auto const fair = shares(serial, claim, kept_bytes());
  return fair ? fair->at(serial) : claim.least;
}

std::uint64_t memory_registry::sum_of_floors(extent how) const noexcept {
  std::uint64_t sum = 0;
  for (auto const& [serial, account] : accounts_) sum += floor_of(*account, how);
  return sum;
}

// ---- gates ----

memory_registry::entry memory_registry::try_enter(memory_holder& holder) noexcept {
  if (holder.owner_.load() == &this_thread)
    return this_thread.safe == &holder ? entry::mine : entry::busy;
  if (!holder.mutex_.try_lock()) return entry::busy;
  holder.owner_ = &this_thread;
  return entry::entered;
}

/// Within the registry's lock, so that a holder that ends waits until this is over.
void memory_registry::leave(memory_holder& holder, entry how) noexcept {
  if (how != entry::entered) return;
  holder.owner_ = nullptr;
  holder.mutex_.unlock();
  ++events_;
  changed_.notify_all();
}

// ---- asks ----

void memory_registry::note_release() noexcept {
  ++generation_;
  if (!somebody_waits()) return;
  std::lock_guard const lock(mutex_);
  ++events_;
  changed_.notify_all();
}

bool memory_registry::reserve_free(std::uint64_t bytes) noexcept {
  std::uint64_t const free = budget_.free_bytes();
  bool const has_room = free >= kept_bytes() && free - kept_bytes() >= bytes;
  return has_room && !somebody_waits() && budget_.try_reserve(bytes);
}

/// The division with `asker_claim` for one, by its number, or 0 if it has none yet; nothing if not
/// even the least needs fit. Who cannot be asked for anything is not in it.
std::optional<memory_registry::floors> memory_registry::shares(std::uint64_t asker,
                                                               memory_claim const& asker_claim,
                                                               std::uint64_t kept) const {
  std::vector<memory_claim> claims{asker_claim};
  std::vector<std::uint64_t> numbers{asker};
  std::uint64_t fixed_bytes = 0;
  for (auto const& [serial, account] : accounts_) {
    if (serial == asker) continue;
    memory_claim const claim = claim_of(*account);
    if (account->holder_ == nullptr) {
      fixed_bytes += claim.least;
    } else {
      claims.push_back(claim);
      numbers.push_back(serial);
    }
  }
  auto const given = divide_memory(budget_.total_bytes() - fixed_bytes, claims, kept);
  if (!given) return std::nullopt;
  floors all;
  for (std::size_t i = 0; i < numbers.size(); ++i) all.emplace(numbers[i], (*given)[i]);
  return all;
}

memory_registry::floors memory_registry::lowest(extent how) const {
  floors all;
  for (auto const& [serial, account] : accounts_)
    if (account->holder_ != nullptr) all.emplace(serial, floor_of(*account, how));
  return all;
}

/// Has holders give what they have beyond `keep`, until so many bytes are free; who is not in it
/// keeps everything. The lock is let go while they do. Returns who was asked for all that he has
/// beyond it.
memory_registry::serials memory_registry::gather(lock_type& lock, std::uint64_t bytes,
                                                 floors const& keep) {
  serials asked;
  for (auto const cost : {give_cost::unused, give_cost::reread, give_cost::written}) {
    std::uint64_t last = 0;
    while (budget_.free_bytes() < bytes) {
      auto const next = accounts_.upper_bound(last);
      if (next == accounts_.end()) break;
      auto& [serial, account] = *next;
      last = serial;
      auto const floor = keep.find(serial);
      memory_holder* const holder = account->holder_;
      std::uint64_t const has = account->total_bytes();
      if (holder == nullptr || floor == keep.end() || has <= floor->second) continue;
      entry const how = try_enter(*holder);
      if (how == entry::busy) continue;
      if (cost == give_cost::written) asked.insert(serial);
      std::uint64_t const missing = bytes - std::min(bytes, budget_.free_bytes());
      lock.unlock();
      have_give(*holder, std::min(has - floor->second, missing), cost);
      lock.lock();
      leave(*holder, how);
    }
  }
  return asked;
}

/// Without the lock, within the holder's gate.
void memory_registry::have_give(memory_holder& holder, std::uint64_t bytes,
                                give_cost most) noexcept {
  this_thread.is_giving = true;
  try {
    holder.giver_.give_back(bytes, most);
  } catch (...) {
    std::lock_guard const lock(mutex_);
    if (!giving_error_) giving_error_ = std::current_exception();
  }
  this_thread.is_giving = false;
}

/// Gives all that this thread may take from the holder that it works on, beyond its least.
void memory_registry::give_own(lock_type& lock) {
  if (this_thread.safe == nullptr) return;
  grant::account const& own = this_thread.safe->account_;
  gather(lock, budget_.total_bytes(), {{own.serial_, claim_of(own).least}});
}

/// Has all give what they can; says whether more may come.
memory_registry::outlook memory_registry::gather_all(lock_type& lock, std::uint64_t bytes,
                                                     extent how) {
  auto const asked = gather(lock, bytes, lowest(how));
  return budget_.free_bytes() >= bytes ? outlook::now : wish_for(bytes, asked, how);
}

/// Asks those for memory in whose gates other threads are; not those who were asked in vain.
memory_registry::outlook memory_registry::wish_for(std::uint64_t bytes, serials const& asked,
                                                   extent wished) {
  wished_ = wished;
  outlook best = outlook::nothing;
  for (auto const& [serial, account] : accounts_) {
    memory_holder* const holder = account->holder_;
    bool const may_give = holder != nullptr && !asked.contains(serial) &&
                          account->total_bytes() > floor_of(*account, wished);
    if (!may_give) continue;
    holder->wish_ = bytes;
    // Whoever has left the gate before the wish could be seen has left it open.
    entry const how = try_enter(*holder);
    if (how != entry::busy) {
      leave(*holder, how);
      return outlook::now;
    }
    void const* const owner = holder->owner_.load();
    if (owner != &this_thread && std::ranges::find(asking_, owner) == asking_.end())
      best = outlook::later;
  }
  return best;
}

void memory_registry::end_wishes() noexcept {
  for (auto const& [serial, account] : accounts_)
    if (account->holder_ != nullptr) account->holder_->wish_ = 0;
}

void memory_registry::await_event(lock_type& lock) {
  executor::absence const waits;  // the thread may be in a body of a team, which others need
  changed_.wait(lock, [this, seen = events_] { return events_ != seen; });
}

/// Among those whose asks may wait. What others know of this thread changes with it, at both ends.
class memory_registry::place_in_line {
 public:
  explicit place_in_line(memory_registry& all) : all_(all) {
    if (all_.asking_.empty()) all_.giving_error_ = nullptr;
    all_.asking_.push_back(&this_thread);
    ++all_.waiting_;
    tell();
  }
  place_in_line(place_in_line const&) = delete;
  place_in_line& operator=(place_in_line const&) = delete;
  ~place_in_line() {
    all_.end_wishes();
    std::erase(all_.asking_, &this_thread);
    --all_.waiting_;
    tell();
  }
  bool is_first() const noexcept { return all_.asking_.front() == &this_thread; }

 private:
  void tell() noexcept {
    ++all_.events_;
    all_.changed_.notify_all();
  }
  memory_registry& all_;
};

void memory_registry::reserve(std::uint64_t bytes, std::string const& asker) {
  if (!somebody_waits() && budget_.try_reserve(bytes)) return;
  if (!budget_.process_.is_current() || this_thread.is_giving) {
    if (budget_.try_reserve(bytes)) return;
    throw budget_error(asker, budget_.free_bytes(), bytes);
  }
  lock_type lock(mutex_);
  place_in_line const place(*this);
  while (!place.is_first()) {
    give_own(lock);
    if (!place.is_first()) await_event(lock);
  }
  for (;;) {
    if (budget_.try_reserve(bytes)) return;
    if (auto const fair = shares(0, memory_claim::fixed(bytes), 0)) gather(lock, bytes, *fair);
    outlook next = gather_all(lock, bytes, extent::beyond_least);
    if (next == outlook::nothing) {
      std::uint64_t const before = budget_.free_bytes();
      next = gather_all(lock, bytes, extent::beyond_need);
      // Who has given may need less than it had thought.
      if (next == outlook::nothing && budget_.free_bytes() > before) next = outlook::now;
    }
    if (next == outlook::nothing) break;
    if (next == outlook::later) await_event(lock);
  }
  if (budget_.try_reserve(bytes)) return;
  if (giving_error_) std::rethrow_exception(giving_error_);
  refuse(bytes, asker);
}

void memory_registry::refuse(std::uint64_t bytes, std::string const& asker) const {
  std::uint64_t const least = sum_of_floors(extent::beyond_need), total = budget_.total_bytes();
  std::uint64_t const have = total - std::min(least, total);
  throw budget_error(asker, have < bytes ? have : budget_.free_bytes(), bytes,
                     asker + listing(bytes));
}

std::uint64_t memory_registry::reserve_share(memory_claim const& claim) {
  lock_type lock(mutex_);
  if (!budget_.process_.is_current() || this_thread.is_giving || somebody_waits()) return 0;
  auto const fair = shares(0, claim, kept_bytes());
  if (!fair) return 0;
  std::uint64_t bytes = fair->at(0);
  gather(lock, bytes + kept_bytes(), *fair);
  for (;;) {
    std::uint64_t const free = budget_.free_bytes();
    bytes = std::min(bytes, free - std::min(free, kept_bytes()));
    if (budget_.try_reserve(bytes)) return bytes;
  }
}

bool memory_registry::reserve_to_grow(memory_holder& holder, std::uint64_t bytes) {
  if (somebody_waits() || this_thread.is_giving) return false;
  std::uint64_t const generation = generation_.load(), now = clock();
  if (holder.refused_in_ == generation && now - holder.refused_at_ < budget_.total_bytes() / 8)
    return false;
  lock_type lock(mutex_);
  auto const& account = holder.account_;
  auto const fair = shares(account.serial_, account.claim_, kept_bytes());
  if (fair && account.total_bytes() + bytes <= fair->at(account.serial_)) {
    gather(lock, bytes + kept_bytes(), *fair);
    if (budget_.free_bytes() >= bytes + kept_bytes() && budget_.try_reserve(bytes)) return true;
  }
  holder.refused_in_ = generation_.load();
  holder.refused_at_ = now;
  return false;
}

void memory_registry::fulfil_wish(memory_holder& holder) noexcept {
  std::uint64_t const bytes = holder.wish_.exchange(0);
  std::uint64_t beyond_floor = 0;
  {
    std::lock_guard const lock(mutex_);
    std::uint64_t const has = holder.account_.total_bytes();
    beyond_floor = has - std::min(has, floor_of(holder.account_, wished_));
  }
  if (beyond_floor > 0) have_give(holder, std::min(bytes, beyond_floor), give_cost::written);
  std::lock_guard const lock(mutex_);
  ++events_;
  changed_.notify_all();
}

/// Of a budget error.
std::string memory_registry::listing(std::uint64_t needed_bytes) const {
  std::uint64_t const least = sum_of_floors(extent::beyond_need), total = budget_.total_bytes();
  std::string text =
      fmt::format(": the memory budget has {} left, {} needed",
                  format_bytes(total - std::min(least, total)), format_bytes(needed_bytes));
  std::vector<memory_share> all;
  for (auto const& [serial, account] : accounts_)
    if (account->total_bytes() > 0) all.push_back(share_shown(*account));
  text += fmt::format("; {} would do", format_enough_bytes(least + needed_bytes));
  if (all.empty()) return text;
  std::ranges::stable_sort(all, std::ranges::greater(), [](memory_share const& s) {
    return std::tuple(s.claim.least, s.has_bytes, std::string_view(s.asker));
  });
  char const* between = ": ";
  std::size_t listed = 0;
  for (auto rest = all.begin(); rest != all.end() && listed < most_listed; ++listed) {
    auto const is_other = [&](memory_share const& s) {
      return s.asker != rest->asker || s.has_bytes != rest->has_bytes ||
             s.claim.least != rest->claim.least;
    };
    auto const next = std::find_if(rest, all.end(), is_other);
    std::string const times = next - rest > 1 ? fmt::format("{} times ", next - rest) : "";
    text +=
        fmt::format("{}{}{} has {} and needs {}", std::exchange(between, ", "), times, rest->asker,
                    format_bytes(rest->has_bytes), format_bytes(rest->claim.least));
    all.erase(all.begin(), next);
    rest = all.begin();
  }
  if (!all.empty()) text += fmt::format(", {} others", all.size());
  return text;
}

}  // namespace outsize::detail
