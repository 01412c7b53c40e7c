// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/page/detail/kept_file.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/checksum_table.hpp>
#include <outsize/block/user_files.hpp>

namespace outsize::detail {
namespace {

constexpr std::array<char, 8> magic = {'o', 'u', 't', 's', 'i', 'z', 'e', '\n'};
constexpr std::uint32_t format_number = 1;
constexpr std::size_t header_bytes = 4096;  // of each of the two
constexpr std::size_t most_unit_bytes = header_bytes;
constexpr std::size_t data_offset = 2 * header_bytes;
constexpr std::size_t piece_bytes = 64_KiB;
constexpr std::uint64_t memory_step_bytes = 4_KiB;
constexpr std::uint64_t most_growth_bytes = 256_MiB;

std::uint64_t mix(std::uint64_t checksum, std::span<std::byte const> bytes) noexcept {
  return checksum * 0x9E3779B97F4A7C15 + block::checksum_of(bytes);
}

template <std::size_t Size>
std::array<char, Size> padded(std::string_view text) {
  OUTSIZE_ASSERT(text.size() < Size);
  std::array<char, Size> chars{};
  std::ranges::copy(text, chars.begin());
  return chars;
}

std::string kind_text(std::string_view container, std::array<std::uint32_t, 2> bytes) {
  char const* const article = container.starts_with('u') ? "an" : "a";
  return bytes[1] > 0
             ? fmt::format("{} {} of {} + {} bytes", article, container, bytes[0], bytes[1])
             : fmt::format("{} {} of {} bytes", article, container, bytes[0]);
}

}  // namespace

/// As it lies in the file, in the byte order of the machine. In other formats, too, the magic, the
/// format and the checksum are where they are here, so that damage is not taken for a format.
struct kept_file::header {
  std::array<char, 8> magic_bytes;
  std::uint32_t format;
  std::uint32_t is_closed;
  std::array<char, 16> container;
  std::array<std::uint32_t, 2> item_bytes;
  std::uint64_t sequence;
  std::uint64_t used_bytes;  // no extent ends behind it
  std::uint64_t index_offset;
  std::uint64_t index_bytes;
  std::uint64_t index_checksum;
  std::uint32_t row_count;
  std::uint32_t state_bytes;
  std::array<std::uint64_t, most_rows> page_bytes;
  std::array<std::uint64_t, most_rows> page_count;
  std::array<std::byte, most_state_bytes> state;
  std::array<note, kept_part::most_parts> notes;  // once part of the state: then zeros
  std::uint64_t checksum;                         // of all before it

