// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The messages that have come for one virtual processor and have not been taken: where their bytes
// lie, and how they are found.
//
// Those of collective operations are found by group and number of the operation, those of senders
// by group, source and tag, in the order in which they came. Used with the lock of the run held.
// Layer: bsp.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <outsize/bsp/detail/message_store.hpp>

namespace outsize::bsp::detail {

/// A message that has come.
struct envelope {
  std::uint32_t group = 0;
  std::uint32_t source = 0;  ///< The sender's rank in the group.
  std::int64_t tag = 0;
  message_store::ticket bytes;
  std::uint64_t receipt = 0;  ///< The sender wants to know when it is taken, by this number.
};

/// Which messages a receiver takes.
struct message_filter {
  static constexpr std::int64_t any = -1;
  std::uint32_t group = 0;
  std::int64_t source = any;
  std::int64_t tag = any;

  friend bool operator==(message_filter const&, message_filter const&) = default;
  bool matches(envelope const& message) const noexcept {
    return message.group == group && (source == any || message.source == source) &&
           (tag == any || message.tag == tag);
  }
};

/// A collective operation that a member has begun and waits for: until it has these parts, or, if
/// it awaits none, until all members have begun it.
struct awaited_operation {
  std::uint32_t group = 0;
  std::uint64_t number = 0;
  std::size_t parts = 0;
};

class mailbox {
 public:
  // ---- the wait of its owner ----

  /// From now on the owner waits for one of some messages, or one of some operations.
  void expect(std::span<message_filter const> messages,
              std::span<awaited_operation const> operations) {
    expected_messages_.assign(messages.begin(), messages.end());
    expected_operations_.assign(operations.begin(), operations.end());
  }
  /// Returns true if the owner waits for an operation, perhaps among others.
  bool expects(std::uint32_t group, std::uint64_t number) const {
    return std::any_of(
        expected_operations_.begin(), expected_operations_.end(),
        [=](awaited_operation const& one) { return one.group == group && one.number == number; });
  }

  // ---- receives under way ----

  /// From now on these receives are under way, in this order. Each takes, once its owner runs, the
  /// first message that matches it and none before it.
  void post(std::vector<message_filter> receives) { posted_ = std::move(receives); }
  /// The first receive under way with this filter has taken its message.
  void forget_receive(message_filter const& receive) {
    auto const found = std::find(posted_.begin(), posted_.end(), receive);
    if (found != posted_.end()) posted_.erase(found);
  }
  /// The receives under way for which a message has come, by their places in the list.
  std::vector<std::size_t> matched() const {
    std::vector<std::size_t> found;
    std::vector<std::size_t> const takers = takers_of_letters();
    for (std::size_t const taker : takers) {
      if (taker != nobody) found.push_back(taker);
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  /// The receipts of messages that receives under way will take; each is told once.
  std::vector<std::uint64_t> matched_receipts() {
    std::vector<std::uint64_t> found;
    if (std::none_of(letters_.begin(), letters_.end(),
                     [](envelope const& e) { return e.receipt != 0; })) {
      return found;
    }
    std::vector<std::size_t> const takers = takers_of_letters();
    for (std::size_t i = 0; i < letters_.size(); ++i) {
      if (takers[i] == nobody || letters_[i].receipt == 0) continue;
      found.push_back(std::exchange(letters_[i].receipt, 0));
    }
    return found;
  }
  /// The first that matches and that no receive under way will take; it stays.
  envelope const* probe(message_filter const& wanted) const {
    std::vector<std::size_t> const takers = takers_of_letters();
    for (std::size_t i = 0; i < letters_.size(); ++i) {
      if (takers[i] == nobody && wanted.matches(letters_[i])) return &letters_[i];
    }
    return nullptr;
  }

  // ---- of collective operations ----

  /// @return whether it is the last of an operation for which the owner waits.
  bool put_part(std::uint64_t number, envelope const& part) {
    key const operation{part.group, number};
    std::vector<envelope>& parts = parts_[operation];
    parts.push_back(part);
    return std::any_of(
        expected_operations_.begin(), expected_operations_.end(),
        [&](awaited_operation const& one) {
          return operation == key{one.group, one.number} && parts.size() == one.parts;
        });
  }
  std::size_t part_count(std::uint32_t group, std::uint64_t number) const {
    auto const found = parts_.find({group, number});
    return found == parts_.end() ? 0 : found->second.size();
  }
  /// Takes all parts of an operation, in the order in which they came.
  std::vector<envelope> take_parts(std::uint32_t group, std::uint64_t number) {
    auto node = parts_.extract({group, number});
    return node.empty() ? std::vector<envelope>() : std::move(node.mapped());
  }

  // ---- of senders ----

  /// @return whether the owner waits for it.
  bool put(envelope const& message) {
    letters_.push_back(message);
    return std::any_of(expected_messages_.begin(), expected_messages_.end(),
                       [&](message_filter const& wanted) { return wanted.matches(message); });
  }
  /// The first that matches; it stays.
  envelope const* find(message_filter const& wanted) const {
    auto const found = std::find_if(letters_.begin(), letters_.end(),
                                    [&](envelope const& e) { return wanted.matches(e); });
    return found == letters_.end() ? nullptr : &*found;
  }
  /// Takes the first that matches.
  std::optional<envelope> take(message_filter const& wanted) {
    auto const found = std::find_if(letters_.begin(), letters_.end(),
                                    [&](envelope const& e) { return wanted.matches(e); });
    if (found == letters_.end()) return std::nullopt;
    envelope const message = *found;
    letters_.erase(found);
    return message;
  }

 private:
  static constexpr std::size_t nobody = ~std::size_t{0};

  /// Which receive under way will take each message.
  std::vector<std::size_t> takers_of_letters() const {
    std::vector<std::size_t> takers(letters_.size(), nobody);
    for (std::size_t receive = 0; receive < posted_.size(); ++receive) {
      for (std::size_t i = 0; i < letters_.size(); ++i) {
        if (takers[i] != nobody || !posted_[receive].matches(letters_[i])) continue;
        takers[i] = receive;
        break;
      }
    }
    return takers;
  }

  using key = std::pair<std::uint32_t, std::uint64_t>;  // group, number of the operation

  std::map<key, std::vector<envelope>> parts_;
  std::deque<envelope> letters_;
  std::vector<message_filter> posted_;
  std::vector<message_filter> expected_messages_;
  std::vector<awaited_operation> expected_operations_;
};

}  // namespace outsize::bsp::detail
