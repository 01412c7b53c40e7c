// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The cores of priority queues of numbers, and of all other items of one size, compiled once.

#include <outsize/container/detail/priority/queue_core.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <outsize/algorithm/detail/sort/family/kernel_items.hpp>
#include <outsize/algorithm/detail/sort/family/number_items.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/detail/side_thread.hpp>
#include <outsize/base/error.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/detail/priority/array_catalogue.hpp>
#include <outsize/container/detail/priority/external_arrays.hpp>
#include <outsize/container/detail/priority/push_slabs.hpp>
#include <outsize/container/detail/priority/queue_file.hpp>
#include <outsize/container/detail/priority/queue_plan.hpp>

namespace outsize::detail {
namespace {

/// Items that were in a window and have been put back: sorted, before all items in arrays.
template <typename Family>
class leftover_stack {
 public:
  leftover_stack(Family const& family, grant& memory, std::size_t items)
      : family_(family),
        memory_(memory.allocate(items * family.item_bytes())),
        begin_(items),
        end_(items) {}

  std::size_t items() const noexcept { return end_ - begin_; }
  std::size_t room() const noexcept { return begin_; }
  std::span<std::byte> all() const noexcept { return at(begin_, end_); }
  /// The place for items that come before all others.
  std::span<std::byte> push(std::size_t items) noexcept {
    begin_ -= items;
    return at(begin_, begin_ + items);
  }
  void pop(std::size_t items) noexcept {
    begin_ += items;
    if (begin_ == end_) clear();
  }
  void clear() noexcept { begin_ = end_; }

 private:
  std::span<std::byte> at(std::size_t begin, std::size_t end) const noexcept {
    std::size_t const item = family_.item_bytes();
    return memory_.bytes().subspan(begin * item, (end - begin) * item);
  }

  Family const& family_;
  buffer memory_;
  std::size_t begin_, end_;
};

/// Consecutive memory for merged items.
class one_place final : public merge_places {
 public:
  explicit one_place(std::span<std::byte> memory) : left_(memory) {}
  std::span<std::byte> room() override { return left_; }
  void used(std::size_t bytes) override { left_ = left_.subspan(bytes); }

 private:
  std::span<std::byte> left_;
};

template <typename Family>
class core_of final : public queue_core {
 public:
  core_of(storage& store, Family family, grant memory, queue_plan const& plan,
          std::optional<queue_file> file)
      : store_(store),
        family_(std::move(family)),
        plan_(plan),
        file_(std::move(file)),
        memory_(std::move(memory)),
        arrays_(family_, store, memory_, plan_, file_ ? &file_->blocks() : nullptr),
        slabs_(family_, store, memory_, plan_, arrays_, side_),
        leftovers_(family_, memory_, plan_.leftover_items),
        windows_{memory_.allocate(plan_.window_items * family_.item_bytes()),
                 memory_.allocate(plan_.window_items * family_.item_bytes())},
        limit_(memory_.allocate(family_.item_bytes())),
        window_items_(std::min<std::size_t>(plan_.window_items, 1 << 16)) {
    memory_.charge_beyond();  // for the index of blocks
    if (file_) open();
  }

  std::size_t near_items() const noexcept override { return plan_.near_items; }
  std::size_t window_items() const noexcept override { return window_items_; }
  std::span<std::byte> room(std::size_t least_items) override {
    if (!slabs_.has_room(least_items)) end_ahead();
    return slabs_.room(least_items);
  }
  void grow(std::size_t items) noexcept override { slabs_.grow(items); }

