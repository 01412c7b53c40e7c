// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Kept files of all kinds in which fields, places and pages were changed, and the checksums made
// right again: to open, read and change them ends, with a result or a format_error that names the
// file, or, where a field makes pages long, a budget_error.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/checksum_table.hpp>
#include <outsize/container/detail/array/paged_items.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/priority_queue.hpp>
#include <outsize/container/set.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/page/detail/kept_file.hpp>
#include <outsize/page/page_options.hpp>
#include <outsize/testing/crashing_file.hpp>
#include <outsize/testing/kept_image.hpp>

#include "fuzz_target.hpp"

namespace outsize::fuzz {
namespace {

using number = std::uint64_t;
constexpr number most_keys = 200;
constexpr char const* file_name = "some.file";

storage& store() {
  static storage all({.disks = {disk_options("none",
                                             [](io::request_queue&) -> io::file_ptr {
                                               return io::make_memory_file("none");
                                             })},
                      .memory_bytes = 8_MiB,
                      .threads = 1});
  return all;
}

// ---- containers of all kinds ----

/// The items of a vector, in the place of one that has a path.
class array {
 public:
  static array create(io::file_ptr file) {
    return array(detail::kept_file::create(store(), std::move(file), kind(), {64}));
  }
  static array open(io::file_ptr file, io::access mode) {
    return array(detail::kept_file::open(store(), std::move(file), mode, kind()));
  }
  void fill() {
    for (number i = 0; i < most_keys; ++i) items_.append(i);
    items_.close();
  }
  void read() const {
    for (number i = 0; i < std::min(items_.size(), most_keys); ++i) items_.value(i);
    if (items_.size() > 0) items_.value(items_.size() - 1);
  }
  void change() {
    for (number i = 0; i < 20; ++i) items_.append(i);
    items_.at(items_.size() / 2) = 1;
    items_.flush();
    items_.resize(items_.size() / 2);
    items_.close();
  }

 private:
  static detail::kept_kind kind() { return detail::kept_vector<number>(); }
  explicit array(std::shared_ptr<detail::kept_file> const& file)
      : items_(detail::kept_pages_of(store(), file, {.cache_pages = 4, .spare_pages = 1})) {}

  detail::paged_items<number> items_;
};

void require_name(std::string const& message) {
  require(message.starts_with(std::string(file_name) + ": "),
          "an error names the file: " + message);
}

/// The first action that finds the file damaged is the last one.
void until_refused(std::function<void()> const& action) {
  try {
    action();
  } catch (format_error const& e) {
    require_name(e.what());
  } catch (corrupt_block const& e) {
    require_name(e.what());
  }
}

template <typename Range>
void count_all(Range&& range) {
  number found = 0;
  for ([[maybe_unused]] auto const& each : range)
    require(++found < 100 * most_keys, "an iteration comes to an end");
}

/// What all have that find items by their keys.
template <typename Container>
class keyed {
 public:
  static constexpr bool is_hashed = requires(Container& c) { c.bucket_count(); };
  static constexpr bool is_set = std::is_same_v<typename Container::value_type, number>;