  std::uint64_t own_checksum() const noexcept {
    return block::checksum_of(std::as_bytes(std::span(this, 1)).first(offsetof(header, checksum)));
  }
};

// ---- to begin with ----

kept_file::kept_file(storage& store, io::file_ptr file, io::access mode, kept_kind const& kind)
    : store_(store),
      file_(std::move(file)),
      mode_(mode),
      kind_(kind.container),
      item_bytes_(kind.item_bytes),
      rows_(kind.rows),
      parts_(kind.parts),
      next_notes_(),
      blocks_(*file_),
      sync_(*file_),
      memory_(store.memory().take(piece_bytes, "index of " + file_->name())),
      piece_(memory_.allocate(piece_bytes)),
      end_bytes_(data_offset) {
  static_assert(sizeof(header) <= header_bytes && offsetof(header, checksum) == 376);
  OUTSIZE_ASSERT(header_bytes % file_->alignment_bytes() == 0);
  for (std::size_t i = 0; i < parts_.size(); ++i)
    next_notes_[i] = {padded<kept_part::most_name_bytes + 1>(parts_[i].name),
                      parts_[i].alignment_bytes};
  file_->count_into(&store.file_statistics());
}

std::shared_ptr<kept_file> kept_file::create(storage& store, std::string const& path,
                                             kept_kind const& kind,
                                             std::vector<std::size_t> page_bytes) {
  auto file = block::open_file(store, path,
                               {.mode = io::access::read_write,
                                .create = true,
                                .must_be_new = true,
                                .permissions = 0666,
                                .lock = true});
  auto name = std::make_unique<new_path>(path);
  auto made = make(store, std::move(file), kind, page_bytes, most_unit_bytes);
  io::sync_name(path);
  made->new_path_ = std::move(name);
  return made;
}

std::shared_ptr<kept_file> kept_file::create(storage& store, io::file_ptr file,
                                             kept_kind const& kind,
                                             std::vector<std::size_t> page_bytes) {
  std::size_t const alignment = file->alignment_bytes();
  return make(store, std::move(file), kind, page_bytes, alignment);
}

/// Pages are as long as a multiple of the unit.
std::shared_ptr<kept_file> kept_file::make(storage& store, io::file_ptr file, kept_kind const& kind,
                                           std::vector<std::size_t> const& page_bytes,
                                           std::size_t unit_bytes) {
  OUTSIZE_ASSERT(page_bytes.size() == kind.rows && kind.rows <= most_rows);
  auto made = std::shared_ptr<kept_file>(
      new kept_file(store, std::move(file), io::access::read_write, kind));
  for (std::size_t const bytes : page_bytes) made->tables_.push_back({round_up(bytes, unit_bytes)});
  made->was_closed_ = true;
  made->commit({}, false);
  made->commit({}, false);  // both headers
  return made;
}

std::shared_ptr<kept_file> kept_file::open(storage& store, std::string const& path, io::access mode,
                                           kept_kind const& kind) {
  io::open_options opening{.mode = mode, .lock = true};
  auto opened = open_if_aligned(store, block::open_file(store, path, opening), mode, kind);
  if (opened) return opened;
  opening.direct = false;  // through the page cache anything is aligned
  return open(store, block::open_file(store, path, opening), mode, kind);
}

std::shared_ptr<kept_file> kept_file::open(storage& store, io::file_ptr file, io::access mode,
                                           kept_kind const& kind) {
  std::string const name = file->name();
  auto opened = open_if_aligned(store, std::move(file), mode, kind);
  if (!opened) throw io_error(EINVAL, "open", name);
  return opened;
}

/// None, if its pages or index are where the file as it is open here cannot read them.
std::shared_ptr<kept_file> kept_file::open_if_aligned(storage& store, io::file_ptr file,
                                                      io::access mode, kept_kind const& kind) {
  auto opened = std::shared_ptr<kept_file>(new kept_file(store, std::move(file), mode, kind));
  opened->read_header();
  if (!opened->is_aligned()) return nullptr;
  opened->read_index();
  if (!opened->is_aligned()) return nullptr;
  opened->find_free_space();
  return opened;
}

void kept_file::refuse(std::string const& why) const {
  throw format_error(fmt::format("{}: {}", file_->name(), why));
}

void kept_file::refuse(std::string_view field, std::uint64_t value) const {
  refuse(fmt::format("damaged: {} cannot be {}", field, value));
}

std::optional<kept_file::description> kept_file::described(storage& store, io::file& file) {
  if (file.size_bytes() < data_offset) return {};
  grant memory = store.memory().take(round_up(data_offset, page_bytes()), file.name());
  buffer piece = memory.allocate(memory.total_bytes());
  file.read(0, piece.bytes().first(data_offset))->wait();
  std::array<header, 2> found;
  bool are_magic = true;
  for (std::size_t i = 0; i < 2; ++i) {
    std::memcpy(&found[i], piece.data() + i * header_bytes, sizeof(header));
    are_magic = are_magic && found[i].magic_bytes == magic;
  }
  for (header& each : found) {
    if (each.magic_bytes != magic || !(are_magic || each.checksum == each.own_checksum())) continue;
    each.container.back() = '\0';
    return description{each.container.data(), kind_text(each.container.data(), each.item_bytes)};
  }
  return {};
}

/// That the file is one of this kind. What it does not note of the types is added to it by the
/// first commit of a change: before that they may be wrong ones.
void kept_file::check_kind(header const& read) {
  std::array<char, 17> container{};  // which may end nowhere
  std::ranges::copy(read.container, container.begin());
  if (read.container != padded<16>(kind_) || read.item_bytes != item_bytes_)
    refuse(fmt::format("holds {}, not {}", kind_text(container.data(), read.item_bytes),
                       kind_text(kind_, item_bytes_)));
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    kept_part const& part = parts_[i];
    note noted = read.notes[i];
    noted.name.back() = '\0';
    std::string_view const name = noted.name.data();
    if (name.empty()) continue;
    bool const gets_name = name == kept_class_name && part.is_class;
    bool const is_same = part.name.empty() || name == part.name || gets_name;
    bool const is_aligned = part.name.empty() || noted.alignment_bytes == part.alignment_bytes;
    if (!is_same) refuse(fmt::format("has {} '{}', not '{}'", part.role, name, part.name));
    if (!is_aligned)
      refuse(fmt::format("has {} '{}' aligned to {} bytes, not to {}", part.role, name,
                         noted.alignment_bytes, part.alignment_bytes));
    if (!gets_name) next_notes_[i] = noted;
  }
  notes_ = read.notes;
}