  std::span<std::byte const> refill(std::byte const* limit) override {
    end_ahead();
    adapt_window();
    auto const next = next_items(window_items_, limit);
    std::span const to = window_of(*next.chosen);
    consume(*next.chosen);
    filled_ = next.chosen->items();
    put_back_ = 0;
    begin_ahead();
    return to;
  }
  std::size_t pop_into(std::span<std::byte> out, std::byte const* limit) override {
    std::size_t const item = family_.item_bytes();
    std::size_t const most = out.size() / item;
    std::size_t done = 0;
    end_ahead();
    try {
      while (done < most) {
        auto const next = next_items(most - done, limit);
        std::size_t const items = next.chosen->items();
        if (items == 0) break;
        merge(*next.chosen, out.subspan(done * item, items * item));
        consume(*next.chosen);
        done += items;
      }
    } catch (...) {
      if (done == 0) throw;
    }
    return done;
  }
  bool has_before(std::byte const* limit) override {
    end_ahead();
    return next_items(1, limit).chosen->items() > 0;
  }

  std::uint64_t count_before(std::byte const* limit) override {
    end_ahead();
    slabs_.sort_open();
    key_type const before = key_of(limit);
    std::vector<sequence> const all = sequences();
    round r(family_, store_.threads(), std::span<sequence const>(all));
    r.restrict_to_less(before);
    return r.items() + arrays_.unread_before(before);
  }

  void reserve_leftovers(std::size_t items) override {
    if (items <= leftovers_.room()) return;
    end_ahead();
    if (front_.items() > 0) {  // which must stay behind the leftovers
      arrays_.make_room();
      arrays_.add_oldest(written(front_items()));
      front_ = {};
    }
    arrays_.make_room();
    arrays_.add_oldest(written(leftovers_.all()));
    leftovers_.clear();
  }
  void put_back(std::span<std::byte const> tail) noexcept override {
    std::size_t const items = tail.size() / family_.item_bytes();
    std::span<std::byte> const to = leftovers_.push(items);
    std::copy(tail.begin(), tail.end(), to.begin());
    slabs_.sorter().encode_alone(to);
    put_back_ += items;
  }

  void flush(bool closes) override {
    end_ahead();
    slabs_.write_all();
    // These stay in memory, too.
    run<Family> const copies[] = {written(leftovers_.all()), written(front_items())};
    queue_file::writer out(*file_);
    queue_file::state state{
        .items = arrays_.items(), .arrays = arrays_.count(), .form = form_of(family_)};
    for (auto const& copy : copies) {
      if (copy.items() == 0) continue;
      note_array(out, copy, 0, 0, copy.items());
      state.items += copy.items();
      ++state.arrays;
    }
    arrays_.note(out);
    out.commit(state, closes);
  }
  std::uint64_t items_at_first() const noexcept override {
    return file_ ? file_->committed().items : 0;
  }
  bool was_closed() const noexcept override { return !file_ || file_->was_closed(); }

  void clear() noexcept override {
    end_ahead();
    slabs_.clear();
    arrays_.clear();
    leftovers_.clear();
    front_ = {};
    filled_ = put_back_ = 0;
  }
  priority_queue_report report() const noexcept override {
    return {.memory_bytes = plan_.memory_bytes,
            .block_bytes = plan_.block_bytes,
            .arrays = arrays_.count(),
            .array_merges = arrays_.merges()};
  }

 private:
  using view = typename Family::view;
  using sequence = item_sequence<view>;
  using round = merge_round<Family>;
  using key_type = typename Family::key_type;

  /// Reads the catalogue of arrays. Merges some, if this queue has less memory than the last one.
  void open() {
    if (file_->is_new()) {
      flush(false);
      return file_->keep();
    }
    auto const& state = file_->committed();
    if (state.form != form_of(family_)) file_->refuse("form", state.form);
    array_reader<Family> in(family_, *file_, memory_);
    for (std::uint64_t i = 0; i < state.arrays; ++i) {
      arrays_.make_room();
      auto [blocks, first_item] = in.next();
      arrays_.add_youngest(std::move(blocks), first_item);
    }
    in.finish();
    if (arrays_.items() != state.items) file_->refuse("items", state.items);
    file_->note_change();
  }