  static keyed create(io::file_ptr file) {
    if constexpr (is_hashed)
      return {Container::create(std::move(file), store(), options())};
    else
      return {Container::create(store(), std::move(file), options())};
  }
  static keyed open(io::file_ptr file, io::access mode) {
    if constexpr (is_hashed)
      return {Container::open(std::move(file), store(), mode, options())};
    else
      return {Container::open(store(), std::move(file), mode, options())};
  }
  void fill() {
    for (number i = 0; i < most_keys; ++i) insert(i * 37 % most_keys / 2 * 2);
    for (number i = 0; i < most_keys; i += 8) all.erase(i);
    all.close();
  }
  void read() const {
    until_refused([&] { count_all(all); });
    until_refused([&] {
      for (number key = 0; key < most_keys; key += 3) all.count(key);
    });
    std::vector<number> keys(most_keys);
    for (number i = 0; i < most_keys; ++i) keys[i] = most_keys - i;
    until_refused([&] { all.find_many(keys, [](std::size_t, auto const&) {}); });
    until_refused([&] {
      for (number key = 0; key < most_keys; key += 40) {
        auto const [from, to] = all.equal_range(key);
        number steps = 0;
        for (auto at = from; at != to; ++at)
          require(++steps < 100 * most_keys, "a range comes to an end");
      }
    });
    if constexpr (!is_hashed) {
      until_refused([&] { count_all(all.forward()); });
      until_refused([&] { count_all(all.backward()); });
      until_refused([&] {
        for (number key = 0; key < most_keys; key += 40)
          count_all(std::ranges::subrange(all.lower_bound(key), all.end()));
      });
      until_refused([&] { count_all(std::ranges::subrange(all.rbegin(), all.rend())); });
      until_refused([&] { count_all(all.forward(all.find(2), all.upper_bound(most_keys / 2))); });
    }
  }
  void change() {
    until_refused([&] {
      for (number i = 0; i < 40; ++i) insert(i * 5);
    });
    until_refused([&] {
      for (number i = 0; i < most_keys; i += 3) all.erase(i);
    });
    until_refused([&] { all.flush(); });
    until_refused([&] { erase_if(all, [](auto const& e) { return key_of(e) % 3 != 0; }); });
    until_refused([&] {
      for (number i = 0; i < 10; ++i) insert(i);
    });
    until_refused([&] { count_all(std::as_const(all)); });
    until_refused([&] { all.close(); });
  }

  Container all;

 private:
  static auto options() {
    if constexpr (is_hashed)
      return unordered_map_options{
          .page_bytes = 240, .cache_pages = 8, .spare_pages = 1, .pending_bytes = 1024};
    else
      return map_options{.leaf_bytes = 100,
                         .node_bytes = 90,
                         .leaf_cache_bytes = 1,
                         .node_cache_bytes = 1,
                         .spare_leaves = 2,
                         .read_ahead_bytes = 8 * 4 * 100};
  }
  static number key_of(auto const& entry) {
    if constexpr (is_set)
      return entry;
    else
      return entry.first;
  }
  void insert(number key) {
    if constexpr (is_set)
      all.insert(key);
    else
      all.insert({key, key});
  }
};

/// A priority queue, whose catalogue has checksums of its own.
class waiting {
 public:
  static waiting create(io::file_ptr file) {
    return waiting(queue::create(store(), std::move(file), options));
  }
  static waiting open(io::file_ptr file, io::access) {
    return waiting(queue::open(store(), std::move(file), options));
  }
  void fill() {
    for (number i = 0; i < 40 * most_keys; ++i) all_.push(i * 37 % most_keys);
    for (number i = 0; i < most_keys; ++i) all_.pop();
    all_.close();
  }
  void read() {
    until_refused([&] { count_all(); });
  }
  void change() {
    until_refused([&] {
      for (number i = 0; i < 40 * most_keys; ++i) all_.push(i);
      all_.flush();
    });
    read();
    until_refused([&] { all_.close(); });
  }
  static void repair(scratch::kept_image& file, scratch::kept_image const& sound) {
    for (auto const& page : sound.pages()) {
      if (page.row != 1) continue;
      auto const content = std::span(file.bytes()).subspan(page.offset + 8, page.length - 8);
      file.set(page.offset, block::checksum_of(content) + page.number);
    }
  }

 private:
  using queue = priority_queue<number>;
  static constexpr priority_queue_options options{.memory_bytes = 256_KiB, .block_bytes = 1024};

  explicit waiting(queue from) : all_(std::move(from)) {}
  void count_all() {
    number found = 0;
    for (; !all_.empty(); all_.pop()) require(++found < 400 * most_keys, "a queue comes to an end");
  }

