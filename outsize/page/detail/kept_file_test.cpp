// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A kept file against a model of its pages: whenever the power fails, it holds what was committed
// last; and what is no such file is refused by name.

#include <outsize/page/detail/kept_file.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/checksum_table.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/page/detail/page_row.hpp>
#include <outsize/testing/crashing_file.hpp>

namespace outsize::detail {
namespace {

constexpr kept_kind kind{"bag", {8, 16}};
constexpr std::size_t page_size = 512;

std::uint64_t word_at(std::span<std::byte const> bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, &bytes[at], sizeof word);
  return word;
}

void set_word(std::span<std::byte> bytes, std::size_t at, std::uint64_t word) {
  std::memcpy(&bytes[at], &word, sizeof word);
}

/// Of what the checksum of a header, which stands behind it, is.
std::size_t checked_length(std::span<std::byte const> header) {
  std::size_t length = 8;
  while (word_at(header, length) != block::checksum_of(header.first(length))) length += 8;
  return length;
}

/// A row of pages in a kept file, each with one number in it, as a container would use them.
class numbered_pages {
 public:
  using model = std::vector<std::uint64_t>;  // 0: blank

  numbered_pages(storage& store, std::shared_ptr<kept_file> file) : file_(std::move(file)) {
    auto space = std::make_unique<kept_pages>(file_, 0);
    std::size_t const page_bytes = space->page_bytes();
    page_cache_options const options{.page_bytes = page_bytes, .cache_pages = 4, .spare_pages = 1};
    auto& device = space->device();
    auto cache = std::make_shared<page_cache>(
        device, store.memory().take(page_cache::memory_bytes(device, options), "pages"), options,
        block::make_lru_replacement());
    row_ = std::make_shared<page_row>(store, std::move(space), std::move(cache), page_bytes);
  }

  void reach(std::uint64_t count) { row_->reach(0, count); }
  void set(std::uint64_t page, std::uint64_t number) {
    std::memcpy(row_->change(page).data(), &number, sizeof number);
  }
  void vacate(std::uint64_t page) { row_->vacate(page); }
  void commit(std::uint64_t state) {
    row_->flush();
    file_->commit(std::as_bytes(std::span(&state, 1)));
  }
  void close() {
    row_->flush();
    file_->close(file_->state());
  }
  model content() const {
    model found(row_->end());
    for (std::uint64_t page = 0; page < found.size(); ++page)
      row_->read(page, 0, std::as_writable_bytes(std::span(&found[page], 1)));
    return found;
  }
  std::uint64_t state() const {
    std::uint64_t value = 0;
    std::memcpy(&value, file_->state().data(), std::min(file_->state().size(), sizeof value));
    return value;
  }
  bool was_closed() const { return file_->was_closed(); }

 private:
  std::shared_ptr<kept_file> file_;
  std::shared_ptr<page_row> row_;
};

struct kept_files : testing::Test {
  storage store{{.disks = {disk_options("none",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("none");
                                        })},
                 .memory_bytes = 16_MiB,
                 .threads = 1}};

  numbered_pages create(io::file_ptr file, std::size_t page_bytes = page_size) {
    return {store, kept_file::create(store, std::move(file), kind, {page_bytes})};
  }
  numbered_pages open(io::file_ptr file, io::access mode = io::access::read_write) {
    return {store, kept_file::open(store, std::move(file), mode, kind)};
  }
  /// Changes pages of both at random; some are given up.
  static void change(numbered_pages& pages, numbered_pages::model& model, std::mt19937_64& random) {
    auto const count = 1 + random() % 20;
    pages.reach(count);
    model.resize(count);
    for (std::uint64_t i = random() % 20; i > 0; --i) {
      auto const page = random() % count;
      if (random() % 4 == 0) {
        pages.vacate(page);
        model[page] = 0;
      } else {
        pages.set(page, model[page] = random());
      }
    }
  }
};