  run<Family> written(std::span<std::byte const> sorted) {
    run_writer<Family> out(family_, store_, store_.threads(), memory_, arrays_.write_pool(),
                           equal_items::kept, {}, arrays_.places());
    out.write(sorted);
    return out.finish();
  }

  struct choice {
    std::vector<sequence> all;
    std::optional<round> chosen = {};  // of them
  };

  /// Chooses the next items, at most `most`, only items before `limit` if it is not null. Chooses
  /// at least one if there is one; waits for the disks where they would be few.
  choice next_items(std::size_t most, std::byte const* limit) {
    slabs_.sort_open();
    std::optional<key_type> before;
    if (limit != nullptr) before = key_of(limit);
    for (;;) {
      arrays_.read_ahead();
      choice next{sequences()};
      round& r =
          next.chosen.emplace(family_, store_.threads(), std::span<sequence const>(next.all));
      if (before) r.restrict_to_less(*before);
      std::optional<key_type> nearest = before;
      if (front_.items() > 0) {
        key_type const last = last_of_front();
        r.restrict_to_before(last, first_array - 1);
        if (!nearest || family_.less()(last, *nearest)) nearest = last;
      }
      std::size_t const bounding = bounding_array(nearest);
      if (bounding != none) r.restrict_to_before(arrays_.bound(bounding), first_array + bounding);
      bool const is_short = r.items() == 0 || (r.items() < most / 4 && can_wait_for(bounding));
      if (bounding == none || !is_short) {
        if (r.items() > most) r.restrict_to_first(most);
        return next;
      }
      try {
        arrays_.wait_for(bounding);
      } catch (...) {
        if (r.items() == 0) throw;
        if (r.items() > most) r.restrict_to_first(most);
        return next;  // the next call needs the block, and says so
      }
    }
  }
  static constexpr std::size_t none = SIZE_MAX;
  static constexpr std::size_t first_array = 2;  // among the sources of a window
  /// The array whose next block on disk bounds a merge up to `limit`.
  std::size_t bounding_array(std::optional<key_type> const& limit) const {
    auto const found = arrays_.bounding();
    if (!found || (limit && !family_.less()(arrays_.bound(*found), *limit))) return none;
    return *found;
  }
  bool can_wait_for(std::size_t array) const noexcept {
    return array != none && arrays_.can_wait_for(array);
  }
  /// A user's item as a key to compare with.
  key_type key_of(std::byte const* item) {
    std::span const copy = limit_.bytes().first(family_.item_bytes());
    std::copy_n(item, copy.size(), copy.begin());
    slabs_.sorter().encode_alone(copy);
    return family_.view_of_one(copy).key(0);
  }

  /// The sources of a window in the order of age: the leftovers, the front, the arrays, the slabs.
  std::vector<sequence> sequences() const {
    std::vector<sequence> all;
    all.reserve(first_array + arrays_.count() + slabs_.sequence_count());
    all.emplace_back().append(family_.block_view(leftovers_.all(), leftovers_.items()));
    all.emplace_back().append(family_.block_view(front_items(), front_.items()));
    arrays_.append_sequences(all);
    slabs_.append_sequences(all);
    return all;
  }

  /// Windows get shorter if most of their items are put back.
  void adapt_window() noexcept {
    if (filled_ == 0) return;
    std::size_t const used = filled_ - put_back_;
    std::size_t const least =
        std::max<std::size_t>(2048, 64 * (arrays_.count() + slabs_.sequence_count()));
    window_items_ = put_back_ == 0 ? 2 * window_items_ : 2 * used;
    window_items_ = std::min(std::max(window_items_, least), plan_.window_items);
  }

