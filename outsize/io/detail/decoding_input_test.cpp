// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/detail/decoding_input.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/codecs/codec.hpp>
#include <outsize/io/posix/blocking_io.hpp>
#include <outsize/testing/pieced_input.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::io {
namespace {

using bytes = std::vector<std::byte>;

bytes text_of(std::size_t count) {
  std::string made;
  for (std::size_t i = 0; made.size() < count; ++i) made += std::to_string(i * 7919 % 1009) + '\n';
  auto const view = std::as_bytes(std::span(made)).first(count);
  return {view.begin(), view.end()};
}

bytes encoded(compression kind, std::span<std::byte const> content) {
  auto const encoder = detail::make_encoder(kind);
  auto const made = encoder->encode(content, true);
  return {made.begin(), made.end()};
}

bytes all_of(input_stream& stream) {
  bytes found;
  for (auto view = stream.next(); !view.empty(); view = stream.next())
    found.insert(found.end(), view.begin(), view.end());
  return found;
}

class decoding_input_test : public testing::TestWithParam<compression> {
 protected:
  std::unique_ptr<decoding_input> over(bytes const& file, bool fails = false) {
    std::string const text(reinterpret_cast<char const*>(file.data()), file.size());
    auto source = std::make_unique<pieced_input>(
        text,
        pieced_input::options{.most_bytes = 500, .seed = random(), .fails = fails, .name = "made"});
    return std::make_unique<decoding_input>(std::move(source), GetParam(), memory, 2, 1);
  }
  // What reading all of `file` ends with.
  std::string failure_of(bytes file) {
    auto const stream = over(std::move(file));
    try {
      all_of(*stream);
    } catch (format_error const& e) {
      EXPECT_THROW(stream->next(), format_error);  // and stays so
      return e.what();
    }
    return "none";
  }

