// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/codec/detail/key_codec.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t frame_items = 256;
constexpr unsigned most_packed_bits = 56;  // a value then lies in eight bytes, wherever it begins
constexpr unsigned whole_word_bits = 64;
constexpr std::size_t word_bytes = sizeof(std::uint64_t);

static_assert(std::endian::native == std::endian::little, "bits are packed from the lowest byte");

/// What is told about a frame behind all of them.
struct frame_shape {
  std::uint8_t last_item;  // number of items - 1
  std::uint8_t key_bits;
  std::uint8_t other_bits;  // of items of two words

  std::size_t items() const noexcept { return std::size_t{last_item} + 1; }
};

struct block_footer {
  std::uint64_t first_key;
  std::uint64_t frames;
};

template <typename T>
constexpr bool has_other = std::is_same_v<T, word_pair>;
template <typename T>
constexpr std::size_t shape_bytes = has_other<T> ? 3 : 2;

std::uint64_t key_of(std::uint32_t item) noexcept { return item; }
std::uint64_t key_of(std::uint64_t item) noexcept { return item; }
std::uint64_t key_of(word_pair const& item) noexcept { return item.high; }

/// The bits for values of which `all` is the disjunction.
unsigned bits_for(std::uint64_t all) noexcept {
  auto const bits = static_cast<unsigned>(std::bit_width(all));
  return bits <= most_packed_bits ? bits : whole_word_bits;
}

std::size_t packed_bytes(std::size_t count, unsigned bits) noexcept {
  return div_up<std::size_t>(count * bits, 8);
}

std::uint64_t load_word(std::byte const* from) noexcept {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}
void store_word(std::uint64_t word, std::byte* to) noexcept { std::memcpy(to, &word, sizeof word); }

/// Writes value(0), value(1), … of `bits` each; up to seven bytes behind them are overwritten.
template <typename Value>
std::byte* pack(std::size_t count, unsigned bits, std::byte* to, Value const& value) noexcept {
  if (bits == whole_word_bits) {
    for (std::size_t i = 0; i < count; ++i) store_word(value(i), to + i * word_bytes);
    return to + count * word_bytes;
  }
  if (bits == 0) return to;
  std::byte* const begin = to;
  std::uint64_t pending = 0;
  unsigned pending_bits = 0;  // less than eight at the beginning of each step
  for (std::size_t i = 0; i < count; ++i) {
    pending |= value(i) << pending_bits;
    store_word(pending, to);
    pending_bits += bits;
    unsigned const full_bytes = pending_bits / 8;
    to += full_bytes;
    pending >>= full_bytes * 8;
    pending_bits %= 8;
  }
  return begin + packed_bytes(count, bits);
}

/// Hands value 0, 1, … to see(i, value); reads up to seven bytes behind them.
template <typename See>
void unpack(std::byte const* from, std::size_t count, unsigned bits, See const& see) noexcept {
  if (bits == whole_word_bits) {
    for (std::size_t i = 0; i < count; ++i) see(i, load_word(from + i * word_bytes));
    return;
  }
  std::uint64_t const mask = (std::uint64_t{1} << bits) - 1;
  for (std::size_t i = 0, at = 0; i < count; ++i, at += bits)
    see(i, (load_word(from + at / 8) >> (at % 8)) & mask);
}

/// What a frame's keys and other words look like, before they are written.
struct frame_plan {
  frame_shape shape;
  std::uint64_t least_other = 0;
  std::size_t bytes = 0;
};

std::size_t other_bytes(std::size_t count, unsigned bits) noexcept {
  return bits == whole_word_bits ? count * word_bytes : word_bytes + packed_bytes(count, bits);
}

template <typename T>
frame_plan plan_frame(std::span<T const> items, std::uint64_t previous_key) noexcept {
  std::uint64_t differences = key_of(items[0]) - previous_key;
  for (std::size_t i = 1; i < items.size(); ++i)
    differences |= key_of(items[i]) - key_of(items[i - 1]);
  frame_plan plan{.shape = {static_cast<std::uint8_t>(items.size() - 1),
                            static_cast<std::uint8_t>(bits_for(differences)), 0}};
  plan.bytes = packed_bytes(items.size(), plan.shape.key_bits);
  if constexpr (has_other<T>) {
    std::uint64_t least = items[0].low, greatest = items[0].low;
    for (T const& item : items) {
      least = std::min(least, item.low);
      greatest = std::max(greatest, item.low);
    }
    unsigned bits = bits_for(greatest - least);
    if (other_bytes(items.size(), bits) > items.size() * word_bytes) bits = whole_word_bits;
    plan.shape.other_bits = static_cast<std::uint8_t>(bits);
    plan.least_other = least;
    plan.bytes += other_bytes(items.size(), bits);
  }
  return plan;
}