  queue all_;
};

/// A kind of file: a sound one, and what is tried with one that is not.
struct kind_of_file {
  scratch::kept_image sound;
  std::span<scratch::kept_field const> state;
  void (*check)(scratch::kept_image const& damaged);
  /// Makes checksums right, beside those of the header and the index.
  void (*repair)(scratch::kept_image& damaged, scratch::kept_image const& sound);
};

template <typename Container>
kind_of_file kind_of(std::span<scratch::kept_field const> state) {
  auto const journal = std::make_shared<scratch::file_journal>();
  Container::create(std::make_unique<scratch::crashing_file>(journal)).fill();
  std::mt19937_64 random(1);
  auto const file = journal->file_after(journal->size(), random);
  std::vector<std::byte> bytes(file->size_bytes());
  file->read(0, bytes)->wait();
  return {scratch::kept_image(std::move(bytes)), state,
          [](scratch::kept_image const& damaged) {
            try {
              until_refused([&] {
                Container::open(damaged.as_file(file_name), io::access::read_only).read();
              });
              until_refused([&] {
                Container::open(damaged.as_file(file_name), io::access::read_write).change();
              });
            } catch (budget_error const&) {
            }
          },
          [](scratch::kept_image& damaged, scratch::kept_image const& sound) {
            if constexpr (requires { Container::repair(damaged, sound); })
              Container::repair(damaged, sound);
          }};
}

std::vector<kind_of_file> const& kinds() {
  static std::vector<kind_of_file> const all = {
      kind_of<array>(scratch::kept_vector_fields),
      kind_of<keyed<map<number, number>>>(scratch::kept_tree_fields),
      kind_of<keyed<multimap<number, number>>>(scratch::kept_tree_fields),
      kind_of<keyed<set<number>>>(scratch::kept_tree_fields),
      kind_of<keyed<multiset<number>>>(scratch::kept_tree_fields),
      kind_of<keyed<unordered_map<number, number>>>(scratch::kept_table_fields),
      kind_of<waiting>(scratch::kept_queue_fields),
  };
  return all;
}

// ---- damage ----

number take_number(input_bytes& bytes, std::size_t size) {
  number value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes.take();
  return value;
}

/// What a number becomes: another one, or one that has to do with it.
number changed(number old, input_bytes& bytes) {
  switch (bytes.take() % 8) {
    case 0:
      return bytes.take();
    case 1:
      return ~number{bytes.take()};
    case 2:
      return number{1} << bytes.take() % 64;
    case 3:
      return old + bytes.take();
    case 4:
      return old - bytes.take();
    case 5:
      return old ^ number { 1 } << bytes.take() % 64;
    case 6:
      return take_number(bytes, 2);
    default:
      return take_number(bytes, 8);
  }
}

/// One change as the bytes say: to a field, to a place in the index, or to a page.
void damage(scratch::kept_image& file, kind_of_file const& kind, input_bytes& bytes) {
  auto const change = [&](std::size_t offset, std::size_t size) {
    if (offset + size <= file.bytes().size())
      file.set(offset, changed(file.get(offset, size), bytes), size);
  };
  auto const change_field = [&](std::span<scratch::kept_field const> of) {
    auto const& field = of[bytes.take() % of.size()];
    file.set(field, changed(file.get(field), bytes));
  };
  auto const pages = kind.sound.pages();
  switch (bytes.take() % 5) {
    case 0:
      return change_field(scratch::kept_fields);
    case 1:
      return change_field(kind.state);
    case 2:
      return change(kind.sound.get(scratch::kept_fields[3]) + 8 * number{bytes.take()}, 8);
    case 3: {
      auto const& page = pages[bytes.take() % pages.size()];
      return change(page.offset + 8 * (bytes.take() % (page.length / 8)), 8);
    }
    default: {
      auto const& page = pages[bytes.take() % pages.size()];
      return change(page.offset + bytes.take() % (page.length - 3), 4);
    }
  }
}

}  // namespace

void check(std::string_view input) {
  input_bytes bytes(input);
  auto const& kind = kinds()[bytes.take() % kinds().size()];
  auto damaged = kind.sound;
  for (int i = 0; i < 8 && !bytes.rest().empty(); ++i) damage(damaged, kind, bytes);
  kind.repair(damaged, kind.sound);
  damaged.repair();
  kind.check(damaged);
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (char kind = 0; kind < 7; ++kind) {
    all.push_back({kind});
    // A field, the state, the index, and pages.
    for (char what = 0; what < 5; ++what)
      for (char how = 0; how < 7; ++how)
        all.push_back({kind, what, static_cast<char>(3 * how + kind), how, 3, what, 2, how, 5});
  }
  return all;
}

std::size_t mutation_count() { return 3'000; }

}  // namespace outsize::fuzz