  std::uint64_t const seed = std::random_device{}();
  std::mt19937_64 random{seed};
  testing::ScopedTrace const trace{__FILE__, __LINE__, "seed " + std::to_string(seed)};
  memory_budget budget{1_MiB};
  grant memory = budget.take(1_MiB, "test");
};

TEST_P(decoding_input_test, gives_every_byte_however_it_is_asked) {
  for (std::size_t const size : {0, 1, 4095, 4096, 4097, 8192, 100'000}) {
    auto const content = text_of(size);
    auto const stream = over(encoded(GetParam(), content));
    bytes found, into(20'000);
    for (;;) {
      if (random() % 2 == 0) {
        auto const view = stream->next();
        found.insert(found.end(), view.begin(), view.end());
        if (view.empty()) break;
      } else {
        auto const room = std::span(into).first(1 + random() % into.size());
        auto const got = stream->read(room);
        found.insert(found.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(got));
        if (got < room.size()) break;
      }
    }
    EXPECT_TRUE(found == content) << size;
    EXPECT_TRUE(stream->next().empty());
  }
}

TEST_P(decoding_input_test, can_be_given_up_anywhere) {
  auto const file = encoded(GetParam(), text_of(100'000));
  for (int round = 0; round < 50; ++round) {
    auto const stream = over(file);
    for (auto views = random() % 5; views > 0; --views) EXPECT_FALSE(stream->next().empty());
  }
}

TEST_P(decoding_input_test, names_what_is_wrong_with_the_file) {
  std::string const kind(name_of(GetParam()));
  auto const file = encoded(GetParam(), text_of(20'000));
  auto cut = file;
  cut.pop_back();
  EXPECT_EQ(failure_of(cut),
            "made: " + kind + " data is cut short: it ends at byte " + std::to_string(cut.size()));
  auto damaged = file;
  damaged[file.size() / 2] ^= std::byte{0x55};
  EXPECT_THAT(failure_of(damaged),
              testing::StartsWith("made: " + kind + " data cannot be decoded near byte "));
  auto longer = file;
  longer.resize(file.size() + 20, std::byte{'x'});
  EXPECT_THAT(failure_of(longer), testing::StartsWith("made: "));
}

TEST_P(decoding_input_test, hands_out_what_is_in_front_of_an_error) {
  auto const content = text_of(50'000);
  auto const stream = over(encoded(GetParam(), content), true);
  bytes found;
  auto const read_all = [&] {
    for (auto view = stream->next(); !view.empty(); view = stream->next())
      found.insert(found.end(), view.begin(), view.end());
  };
  EXPECT_THROW(read_all(), io_error);
  EXPECT_TRUE(std::equal(found.begin(), found.end(), content.begin()));
}

class opened_decoding_test : public decoding_input_test {
 protected:
  input_stream_options options(std::size_t depth) const {
    return {.block_bytes = 4_KiB, .depth = depth, .counter = nullptr, .decompress = true};
  }
  std::string written(bytes const& content) {
    scratch::write_file(folder.path("a"),
                        {reinterpret_cast<char const*>(content.data()), content.size()});
    return folder.path("a");
  }
  scratch::directory folder;
  std::unique_ptr<request_queue> queue = make_request_queue();
};

TEST_P(opened_decoding_test, takes_no_more_memory_than_plain_streams) {
  auto const content = text_of(60'000);
  auto const path = written(encoded(GetParam(), content));
  for (std::size_t const depth : {0, 1, 2, 4, 7}) {
    memory_budget exact(input_stream_memory_bytes(options(depth)));
    auto taken = exact.take(exact.total_bytes(), "exact");
    auto const stream = open_input(path, *queue, taken, options(depth));
    EXPECT_EQ(stream->remaining_bytes(), std::nullopt);
    EXPECT_TRUE(all_of(*stream) == content) << depth;
  }
}

TEST_P(opened_decoding_test, leaves_files_alone_unless_told) {
  auto const file = encoded(GetParam(), text_of(1000));
  auto const path = written(file);
  auto plain = options(2);
  plain.decompress = false;
  EXPECT_TRUE(all_of(*open_input(path, *queue, memory, plain)) == file);
  auto const text = text_of(10'000);
  auto const stream = open_input(written(text), *queue, memory, options(2));
  EXPECT_EQ(stream->remaining_bytes(), text.size());
  EXPECT_TRUE(all_of(*stream) == text);
}

TEST_P(opened_decoding_test, recognises_what_comes_through_a_pipe_byte_by_byte) {
  for (bool const compressed : {true, false}) {
    auto const content = text_of(compressed ? 30'000 : 3);
    auto const file = compressed ? encoded(GetParam(), content) : content;
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    detail::open_descriptor const source(ends[0]);
    std::thread writer([&] {
      detail::open_descriptor const target(ends[1]);
      for (auto const& one : file) detail::write_all(target.number(), {&one, 1}, "pipe");
    });
    auto const path = "/dev/fd/" + std::to_string(ends[0]);
    EXPECT_TRUE(all_of(*open_input(path, *queue, memory, options(2))) == content);
    writer.join();
  }
}

TEST_P(opened_decoding_test, counts_what_its_library_allocates) {
  auto const content = text_of(60'000);
  auto const path = written(encoded(GetParam(), content));
  memory_budget codecs(200_MiB);
  auto counted = options(2);
  counted.codec_memory = &codecs;
  EXPECT_TRUE(all_of(*open_input(path, *queue, memory, counted)) == content);
  EXPECT_EQ(codecs.free_bytes(), codecs.total_bytes());
  EXPECT_GT(codecs.peak_bytes(), 0U);
  EXPECT_EQ(decoding_memory_bytes(path), codecs.peak_bytes());

  memory_budget few(codecs.peak_bytes() - 1);
  counted.codec_memory = &few;
  try {
    all_of(*open_input(path, *queue, memory, counted));
    ADD_FAILURE() << "there is too little";
  } catch (budget_error const& e) {
    EXPECT_EQ(e.have_bytes(), few.total_bytes());
    EXPECT_EQ(e.need_bytes(), codecs.peak_bytes());
    EXPECT_THAT(e.what(), testing::StartsWith(path + ": " + std::string(name_of(GetParam()))));
  }
  EXPECT_EQ(few.free_bytes(), few.total_bytes());
}

TEST(decoding_memory_bytes, are_none_for_what_is_not_compressed) {
  scratch::directory const folder;
  scratch::write_file(folder.path("plain"), "a line\n");
  EXPECT_EQ(decoding_memory_bytes(folder.path("plain")), 0U);
  EXPECT_EQ(decoding_memory_bytes(folder.path("none")), 0U);
  EXPECT_EQ(decoding_memory_bytes(folder.path()), 0U);
}

auto const all_kinds = testing::Values(compression::gzip, compression::zstd, compression::lz4,
                                       compression::xz, compression::bzip2);
auto const kind_name = [](auto const& row) { return std::string(name_of(row.param)); };
INSTANTIATE_TEST_SUITE_P(all, decoding_input_test, all_kinds, kind_name);
INSTANTIATE_TEST_SUITE_P(all, opened_decoding_test, all_kinds, kind_name);

// ---- text in UTF-16, as it is and compressed ----

std::u16string random_text(std::mt19937_64& random, std::size_t units) {
  std::u16string text;
  while (text.size() < units) {
    switch (random() % 5) {
      case 0:
        text += static_cast<char16_t>(random() % 0xD800);
        break;
      case 1:
        text += static_cast<char16_t>(0xE000 + random() % 0x2000);
        break;
      case 2:
        text += static_cast<char16_t>(0xD800 + random() % 0x400);
        text += static_cast<char16_t>(0xDC00 + random() % 0x400);
        break;
      default:
        text += static_cast<char16_t>(random() % 0x80);
    }
  }
  // A zero behind the mark of UTF-16 makes it that of UTF-32 in the other order of bytes.
  if (!text.empty() && text[0] == 0) text[0] = u'0';
  return text;
}

/// Of the numbers of characters, as RFC 3629 has it.
std::string utf8_of(std::u16string const& text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::uint32_t code = text[i];
    if (code >= 0xD800 && code < 0xDC00)
      code = 0x10000 + (code % 0x400) * 0x400 + text[++i] % 0x400;
    auto const put = [&made](std::uint32_t byte) { made += static_cast<char>(byte); };
    unsigned const tails = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr std::uint32_t leads[] = {0, 0xC0, 0xE0, 0xF0};
    put(leads[tails] + (code >> 6 * tails));
    for (unsigned t = tails; t-- > 0;) put(0x80 + (code >> 6 * t) % 0x40);
  }
  return made;
}

bytes utf16_bytes(std::u16string const& text, bool big) {
  bytes made;
  for (char16_t const unit : u'\uFEFF' + text) {
    auto const low = static_cast<std::byte>(unit % 0x100), high = static_cast<std::byte>(unit >> 8);
    made.insert(made.end(), {big ? high : low, big ? low : high});
  }
  return made;
}

class text_decoding_test : public decoding_input_test {
 protected:
  bool is_packed() const { return GetParam() != compression::none; }
  bytes file_of(bytes const& text) const { return is_packed() ? encoded(GetParam(), text) : text; }
  std::unique_ptr<decoding_input> text_over(bytes const& file, std::size_t most_bytes) {
    std::string const text(reinterpret_cast<char const*>(file.data()), file.size());
    auto source = std::make_unique<pieced_input>(
        text, pieced_input::options{.most_bytes = most_bytes, .seed = random(), .name = "made"});
    input_form form{.packed = GetParam()};
    if (!is_packed()) form.encoding = text_encoding::utf16;
    return std::make_unique<decoding_input>(std::move(source), form, true, memory, 2, 1);
  }
  std::string text_of_all(bytes const& file, std::size_t most_bytes) {
    auto const found = all_of(*text_over(file, most_bytes));
    return {reinterpret_cast<char const*>(found.data()), found.size()};
  }
  std::string refusal_of(bytes const& text) {
    try {
      text_of_all(file_of(text), 500);
    } catch (foreign_input const& e) {
      EXPECT_EQ(e.what_it_is(), foreign_input::aspect::encoding);
      return e.what();
    }
    return "none";
  }
};

TEST_P(text_decoding_test, gives_utf_8_however_it_comes) {
  for (std::size_t const units : {0, 1, 2, 3, 100, 20'000}) {
    auto const text = random_text(random, units);
    for (bool const big : {false, true})
      for (std::size_t const most : {1, 3, 5000})
        EXPECT_TRUE(text_of_all(file_of(utf16_bytes(text, big)), most) == utf8_of(text)) << units;
  }
}

TEST_P(text_decoding_test, names_the_place_of_what_is_malformed) {
  auto const begin = random_text(random, 5000);
  for (auto const& wrong : {u"\xD800x", u"\xDC00", u"\xD800\xD800\xDC00"}) {
    auto const what = refusal_of(utf16_bytes(begin + wrong + u"behind", random() % 2 == 0));
    EXPECT_THAT(what, testing::StartsWith("made: begins with a byte order mark of UTF-16, but"));
    EXPECT_THAT(what, testing::HasSubstr("the surrogate at byte " +
                                         std::to_string(2 + 2 * begin.size()) + " "));
  }
  auto const half_pair = utf16_bytes(begin + u"\xD800", true);
  auto half_unit = utf16_bytes(begin, false);
  half_unit.push_back(std::byte{'x'});
  for (auto const& text : {half_pair, half_unit})
    EXPECT_THAT(refusal_of(text), testing::HasSubstr("inside of a character, at byte " +
                                                     std::to_string(text.size())));
}

TEST_P(text_decoding_test, leaves_other_text_as_it_is) {
  if (!is_packed()) return;  // nothing of it is decoded
  for (std::size_t const size : {0, 1, 23, 24, 25, 50'000}) {
    auto const text = text_of(size);
    EXPECT_TRUE(all_of(*text_over(file_of(text), 100)) == text) << size;
  }
}

TEST_P(text_decoding_test, refuses_what_is_compressed_twice) {
  if (!is_packed()) return;
  EXPECT_THROW(text_of_all(file_of(encoded(compression::gzip, text_of(100))), 50), foreign_input);
  EXPECT_THROW(
      text_of_all(file_of({std::byte{'P'}, std::byte{'K'}, std::byte{3}, std::byte{4}}), 9),
      foreign_input);
}

INSTANTIATE_TEST_SUITE_P(all, text_decoding_test,
                         testing::Values(compression::none, compression::gzip, compression::xz),
                         kind_name);

}  // namespace
}  // namespace outsize::io
