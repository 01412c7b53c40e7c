// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What 06_pipeline.cpp does, with threads, queues and buffers by hand: for comparison only.

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <functional>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using item = std::uint32_t;
using buffer = std::vector<item>;

constexpr std::size_t buffer_items = 16384, rounds = 32, buffer_count = 6, stage_count = 5;

/// A queue between two stages; an empty pointer is the end.
class queue {
 public:
  void push(buffer* b) {
    std::lock_guard const lock(mutex_);
    waiting_.push_back(b);
    arrived_.notify_one();
  }
  buffer* pop() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !waiting_.empty() || failed_; });
    if (failed_) throw std::runtime_error("another stage failed");
    buffer* const b = waiting_.front();
    waiting_.pop_front();
    return b;
  }
  void fail() {
    std::lock_guard const lock(mutex_);
    failed_ = true;
    arrived_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<buffer*> waiting_;
  bool failed_ = false;
};

/// The threads of the pipeline and what they share.
struct pipeline {
  std::array<queue, stage_count> queues;  // in front of each stage; the first one: empty buffers
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::exception_ptr error;

  void fail(std::exception_ptr e) {
    {
      std::lock_guard const lock(mutex);
      if (!error) error = e;
    }
    for (queue& q : queues) q.fail();
  }

  /// Runs `work` on what comes to stage `s` until it returns false or the end comes.
  void start(std::size_t s, std::function<bool(buffer&)> work) {
    threads.emplace_back([this, s, work] {
      try {
        for (;;) {
          buffer* const b = queues[s].pop();
          bool const more = b != nullptr && work(*b);
          bool const is_last = s + 1 == stage_count;
          if (!more) {
            if (!is_last) queues[s + 1].push(nullptr);
            return;
          }
          queues[is_last ? 0 : s + 1].push(b);
        }
      } catch (...) {
        fail(std::current_exception());
      }
    });
  }

  void join() {
    for (std::thread& t : threads) t.join();
    if (error) std::rethrow_exception(error);
  }
};

void make_input(std::FILE* file) {
  item next = 1;
  buffer b(buffer_items);
  for (std::size_t r = 0; r < rounds; ++r) {
    for (item& i : b) i = next = next * 1664525 + 1013904223;
    if (std::fwrite(b.data(), sizeof(item), b.size(), file) != b.size())
      throw std::runtime_error("cannot write the input");
  }
  std::rewind(file);
}

}  // namespace

int main() {
  std::FILE* const in = std::tmpfile();
  std::FILE* const out = std::tmpfile();
  if (in == nullptr || out == nullptr) return 2;
  make_input(in);

  std::vector<buffer> buffers(buffer_count, buffer(buffer_items));
  pipeline p;
  for (buffer& b : buffers) p.queues[0].push(&b);
  p.start(0, [&](buffer& b) {
    b.resize(buffer_items);
    b.resize(std::fread(b.data(), sizeof(item), b.size(), in));
    if (std::ferror(in) != 0) throw std::runtime_error("cannot read");
    return !b.empty();
  });
  p.start(1, [](buffer& b) {
    std::sort(b.begin(), b.end());
    return true;
  });
  std::uint64_t exchanged = 0;
  p.start(2, [&](buffer& b) {
    exchanged += b.size() * sizeof(item);
    return true;
  });
  buffer auxiliary;
  p.start(3, [&](buffer& b) {
    auxiliary.assign(b.rbegin(), b.rend());
    b.swap(auxiliary);
    return true;
  });
  p.start(4, [&](buffer& b) {
    if (std::fwrite(b.data(), sizeof(item), b.size(), out) != b.size())
      throw std::runtime_error("cannot write");
    return true;
  });
  p.join();
  std::fclose(in);
  if (std::fclose(out) != 0) throw std::runtime_error("cannot write");
  std::cout << "exchanged " << exchanged << " bytes\n";
}
