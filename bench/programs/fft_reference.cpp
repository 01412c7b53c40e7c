// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What the benchmark fft is held against: FFTW alone, on files of complex doubles.
//
//   fft_reference mmap IN OUT THREADS       the peer: FFTW on mapped files; the kernel pages
//   fft_reference memory IN OUT THREADS     FFTW in memory, for the values to compare with
//   fft_reference compare OUT EXPECTED THREADS   the relative L2 error
//
// Each prints one JSON object. The clock of `mmap` runs from opening the input until the mapping of
// the output is given up, written back or not. Exit code 1 if the error is above 1e-13.

#include <fcntl.h>
#include <fftw3.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

constexpr double most_error = 1e-13;

[[noreturn]] void fail(std::string const& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// A file in the address space, all of it.
class mapped_file {
 public:
  enum class access { read, create };

  mapped_file(std::string const& path, access how, std::size_t bytes = 0) : bytes_(bytes) {
    int const flags = how == access::read ? O_RDONLY : O_RDWR | O_CREAT | O_TRUNC;
    int const descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
    if (descriptor < 0) fail(path);
    struct stat found {};
    if (how == access::create && ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes)) != 0)
      fail(path);
    if (::fstat(descriptor, &found) != 0) fail(path);
    bytes_ = static_cast<std::size_t>(found.st_size);
    int const protection = how == access::read ? PROT_READ : PROT_READ | PROT_WRITE;
    memory_ = ::mmap(nullptr, bytes_, protection, MAP_SHARED, descriptor, 0);
    ::close(descriptor);
    if (memory_ == MAP_FAILED) fail(path);
    // FFTW goes through a file in strides of many pages: to read around each of them fills the
    // memory with what is not wanted yet (2 GiB with 256 MiB: over 500 s instead of 60).
    ::madvise(memory_, bytes_, MADV_RANDOM);
  }
  mapped_file(mapped_file const&) = delete;
  mapped_file& operator=(mapped_file const&) = delete;
  ~mapped_file() { ::munmap(memory_, bytes_); }

  std::size_t bytes() const noexcept { return bytes_; }
  std::span<fftw_complex> numbers() const noexcept {
    return {static_cast<fftw_complex*>(memory_), bytes_ / sizeof(fftw_complex)};
  }

 private:
  std::size_t bytes_;
  void* memory_ = nullptr;
};

/// FFTW's own estimate of the best way: measuring would write over the data.
void transform(std::span<fftw_complex> in, std::span<fftw_complex> out, int threads) {
  fftw_init_threads();
  fftw_plan_with_nthreads(threads);
  fftw_plan const plan = fftw_plan_dft_1d(static_cast<int>(in.size()), in.data(), out.data(),
                                          FFTW_FORWARD, FFTW_ESTIMATE);
  if (plan == nullptr) throw std::runtime_error("FFTW has no plan for this length");
  fftw_execute(plan);
  fftw_destroy_plan(plan);
}

int run_mapped(std::string const& in_path, std::string const& out_path, int threads) {
  auto const begin = std::chrono::steady_clock::now();
  std::size_t bytes = 0;
  {
    mapped_file const in(in_path, mapped_file::access::read);
    bytes = in.bytes();
    mapped_file const out(out_path, mapped_file::access::create, bytes);
    transform(in.numbers(), out.numbers(), threads);
  }
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  fmt::print("{{\"seconds\": {}, \"version\": \"{}\"}}\n", took.count(),
             std::string_view(fftw_version));
  return 0;
}

int run_in_memory(std::string const& in_path, std::string const& out_path, int threads) {
  mapped_file const in(in_path, mapped_file::access::read);
  mapped_file const out(out_path, mapped_file::access::create, in.bytes());
  std::size_t const count = in.numbers().size();
  auto* const memory = fftw_alloc_complex(count);
  if (memory == nullptr) throw std::bad_alloc();
  std::span const work(memory, count);
  auto const copy = [](std::span<fftw_complex> from, std::span<fftw_complex> to) {
    std::memcpy(to.data(), from.data(), from.size_bytes());
  };
  copy(in.numbers(), work);
  transform(work, work, threads);
  copy(work, out.numbers());
  fftw_free(memory);
  fmt::print("{{\"records\": {}}}\n", count);
  return 0;
}

int compare(std::string const& path, std::string const& expected_path) {
  mapped_file const got(path, mapped_file::access::read);
  mapped_file const expected(expected_path, mapped_file::access::read);
  double error = 0, norm = 0;
  bool const same_length = got.bytes() == expected.bytes();
  for (std::size_t i = 0; same_length && i < got.numbers().size(); ++i) {
    for (int part = 0; part < 2; ++part) {
      double const e = expected.numbers()[i][part], d = got.numbers()[i][part] - e;
      error += d * d;
      norm += e * e;
    }
  }
  double const relative = std::sqrt(error / norm);
  bool const good = same_length && relative <= most_error;
  fmt::print("{{\"relative_error\": {}, \"verified\": {}}}\n",
             same_length ? fmt::format("{:.3g}", relative) : "null", good);
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> const words(argv + 1, argv + argc);
  try {
    if (words.size() == 4) {
      int const threads = std::atoi(words[3].c_str());
      if (words[0] == "mmap") return run_mapped(words[1], words[2], threads);
      if (words[0] == "memory") return run_in_memory(words[1], words[2], threads);
      if (words[0] == "compare") return compare(words[1], words[2]);
    }
    fmt::print(stderr, "usage: fft_reference mmap|memory|compare FILE FILE THREADS\n");
  } catch (std::exception const& e) {
    fmt::print(stderr, "fft_reference: {}\n", e.what());
  }
  return 2;
}