  void merge(round const& r, std::span<std::byte> to) {
    merge(r, [&](auto const& part) { family_.finish(merge_part(part, to)); });
  }
  /// Calls `f(part)` for the parts of a round, by all threads.
  template <typename F>
  void merge(round const& r, F const& f) {
    auto const parts = r.cut(store_.threads().threads());
    store_.threads().parallel_for(parts.size(), [&](std::size_t p) { f(parts[p]); });
  }
  /// Merges a part of a round to its place in `to`, which is returned.
  std::span<std::byte> merge_part(typename round::part const& part, std::span<std::byte> to) const {
    std::size_t const item = family_.item_bytes();
    auto const its = to.subspan(part.first_rank * item, part.items * item);
    one_place place(its);
    if (part.items > 0) merge_items(family_, part, place);
    return its;
  }
  /// The chosen items, for the user: where they lie in the front, if all of them do.
  std::span<std::byte> window_of(round const& chosen) {
    std::size_t const bytes = chosen.items() * family_.item_bytes();
    if (front_.items() > 0 && chosen.limit(1) == chosen.items()) {
      std::span const there = front_items().first(bytes);
      family_.finish(there);
      window_ = front_.window;
      return there;
    }
    if (front_.items() > 0) window_ = 1 - front_.window;
    std::span const to = windows_[window_].bytes().first(bytes);
    merge(chosen, to);
    return to;
  }
  void consume(round const& r) noexcept {
    std::size_t const arrays = arrays_.count();
    leftovers_.pop(r.limit(0));
    front_.begin += r.limit(1);
    arrays_.consume([&](std::size_t i) { return r.limit(first_array + i); });
    slabs_.consume([&](std::size_t i) { return r.limit(first_array + arrays + i); });
  }

  // ---- merging ahead ----

  /// Has the team merge the items that come after the window's, while the user goes on.
  void begin_ahead() noexcept {
    if (store_.threads().threads() == 1 || front_.items() > 0) return;
    try {
      ahead_.emplace(choose_ahead());
      round const& r = *ahead_->chosen;
      if (r.items() >= std::min<std::size_t>(window_items_ / 4, 4096))
        return side_.start([this, &r, to = windows_[1 - window_].bytes()] {
          merge(r, [&](auto const& part) { merge_part(part, to); });
        });
    } catch (...) {  // then they are merged when they are needed
    }
    ahead_.reset();
  }
  choice choose_ahead() {
    arrays_.read_ahead();
    choice next;
    arrays_.append_sequences(next.all);
    slabs_.append_sequences(next.all);
    round& r = next.chosen.emplace(family_, store_.threads(), std::span<sequence const>(next.all));
    if (auto const bounding = arrays_.bounding())
      r.restrict_to_before(arrays_.bound(*bounding), *bounding);
    // Fewer than a window has room for, so that others can come in between.
    std::size_t const most = window_items_ - window_items_ / 4;
    if (r.items() > most) r.restrict_to_first(most);
    return next;
  }
  /// To be called before arrays or sequences are used. If the merge has failed, they are as before.
  void end_ahead() noexcept {
    if (!ahead_) return;
    bool is_merged = true;
    try {
      side_.wait();
    } catch (...) {  // whoever merges them again meets the reason
      is_merged = false;
    }
    choice const next = *std::exchange(ahead_, std::nullopt);
    if (!is_merged) return;
    round const& r = *next.chosen;
    std::size_t const arrays = arrays_.count();
    front_ = {1 - window_, 0, r.items()};
    arrays_.consume([&](std::size_t i) { return r.limit(i); });
    slabs_.consume([&](std::size_t i) { return r.limit(arrays + i); });
  }

  /// Items that were merged ahead, which come before those of arrays, and of sequences that there
  /// were.
  struct front {
    std::size_t window = 0;  // which they lie in
    std::size_t begin = 0, end = 0;

    std::size_t items() const noexcept { return end - begin; }
  };
  std::span<std::byte> front_items() const noexcept {
    std::size_t const item = family_.item_bytes();
    return windows_[front_.window].bytes().subspan(front_.begin * item, front_.items() * item);
  }
  key_type last_of_front() const noexcept {
    return family_.block_view(front_items(), front_.items()).key(front_.items() - 1);
  }

