// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/detail/fft_kernel.hpp>

#include <fftw3.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <mutex>
#include <new>

#include <outsize/base/assert.hpp>

namespace outsize::numeric {
namespace {

using number = std::complex<double>;

// A panel of this size stays in a thread's second-level cache; columns of two cache lines' width
// are enough to use whole lines.
constexpr std::uint64_t panel_records = std::uint64_t{1} << 16;
constexpr std::uint64_t most_panel_columns = 8;
// Between the columns of a panel: they would share few sets of the cache otherwise. A cache line.
constexpr std::uint64_t padding_records = 4;
// Rows are a power of two apart, too far for the hardware to foresee the next one.
constexpr std::uint64_t rows_ahead = 12;

/// The planner of FFTW is one for the process and not made for several threads.
std::mutex& planner_mutex() {
  static std::mutex mutex;
  return mutex;
}

fftw_complex* as_fftw(number* numbers) noexcept {
  return reinterpret_cast<fftw_complex*>(numbers);  // FFTW says that they are laid out alike
}

std::vector<buffer> make_scratch(std::size_t workers, std::uint64_t bytes, grant& memory) {
  std::vector<buffer> scratch;
  for (std::size_t i = 0; i < workers; ++i) scratch.push_back(memory.allocate(bytes));
  return scratch;
}

/// Calls `body(i, scratch)` for all i < count, each worker with scratch memory of its own.
void share(std::vector<buffer> const& scratch, std::uint64_t count, executor& threads,
           std::function<void(std::uint64_t, number*)> const& body) {
  std::atomic<std::uint64_t> next{0};
  threads.parallel_for(scratch.size(), [&](std::size_t worker) {
    auto* const own = reinterpret_cast<number*>(scratch[worker].data());
    for (std::uint64_t i = next++; i < count; i = next++) body(i, own);
  });
}

/// Some columns of a group of rows that lie in chunks.
struct panel {
  fft_chunks chunks;
  std::uint64_t rows_per_chunk;
  std::uint64_t row_records;
  std::uint64_t first_row;
  std::uint64_t first_column;
  std::uint64_t columns;
  std::uint64_t length;