/// That the fields of a header fit each other and the file.
void kept_file::check_fields(header const& h, std::uint64_t file_bytes) const {
  auto const check = [this](bool is_sound, std::string_view field, std::uint64_t value) {
    if (!is_sound) refuse(field, value);
  };
  check(h.is_closed <= 1, "is_closed", h.is_closed);
  check(h.sequence <= UINT64_MAX / 2, "sequence", h.sequence);
  check(h.used_bytes >= data_offset, "used_bytes", h.used_bytes);
  if (file_bytes < h.used_bytes)
    refuse(fmt::format("cut short: {} of {} bytes", file_bytes, h.used_bytes));
  check(h.row_count == rows_, "row_count", h.row_count);
  check(h.state_bytes <= state_.size(), "state_bytes", h.state_bytes);
  std::uint64_t const room = h.used_bytes - data_offset;
  check(h.index_bytes <= room, "index_bytes", h.index_bytes);
  check(h.index_bytes == 0 ||
            (h.index_offset >= data_offset && h.index_offset <= h.used_bytes - h.index_bytes),
        "index_offset", h.index_offset);
  std::uint64_t places = h.index_bytes / sizeof(place);  // that are left
  for (std::size_t row = 0; row < h.row_count; ++row) {
    bool const is_length = h.page_bytes[row] > 0 && h.page_bytes[row] <= UINT32_MAX;
    check(is_length, fmt::format("page_bytes[{}]", row), h.page_bytes[row]);
    check(h.page_count[row] <= places, fmt::format("page_count[{}]", row), h.page_count[row]);
    places -= h.page_count[row];
  }
  // What was made where other alignments hold is filled up to another unit.
  check(places * sizeof(place) < most_unit_bytes, "index_bytes", h.index_bytes);
}

void kept_file::read_header() {
  std::uint64_t const length = file_->size_bytes();
  if (length < data_offset) refuse("not a container of outsize: too short");
  auto const bytes = piece_.bytes().first(data_offset);
  file_->read(0, bytes)->wait();
  std::array<header, 2> found;
  header const* latest = nullptr;
  for (std::size_t i = 0; i < 2; ++i) {
    header& each = found[i];
    std::memcpy(&each, bytes.data() + i * header_bytes, sizeof(header));
    if (each.magic_bytes != magic || each.checksum != each.own_checksum()) continue;
    if (each.format != format_number)
      refuse(fmt::format("of format {}, this version of outsize knows format {}", each.format,
                         format_number));
    if (latest == nullptr || each.sequence > latest->sequence) latest = &each;
  }
  if (latest == nullptr && found[0].magic_bytes != magic && found[1].magic_bytes != magic)
    refuse(
        "not a container of outsize: a plain file, which vector::open_plain opens, or of another "
        "program");
  if (latest == nullptr) refuse("damaged: no header fits its checksum");
  header const& h = *latest;
  check_kind(h);
  check_fields(h, length);
  std::uint64_t places = 0;
  for (std::size_t row = 0; row < h.row_count; ++row) places += h.page_count[row];
  memory_.extend(round_up(places * sizeof(place), memory_step_bytes));
  memory_.charge(places * sizeof(place));
  counted_places_ = places;
  for (std::size_t row = 0; row < h.row_count; ++row)
    tables_.push_back(
        {h.page_bytes[row], {std::deque<place>(h.page_count[row]), h.page_count[row]}});
  state_ = h.state;
  state_bytes_ = h.state_bytes;
  sequence_ = h.sequence;
  was_closed_ = is_closed_ = h.is_closed != 0;
  end_bytes_ = h.used_bytes;
  index_ = {h.index_offset, h.index_bytes};
  index_checksum_ = h.index_checksum;
}

// ---- space ----

std::uint64_t kept_file::index_words() const noexcept {
  std::uint64_t words = 0;
  for (table const& row : tables_) words += row.now.page_count;
  return words;
}

