// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The program of a benchmark of maps, for ours and the peers alike; C++17, as STXXL asks for.
//
//   PROGRAM NAME BYTES MEMORY_BYTES THREADS DIRECTORY [INPUT]
//
// NAME is that of a benchmark, or map-fill, which leaves a filled map in DIRECTORY for the others;
// map-fill-with-room does so for insertions, and may leave room for what will be inserted.
// A map that cannot be opened again fills itself instead when it is made for another benchmark than
// map-bulk; that one has the file INPUT. Timed are the operations, and the flush after those that
// change something; verified is the sum of all that came back, or of all that the map has in the
// end. Prints one JSON object on the last line of stdout.
//
// A Map has
//
//   Map(job)                    opens what is in the folder, or makes it
//   bulk(sorted_entries)        into the empty map
//   insert(entry)               which is not there yet; may be put off until flush()
//   erase(key)                  which is there; may be put off until flush()
//   find(key, value&) -> bool
//   insert_many(entries), erase_many(keys)    the same for many; may sort them
//   find_many(keys, digest&)    adds the entries found, in any order; may sort the keys
//   scan(digest&)               adds all, in order
//   flush()                     so that all is on the disk
//   counters() -> io_counters   of all I/O until now
//   version() -> string         static

#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "map_workload.hpp"

namespace map_workload {

struct job {
  std::string name;
  workload load;
  std::uint64_t memory_bytes;
  unsigned threads;
  std::string directory;
  std::string input;

