#include "data/idx.h"

#include <random>

#include <gmock/gmock.h>

#include "tests/data/idx_files.h"
#include "tests/support/temp_folder.h"

namespace burn::data {
namespace {

using test::gzip;
using test::idx_file;
using test::idx_header;
using testing::HasSubstr;
using testing::StartsWith;

Result<IdxArray> parse(const std::string& file, int rank) { return parse_idx(std::as_bytes(std::span(file)), rank); }

std::string message_of(const std::string& file, int rank = 3) {
  const auto array = parse(file, rank);
  return array.ok() ? "ok" : array.status().message();
}

TEST(Idx, ReadsPlainAndCompressedFiles) {
  for (const auto& file : {idx_file({2, 3, 4}), gzip(idx_file({2, 3, 4}))}) {
    const auto array = parse(file, 3);
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(array->shape, (ir::Shape{2, 3, 4}));
    EXPECT_EQ(array->values.size(), 24u);
    EXPECT_EQ(array->values[23], 23);
  }
  EXPECT_EQ(parse(idx_file({0}), 1)->values.size(), 0u);
}

TEST(Idx, RefusesWhatIsNotAnIdxFileOfBytes) {
  EXPECT_EQ(message_of(""), "the data end after 0 of 4 bytes of the magic number");
  EXPECT_EQ(message_of("<html>not found</html>"), "the magic number is 3c68746d, not 00000803");
  EXPECT_EQ(message_of(idx_header(0x0d, {1, 2, 2})), "the magic number is 00000d03, not 00000803");
  EXPECT_EQ(message_of(idx_file({4}), 3), "the magic number is 00000801, not 00000803");
  EXPECT_EQ(message_of(idx_header(8, {1, 2, 2}).substr(0, 9)), "the data end after 1 of 4 bytes of a size");
}

TEST(Idx, RefusesTruncatedAndOverlongPlainFiles) {
  const auto file = idx_file({2, 28, 28});
  EXPECT_EQ(message_of(file.substr(0, 1000)),
            "the sizes [2, 28, 28] ask for more than the 1000 bytes of the file can hold");
  EXPECT_EQ(message_of(file + "x"), "the data do not end with the 1568 values of [2, 28, 28]");
}

TEST(Idx, RefusesSizesBeyondAllMemory) {
  EXPECT_THAT(message_of(idx_header(8, {0xffffffff, 0xffffffff, 0xffffffff})), StartsWith("the sizes [4294967295, "));
  EXPECT_THAT(message_of(gzip(idx_header(8, {60000, 2800, 2800}))), HasSubstr("ask for more than the"));
}

TEST(Idx, RefusesTruncatedGzipWhereverItIsCut) {
  const auto whole = idx_file({20, 28, 28});
  const auto file = gzip(whole);
  ASSERT_EQ(message_of(file), "ok");
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(message_of(file.substr(0, size)), "ok") << size << " of " << file.size() << " bytes";
  }
  EXPECT_THAT(message_of(file.substr(0, file.size() / 2)), HasSubstr("the gzip data end after "));
  EXPECT_EQ(message_of(file.substr(0, file.size() - 1)),
            "the gzip data do not end with the 15680 values of [20, 28, 28]");
}

TEST(Idx, RefusesCorruptGzip) {
  auto file = gzip(idx_file({20, 28, 28}));
  auto wrong_checksum = file;
  wrong_checksum[file.size() - 6] ^= 1;
  EXPECT_EQ(message_of(wrong_checksum), "the gzip data are corrupt after 15696 unpacked bytes: incorrect data check");
  EXPECT_THAT(message_of(file + "x"), HasSubstr("do not end with"));

  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    auto bad = file;
    bad[random() % bad.size()] ^= static_cast<char>(1u << random() % 8);
    (void)message_of(bad);  // may succeed or fail, but must not crash (a flipped bit in gzip's time stamp does no harm)
  }
}

TEST(Idx, NamesTheFile) {
  const test::TempFolder folder;
  const auto array = read_idx(folder / "none", 1);
  EXPECT_EQ(array.status().code(), StatusCode::not_found);
  EXPECT_EQ(array.status().message(), "cannot read " + (folder / "none").native() + ": No such file or directory");
  EXPECT_FALSE(read_idx(folder.path(), 1).ok());
  const auto path = folder.write("file", "1234");
  EXPECT_EQ(read_idx(path, 1).status().message(), path.native() + ": the magic number is 31323334, not 00000801");
}

}  // namespace
}  // namespace burn::data