TEST_F(kept_files, hold_what_was_committed_last_whenever_the_power_fails) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    auto const journal = std::make_shared<scratch::file_journal>();
    std::map<std::size_t, numbered_pages::model> committed;  // steps → what is there for sure
    {
      auto pages = create(std::make_unique<scratch::crashing_file>(journal));
      numbered_pages::model model;
      committed[journal->size()] = model;
      for (std::uint64_t i = 1; i <= 10; ++i) {
        change(pages, model, random);
        pages.commit(i);
        committed[journal->size()] = model;
      }
    }
    for (std::size_t steps = committed.begin()->first; steps <= journal->size(); ++steps) {
      auto const survivor = open(journal->file_after(steps, random));
      auto after = committed.upper_bound(steps);  // may be there already, if its header is
      auto const before = std::prev(after);
      auto const commits = static_cast<std::uint64_t>(std::distance(committed.begin(), before));
      if (survivor.state() != commits) {
        ASSERT_EQ(survivor.state(), commits + 1);
        ASSERT_EQ(survivor.content(), after->second);
      } else {
        ASSERT_EQ(survivor.content(), before->second) << "after " << steps << " steps";
      }
      EXPECT_FALSE(survivor.was_closed());
    }
  }
}

TEST_F(kept_files, go_on_after_a_failure_and_reuse_their_space) {
  std::mt19937_64 random(5);
  auto const plan = std::make_shared<io::fault_plan>();
  auto const journal = std::make_shared<scratch::file_journal>();
  numbered_pages::model model;
  auto pages = create(
      std::make_unique<io::faulty_file>(std::make_unique<scratch::crashing_file>(journal), plan));
  std::uint64_t failures = 0;
  for (std::uint64_t i = 1; i <= 300; ++i) {
    change(pages, model, random);
    constexpr auto where = io::fault_point::write;
    if (i % 3 == 0) plan->script(where, plan->calls(where) + random() % 2, io::fault::fail(EIO));
    for (bool done = false; !done;) try {
        pages.commit(i);
        done = true;
      } catch (io_error const&) {
        ++failures;
      }
    if (i % 20 == 0) {
      auto survivor = open(journal->file_after(journal->size(), random), io::access::read_only);
      ASSERT_EQ(survivor.content(), model);
      ASSERT_EQ(survivor.state(), i);
    }
  }
  EXPECT_EQ(failures, 100U);
  // 20 pages at most twice, an index at most twice, and what growing in steps has left over.
  EXPECT_LE(journal->file_after(journal->size(), random)->size_bytes(), 3 * 20 * page_size + 8_KiB);
}

// The system tells of what could not be written once: the next sync would succeed without it.
TEST_F(kept_files, commit_nothing_more_when_a_sync_has_failed) {
  for (std::uint64_t const nth : {0U, 1U}) {  // of the pages and the index, or of the header
    SCOPED_TRACE(testing::Message() << "sync " << nth);
    std::mt19937_64 random(nth);
    auto const plan = std::make_shared<io::fault_plan>();
    auto const journal = std::make_shared<scratch::file_journal>();
    numbered_pages::model const before{1, 2}, after{1, 3, 4};
    {
      auto pages = create(std::make_unique<io::faulty_file>(
          std::make_unique<scratch::crashing_file>(journal), plan));
      pages.reach(2);
      for (std::uint64_t page = 0; page < 2; ++page) pages.set(page, before[page]);
      pages.commit(1);
      pages.reach(3);
      pages.set(1, 3);
      constexpr auto sync = io::fault_point::sync;
      plan->script(sync, plan->calls(sync) + nth, io::fault::fail(ENOSPC));
      EXPECT_THROW(pages.commit(2), io_error);
      pages.set(2, 4);
      auto const expect_refused = [&](auto const& action) {
        try {
          action();
          ADD_FAILURE() << "believed a later sync";
        } catch (io_error const& e) {
          EXPECT_EQ(e.code().value(), EIO);
          EXPECT_EQ(e.path(), "crashing");
        }
      };
      expect_refused([&] { pages.commit(2); });
      expect_refused([&] { pages.close(); });
      EXPECT_EQ(pages.content(), after);
    }
    auto const left = open(journal->file_after(journal->size(), random));
    EXPECT_FALSE(left.was_closed());
    if (nth == 0 || left.state() == 1) {
      EXPECT_EQ(left.content(), before);
    } else {
      EXPECT_EQ(left.content(), (numbered_pages::model{1, 3, 0}));
    }
  }
}

TEST_F(kept_files, have_pages_that_begin_at_any_byte) {
  for (std::size_t const page_bytes : {8U, 13U, 511U}) {
    SCOPED_TRACE(testing::Message() << "pages of " << page_bytes << " bytes");
    std::mt19937_64 random(page_bytes);
    auto const journal = std::make_shared<scratch::file_journal>();
    auto pages = create(std::make_unique<scratch::crashing_file>(journal), page_bytes);
    numbered_pages::model model;
    for (std::uint64_t i = 1; i <= 100; ++i) {
      change(pages, model, random);
      ASSERT_EQ(pages.content(), model);
      pages.commit(i);
      ASSERT_EQ(open(journal->file_after(journal->size(), random)).content(), model);
    }
  }
}

