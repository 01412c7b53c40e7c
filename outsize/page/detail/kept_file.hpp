// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A file that keeps the pages of a container from one process to the next, whatever happens in
// between.
//
//   | header 0 | header 1 | page, page, index, page, free, page, index …
//                            ▲ places of pages, in any order    ▲ number of page → place
//
// What was committed last stays as it is until the next commit is complete: a page that is changed
// is written elsewhere (shadow paging), and so is the index, before the header of the two that is
// the older one is replaced. So a process that ends at any moment, or a power failure, leaves what
// the last commit made durable; the header says whether the file was closed.
//
//   header:  magic, format, kind and sizes of items, rows of pages, where the index is, state of
//            the container, names of types and order, sequence number; checksum of all
//
// Invariant: extents of pages, of the index, of what the last commit needs still, and free ones are
// disjoint and fill the file; their offsets and lengths are multiples of one number, which requests
// can do with. Files made at a path have 4 KiB at least, so that any back-end can open them and any
// file system hold them; of others what does not fit is read and written through the page cache. To
// give up pages takes no memory: the place of one that the last
// commit needs stays where the page had it. One thread at a time. The file is locked: one process
// at a time writes it, or several read it. Layer: page.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/block/block_device.hpp>
#include <outsize/block/file_blocks.hpp>
#include <outsize/block/free_extents.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/page/detail/file_pages.hpp>
#include <outsize/page/detail/page_space.hpp>
#include <outsize/page/kept_type.hpp>

namespace outsize::detail {

/// Rows of pages in a file; see the top of this file.
///
/// I/Os:    commit() writes the index, 8 bytes for each page, and a header, and syncs twice.
/// Memory:  8 bytes for each page, also for those that have gone since the last commit, and 64 KiB,
///          from the storage's budget; beside it 16 for each that has moved since then.
/// Errors:  io_error, budget_error, std::bad_alloc; what was committed before is not touched, and
///          all can be tried again. But once a sync has failed, nothing can be committed any more
///          (io_error, EIO): pages can be read and changed, but what the file holds is what was
///          committed last, or what was being committed, and it is not closed.
/// Checked: kept_file_test.cpp, tests/crash/kept_memory_test.cpp.
class kept_file {
 public:
  static constexpr std::size_t most_rows = 2;
  static constexpr std::size_t most_state_bytes = 128;

  /// Makes the file, which must not be there, and commits that it is empty.
  /// @param page_bytes  Of the pages of each row; rounded up to the file's alignment, and to 4 KiB.
  /// Its name is durable too. But the file goes with this unless keep() is called. @throws io_error
  /// (EEXIST).
  static std::shared_ptr<kept_file> create(storage& store, std::string const& path,
                                           kept_kind const& kind,
                                           std::vector<std::size_t> page_bytes);
  /// Opens one, without direct I/O if its pages are not where that could read them. @throws
  /// io_error (EBUSY: it is open elsewhere, and one of both writes); format_error if it is none, of
  /// another kind, of a newer format, cut short, or damaged, that is, if a field of its header can
  /// not be in a sound file of this length; it names the field.
  static std::shared_ptr<kept_file> open(storage& store, std::string const& path, io::access mode,
                                         kept_kind const& kind);
  /// The same with a file that is open, an empty one to be made a kept_file; pages are rounded up
  /// to its alignment alone. @throws io_error (EINVAL) if that does not fit those that are there.
  static std::shared_ptr<kept_file> create(storage& store, io::file_ptr file, kept_kind const& kind,
                                           std::vector<std::size_t> page_bytes);
  static std::shared_ptr<kept_file> open(storage& store, io::file_ptr file, io::access mode,
                                         kept_kind const& kind);

  struct description {
    std::string container;  ///< "map"
    std::string text;       ///< "a map of 8 + 8 bytes"
  };
  /// What a file holds, if it is a kept one: it has both headers, or one whose checksum fits, so
  /// that no plain file is taken for one. @throws io_error, budget_error.
  static std::optional<description> described(storage& store, io::file& file);

  /// To be called when all is there that the file was made for.
  void keep() noexcept {
    if (new_path_) new_path_->keep();
  }
  /// Whether it had been closed when it was opened. If not, it holds what was committed last.
  bool was_closed() const noexcept { return was_closed_; }
  kept_file(kept_file const&) = delete;
  kept_file& operator=(kept_file const&) = delete;
  ~kept_file() { memory_.discharge(counted_places_ * sizeof(place)); }

  /// What was given to the last commit.
  std::span<std::byte const> state() const noexcept { return {state_.data(), state_bytes_}; }
  /// Makes what was written to the pages durable, and with it `state`. @pre no transfer is under
  /// way. @throws io_error; if a sync has failed, then always.
  void commit(std::span<std::byte const> state);
  /// Commits, and notes that nobody has the file open any more. It gets as short as it can be.
  void close(std::span<std::byte const> state);

  std::string const& name() const noexcept { return file_->name(); }
  /// Of an item, or of its key, and of its value.
  std::array<std::uint32_t, 2> const& item_bytes() const noexcept { return item_bytes_; }
  /// @throws format_error: a field of the header, or of the state, has a value that cannot be.
  [[noreturn]] void refuse(std::string_view field, std::uint64_t value) const;
  bool is_writable() const noexcept { return mode_ == io::access::read_write; }
  /// @throws io_error (EACCES) if it may only be read.
  void check_writable() const;