  number* row(std::uint64_t r) const noexcept {
    r += first_row;
    // Powers of two, known only at run time; a shift and a mask cost less than a division.
    unsigned const bits = static_cast<unsigned>(std::countr_zero(rows_per_chunk));
    return chunks[r >> bits] + (r & (rows_per_chunk - 1)) * row_records + first_column;
  }
  std::uint64_t stride() const noexcept { return length + padding_records; }
};

template <std::uint64_t Columns>
void gather(panel const& p, number* to) noexcept {
  for (std::uint64_t r = 0; r < p.length; ++r) {
    number const* const ahead = p.row(std::min(r + rows_ahead, p.length - 1));
    for (std::uint64_t c = 0; c < Columns; c += 4) __builtin_prefetch(ahead + c, 1);
    number const* const from = p.row(r);
    for (std::uint64_t c = 0; c < Columns; ++c) to[c * p.stride() + r] = from[c];
  }
}

template <std::uint64_t Columns>
void scatter(panel const& p, number const* from) noexcept {
  for (std::uint64_t r = 0; r < p.length; ++r) {
    number const* const ahead = p.row(std::min(r + rows_ahead, p.length - 1));
    for (std::uint64_t c = 0; c < Columns; c += 4) __builtin_prefetch(ahead + c, 1);
    number* const to = p.row(r);
    for (std::uint64_t c = 0; c < Columns; ++c) to[c] = from[c * p.stride() + r];
  }
}

struct mover {
  void (*gather)(panel const&, number*) noexcept;
  void (*scatter)(panel const&, number const*) noexcept;
};

mover mover_for(std::uint64_t columns) noexcept {
  switch (columns) {
    case 1:
      return {gather<1>, scatter<1>};
    case 2:
      return {gather<2>, scatter<2>};
    case 4:
      return {gather<4>, scatter<4>};
    default:
      return {gather<8>, scatter<8>};
  }
}

}  // namespace

// -------------------------------------------------------------------------------------- line

fft_line::fft_line(std::uint64_t length, fft_direction direction) : length_(length) {
  OUTSIZE_ASSERT(std::has_single_bit(length));
  // FFTW looks at the alignment of the address only, as it estimates.
  alignas(64) static constinit fftw_complex aligned[1] = {};
  fftw_iodim64 const dimension{static_cast<std::ptrdiff_t>(length), 1, 1};
  std::lock_guard const held(planner_mutex());
  plan_ = fftw_plan_guru64_dft(1, &dimension, 0, nullptr, aligned, aligned,
                               direction == fft_direction::forward ? FFTW_FORWARD : FFTW_BACKWARD,
                               FFTW_ESTIMATE);
  if (plan_ == nullptr) throw std::bad_alloc();
}

fft_line::~fft_line() {
  std::lock_guard const held(planner_mutex());
  fftw_destroy_plan(static_cast<fftw_plan>(plan_));
}

void fft_line::operator()(number* numbers) const noexcept {
  fftw_execute_dft(static_cast<fftw_plan>(plan_), as_fftw(numbers), as_fftw(numbers));
}

std::uint64_t panel_columns(std::uint64_t length, std::uint64_t row_records) noexcept {
  std::uint64_t const fit = std::max<std::uint64_t>(1, panel_records / length);
  return std::min({fit, row_records, most_panel_columns});
}

std::uint64_t panel_bytes(std::uint64_t length, std::uint64_t columns) noexcept {
  return (length + padding_records) * columns * sizeof(number);
}

// ----------------------------------------------------------------------------------- kernels

column_kernel::column_kernel(fft_pass const& pass, fft_direction direction, std::size_t workers,
                             grant& memory)
    : pass_(pass),
      line_(pass.shape().length, direction),
      scratch_(make_scratch(
          workers,
          panel_bytes(pass.shape().length, panel_columns(pass.shape().length, pass.row_records())),
          memory)) {}

void column_kernel::operator()(std::uint64_t load, fft_chunks chunks, fft_twiddles const& twiddles,
                               executor& threads) const {
  std::uint64_t const width = pass_.row_records();
  std::uint64_t const columns = panel_columns(line_.length(), width);
  std::uint64_t const panels = width / columns;  // of one group
  mover const move = mover_for(columns);
  share(scratch_, panels * pass_.shape().group_count, threads, [&](std::uint64_t i, number* own) {
    panel const p{chunks,
                  pass_.row_count() / chunks.size(),
                  width,
                  i / panels * line_.length(),
                  i % panels * columns,
                  columns,
                  line_.length()};
    move.gather(p, own);
    for (std::uint64_t c = 0; c < columns; ++c) {
      number* const column = own + c * p.stride();
      line_(column);
      // Row r's factor is that of its step to the power of the column's low index, and the other
      // way round: down a column the exponents go up evenly, too.
      std::uint64_t const low_index = pass_.first_low_index(load) + p.first_column + c;
      twiddles.multiply_row({column, line_.length()}, 0, low_index * pass_.twiddle_step(1));
    }
    move.scatter(p, own);
  });
}

row_kernel::row_kernel(fft_pass const& pass, fft_direction direction, std::size_t workers,
                       grant& memory)
    : pass_(pass),
      line_(pass.shape().length, direction),
      scratch_(make_scratch(workers, panel_bytes(pass.shape().length, 1), memory)) {}

void row_kernel::operator()(fft_chunks chunks, executor& threads) const {
  std::uint64_t const part = line_.length() / chunks.size();
  share(scratch_, pass_.shape().count, threads, [&](std::uint64_t row, number* own) {
    for (std::size_t j = 0; j < chunks.size(); ++j)
      std::copy_n(chunks[j] + row * part, part, own + j * part);
    line_(own);
    for (std::size_t j = 0; j < chunks.size(); ++j)
      std::copy_n(own + j * part, part, chunks[j] + row * part);
  });
}

}  // namespace outsize::numeric
