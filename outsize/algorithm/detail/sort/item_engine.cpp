// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/item_engine.hpp>

#include <utility>

#include <outsize/algorithm/detail/file_sort.hpp>
#include <outsize/algorithm/detail/sort/engine.hpp>
#include <outsize/algorithm/detail/sort/family/keyed_items.hpp>
#include <outsize/algorithm/detail/sort/family/number_items.hpp>
#include <outsize/algorithm/detail/sort/family/typed_chunk.hpp>

namespace outsize::detail {
namespace {

/// Calls use(family) with that of the kind.
template <typename Use>
auto with_family(item_kind const& kind, Use const& use) {
  if (auto const* form = std::get_if<number_form>(&kind.how())) {
    switch (form->bits) {
      case number_form::width::word32:
        return use(number_items<std::uint32_t>(form->order.key, form->reducer));
      case number_form::width::word64:
        return use(number_items<std::uint64_t>(form->order.key, form->reducer));
      case number_form::width::word_pair:
        break;
    }
    return use(number_items<word_pair>(form->order, form->reducer));
  }
  if (auto const* kernel = std::get_if<std::shared_ptr<item_kernel const>>(&kind.how()))
    return use(kernel_items(*kernel));
  return use(keyed_items(std::get<std::shared_ptr<item_words const>>(kind.how())));
}

template <typename Family>
class engine_of_items final : public item_engine {
 public:
  engine_of_items(storage& store, Family family, sort_options options,
                  std::uint64_t input_stream_bytes)
      : engine_(store, std::move(family), std::move(options), {}, input_stream_bytes) {}

  std::size_t item_bytes() const noexcept override { return engine_.family().item_bytes(); }
  std::span<std::byte> room() override {
    return std::as_writable_bytes(engine_.current_chunk().room());
  }
  void grow(std::size_t items) noexcept override { engine_.current_chunk().grow(items); }
  void chunk_full() override { engine_.chunk_full(); }
  void finish_input(std::size_t output_alignment) override {
    engine_.finish_input(output_alignment);
  }
  void end_input() override { engine_.end_input(); }
  void begin_output(std::uint64_t most_bytes) override { engine_.begin_output(most_bytes); }
  std::uint64_t memory_bytes() const noexcept override { return engine_.memory_bytes(); }
  memory_claim output_claim() override { return engine_.output_claim(); }

  std::optional<sorted_window> next() override { return engine_.next(); }
  void recycle(sorted_window const& used) noexcept override { engine_.recycle(used); }
  void rewind() override { engine_.rewind(); }
  void give_all_items() noexcept override { engine_.give_all_items(); }
  std::exception_ptr failure() const noexcept override { return engine_.failure(); }

  sort_report const& report() const noexcept override { return engine_.report(); }
  sort_progress progress() const noexcept override { return engine_.progress(); }

 private:
  sort_engine<Family> engine_;
};

}  // namespace

void item_kind::sort_in_place(std::span<std::byte> items, executor& threads) const {
  with_family(*this, [&](auto const& family) {
    if constexpr (requires { sort_numbers(family, items, threads); })
      sort_numbers(family, items, threads);
  });
}

std::size_t item_kind::number_bytes() const noexcept {
  switch (std::get<number_form>(how_).bits) {
    case number_form::width::word32:
      return sizeof(std::uint32_t);
    case number_form::width::word64:
      return sizeof(std::uint64_t);
    case number_form::width::word_pair:
      break;
  }
  return sizeof(word_pair);
}

std::unique_ptr<item_engine> make_item_engine(storage& store, item_kind const& kind,
                                              sort_options options,
                                              std::uint64_t input_stream_bytes) {
  return with_family(kind, [&](auto family) -> std::unique_ptr<item_engine> {
    return std::make_unique<engine_of_items<decltype(family)>>(
        store, std::move(family), std::move(options), input_stream_bytes);
  });
}

sort_report sort_item_files(storage& store, item_kind const& kind, sort_paths const& paths,
                            sort_options options) {
  return with_family(kind, [&](auto family) {
    auto const fill = [](auto& engine, io::input_stream& in) { fill_items(engine, in); };
    return sort_files(store, std::move(family), {}, paths, std::move(options), fill);
  });
}

sort_plan plan_item_files(storage& store, item_kind const& kind, sort_paths const& paths,
                          sort_options const& options) {
  return with_family(kind,
                     [&](auto const& family) { return plan_files(store, family, paths, options); });
}

}  // namespace outsize::detail