template <typename T>
void write_frame(std::span<T const> items, std::uint64_t previous_key, frame_plan const& plan,
                 std::byte* to) noexcept {
  auto const difference = [&](std::size_t i) {
    return key_of(items[i]) - (i == 0 ? previous_key : key_of(items[i - 1]));
  };
  to = pack(items.size(), plan.shape.key_bits, to, difference);
  if constexpr (has_other<T>) {
    if (plan.shape.other_bits == whole_word_bits) {
      pack(items.size(), whole_word_bits, to, [&](std::size_t i) { return items[i].low; });
      return;
    }
    store_word(plan.least_other, to);
    pack(items.size(), plan.shape.other_bits, to + word_bytes,
         [&](std::size_t i) { return items[i].low - plan.least_other; });
  }
}

template <typename T>
frame_shape read_shape(std::byte const* table_end, std::size_t frame) noexcept {
  std::byte const* const at = table_end - (frame + 1) * shape_bytes<T>;
  return {static_cast<std::uint8_t>(at[0]), static_cast<std::uint8_t>(at[1]),
          has_other<T> ? static_cast<std::uint8_t>(at[2]) : std::uint8_t{0}};
}

template <typename T>
std::size_t frame_bytes(frame_shape const& shape) noexcept {
  std::size_t const keys = packed_bytes(shape.items(), shape.key_bits);
  return has_other<T> ? keys + other_bytes(shape.items(), shape.other_bits) : keys;
}

bool is_width(unsigned bits) noexcept {
  return bits <= most_packed_bits || bits == whole_word_bits;
}

/// The frames of a block, if it holds what a block of so many items should.
template <typename T>
std::vector<frame_shape> shapes_of(std::span<std::byte const> block, std::size_t items,
                                   block_footer const& footer) {
  std::size_t const room = block.size() - sizeof footer;
  if (footer.frames > items || footer.frames > room / shape_bytes<T>) return {};
  std::vector<frame_shape> shapes(static_cast<std::size_t>(footer.frames));
  std::size_t sum_items = 0, sum_bytes = shapes.size() * shape_bytes<T>;
  for (std::size_t f = 0; f < shapes.size(); ++f) {
    shapes[f] = read_shape<T>(block.data() + room, f);
    if (!is_width(shapes[f].key_bits) || !is_width(shapes[f].other_bits)) return {};
    std::size_t const bytes = frame_bytes<T>(shapes[f]);
    if (bytes > shapes[f].items() * sizeof(T)) return {};
    sum_items += shapes[f].items();
    sum_bytes += bytes;
  }
  if (sum_items != items || sum_bytes > room) return {};
  return shapes;
}

template <typename T>
std::uint64_t decode_frame(std::byte const* from, frame_shape const& shape, std::uint64_t key,
                           T* to) noexcept {
  std::size_t const count = shape.items();
  unpack(from, count, shape.key_bits, [&](std::size_t i, std::uint64_t difference) {
    key += difference;
    if constexpr (has_other<T>) {
      to[i].high = key;
    } else {
      to[i] = static_cast<T>(key);
    }
  });
  if constexpr (has_other<T>) {
    from += packed_bytes(count, shape.key_bits);
    if (shape.other_bits == whole_word_bits) {
      unpack(from, count, whole_word_bits,
             [&](std::size_t i, std::uint64_t word) { to[i].low = word; });
    } else {
      std::uint64_t const least = load_word(from);
      unpack(from + word_bytes, count, shape.other_bits,
             [&](std::size_t i, std::uint64_t distance) { to[i].low = least + distance; });
    }
  }
  return key;
}

}  // namespace

