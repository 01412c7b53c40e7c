// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The benchmarks of priority queues, on any queue of 64-bit numbers with push, top and pop, the
// least first; the peers use the same. C++17.
//
// Each checks that items come out in order and that they are those that went in.

#include <chrono>
#include <cstdint>
#include <ctime>
#include <stdexcept>
#include <string>

namespace queues {

using number = std::uint64_t;

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
 public:
  explicit checked_queue(Queue& queue) : queue_(queue) {}

  void push(number x) {
    in_.add(x);
    queue_.push(x);
  }
  number pop() {
    number const x = queue_.top();
    queue_.pop();
    out_.add(x);
    return x;
  }
  void pop_all(number count) {
    number last = 0;
    for (; count > 0; --count) {
      number const x = pop();
      in_order_ &= last <= x;
      last = x;
    }
  }
  bool verified() const { return in_order_ && in_ == out_ && queue_.size() == 0; }

 private:
  Queue& queue_;
  item_sum in_, out_;
  bool in_order_ = true;
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

/// The first part fills the queue.
struct outcome {
  spent fill = {};
  spent rest = {};
  bool verified = false;

  /// What a benchmark measures: without the filling of a queue that is full when the work begins.
  spent measured(std::string const& name) const {
    bool const is_full = name == "pq-intermixed" || name.find("rewrite") != std::string::npos;
    return is_full ? rest : fill + rest;
  }
};

/// Pushes `count` items and pops all of them.
template <typename Queue, typename Next>
outcome push_all_pop_all(Queue& queue, number count, Next next) {
  checked_queue<Queue> q(queue);
  outcome found;
  stopwatch const filling;
  for (number i = 0; i < count; ++i) q.push(next(i));
  found.fill = filling.time();
  stopwatch const emptying;
  q.pop_all(count);
  found.rest = emptying.time();
  found.verified = q.verified();
  return found;
}

/// Fills by insert, delete-min, insert and empties by delete-min, insert, delete-min. Each item is
/// a random amount greater than the item popped last. IPDPS 2009, Table 1.
template <typename Queue>
outcome monotone(Queue& queue, number count) {
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
  stopwatch const emptying;
  for (number i = 0; i < count; ++i) {
    pop();
    push();
    pop();
  }
  found.rest = emptying.time();
  found.verified = q.verified();
  return found;
}

/// `count` items and then as many operations, a third of them insertions. STXXL 2008, Figure 6.
template <typename Queue>
outcome intermixed(Queue& queue, number count) {
  checked_queue<Queue> q(queue);
  random_numbers random;
  outcome found;
  stopwatch const filling;
  for (number i = 0; i < count; ++i) q.push(random());
  found.fill = filling.time();
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
  q.pop_all(left);
  found.verified = q.verified();
  return found;
}

template <typename Queue>
outcome run(std::string const& name, Queue& queue, number count) {
  if (name == "pq-random") {
    random_numbers random;
    return push_all_pop_all(queue, count, [&](number) { return random(); });
  }
  if (name == "pq-ascending") return push_all_pop_all(queue, count, [](number i) { return i; });
  if (name == "pq-descending")
    return push_all_pop_all(queue, count, [&](number i) { return count - i; });
  if (name == "pq-monotone") return monotone(queue, count);
  if (name == "pq-intermixed") return intermixed(queue, count);
  throw std::invalid_argument(name + ": no such benchmark");
}

}  // namespace queues