 private:
  friend class kept_pages;
  struct header;
  /// What a file notes of a kept_part; zeros in files of earlier versions: not known.
  struct note {
    std::array<char, kept_part::most_name_bytes + 1> name;
    std::uint8_t alignment_bytes;
  };
  struct extent {
    std::uint64_t offset_bytes = 0;
    std::uint64_t length_bytes = 0;
  };
  /// The place of a page: its offset, whether the last commit needs what is there, and whether the
  /// page does not any more. Flags are high bits: where requests need no alignment, pages may begin
  /// at any byte.
  class place {
   public:
    static constexpr std::uint64_t most_offset_bytes = (std::uint64_t{1} << 62) - 1;

    place() = default;
    explicit place(std::uint64_t offset_bytes) noexcept : bits_(offset_bytes) {}
    place committed() const noexcept { return place(bits_ | committed_bit); }
    place vacated() const noexcept { return place(bits_ | vacated_bit); }

    std::uint64_t offset_bytes() const noexcept { return bits_ & most_offset_bytes; }
    bool is_committed() const noexcept { return (bits_ & committed_bit) != 0; }
    bool is_vacated() const noexcept { return (bits_ & vacated_bit) != 0; }
    bool is_none() const noexcept { return bits_ == 0; }
    /// Whether the page is there.
    explicit operator bool() const noexcept { return !is_none() && !is_vacated(); }

   private:
    static constexpr std::uint64_t committed_bit = std::uint64_t{1} << 63;
    static constexpr std::uint64_t vacated_bit = std::uint64_t{1} << 62;

    std::uint64_t bits_ = 0;
  };
  /// Of the pages of a row, and behind them, until the next commit, of some that are gone.
  struct place_list {
    std::deque<place> places = {};
    std::uint64_t page_count = 0;
  };
  struct table {
    std::size_t page_bytes = 0;
    place_list now = {};
    place_list aside = {};  // of pages of which a commit knows nothing
  };

  kept_file(storage& store, io::file_ptr file, io::access mode, kept_kind const& kind);
  static std::shared_ptr<kept_file> make(storage& store, io::file_ptr file, kept_kind const& kind,
                                         std::vector<std::size_t> const& page_bytes,
                                         std::size_t unit_bytes);
  static std::shared_ptr<kept_file> open_if_aligned(storage& store, io::file_ptr file,
                                                    io::access mode, kept_kind const& kind);

  std::uint64_t take(std::uint64_t length_bytes);
  place take_instead(place old, std::size_t page_bytes);
  bool try_give(extent const& which) noexcept;
  void give_outdated() noexcept;
  void add_page(table& row);
  void require_pages(table const& row, std::uint64_t count) const;
  void forget_places_behind(place_list& pages) noexcept;
  void note_change();
  void commit(std::span<std::byte const> state, bool closes);
  header make_header(bool closes) const;
  void write_header(header const& content);
  void read_header();
  void check_fields(header const& read, std::uint64_t file_bytes) const;
  void check_kind(header const& read);
  std::uint64_t write_index(extent where);
  void read_index();
  void find_free_space();
  std::uint64_t index_words() const noexcept;
  std::size_t unit_bytes() const noexcept;
  bool is_aligned() const noexcept;
  std::vector<extent> used_extents() const;
  std::uint64_t used_end() const noexcept;
  [[noreturn]] void refuse(std::string const& why) const;

  storage& store_;
  std::unique_ptr<new_path> new_path_;  // of a file made at a path
  io::file_ptr file_;
  io::access mode_;
  std::string kind_;
  std::array<std::uint32_t, 2> item_bytes_;
  std::uint32_t rows_;
  kept_parts parts_;
  using notes = std::array<note, kept_part::most_parts>;
  notes notes_{};     // of the file
  notes next_notes_;  // of the next commit: as the file, and what parts know besides
  block::file_blocks blocks_;
  lasting_sync sync_;
  grant memory_;
  std::uint64_t counted_places_ = 0;  // in memory_
  buffer piece_;                      // of an index or header on its way
  std::vector<table> tables_;         // of the rows
  block::free_extents free_;
  std::uint64_t end_bytes_ = 0;   // of what is in use or free
  std::vector<extent> outdated_;  // that the last commit needs still, and no page has kept
  extent index_;
  std::uint64_t index_checksum_ = 0;
  std::array<std::byte, most_state_bytes> state_{};
  std::size_t state_bytes_ = 0;
  std::uint64_t sequence_ = 0;
  bool was_closed_ = false;
  bool is_closed_ = false;   // as the last header says
  bool is_changed_ = false;  // since the last commit
};

/// The pages of one row of a kept_file.
class kept_pages final : public page_space {
 public:
  kept_pages(std::shared_ptr<kept_file> file, std::size_t row) noexcept
      : file_(std::move(file)), row_(file_->tables_[row]) {}

  block::block_device& device() noexcept override { return file_->blocks_; }
  std::size_t page_bytes() const noexcept { return row_.page_bytes; }
  std::uint64_t begin() const noexcept override { return 0; }
  std::uint64_t end() const noexcept override { return row_.now.page_count; }
  block::block_id place(std::uint64_t page) const noexcept override;
  block::block_id place_to_change(std::uint64_t page) override;
  void require_room(std::uint64_t begin, std::uint64_t end) override;
  bool is_written(std::uint64_t page) const override { return bool{row_.now.places[page]}; }
  void vacate(std::uint64_t page) noexcept override;
  void append() override;
  void prepend() override;
  void shrink(std::uint64_t begin, std::uint64_t end) noexcept override;
  void swap_aside() noexcept override;
  void check_writable() const override;
  bool is_lasting() const noexcept override { return true; }
  bool keeps_what_was_settled() const noexcept override { return true; }
  bool is_resized() const noexcept override { return file_->is_changed_; }
  /// Commits; the state is the number of bytes.
  void settle(std::uint64_t bytes) override;
  void close(std::uint64_t bytes) override;

 private:
  std::shared_ptr<kept_file> file_;
  kept_file::table& row_;
};

}  // namespace outsize::detail