TEST_F(kept_files, say_whether_they_were_closed) {
  std::mt19937_64 random(1);
  auto const journal = std::make_shared<scratch::file_journal>();
  auto const survivor = [&] { return journal->file_after(journal->size(), random); };
  {
    auto pages = create(std::make_unique<scratch::crashing_file>(journal));
    EXPECT_TRUE(pages.was_closed());
    pages.reach(3);
    pages.set(1, 11);
    pages.commit(5);
    EXPECT_FALSE(open(survivor()).was_closed());
    pages.close();
  }
  {
    auto const pages = open(survivor(), io::access::read_only);
    EXPECT_TRUE(pages.was_closed());
    EXPECT_EQ(pages.content(), (numbered_pages::model{0, 11, 0}));
  }
  // One that was closed, and is changed, is not closed from its first change on.
  auto const reopened = std::make_shared<scratch::file_journal>();
  auto file = std::make_unique<scratch::crashing_file>(reopened);
  std::vector<std::byte> bytes(survivor()->size_bytes());
  survivor()->read(0, bytes)->wait();
  file->write(0, bytes)->wait();
  file->sync();
  auto pages = open(std::move(file));
  EXPECT_TRUE(open(reopened->file_after(reopened->size(), random)).was_closed());
  pages.reach(2);
  pages.set(0, 3);
  auto const left = open(reopened->file_after(reopened->size(), random));
  EXPECT_FALSE(left.was_closed());
  EXPECT_EQ(left.content(), (numbered_pages::model{0, 11, 0}));
  EXPECT_EQ(left.state(), 5U);
}

TEST_F(kept_files, that_have_been_committed_are_closed_by_a_header) {
  auto const plan = std::make_shared<io::fault_plan>();
  auto pages = create(std::make_unique<io::faulty_file>(io::make_memory_file("kept"), plan));
  pages.reach(2);
  pages.set(1, 7);
  pages.commit(1);
  auto const syncs = plan->calls(io::fault_point::sync);
  auto const writes = plan->calls(io::fault_point::write);
  pages.close();
  EXPECT_EQ(plan->calls(io::fault_point::sync), syncs + 1);
  EXPECT_EQ(plan->calls(io::fault_point::write), writes + 1);
  pages.commit(1);
  pages.close();
  EXPECT_EQ(plan->calls(io::fault_point::sync), syncs + 1) << "it is closed, and stays so";
}

TEST_F(kept_files, that_are_none_are_refused_by_name) {
  std::mt19937_64 random(1);
  auto const journal = std::make_shared<scratch::file_journal>();
  {
    auto pages = create(std::make_unique<scratch::crashing_file>(journal));
    pages.reach(3);
    for (std::uint64_t page = 0; page < 3; ++page) pages.set(page, page + 1);
    pages.commit(1);
    pages.close();
  }
  auto const copy = [&] { return journal->file_after(journal->size(), random); };
  auto const expect_refused = [&](io::file_ptr file, kept_kind const& as, std::string const& why) {
    try {
      kept_file::open(store, std::move(file), io::access::read_only, as);
      ADD_FAILURE() << "opened: " << why;
    } catch (format_error const& e) {
      EXPECT_THAT(e.what(), testing::StartsWith("survivor: "));
      EXPECT_THAT(e.what(), testing::HasSubstr(why));
    }
  };
  auto const with_word = [&](std::uint64_t offset, std::uint32_t word) {
    auto file = copy();
    std::array<std::byte, 4> bytes;
    std::memcpy(bytes.data(), &word, sizeof word);
    for (std::uint64_t header : {0, 4096}) file->write(header + offset, bytes)->wait();
    return file;
  };
  // A sound header, but for a number that a later version may have made.
  auto const of_format_2 = [&](std::vector<std::uint64_t> const& headers) {
    auto file = copy();
    for (std::uint64_t const header : headers) {
      std::vector<std::byte> bytes(4096);
      file->read(header, bytes)->wait();
      std::size_t const length = checked_length(bytes);
      bytes[8] = std::byte{2};
      set_word(bytes, length, block::checksum_of(std::span(bytes).first(length)));
      file->write(header, bytes)->wait();
    }
    return file;
  };
  auto const cut = [&](std::uint64_t bytes) {
    auto file = copy();
    file->resize(bytes);
    return file;
  };
  EXPECT_NO_THROW(kept_file::open(store, copy(), io::access::read_only, kind));
  expect_refused(copy(), {"bag", {8, 8}}, "holds a bag of 8 + 16 bytes, not a bag of 8 + 8 bytes");
  expect_refused(copy(), {"vector", {8}}, "not a vector of 8 bytes");
  expect_refused(with_word(0, 5), kind, "not a container of outsize");
  expect_refused(of_format_2({0, 4096}), kind, "of format 2");
  expect_refused(of_format_2({0}), kind, "of format 2");
  expect_refused(with_word(8, 2), kind, "no header fits its checksum");
  auto half_damaged = copy();
  half_damaged->write(4096 + 8, std::array{std::byte{2}})->wait();
  EXPECT_NO_THROW(kept_file::open(store, std::move(half_damaged), io::access::read_only, kind));
  expect_refused(with_word(40, 77), kind, "no header fits its checksum");
  expect_refused(cut(0), kind, "too short");
  expect_refused(cut(9000), kind, "cut short");
  auto const last = copy()->size_bytes() - 1;
  expect_refused(cut(last), kind, "cut short");
  auto damaged = copy();  // what is in the pages nobody checks
  for (std::uint64_t at = 8_KiB; at < damaged->size_bytes(); at += 8)
    damaged->write(at, std::array{std::byte{0xAA}})->wait();
  expect_refused(std::move(damaged), kind, "the index does not fit its checksum");
}

