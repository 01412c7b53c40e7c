// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/input_form.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include <outsize/testing/scratch_directory.hpp>

namespace outsize::io {
namespace {

using namespace std::string_literals;

constexpr input_decoding all{.decompress = true, .transcode = true};

input_form form_of(std::string const& text, input_decoding how = all) {
  return form_of_bytes(std::as_bytes(std::span(text)), how, "name");
}

std::string refusal(std::string const& text, input_decoding how = all) {
  try {
    form_of(text, how);
  } catch (foreign_input const& e) {
    return e.what();
  }
  return "none";
}

TEST(input_form, is_recognised_as_far_as_that_is_asked_for) {
  EXPECT_EQ(form_of("\x1f\x8b\x08").packed, compression::gzip);
  EXPECT_EQ(form_of("\xff\xfe\x61\0"s).encoding, text_encoding::utf16);
  EXPECT_EQ(form_of("\xfe\xff\0\x61"s).encoding, text_encoding::utf16);
  for (auto const& text : {"text"s, ""s, "\xff"s, "\xef\xbb\xbftext"s})
    EXPECT_TRUE(form_of(text).is_plain());
  for (auto const& text : {"\x1f\x8b\x08"s, "PK\x03\x04"s})
    EXPECT_TRUE(form_of(text, {.transcode = true}).is_plain());
  for (auto const& text : {"\xff\xfe\x61\0"s, "\xff\xfe\0\0"s})
    EXPECT_TRUE(form_of(text, {.decompress = true}).is_plain());
}

TEST(input_form, that_cannot_be_read_is_refused) {
  EXPECT_EQ(refusal("PK\x03\x04 and so on"),
            "name: it is compressed by zip, which is not read here; unpack it first");
  for (auto const& text : {"\xff\xfe\0\0\x61\0\0\0"s, "\0\0\xfe\xff\0\0\0\x61"s})
    EXPECT_EQ(refusal(text).substr(0, 37), "name: it is text in UTF-32, which is ");
}

TEST(input_form, of_a_file_is_looked_up_only_where_it_can_be_read_again) {
  scratch::directory const folder;
  scratch::write_file(folder.path("a"), "\x1f\x8b\x08 and so on");
  scratch::write_file(folder.path("b"), "PK\x03\x04");
  scratch::write_file(folder.path("empty"), "");
  EXPECT_EQ(form_of_file(folder.path("a"), all)->packed, compression::gzip);
  EXPECT_THROW(form_of_file(folder.path("b"), all), foreign_input);
  EXPECT_FALSE(form_of_file(folder.path("empty"), all));  // may be one of /proc
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(form_of_file(folder.path("pipe"), all));  // and does not wait for a writer
  EXPECT_THROW(form_of_file(folder.path("none"), all), io_error);
}

}  // namespace
}  // namespace outsize::io