/// What lengths of extents are multiples of, so that their offsets are, too.
std::size_t kept_file::unit_bytes() const noexcept {
  std::size_t unit = most_unit_bytes;
  for (table const& row : tables_) unit = std::gcd(unit, row.page_bytes);
  return unit;
}

/// Whether the file can be asked for all extents that are known; of one that was made where there
/// was no direct I/O they may be anywhere.
bool kept_file::is_aligned() const noexcept {
  std::uint64_t bits = index_.offset_bytes | index_.length_bytes;
  for (table const& row : tables_) {
    bits |= row.page_bytes;
    for (place const at : row.now.places) bits |= at.offset_bytes();
  }
  return bits % file_->alignment_bytes() == 0;
}

std::vector<kept_file::extent> kept_file::used_extents() const {
  std::vector<extent> used{{0, data_offset}};
  if (index_.length_bytes > 0) used.push_back(index_);
  for (table const& row : tables_)
    for (place const at : row.now.places)
      if (at) used.push_back({at.offset_bytes(), row.page_bytes});
  std::ranges::sort(used, {}, &extent::offset_bytes);
  return used;
}

std::uint64_t kept_file::used_end() const noexcept {
  std::uint64_t end = std::max(data_offset, index_.offset_bytes + index_.length_bytes);
  for (table const& row : tables_)
    for (place const at : row.now.places)
      if (at) end = std::max(end, at.offset_bytes() + row.page_bytes);
  return end;
}

void kept_file::find_free_space() {
  std::uint64_t end = 0;
  for (extent const& each : used_extents()) {
    if (each.offset_bytes < end) refuse("damaged: pages overlap");
    if (each.offset_bytes > end) free_.give(end, each.offset_bytes - end);
    end = each.offset_bytes + each.length_bytes;
  }
  if (end > end_bytes_) refuse("damaged: a page lies behind the end");
  end_bytes_ = end;
}

std::uint64_t kept_file::take(std::uint64_t length_bytes) {
  if (auto const offset = free_.take(length_bytes)) return *offset;
  // Doubled, so that a file grows in few steps, but not by more than is worth its while.
  std::uint64_t const most =
      std::max(length_bytes,
               round_down<std::uint64_t>(std::min(end_bytes_, most_growth_bytes), data_offset));
  std::uint64_t const step =
      round_down<std::uint64_t>(file_->allocate_some(end_bytes_, length_bytes, most), unit_bytes());
  free_.give(end_bytes_, step);
  end_bytes_ += step;
  return *free_.take(length_bytes);
}

/// A place for a page, whose old one the last commit needs, if there is one.
kept_file::place kept_file::take_instead(place old, std::size_t page_bytes) {
  bool const is_moved = !old.is_none();
  if (is_moved) outdated_.push_back({old.offset_bytes(), page_bytes});
  try {
    return place(take(page_bytes));
  } catch (...) {
    if (is_moved) outdated_.pop_back();
    throw;
  }
}

/// Whether there was the memory that it takes to note an extent that touches no other free one.
bool kept_file::try_give(extent const& which) noexcept {
  try {
    free_.give(which.offset_bytes, which.length_bytes);
    return true;
  } catch (std::bad_alloc const&) {
    return false;
  }
}

/// What is needed neither by a page nor by the last commit. For what there is no memory now, there
/// may be at the next one.
void kept_file::give_outdated() noexcept {
  std::erase_if(outdated_, [this](extent const& each) { return try_give(each); });
  for (table& row : tables_)
    for (place_list* const pages : {&row.now, &row.aside}) {
      for (place& at : pages->places)
        if (at.is_vacated() && try_give({at.offset_bytes(), row.page_bytes})) at = place();
      forget_places_behind(*pages);
    }
}

void kept_file::add_page(table& row) {
  place_list& pages = row.now;
  if (pages.page_count == pages.places.size()) {
    if (memory_.free_bytes() < sizeof(place)) memory_.extend(memory_step_bytes);
    pages.places.emplace_back();
    memory_.charge(sizeof(place));
    ++counted_places_;
  }
  ++pages.page_count;
}

/// Asks whether there are the space, and the memory for places, that so many pages more need.
void kept_file::require_pages(table const& row, std::uint64_t count) const {
  std::uint64_t const most = std::min(UINT64_MAX / row.page_bytes, UINT64_MAX / sizeof(place));
  std::uint64_t const bytes = std::min(count, most) * row.page_bytes;
  std::uint64_t const index_bytes = std::min(count, most) * sizeof(place);
  require_file_space(*file_, bytes - std::min(bytes, free_.total_bytes()));
  std::uint64_t const have_bytes = memory_.free_bytes() + store_.memory().obtainable_bytes();
  if (have_bytes < index_bytes) throw budget_error(memory_.asker(), have_bytes, index_bytes);
}

