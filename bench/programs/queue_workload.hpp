// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The benchmarks of priority queues, on any queue with push, top and pop, the least first; the
// peers use the same. C++17. Items are 64-bit numbers, or have 24 bytes: a number as key, and two
// words that follow from it.
//
// Each checks that items come out in order and that they are those that went in.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace queues {

using number = std::uint64_t;

struct item24 {
  number key, first, second;
};

inline number key_of(number item) { return item; }
inline number key_of(item24 const& item) { return item.key; }

inline void set_key(number& item, number key) { item = key; }
inline void set_key(item24& item, number key) { item = {key, key ^ key >> 7, ~key}; }
template <typename Item>
Item item_of(number key) {
  Item item;
  set_key(item, key);
  return item;
}

/// Returns whether the words beside a key follow from it.
inline bool is_whole(number) { return true; }
inline bool is_whole(item24 const& item) {
  item24 const expected = item_of<item24>(item.key);
  return item.first == expected.first && item.second == expected.second;
}

/// The same numbers in any order have the same sum.
class item_sum {
 public:
  void add(number x) {
    sum_ += x ^ x >> 31;
    ++count_;
  }
  void add(item_sum const& other) {
    sum_ += other.sum_;
    count_ += other.count_;
  }
  friend bool operator==(item_sum const& a, item_sum const& b) {
    return a.sum_ == b.sum_ && a.count_ == b.count_;
  }

 private:
  number sum_ = 0, count_ = 0;
};

/// Pseudo-random numbers (splitmix64 by Vigna).
class random_numbers {
 public:
  explicit random_numbers(number seed = 1) : state_(seed) {}

  number operator()() {
    number x = state_ += 0x9E3779B97F4A7C15U;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;
    x = (x ^ x >> 27) * 0x94D049BB133111EBU;
    return x ^ x >> 31;
  }

 private:
  number state_;
};

/// A queue whose items are looked at on their way in and out.
template <typename Queue>
class checked_queue {
  using item = typename Queue::value_type;

 public:
  explicit checked_queue(Queue& queue) : queue_(queue) {}

  void push(number x) {
    in_.add(x);
    queue_.push(item_of<item>(x));
  }
  number pop() {
    item const found = queue_.top();
    queue_.pop();
    whole_ &= is_whole(found);
    out_.add(key_of(found));
    return key_of(found);
  }
  void pop_all(number count) {
    number last = 0;
    for (; count > 0; --count) {
      number const x = pop();
      in_order_ &= last <= x;
      last = x;
    }
  }
  bool verified() const { return in_order_ && whole_ && in_ == out_ && queue_.size() == 0; }

 private:
  Queue& queue_;
  item_sum in_, out_;
  bool in_order_ = true, whole_ = true;
};

/// Time of the clock, and of all processors.
struct spent {
  double seconds = 0;
  double cpu_seconds = 0;
};
inline spent operator+(spent a, spent b) {
  return {a.seconds + b.seconds, a.cpu_seconds + b.cpu_seconds};
}

class stopwatch {
 public:
  spent time() const {
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin_;
    return {took.count(), static_cast<double>(std::clock() - cpu_begin_) / CLOCKS_PER_SEC};
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::clock_t cpu_begin_ = std::clock();
};

/// The work: `bulk` is the number of items of a bulk, or the greatest, where there are bulks.
struct job {
  std::string name;
  number count = 0;
  number bulk = 640'000;
  std::function<void()> phase_ended = [] {};  // called twice, outside the timed parts

  /// Returns true if the filling is not measured: the queue is full when the measurement begins.
  bool begins_full() const {
    return name == "pq-intermixed" || name.find("rewrite") != std::string::npos;
  }
  void require_bulks() const {
    if (bulk == 0) throw std::invalid_argument(name + ": bulks of 0 items");
  }
};

/// The first part fills the queue.
struct outcome {
  spent fill = {};
  spent rest = {};
  bool verified = false;
  std::string rest_name = "emptying";

