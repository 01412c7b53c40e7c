// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The benchmarks of virtual processors as fibers; bench/README.md says which part is timed.
//
//   virtual_processors bsp-sort BYTES MEMORY_BYTES WORKERS DIRECTORY INPUT OUTPUT
//   virtual_processors bsp-overlap|bsp-workers BYTES MEMORY_BYTES WORKERS DIRECTORY
//   virtual_processors bsp-disks BYTES MEMORY_BYTES WORKERS DIRECTORY DISKS
//
// With DISKS the storage is on so many simulated ones; 0: in the directory.
//
// Prints one JSON object. Results are verified after the timed part; the output of bsp-sort
// is checked by the caller.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/bsp/sample_sort.hpp>
#include <outsize/bsp/virtual_processors.hpp>

#include "simulated_disks.hpp"

namespace {

namespace bsp = outsize::bsp;
using namespace outsize::literals;
using number = std::uint64_t;
using seconds = std::chrono::duration<double>;

constexpr std::uint32_t processors = 64;
constexpr std::size_t file_alignment = 4096;

struct job {
  number bytes;
  std::uint32_t workers;
  outsize::storage store;
  std::string input, output;
};

/// The timed part, the time that it cannot fall below, and whether its result is right.
struct outcome {
  double seconds = 0;
  double cpu_seconds = 0;
  double work_seconds = 0;
  number read_bytes = 0, written_bytes = 0;
  bsp::run_report report = {};
  bool verified = false;
};

template <typename Work>
outcome timed(outsize::storage const& store, Work const& work) {
  outcome found;
  auto const before = store.total_statistics();
  auto const cpu_before = std::clock();
  auto const begin = std::chrono::steady_clock::now();
  found.report = work();
  found.seconds = seconds(std::chrono::steady_clock::now() - begin).count();
  found.cpu_seconds = static_cast<double>(std::clock() - cpu_before) / CLOCKS_PER_SEC;
  auto const after = store.total_statistics();
  found.read_bytes = after.read_bytes - before.read_bytes;
  found.written_bytes = after.write_bytes - before.write_bytes;
  return found;
}

// ---- bsp-sort: a file of numbers, a stretch of it for each processor ----

void wait_for(std::vector<outsize::io::request_ptr>& requests) {
  for (outsize::io::request_ptr const& each : requests) each->wait();
  requests.clear();
}

/// Reads a processor's numbers: whole blocks of the file, but for its end.
bsp::vector<number> read_part(outsize::io::file& in, number total, std::uint32_t rank) {
  constexpr number block = file_alignment / sizeof(number);
  number const share = outsize::div_up(outsize::div_up(total, block), number{processors}) * block;
  number const first = std::min(total, rank * share);
  bsp::vector<number> items(std::min(total, first + share) - first);
  std::span<std::byte> rest = std::as_writable_bytes(std::span(items));
  number offset = first * sizeof(number);
  std::vector<outsize::io::request_ptr> reads;
  while (!rest.empty()) {
    std::span<std::byte> const part = rest.first(std::min<std::size_t>(rest.size(), 2_MiB));
    reads.push_back(in.read(offset, part));
    rest = rest.subspan(part.size());
    offset += part.size();
  }
  wait_for(reads);
  return items;
}

/// Writes the stretches of all processors one after the other, in whole blocks of the file: the
/// bytes in a processor's last block go on to the next one, which has the rest of it.
class stretch_writer {
 public:
  stretch_writer(bsp::processor& p, outsize::io::file& out, number begin, std::size_t buffer_bytes)
      : p_(p),
        out_(out),
        lead_(begin % file_alignment),
        offset_(begin - lead_),
        filled_(lead_),
        buffers_{bsp::vector<std::byte>(buffer_bytes), bsp::vector<std::byte>(buffer_bytes)} {}

  void write(std::span<std::byte const> bytes) {
    while (!bytes.empty()) {
      bsp::vector<std::byte>& buffer = buffers_[now_];
      std::size_t const part = std::min(bytes.size(), buffer.size() - filled_);
      std::copy_n(bytes.begin(), part, buffer.begin() + static_cast<std::ptrdiff_t>(filled_));
      filled_ += part;
      bytes = bytes.subspan(part);
      if (filled_ == buffer.size()) flush(filled_);
    }
  }

  void finish() {
    if (filled_ < file_alignment && !has_begun_) receive_lead(buffers_[now_]);
    std::size_t const tail = filled_ % file_alignment;
    bool const is_end = p_.rank() + 1 == p_.count();
    if (!is_end && tail != 0) {
      p_.send(p_.rank() + 1,
              std::span<std::byte const>(buffers_[now_]).subspan(filled_ - tail, tail));
    }
    flush(is_end ? outsize::round_up(filled_, file_alignment) : filled_ - tail);
    for (outsize::io::request_ptr const& each : writes_) {
      if (each) each->wait();
    }
    if (lead_ == 0) return;
    receive_lead(first_);
    out_.write(first_offset_, std::span<std::byte const>(first_).first(file_alignment))->wait();
  }

