// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Files of edges in all formats, plain and compressed, one after the other.

#include <outsize/graph/edge_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/testing/graph_models.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace user_code {
namespace {

using namespace outsize;
using graphs::edge;
using graphs::edge_format;
using graphs::edge_source;

struct edge_list : testing::Test {
  scratch::directory dir;
  storage store{{.disks = {dir.path()}, .memory_bytes = 2_MiB, .threads = 2}};
  std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random{seed};
  std::uint64_t vertices = 0, first = 0;

  std::string write(std::string_view name, std::string_view bytes) {
    scratch::write_file(dir.path(name), bytes);
    return dir.path(name);
  }
  models::vertex_pairs read(edge_source source) {
    models::vertex_pairs pairs;
    graphs::edge_reader reader(store, std::move(source));
    for (auto edges = reader.next(); !edges.empty(); edges = reader.next())
      for (auto const& e : edges) pairs.emplace_back(e.from, e.to);
    EXPECT_EQ(reader.edges(), pairs.size());
    vertices = reader.vertices();
    first = reader.first_vertex();
    return pairs;
  }
  std::string failure(edge_source source) {
    try {
      read(std::move(source));
      return "none";
    } catch (format_error const& e) {
      return e.what();
    }
  }
};

template <typename Number>
std::string binary(models::vertex_pairs const& pairs) {
  std::string bytes;
  for (auto const& [u, v] : pairs)
    for (Number const number : {static_cast<Number>(u), static_cast<Number>(v)})
      bytes.append(reinterpret_cast<char const*>(&number), sizeof number);
  return bytes;
}

std::string lines(models::vertex_pairs const& pairs, char separator, std::uint64_t base = 0) {
  std::string text;
  for (auto const& [u, v] : pairs)
    text += std::to_string(u + base) + separator + std::to_string(v + base) + '\n';
  return text;
}

TEST_F(edge_list, is_the_same_in_all_formats) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  auto const pairs = models::random_pairs(random, 3'000'000, 60'000);
  std::uint64_t greatest = 0;
  for (auto const& [u, v] : pairs) greatest = std::max({greatest, u, v});
  std::string const market = "%%MatrixMarket matrix coordinate pattern general\n4000000 3000000 " +
                             std::to_string(pairs.size()) + "\n" + lines(pairs, ' ', 1);
  for (auto const& path :
       {write("a.txt", lines(pairs, '\t')), write("a", lines(pairs, ',')),
        write("a.csv", "u,v\n" + lines(pairs, ',')), write("a.u32", binary<std::uint32_t>(pairs)),
        write("a.u64", binary<std::uint64_t>(pairs))}) {
    EXPECT_TRUE(read({.paths = {path}}) == pairs) << path;
    EXPECT_EQ(vertices, greatest + 1) << path;
    EXPECT_EQ(first, 0U);
  }
  for (auto const& path : {write("a.mtx", market), write("b", market)}) {
    EXPECT_TRUE(read({.paths = {path}}) == pairs) << path;
    EXPECT_EQ(vertices, 4'000'000U);
    EXPECT_EQ(first, 1U);
  }
  auto const named = write("c", binary<std::uint64_t>(pairs));
  EXPECT_TRUE(read({.paths = {named}, .format = edge_format::u64}) == pairs);
}

TEST_F(edge_list, goes_through_all_files) {
  auto const one = write("one", "1 2\n"), none = write("none", ""), two = write("two", "7,4\n");
  models::vertex_pairs const all{{1, 2}, {7, 4}, {1, 2}};
  EXPECT_EQ(read({.paths = {one, none, two, one}}), all);
  EXPECT_EQ(vertices, 8U);
  EXPECT_EQ(read({.paths = {none}}), models::vertex_pairs());
  EXPECT_EQ(vertices, 0U);
  EXPECT_EQ(read({.paths = {one}, .vertices = 100}).size(), 1U);
  EXPECT_EQ(vertices, 100U);
  EXPECT_EQ(failure({.paths = {one, two}, .vertices = 7}),
            two + ":1: vertex 7, but there are 7 vertices, numbered from 0");
}

TEST_F(edge_list, takes_the_greatest_header) {
  auto const small = write("small.graph", "2 1\n2\n1\n");
  auto const large = write("large.mtx", "%%MatrixMarket matrix coordinate real general\n9 5 0\n");
  EXPECT_EQ(read({.paths = {small, large, small}}), (models::vertex_pairs{{0, 1}, {0, 1}}));
  EXPECT_EQ(vertices, 9U);
  EXPECT_EQ(
      failure({.paths = {small, write("text", "1 2\n")}}),
      dir.path("text") + ": its format numbers vertices from 0, that of " + small + " from 1");
}

TEST_F(edge_list, refuses_numbers_that_would_almost_all_be_isolated) {
  auto const wide = write("wide", "1 2\n3 20000000\n");
  EXPECT_EQ(failure({.paths = {wide}}),
            wide +
                ": 2 edges with vertices up to 20000000: if almost all of these numbers are "
                "isolated vertices, say how many there are (--vertices), else number the "
                "vertices densely");
  EXPECT_EQ(read({.paths = {wide}, .vertices = 20'000'001}).size(), 2U);
  EXPECT_EQ(vertices, 20'000'001U);
  auto const header = write("wide.mtx",
                            "%%MatrixMarket matrix coordinate pattern general\n"
                            "20000001 1 1\n20000001 1\n");
  EXPECT_EQ(read({.paths = {header}}).size(), 1U);
  EXPECT_EQ(read({.paths = {write("few", "1 16777215\n")}}).size(), 1U);
}

TEST_F(edge_list, is_decompressed) {
  auto const pairs = models::random_pairs(random, 1000, 20'000);
  {
    std::string text = lines(pairs, ' ');
    auto const out =
        block::open_output(store, dir.path("a.gz"), {.compress = io::compression::gzip});
    std::vector<std::byte> window(round_up<std::size_t>(text.size() + 8192, 4096) + 4096);
    auto* const aligned =
        window.data() + (4096 - reinterpret_cast<std::uintptr_t>(window.data()) % 4096);
    std::memcpy(aligned + out->lead_bytes(), text.data(), text.size());
    std::span<std::byte> const data(aligned + out->lead_bytes(), text.size());
    out->write(data);
    out->wait(data);
    out->commit();
  }
  EXPECT_TRUE(read({.paths = {dir.path("a.gz")}, .decoding = {.decompress = true}}) == pairs);
  EXPECT_NE(failure({.paths = {dir.path("a.gz")}}), "none");
}

TEST_F(edge_list, says_which_file_is_wrong) {
  auto const bytes = write("bytes", std::string("ab\0\n", 4));
  EXPECT_EQ(failure({.paths = {bytes}}),
            bytes + ": is no text; numbers in binary need a format, u32 or u64");
  EXPECT_THROW(read({.paths = {dir.path("nowhere")}}), io_error);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(read({.paths = {bytes}, .format = edge_format::u32, .stop = stop.get_token()}),
               cancelled);
}

}  // namespace
}  // namespace user_code
