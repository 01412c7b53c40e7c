// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The engine's side of one process: gives it its turn, and answers its calls by steps of the
// engine.
//
// It runs in the fiber of the process's rank. While the process computes, the fiber's worker waits
// for it: so no more processes compute than there are workers. Layer: bsp.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <outsize/bsp/detail/bsp_engine.hpp>
#include <outsize/bsp/process/control.hpp>

namespace outsize::bsp::process {

class rank_server {
 public:
  rank_server(detail::engine& run, header& all, std::uint32_t rank);

  /// Serves the process until it has ended in order. @throws bsp_error for a call that cannot be
  /// answered; the errors of the engine's steps.
  void serve();

 private:
  using pieces = std::vector<std::span<std::byte>>;
  struct sent_buffer;

  void give_turn();
  void answer();
  [[noreturn]] void refuse(char const* reason) const;
  std::shared_ptr<detail::group> const& group_of(std::uint64_t number) const;
  pieces pieces_at(std::uint64_t address, std::uint64_t bytes) const;
  sent_buffer buffer_at(std::uint64_t address, std::uint64_t bytes) const;
  std::span<part> parts() const noexcept;
  std::vector<detail::message_filter> posted() const;
  void wait_any();
  bool has_ended() const;

  void begin();
  void put_parts();
  void put_to_many();
  void wait_parts();
  void take_parts();
  void send();
  void find();
  void match();
  void receive();
  void new_group();

  detail::engine& run_;
  header& all_;
  rank_control& control_;
  std::uint32_t rank_;
  std::uint64_t noted_ = 0;  // arrivals before the last poll
  std::map<std::uint64_t, std::shared_ptr<detail::group>> groups_;
  std::vector<detail::incoming> waiting_parts_;  // by source
};

}  // namespace outsize::bsp::process