/// As files that were made without direct I/O have it.
TEST_F(kept_files, may_have_an_index_that_is_not_filled_up) {
  std::mt19937_64 random(1);
  auto const journal = std::make_shared<scratch::file_journal>();
  numbered_pages::model const model{0, 5, 6};
  {
    auto pages = create(std::make_unique<scratch::crashing_file>(journal));
    pages.reach(3);
    for (std::uint64_t page = 1; page < 3; ++page) pages.set(page, model[page]);
    pages.commit(1);
    pages.commit(2);  // both headers
  }
  auto file = journal->file_after(journal->size(), random);
  constexpr std::size_t offset_at = 56, length_at = 64, checksum_at = 72, index_length = 24;
  for (std::uint64_t const header : {0, 4096}) {
    std::vector<std::byte> bytes(4096), index(index_length);
    file->read(header, bytes)->wait();
    std::size_t const end = checked_length(bytes);
    file->read(word_at(bytes, offset_at), index)->wait();
    set_word(bytes, length_at, index_length);
    set_word(bytes, checksum_at, block::checksum_of(index));
    set_word(bytes, end, block::checksum_of(std::span(bytes).first(end)));
    file->write(header, bytes)->wait();
  }
  auto pages = open(std::move(file));
  EXPECT_EQ(pages.content(), model);
  pages.set(0, 7);
  pages.commit(3);
  EXPECT_EQ(pages.content(), (numbered_pages::model{7, 5, 6}));
}

TEST_F(kept_files, that_there_is_no_memory_for_are_refused) {
  std::mt19937_64 random(1);
  auto const journal = std::make_shared<scratch::file_journal>();
  {
    auto pages = create(std::make_unique<scratch::crashing_file>(journal));
    pages.reach(1000);
    pages.close();
  }
  std::uint64_t const free_bytes = store.memory().free_bytes();
  {
    auto const others = store.memory().take(free_bytes - 64_KiB - 4_KiB, "others");
    EXPECT_THROW(kept_file::open(store, journal->file_after(journal->size(), random),
                                 io::access::read_only, kind),
                 budget_error);
  }
  EXPECT_EQ(store.memory().free_bytes(), free_bytes);
}

TEST_F(kept_files, that_are_read_only_are_not_changed) {
  std::mt19937_64 random(1);
  auto const journal = std::make_shared<scratch::file_journal>();
  {
    auto pages = create(std::make_unique<scratch::crashing_file>(journal));
    pages.reach(2);
    pages.set(0, 7);
    pages.commit(1);
  }
  auto pages = open(journal->file_after(journal->size(), random), io::access::read_only);
  EXPECT_THROW(pages.set(0, 8), io_error);
  EXPECT_THROW(pages.reach(3), io_error);
  EXPECT_EQ(pages.content(), (numbered_pages::model{7, 0}));
}

}  // namespace
}  // namespace outsize::detail