 private:
  /// Takes the beginning of the first block from the processor before.
  void receive_lead(bsp::vector<std::byte>& into) {
    if (lead_ == 0) return;
    bsp::vector<std::byte> const before = p_.receive<std::byte>(p_.rank() - 1);
    std::copy(before.begin(), before.end(), into.begin());
    lead_ = 0;
  }

  void flush(std::size_t bytes) {
    std::span<std::byte const> filled = std::span<std::byte const>(buffers_[now_]).first(bytes);
    if (bytes != 0 && !has_begun_ && lead_ != 0) {  // the first block waits for its beginning
      std::copy_n(filled.begin(), file_alignment, first_.begin());
      first_offset_ = offset_;
      filled = filled.subspan(file_alignment);
      offset_ += file_alignment;
    }
    has_begun_ |= bytes != 0;
    if (!filled.empty()) writes_[now_] = out_.write(offset_, filled);
    offset_ += filled.size();
    filled_ = 0;
    now_ = 1 - now_;
    if (writes_[now_]) std::exchange(writes_[now_], nullptr)->wait();
  }

  bsp::processor& p_;
  outsize::io::file& out_;
  number lead_, offset_;
  std::size_t filled_;
  bsp::vector<std::byte> buffers_[2];
  bsp::vector<std::byte> first_ = bsp::vector<std::byte>(16_KiB);  // whole pages
  number first_offset_ = 0;
  outsize::io::request_ptr writes_[2];
  std::size_t now_ = 0;
  bool has_begun_ = false;
};

outcome sort_file(job& work) {
  number const bytes = std::filesystem::file_size(work.input);
  std::size_t const buffer_bytes = outsize::round_up(
      std::clamp<std::size_t>(bytes / processors / 8, 64_KiB, 2_MiB), file_alignment);
  outcome found = timed(work.store, [&] {
    auto const in = outsize::block::open_file(work.store, work.input);
    auto out = outsize::block::make_output_file(work.store, work.output,
                                                outsize::round_up(bytes, number{file_alignment}));
    auto report = bsp::run(
        work.store, processors,
        [&](bsp::processor& p) {
          auto mine = bsp::detail::exchange_sorted(
              p, read_part(*in, bytes / sizeof(number), p.rank()), std::less<>());
          stretch_writer to(p, out.contents(), mine.first * sizeof(number), buffer_bytes);
          auto const sink = [&](number /*first*/, std::span<number const> part) {
            to.write(std::as_bytes(part));
          };
          bsp::detail::merge_buffer<number, decltype(sink)> buffer(32'768, mine.first, sink);
          bsp::detail::merge_parts(mine.came, std::less<>(), buffer);
          buffer.flush();
          mine.came = {};  // before it waits
          to.finish();
        },
        {.workers = work.workers});
    out.commit(bytes);
    return report;
  });
  found.verified = true;
  return found;
}

// ---- bsp-overlap, bsp-workers: supersteps that compute, on contexts that go to disk ----

constexpr int rounds = 3;

/// Changes each grain of a context, and computes for so long.
void step(std::span<number> items, number seed, double work_seconds) {
  for (std::size_t i = 0; i < items.size(); i += 64_KiB / sizeof(number)) items[i] = seed + i;
  auto const until = std::chrono::steady_clock::now() + seconds(work_seconds);
  number x = seed;
  while (std::chrono::steady_clock::now() < until) {
    for (int i = 0; i < 10'000; ++i) x = x * 6364136223846793005U + 1442695040888963407U;
  }
  items[1] = x;
}

outcome supersteps(job& work, std::uint32_t workers, double step_seconds) {
  std::atomic<bool> verified = true;
  std::size_t const items = work.bytes / processors / sizeof(number);
  outcome found = timed(work.store, [&] {
    return bsp::run(work.store, processors,
                    [&](bsp::processor& p) {
                      bsp::vector<number> mine(items);
                      for (std::size_t i = 0; i < items; ++i)
                        mine[i] = (p.rank() + 1) * 0x9E3779B97F4A7C15U * i;
                      p.barrier();
                      for (int round = 1; round <= rounds; ++round) {
                        step(mine, p.rank() * 100U + static_cast<unsigned>(round), step_seconds);
                        p.barrier();
                      }
                      constexpr std::size_t grain = 64_KiB / sizeof(number);
                      for (std::size_t i = 0; i < items; ++i) {
                        number const kept = (p.rank() + 1) * 0x9E3779B97F4A7C15U * i;
                        number const changed = p.rank() * 100U + rounds + i;
                        if (i != 1 && mine[i] != (i % grain == 0 ? changed : kept))
                          verified = false;
                      }
                    },
                    {.workers = workers});
  });
  found.verified = verified;
  return found;
}

/// Computing for as long as moving takes: the two together should take no longer than one of them.
/// To make and to check the contents is computing too.
outcome overlap(job& work) {
  outcome const moving = supersteps(work, 1, 0);
  auto const computed = static_cast<double>(moving.report.history.total().computing_ns) * 1e-9;
  double const each = std::max(0.0, moving.seconds - computed) / (processors * rounds);
  outcome found = supersteps(work, 1, each);
  found.work_seconds = moving.seconds;
  found.verified &= moving.verified;
  return found;
}

// ---- bsp-disks: numbers that the processors make, sorted where they are ----

/// The stretch of a processor, to be compared with those of the others.
struct stretch {
  number first = 0, last = 0;
  number count = 0;
  number sum_before = 0, sum_after = 0;
};

number mixed(number x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

bool are_sorted(std::span<stretch const> all, number count) {
  stretch total;
  bool good = true;
  for (stretch const& one : all) {
    good = good && (one.count == 0 || total.last <= one.first);
    if (one.count != 0) total.last = one.last;
    total.count += one.count;
    total.sum_before += one.sum_before;
    total.sum_after += one.sum_after;
  }
  return good && total.count == count && total.sum_before == total.sum_after;
}

outcome sort_contexts(job& work) {
  std::size_t const items = work.bytes / processors / sizeof(number);
  std::vector<stretch> all(processors);
  std::atomic<bool> verified = true;
  outcome found = timed(work.store, [&] {
    return bsp::run(work.store, processors,
                    [&](bsp::processor& p) {
                      stretch& of = all[p.rank()];
                      bsp::vector<number> mine(items);
                      for (std::size_t i = 0; i < items; ++i)
                        mine[i] = mixed((p.rank() * items + i + 1) * 0x9E3779B97F4A7C15U);
                      for (number const x : mine) of.sum_before += mixed(x);
                      mine = bsp::sample_sort(p, std::move(mine));
                      for (number const x : mine) of.sum_after += mixed(x);
                      if (!std::is_sorted(mine.begin(), mine.end())) verified = false;
                      of.count = mine.size();
                      if (mine.empty()) return;
                      of.first = mine.front();
                      of.last = mine.back();
                    },
                    {.workers = work.workers});
  });
  found.verified = verified && are_sorted(all, processors * items);
  return found;
}

outcome measured(std::string const& name, job& work) {
  if (name == "bsp-sort") return sort_file(work);
  if (name == "bsp-overlap") return overlap(work);
  if (name == "bsp-disks") return sort_contexts(work);
  if (name != "bsp-workers") throw std::invalid_argument("no benchmark " + name);
  double const seconds_of_step = 20e-9 * static_cast<double>(work.bytes) / processors;
  return supersteps(work, work.workers, seconds_of_step);
}

int measure(std::string const& name, job& work, simulation::disks const& disks) {
  outcome const found = measured(name, work);
  auto const moved = work.store.total_statistics();
  fmt::print(
      "{{\"seconds\": {}, \"cpu_seconds\": {}, \"work_seconds\": {}, \"io_wait_seconds\": {}, "
      "\"read_bytes\": {}, \"written_bytes\": {}, \"swapped_out_bytes\": {}, "
      "\"swapped_in_bytes\": {}, \"messages_written_bytes\": {}, \"items\": {}, "
      "\"simulated_seconds\": {}, \"verified\": {}}}\n",
      found.seconds, found.cpu_seconds, found.work_seconds,
      static_cast<double>(moved.wait_ns) * 1e-9, found.read_bytes, found.written_bytes,
      found.report.total().swapped_out_bytes, found.report.total().swapped_in_bytes,
      found.report.messages_written_bytes, work.bytes / sizeof(number),
      seconds(disks.elapsed()).count(), found.verified);
  return found.verified ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> const words(argv + 1, argv + argc);
  if (words.size() < 5) {
    fmt::print(stderr, "usage: NAME BYTES MEMORY_BYTES WORKERS DIRECTORY [INPUT OUTPUT | DISKS]\n");
    return 2;
  }
  auto const workers = static_cast<std::uint32_t>(std::stoul(words[3]));
  simulation::disks const disks(words.size() == 6 ? std::stoul(words[5]) : 0);
  job work{std::stoull(words[1]), workers,
           outsize::storage({.disks = disks.or_folder(words[4]),
                             .memory_bytes = std::stoull(words[2]),
                             .threads = workers}),
           words.size() > 6 ? words[5] : "", words.size() > 6 ? words[6] : ""};
  return measure(words[0], work, disks);
} catch (std::exception const& e) {
  fmt::print(stderr, "virtual_processors: {}\n", e.what());
  return 1;
}