/// Those at the end that are of no page, and that the last commit does not need.
void kept_file::forget_places_behind(place_list& pages) noexcept {
  while (pages.places.size() > pages.page_count && pages.places.back().is_none()) {
    pages.places.pop_back();
    memory_.discharge(sizeof(place));
    --counted_places_;
  }
}

/// Before the first change the file must no longer say that it was closed.
void kept_file::note_change() {
  if (is_changed_) return;
  if (is_closed_) write_header(make_header(false));
  is_closed_ = false;
  is_changed_ = true;
}

void kept_file::check_writable() const {
  if (!is_writable()) throw io_error(EACCES, "change", file_->name());
}

// ---- commit ----

void kept_file::commit(std::span<std::byte const> state) { commit(state, false); }

void kept_file::close(std::span<std::byte const> state) {
  if (!is_writable()) return;
  commit(state, true);
  file_->resize(used_end());
}

void kept_file::commit(std::span<std::byte const> state, bool closes) {
  OUTSIZE_ASSERT(state.size() <= state_.size());
  if (!is_writable()) return;
  bool const is_new = sequence_ < 2;
  if (!is_new && !is_changed_ && std::ranges::equal(state, this->state())) {
    // Nothing has changed since it was closed: then it stays so, whoever flushes it.
    if (closes && !is_closed_) write_header(make_header(true));
    is_closed_ = is_closed_ || closes;
    return;
  }
  sync_.check();
  outdated_.reserve(outdated_.size() + 1);  // for an index, when it is too late to fail
  std::uint64_t const words_bytes = index_words() * sizeof(place);
  extent index{0, round_up<std::uint64_t>(words_bytes, unit_bytes())};
  if (index.length_bytes > 0) index.offset_bytes = take(index.length_bytes);
  std::uint64_t checksum = 0;
  try {
    checksum = write_index(index);
    sync_();
  } catch (...) {
    if (index.length_bytes > 0 && !try_give(index)) outdated_.push_back(index);
    throw;
  }
  // From here on the new header may be on disk, whatever is known of it: no page that it names may
  // be written again, and none that the last one names either until it is there for sure.
  if (index_.length_bytes > 0) outdated_.push_back(index_);
  index_ = index;
  index_checksum_ = checksum;
  for (table& row : tables_)
    for (place& at : row.now.places)
      if (at) at = at.committed();
  std::ranges::copy(state, state_.begin());  // which it may be a part of
  state_bytes_ = state.size();
  notes_ = next_notes_;
  is_changed_ = true;
  write_header(make_header(closes));
  is_closed_ = closes;
  is_changed_ = false;
  give_outdated();
}

/// Of what the tables, the index and the state are now.
kept_file::header kept_file::make_header(bool closes) const {
  header h{};
  h.magic_bytes = magic;
  h.format = format_number;
  h.is_closed = closes ? 1 : 0;
  h.container = padded<16>(kind_);
  h.item_bytes = item_bytes_;
  h.sequence = sequence_ + 1;
  h.used_bytes = used_end();
  h.index_offset = index_.offset_bytes;
  h.index_bytes = index_.length_bytes;
  h.index_checksum = index_checksum_;
  h.row_count = static_cast<std::uint32_t>(tables_.size());
  h.state_bytes = static_cast<std::uint32_t>(state_bytes_);
  for (std::size_t row = 0; row < tables_.size(); ++row) {
    h.page_bytes[row] = tables_[row].page_bytes;
    h.page_count[row] = tables_[row].now.page_count;
  }
  h.state = state_;
  h.notes = notes_;
  h.checksum = h.own_checksum();
  return h;
}

/// In place of the older one. If it fails the next one goes there again.
void kept_file::write_header(header const& content) {
  sync_.check();
  auto const bytes = piece_.bytes().first(header_bytes);
  std::ranges::fill(bytes, std::byte{0});
  std::memcpy(bytes.data(), &content, sizeof content);
  file_->write(content.sequence % 2 * header_bytes, bytes)->wait();
  sync_();
  sequence_ = content.sequence;
}

