// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A writer that fills a vector page by page. One thread at a time. Layer: stream, internal.

#include <outsize/container/vector.hpp>
#include <outsize/container/vector_readers.hpp>
#include <outsize/stream/detail/boundary.hpp>
#include <outsize/stream/detail/context.hpp>

namespace outsize::stream::detail {

/// Fills the pages of a vector.
template <external_item T>
class vector_filler final : public boundary_writer<T> {
 public:
  vector_filler(segment_context& c, vector<T>& to) : context_(c), to_(to) {}

  bool finish_some() override {
    context_.outside([this] {
      hand_over();
      to_.finish();
    });
    return true;
  }

 private:
  bool more_room() override {
    this->lend(context_.outside([this] {
      hand_over();
      return to_.room();
    }));
    return true;
  }
  void hand_over() {
    to_.used(this->filled().size());
    this->lend({});
  }

  segment_context& context_;
  vector_writer<T> to_;
};

}  // namespace outsize::stream::detail
