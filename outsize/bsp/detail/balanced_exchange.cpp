// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/balanced_exchange.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include <outsize/bsp/allocator.hpp>
#include <outsize/bsp/bsp_error.hpp>

namespace outsize::bsp::detail {

namespace {

/// The items that member `source` sends to `destination` by way of `over`: every p-th of them.
struct dealt_items {
  std::uint64_t first;
  std::uint64_t count;
};

dealt_items dealt(std::uint64_t items, std::uint32_t source, std::uint32_t destination,
                  std::uint32_t over, std::uint32_t members) {
  std::uint64_t const first = (2 * std::uint64_t{members} + over - source - destination) % members;
  return {first, first >= items ? 0 : (items - first - 1) / members + 1};
}

/// Messages side by side, one for each member.
class messages {
 public:
  explicit messages(std::uint32_t members) : lengths_(members) {}

  void note(std::uint32_t to, std::uint64_t bytes) { lengths_[to] += bytes; }
  /// All lengths are known.
  void make() {
    std::uint64_t sum = 0;
    for (std::uint64_t const length : lengths_) {
      begins_.push_back(sum);
      sum += length;
    }
    bytes_.resize(sum);
  }
  std::byte* at(std::uint32_t to) { return bytes_.data() + begins_[to]; }
  std::span<std::byte> of(std::uint32_t to) {
    return std::span(bytes_).subspan(begins_[to], lengths_[to]);
  }
  std::uint64_t longest() const { return *std::max_element(lengths_.begin(), lengths_.end()); }

  void put(member& mine, std::uint64_t number) {
    std::vector<std::span<std::byte const>> parts;
    for (std::uint32_t to = 0; to < lengths_.size(); ++to) parts.emplace_back(of(to));
    mine.put_each(number, parts);
  }
  void take(member& mine, std::uint64_t number, char const* name) {
    std::vector<incoming> const parts = mine.wait_for_parts(number, lengths_.size(), name);
    for (incoming const& part : parts) lengths_[part.source] = part.length_bytes();
    make();
    mine.take_all(parts, [&](std::size_t i) { return of(parts[i].source); });
  }

 private:
  std::vector<std::uint64_t> lengths_, begins_;
  vector<std::byte> bytes_;
};

using byte_spans = std::span<std::span<std::byte const> const>;

/// The two rounds of one member. A message of the first begins with the numbers of items that its
/// sender has for each member.
class two_rounds {
 public:
  two_rounds(member& mine, char const* name, std::size_t item_bytes)
      : mine_(mine), name_(name), item_bytes_(item_bytes), members_(mine.count()) {}

  messages deal(byte_spans out) const {
    std::vector<std::uint64_t> counts;
    for (std::span<std::byte const> const part : out) counts.push_back(part.size() / item_bytes_);
    std::span<std::byte const> const header = std::as_bytes(std::span(counts));
    messages made(members_);
    for_all([&](std::uint32_t over, std::uint32_t to) {
      made.note(over, which(counts[to], mine_.rank(), to, over).count * item_bytes_);
      if (to == 0) made.note(over, header.size());
    });
    made.make();
    std::byte* place = nullptr;
    for_all([&](std::uint32_t over, std::uint32_t to) {
      if (to == 0) place = std::copy(header.begin(), header.end(), made.at(over));
      dealt_items const some = which(counts[to], mine_.rank(), to, over);
      for (std::uint64_t i = 0; i < some.count; ++i, place += item_bytes_) {
        std::memcpy(place, out[to].data() + item(some, i), item_bytes_);
      }
    });
    return made;
  }

  messages hand_on(messages& came) const {
    messages made(members_);
    auto const bytes = [&](std::uint32_t source, std::uint32_t to) {
      std::uint64_t count;
      std::memcpy(&count, came.at(source) + to * sizeof count, sizeof count);
      return which(count, source, to, mine_.rank()).count * item_bytes_;
    };
    for_all([&](std::uint32_t source, std::uint32_t to) { made.note(to, bytes(source, to)); });
    made.make();
    std::vector<std::byte*> places;
    for (std::uint32_t to = 0; to < members_; ++to) places.push_back(made.at(to));
    std::byte const* from = nullptr;
    for_all([&](std::uint32_t source, std::uint32_t to) {
      if (to == 0) from = came.at(source) + members_ * sizeof(std::uint64_t);
      places[to] = std::copy_n(from, bytes(source, to), places[to]);
      from += bytes(source, to);
    });
    return made;
  }

  void place(messages& came, std::span<std::span<std::byte> const> in) const {
    for (std::uint32_t over = 0; over < members_; ++over) check_length(came, over, in);
    std::byte const* from = nullptr;
    for_all([&](std::uint32_t over, std::uint32_t source) {
      if (source == 0) from = came.at(over);
      dealt_items const some = which(in[source].size() / item_bytes_, source, mine_.rank(), over);
      for (std::uint64_t i = 0; i < some.count; ++i, from += item_bytes_) {
        std::memcpy(in[source].data() + item(some, i), from, item_bytes_);
      }
    });
  }

 private:
  template <typename Function>
  void for_all(Function const& function) const {
    for (std::uint32_t outer = 0; outer < members_; ++outer) {
      for (std::uint32_t inner = 0; inner < members_; ++inner) function(outer, inner);
    }
  }
  dealt_items which(std::uint64_t items, std::uint32_t source, std::uint32_t to,
                    std::uint32_t over) const {
    return dealt(items, source, to, over, members_);
  }
  std::uint64_t item(dealt_items some, std::uint64_t i) const {
    return (some.first + i * members_) * item_bytes_;
  }
  void check_length(messages& came, std::uint32_t over,
                    std::span<std::span<std::byte> const> in) const {
    std::uint64_t bytes = 0;
    for (std::uint32_t source = 0; source < members_; ++source) {
      bytes += which(in[source].size() / item_bytes_, source, mine_.rank(), over).count;
    }
    bytes *= item_bytes_;
    if (bytes == came.of(over).size()) return;
    throw bsp_error(mine_.global_rank(),
                    fmt::format("virtual processor {}: {}: {} bytes came for buffers of {}",
                                mine_.global_rank(), name_, came.of(over).size(), bytes));
  }

  member& mine_;
  char const* name_;
  std::size_t item_bytes_;
  std::uint32_t members_;
};

}  // namespace

std::uint64_t balanced_exchange(member& mine, char const* name, byte_spans out,
                                std::span<std::span<std::byte> const> in, std::size_t item_bytes) {
  two_rounds const rounds(mine, name, item_bytes);
  std::uint64_t const first = mine.begin(name, 0, item_bytes);
  std::uint64_t longest = 0;
  {
    messages dealing = rounds.deal(out);
    dealing.put(mine, first);
    longest = dealing.longest() - mine.count() * sizeof(std::uint64_t);
  }
  std::uint64_t const second = mine.begin(name, 0, item_bytes);
  {
    messages came(mine.count());
    came.take(mine, first, name);
    messages handing_on = rounds.hand_on(came);
    handing_on.put(mine, second);
    longest = std::max(longest, handing_on.longest());
  }
  messages came(mine.count());
  came.take(mine, second, name);
  rounds.place(came, in);
  return longest;
}

}  // namespace outsize::bsp::detail