  bool is_bulk() const { return name == "map-bulk"; }
  bool leaves_room() const { return name == "map-fill-with-room"; }
  bool is_fill() const { return name == "map-fill" || leaves_room(); }
  bool is_scan() const { return name == "map-scan"; }
  bool changes_at_random() const {
    return name.rfind("map-insert", 0) == 0 || name.rfind("map-erase", 0) == 0;
  }
  /// Whether one call is given all operations, so that the best way is nearly a scan.
  bool is_at_once() const {
    return name == "map-find-all" || name == "map-insert-all" || name == "map-erase-all";
  }
  /// How many keys or entries one call is given, where many are.
  std::uint64_t batch() const { return is_at_once() ? load.operations() : workload::batch; }
};

/// A wait below zero is one that nobody has measured.
struct io_counters {
  double wait_seconds = -1;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
};

/// What the kernel has counted for this process, all threads and mapped files included.
inline io_counters process_counters() {
  std::ifstream lines("/proc/self/io");
  std::map<std::string, std::uint64_t> found;
  std::string name;
  while (lines >> name) lines >> found[name];
  return {-1, found["read_bytes:"], found["write_bytes:"]};
}

/// Looks keys up one after another, in ascending order: the best way where there is no other.
template <typename Map>
void find_sorted(Map& map, std::vector<std::uint64_t>& keys, digest& found) {
  std::sort(keys.begin(), keys.end());
  value v;
  for (auto const key : keys)
    if (map.find(key, v)) found.add(key, v);
}

/// Adds entries one after another, in ascending order; and removes some.
template <typename Map>
void insert_sorted(Map& map, std::vector<entry>& entries) {
  std::sort(entries.begin(), entries.end(), has_lower_key);
  for (auto const& e : entries) map.insert(e);
}
template <typename Map>
void erase_sorted(Map& map, std::vector<std::uint64_t>& keys) {
  std::sort(keys.begin(), keys.end());
  for (auto const key : keys) map.erase(key);
}

/// What happened before the clock was stopped, and whether what came of it is right.
struct outcome {
  double seconds = 0;
  io_counters moved;
  bool verified = true;
};

template <typename Map, typename Work>
outcome timed(Map& map, Work const& work) {
  auto const before = map.counters();
  auto const begin = std::chrono::steady_clock::now();
  work();
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  auto const after = map.counters();
  return {took.count(),
          {after.wait_seconds < 0 ? -1 : after.wait_seconds - before.wait_seconds,
           after.read_bytes - before.read_bytes, after.written_bytes - before.written_bytes},
          true};
}

/// Whether the map has these entries and no others.
template <typename Map>
bool has(Map& map, digest const& expected) {
  digest all;
  map.scan(all);
  return all.ascending && all.same_entries(expected);
}

template <typename Map>
outcome fill(job const& work, Map& map) {
  return timed(map, [&] {
    map.bulk(sorted_entries(work.load, work.input));
    map.flush();
  });
}

template <typename Map>
outcome bulk(job const& work, Map& map) {
  outcome found = fill(work, map);
  found.verified = has(map, work.load.all_stored());
  return found;
}

/// Calls work(some) for all operations, by as many as are in a batch; at(j) is what is done by j.
template <typename At, typename Work>
void in_batches(job const& work, At at, Work deal) {
  std::vector<decltype(at(0))> batch;
  for (std::uint64_t j = 0; j < work.load.operations(); j += batch.size()) {
    batch.resize(std::min<std::uint64_t>(work.batch(), work.load.operations() - j));
    for (std::uint64_t k = 0; k < batch.size(); ++k) batch[k] = at(j + k);
    deal(batch);
  }
}

template <typename Map>
bool has_all_and_inserted(job const& work, Map& map) {
  digest expected = work.load.all_stored();
  digest const more = work.load.all_inserted();
  expected.count += more.count;
  expected.sum += more.sum;
  return has(map, expected);
}

template <typename Map>
outcome insert(job const& work, Map& map) {
  outcome found = timed(map, [&] {
    for (std::uint64_t j = 0; j < work.load.operations(); ++j)
      map.insert(entry_of(work.load.inserted(j)));
    map.flush();
  });
  found.verified = has_all_and_inserted(work, map);
  return found;
}

template <typename Map>
outcome insert_many(job const& work, Map& map) {
  auto const at = [&](std::uint64_t j) { return entry_of(work.load.inserted(j)); };
  outcome found = timed(map, [&] {
    in_batches(work, at, [&](std::vector<entry>& some) { map.insert_many(some); });
    map.flush();
  });
  found.verified = has_all_and_inserted(work, map);
  return found;
}

template <typename Map>
bool has_all_but_erased(job const& work, Map& map) {
  digest expected = work.load.all_stored();
  digest const less = work.load.first_shuffled();
  expected.count -= less.count;
  expected.sum -= less.sum;
  return has(map, expected);
}

template <typename Map>
outcome erase(job const& work, Map& map) {
  outcome found = timed(map, [&] {
    for (std::uint64_t j = 0; j < work.load.operations(); ++j) map.erase(work.load.shuffled(j));
    map.flush();
  });
  found.verified = has_all_but_erased(work, map);
  return found;
}

template <typename Map>
outcome erase_many(job const& work, Map& map) {
  auto const at = [&](std::uint64_t j) { return work.load.shuffled(j); };
  outcome found = timed(map, [&] {
    in_batches(work, at, [&](std::vector<std::uint64_t>& some) { map.erase_many(some); });
    map.flush();
  });
  found.verified = has_all_but_erased(work, map);
  return found;
}

template <typename Map>
outcome find(job const& work, Map& map) {
  digest all;
  outcome found = timed(map, [&] {
    value v;
    for (std::uint64_t j = 0; j < work.load.operations(); ++j) {
      auto const key = work.load.shuffled(j);
      if (map.find(key, v)) all.add(key, v);
    }
  });
  found.verified = all.same_entries(work.load.first_shuffled());
  return found;
}

template <typename Map>
outcome find_many(job const& work, Map& map) {
  digest all;
  auto const at = [&](std::uint64_t j) { return work.load.shuffled(j); };
  outcome found = timed(map, [&] {
    in_batches(work, at, [&](std::vector<std::uint64_t>& some) { map.find_many(some, all); });
  });
  found.verified = all.same_entries(work.load.first_shuffled());
  return found;
}

template <typename Map>
outcome scan(job const& work, Map& map) {
  digest all;
  outcome found = timed(map, [&] { map.scan(all); });
  found.verified = all.ascending && all.same_entries(work.load.all_stored());
  return found;
}

template <typename Map>
void run(job const& work) {
  std::map<std::string, std::function<outcome(job const&, Map&)>> const all = {
      {"map-fill", fill<Map>},
      {"map-fill-with-room", fill<Map>},
      {"map-bulk", bulk<Map>},
      {"map-insert", insert<Map>},
      {"map-find", find<Map>},
      {"map-find-many", find_many<Map>},
      {"map-scan", scan<Map>},
      {"map-erase", erase<Map>},
      {"map-insert-many", insert_many<Map>},
      {"map-erase-many", erase_many<Map>},
      {"map-find-all", find_many<Map>},
      {"map-insert-all", insert_many<Map>},
      {"map-erase-all", erase_many<Map>}};
  auto const operation = all.find(work.name);
  if (operation == all.end()) throw std::invalid_argument("no benchmark of maps: " + work.name);
  Map map(work);
  auto const found = operation->second(work, map);
  auto const waited =
      found.moved.wait_seconds < 0 ? "null" : std::to_string(found.moved.wait_seconds);
  std::printf(
      "\n{\"version\": \"%s\", \"seconds\": %f, \"io_wait_seconds\": %s, \"read_bytes\": %llu, "
      "\"written_bytes\": %llu, \"verified\": %s}\n",
      Map::version().c_str(), found.seconds, waited.c_str(),
      static_cast<unsigned long long>(found.moved.read_bytes),
      static_cast<unsigned long long>(found.moved.written_bytes),
      found.verified ? "true" : "false");
}

template <typename Map>
int main_of(int argc, char** argv) {
  try {
    if (argc < 6 || argc > 7)
      throw std::invalid_argument("usage: NAME BYTES MEMORY_BYTES THREADS DIRECTORY [INPUT]");
    run<Map>({argv[1], workload(std::strtoull(argv[2], nullptr, 10)),
              std::strtoull(argv[3], nullptr, 10),
              static_cast<unsigned>(std::strtoul(argv[4], nullptr, 10)), argv[5],
              argc == 7 ? argv[6] : ""});
    return 0;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 2;
  }
}

}  // namespace map_workload