  /// The time that a benchmark measures.
  spent measured(job const& work) const { return work.begins_full() ? rest : fill + rest; }
};

/// Pushes the items and pops all of them.
template <typename Queue, typename Next>
outcome push_all_pop_all(Queue& queue, job const& work, Next next) {
  number const count = work.count;
  checked_queue<Queue> q(queue);
  outcome found;
  stopwatch const filling;
  for (number i = 0; i < count; ++i) q.push(next(i));
  found.fill = filling.time();
  work.phase_ended();
  stopwatch const emptying;
  q.pop_all(count);
  found.rest = emptying.time();
  work.phase_ended();
  found.verified = q.verified();
  return found;
}

/// Fills by insert, delete-min, insert and empties by delete-min, insert, delete-min. Each item is
/// a random amount greater than the item popped last. IPDPS 2009, Table 1.
template <typename Queue>
outcome monotone(Queue& queue, job const& work) {
  number const count = work.count;
  checked_queue<Queue> q(queue);
  random_numbers random;
  number last = 0;
  auto const push = [&] { q.push(last + (random() >> 24)); };
  auto const pop = [&] { last = q.pop(); };
  outcome found;
  stopwatch const filling;
  for (number i = 0; i < count; ++i) {
    push();
    pop();
    push();
  }
  found.fill = filling.time();
  work.phase_ended();
  stopwatch const emptying;
  for (number i = 0; i < count; ++i) {
    pop();
    push();
    pop();
  }
  found.rest = emptying.time();
  work.phase_ended();
  found.verified = q.verified();
  return found;
}

/// Some items and then one operation for each, a third of them insertions. STXXL 2008, Figure 6.
template <typename Queue>
outcome intermixed(Queue& queue, job const& work) {
  number const count = work.count;
  checked_queue<Queue> q(queue);
  random_numbers random;
  outcome found;
  stopwatch const filling;
  for (number i = 0; i < count; ++i) q.push(random());
  found.fill = filling.time();
  work.phase_ended();
  stopwatch const mixing;
  number left = count;
  for (number i = 0; i < count; ++i) {
    if (i % 3 == 0) {
      q.push(random());
      ++left;
    } else {
      q.pop();
      --left;
    }
  }
  found.rest = mixing.time();
  work.phase_ended();
  found.rest_name = "operations";
  q.pop_all(left);
  found.verified = q.verified();
  return found;
}

/// `count` ascending items; then as many are popped in bulks, and pushed again behind all others.
/// The second part is that: pop_push(first key, items) does it for a bulk, and returns whether the
/// popped ones are right. In pq-rbulk-rewrite bulks have up to job.bulk items at random. Bulks
/// paper, section 4 (bulk-rewrite, asc-rbulk-rewrite).
template <typename Queue, typename PopPush>
outcome rewrite(Queue& queue, job const& work, PopPush const& pop_push) {
  using item = typename Queue::value_type;
  work.require_bulks();
  bool const at_random = work.name == "pq-rbulk-rewrite";
  outcome found;
  stopwatch const filling;
  for (number i = 0; i < work.count; ++i) queue.push(item_of<item>(i));
  found.fill = filling.time();
  work.phase_ended();
  random_numbers random;
  bool good = true;
  stopwatch const rewriting;
  for (number done = 0; done < work.count;) {
    number const wanted = at_random ? random() % (work.bulk + 1) : work.bulk;
    number const some = std::min(work.count - done, wanted);
    good &= pop_push(done, some);
    done += some;
  }
  found.rest = rewriting.time();
  work.phase_ended();
  found.rest_name = "rewriting";
  found.verified = good && queue.size() == work.count && key_of(queue.top()) == work.count;
  return found;
}

/// Returns whether these are the items from `first` on, and moves their keys behind all others.
template <typename Item>
bool check_and_move_behind(std::vector<Item>& items, number first, number count) {
  bool good = true;
  for (Item& one : items) {
    good &= key_of(one) == first++ && is_whole(one);
    set_key(one, key_of(one) + count);
  }
  return good;
}

/// By a call for each item.
template <typename Queue>
outcome rewrite_single(Queue& queue, job const& work) {
  std::vector<typename Queue::value_type> some;
  return rewrite(queue, work, [&](number first, number items) {
    some.clear();
    for (; some.size() < items; queue.pop()) some.push_back(queue.top());
    bool const good = check_and_move_behind(some, first, work.count);
    for (auto const& one : some) queue.push(one);
    return good;
  });
}

template <typename Queue>
outcome run(job const& work, Queue& queue) {
  random_numbers random;
  if (work.name == "pq-random")
    return push_all_pop_all(queue, work, [&](number) { return random(); });
  if (work.name == "pq-ascending") return push_all_pop_all(queue, work, [](number i) { return i; });
  if (work.name == "pq-descending")
    return push_all_pop_all(queue, work, [&](number i) { return work.count - i; });
  if (work.name == "pq-monotone") return monotone(queue, work);
  if (work.name == "pq-intermixed") return intermixed(queue, work);
  if (work.name == "pq-bulk-rewrite" || work.name == "pq-rbulk-rewrite")
    return rewrite_single(queue, work);
  throw std::invalid_argument(work.name + ": no such benchmark");
}

}  // namespace queues