template <typename T>
std::size_t key_encoder<T>::append(std::span<T const> sorted) noexcept {
  std::size_t taken = 0;
  for (auto rest = sorted; !rest.empty(); rest = sorted.subspan(taken)) {
    std::size_t count = std::min(frame_items, rest.size());
    while (!append_frame(rest.first(count))) {
      if (count == 1) return taken;
      count /= 2;  // shorter frames fill the end of a block
    }
    taken += count;
  }
  return taken;
}

template <typename T>
bool key_encoder<T>::append_frame(std::span<T const> sorted) noexcept {
  if (items_ == 0) first_key_ = last_key_ = key_of(sorted[0]);
  frame_plan const plan = plan_frame(sorted, last_key_);
  std::size_t const ends = sizeof(block_footer) + (frames_ + 1) * shape_bytes<T>;
  // One word more: packing overwrites what follows a frame.
  if (payload_bytes_ + plan.bytes + word_bytes + ends > block_.size()) return false;
  if ((items_ + sorted.size()) * sizeof(T) + ends + alignment_ > held_bytes_) return false;
  write_frame(sorted, last_key_, plan, block_.data() + payload_bytes_);
  std::byte* const shape = block_.data() + block_.size() - ends;
  shape[0] = static_cast<std::byte>(plan.shape.last_item);
  shape[1] = static_cast<std::byte>(plan.shape.key_bits);
  if constexpr (has_other<T>) shape[2] = static_cast<std::byte>(plan.shape.other_bits);
  payload_bytes_ += plan.bytes;
  items_ += sorted.size();
  ++frames_;
  last_key_ = key_of(sorted.back());
  return true;
}

template <typename T>
std::size_t key_encoder<T>::close() noexcept {
  block_footer const footer{first_key_, frames_};
  std::size_t const table_bytes = frames_ * shape_bytes<T>;
  std::size_t const used = round_up(payload_bytes_ + table_bytes + sizeof footer, alignment_);
  OUTSIZE_ASSERT(used <= block_.size());
  std::byte* const table = block_.data() + used - sizeof footer - table_bytes;
  std::memmove(table, block_.data() + block_.size() - sizeof footer - table_bytes, table_bytes);
  std::memcpy(table + table_bytes, &footer, sizeof footer);
  std::fill(block_.data() + payload_bytes_, table, std::byte{0});
  return used;
}

template <typename T>
bool decode_keys(std::span<std::byte const> block, std::span<T> items) {
  block_footer footer;
  if (block.size() < sizeof footer) return false;
  std::memcpy(&footer, block.data() + block.size() - sizeof footer, sizeof footer);
  auto const shapes = shapes_of<T>(block, items.size(), footer);
  if (shapes.empty()) return items.empty() && footer.frames == 0;
  // A frame may be overwritten by its own items while it is being read.
  std::array<std::byte, frame_items * sizeof(T) + word_bytes> frame{};
  std::byte const* from = block.data();
  T* to = items.data();
  std::uint64_t key = footer.first_key;
  for (frame_shape const& shape : shapes) {
    std::size_t const bytes = frame_bytes<T>(shape);
    std::memcpy(frame.data(), from, bytes);
    key = decode_frame(frame.data(), shape, key, to);
    from += bytes;
    to += shape.items();
  }
  return true;
}

template <typename T>
double encoded_share(std::span<T const> sorted) noexcept {
  constexpr std::size_t samples = 16;
  std::size_t const each = std::min(frame_items, sorted.size());
  if (each == 0) return 1;
  std::size_t bytes = 0;
  for (std::size_t s = 0; s < samples; ++s) {
    auto const frame = sorted.subspan((sorted.size() - each) / samples * s, each);
    bytes += plan_frame(frame, key_of(frame[0])).bytes + shape_bytes<T>;
  }
  return static_cast<double>(bytes) / static_cast<double>(samples * each * sizeof(T));
}

template class key_encoder<std::uint32_t>;
template class key_encoder<std::uint64_t>;
template class key_encoder<word_pair>;
template bool decode_keys(std::span<std::byte const>, std::span<std::uint32_t>);
template bool decode_keys(std::span<std::byte const>, std::span<std::uint64_t>);
template bool decode_keys(std::span<std::byte const>, std::span<word_pair>);
template double encoded_share(std::span<std::uint32_t const>) noexcept;
template double encoded_share(std::span<std::uint64_t const>) noexcept;
template double encoded_share(std::span<word_pair const>) noexcept;

}  // namespace outsize::detail