  storage& store_;
  Family family_;
  queue_plan plan_;
  std::optional<queue_file> file_;
  grant memory_;
  external_arrays<Family> arrays_;
  push_slabs<Family> slabs_;
  leftover_stack<Family> leftovers_;
  std::array<buffer, 2> windows_;
  std::size_t window_ = 0;  // the one that the user has
  front front_;
  buffer limit_;                 // an item
  std::size_t window_items_;     // of the next window
  std::size_t filled_ = 0;       // items of this one
  std::size_t put_back_ = 0;     // of them
  std::optional<choice> ahead_;  // what side_ merges to the front
  side_thread side_;             // ends first: it uses the others
};

constexpr char const* asker = "priority_queue";

/// Calls `f(family)` with the family of such items.
template <typename F>
auto with_family(item_kind const& kind, F const& f) {
  if (auto const* form = std::get_if<number_form>(&kind.how())) {
    switch (form->bits) {
      case number_form::width::word32:
        return f(number_items<std::uint32_t>(form->order.key));
      case number_form::width::word64:
        return f(number_items<std::uint64_t>(form->order.key));
      case number_form::width::word_pair:
        break;
    }
    return f(number_items<word_pair>(form->order));
  }
  return f(kernel_items(std::get<std::shared_ptr<item_kernel const>>(kind.how())));
}

template <typename Family>
queue_needs needs_of(storage& store, Family const& family, queue_memory const& wanted) {
  return {.memory_bytes = wanted.bytes,
          .block_bytes = wanted.block_bytes,
          .item_bytes = family.item_bytes(),
          .block_unit_bytes = block_unit_bytes(store),
          .threads = store.threads().threads(),
          .needs_scratch = !Family::has_key_codec};
}
/// Half of the memory of a storage, at least the least.
std::uint64_t usual_bytes(storage& store, queue_needs const& needs) {
  return std::max(least_queue_bytes(needs), store.memory().total_bytes() / 2);
}

template <typename Family>
std::unique_ptr<queue_core> core_for(storage& store, Family family, queue_memory const& wanted,
                                     std::optional<queue_file> file) {
  queue_needs needs = needs_of(store, family, wanted);
  if (file) {
    needs.block_bytes = file->blocks().block_bytes();
    if (needs.block_bytes < needs.item_bytes) file->refuse("page_bytes[0]", needs.block_bytes);
    needs.block_unit_bytes = block_unit_bytes(file->blocks());
  }
  memory_claim claim{needs.memory_bytes, needs.memory_bytes, needs.memory_bytes, 1};
  if (needs.memory_bytes == 0) {
    std::uint64_t const most = usual_bytes(store, needs);
    claim = {least_queue_bytes(needs), most, most, 1};
  } else {
    plan_queue(needs, asker);  // it is enough
  }
  grant memory = store.memory().take(claim, asker);
  needs.memory_bytes = memory.total_bytes();
  auto const plan = plan_queue(needs, asker);
  return std::make_unique<core_of<Family>>(store, std::move(family), std::move(memory), plan,
                                           std::move(file));
}

}  // namespace

std::unique_ptr<queue_core> make_queue_core(storage& store, item_kind const& kind,
                                            queue_memory const& memory,
                                            std::optional<queue_file> file) {
  return with_family(kind, [&](auto family) {
    return core_for(store, std::move(family), memory, std::move(file));
  });
}

std::size_t queue_block_bytes(storage& store, item_kind const& kind, queue_memory const& memory) {
  return with_family(kind, [&](auto const& family) {
    queue_needs needs = needs_of(store, family, memory);
    if (needs.memory_bytes == 0) needs.memory_bytes = usual_bytes(store, needs);
    return plan_queue(needs, asker).block_bytes;
  });
}

std::uint64_t next_bulk_phase() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace outsize::detail