std::uint64_t kept_file::write_index(extent where) {
  std::uint64_t offset = where.offset_bytes;
  std::uint64_t checksum = 0;
  std::size_t filled = 0;
  auto const write = [&] {
    std::size_t const length = round_up(filled, unit_bytes());
    std::ranges::fill(piece_.bytes().subspan(filled, length - filled), std::byte{0});
    auto const bytes = piece_.bytes().first(length);
    checksum = mix(checksum, bytes);
    file_->write(offset, bytes)->wait();
    offset += length;
    filled = 0;
  };
  for (table const& row : tables_)
    for (std::uint64_t page = 0; page < row.now.page_count; ++page) {
      place const at = row.now.places[page];
      std::uint64_t const word = at ? at.offset_bytes() : 0;
      std::memcpy(piece_.data() + filled, &word, sizeof word);
      if ((filled += sizeof word) == piece_.size()) write();
    }
  if (filled > 0) write();
  return checksum;
}

void kept_file::read_index() {
  std::uint64_t checksum = 0;
  std::uint64_t offset = index_.offset_bytes;
  std::uint64_t const end = offset + index_.length_bytes;
  std::span<std::byte const> unread;
  for (table& row : tables_)
    for (place& at : row.now.places) {
      if (unread.empty()) {
        auto const bytes =
            piece_.bytes().first(std::min<std::uint64_t>(piece_.size(), end - offset));
        if (file_->read(offset, bytes)->wait() < bytes.size()) refuse("cut short");
        checksum = mix(checksum, bytes);
        offset += bytes.size();
        unread = bytes;
      }
      std::uint64_t word = 0;
      std::memcpy(&word, unread.data(), sizeof word);
      unread = unread.subspan(sizeof word);
      if (word > place::most_offset_bytes) refuse("damaged: a page lies behind the end");
      at = word == 0 ? place() : place(word).committed();
    }
  if (checksum != index_checksum_) refuse("damaged: the index does not fit its checksum");
}

// ---- a row ----

block::block_id kept_pages::place(std::uint64_t page) const noexcept {
  auto const at = row_.now.places[page];
  if (!at) return {};
  return {.offset_bytes = at.offset_bytes(),
          .disk = 0,
          .length_bytes = static_cast<std::uint32_t>(row_.page_bytes)};
}

block::block_id kept_pages::place_to_change(std::uint64_t page) {
  file_->note_change();
  auto& at = row_.now.places[page];
  if (at.is_none() || at.is_committed())
    at = file_->take_instead(at, row_.page_bytes);
  else
    at = kept_file::place(at.offset_bytes());  // which may have been vacated
  return place(page);
}

void kept_pages::require_room(std::uint64_t, std::uint64_t end) {
  std::uint64_t const there = row_.now.places.size();
  file_->require_pages(row_, end - std::min(end, there));
}

void kept_pages::vacate(std::uint64_t page) noexcept {
  auto& at = row_.now.places[page];
  if (!at) return;
  file_->is_changed_ = true;
  bool const is_given = !at.is_committed() && file_->try_give({at.offset_bytes(), row_.page_bytes});
  at = is_given ? kept_file::place() : at.vacated();
}

void kept_pages::append() {
  file_->note_change();
  file_->add_page(row_);
}

void kept_pages::prepend() {
  OUTSIZE_ASSERT(false);  // pages are numbered from 0
}

void kept_pages::shrink(std::uint64_t begin, std::uint64_t end) noexcept {
  OUTSIZE_ASSERT(begin == 0);
  auto& pages = row_.now;
  if (pages.page_count <= end) return;
  while (pages.page_count > end) vacate(--pages.page_count);
  file_->forget_places_behind(pages);
  file_->is_changed_ = true;
}

void kept_pages::swap_aside() noexcept {
  // Not std::swap, which makes a deque for a moment, for which there may be no memory.
  row_.now.places.swap(row_.aside.places);
  std::swap(row_.now.page_count, row_.aside.page_count);
}

/// Also notes that there will be a change, while the tables still fit the header.
void kept_pages::check_writable() const {
  file_->check_writable();
  file_->note_change();
}

void kept_pages::settle(std::uint64_t bytes) { file_->commit(std::as_bytes(std::span(&bytes, 1))); }

void kept_pages::close(std::uint64_t bytes) { file_->close(std::as_bytes(std::span(&bytes, 1))); }

}  // namespace outsize::detail
