#include "store/file.h"

#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/support/temp_folder.h"

namespace burn::store {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

void write(const fs::path& path, const std::string& text) {
  const std::span<const std::byte> parts[] = {bytes_of(text)};
  write_file(path, parts);
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(StoreFile, ReadsWhatItWrote) {
  const test::TempFolder folder;
  const std::string first = "first ", second = "second";
  const std::span<const std::byte> parts[] = {bytes_of(first), bytes_of(second)};
  write_file(folder / "file", parts);
  EXPECT_EQ(test::TempFolder::read(folder / "file"), "first second");
  EXPECT_EQ(read_file(folder / "file").size(), 12u);
  write(folder / "file", "");
  EXPECT_EQ(read_file(folder / "file").size(), 0u);
}

TEST(StoreFile, ReplacesAFileAndLeavesNothingBeside) {
  const test::TempFolder folder;
  write(folder / "file", "old");
  write(folder / "file", "new");
  EXPECT_EQ(test::TempFolder::read(folder / "file"), "new");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(StoreFile, LeavesNothingWhenItFails) {
  const test::TempFolder folder;
  fs::create_directory(folder / "taken");
  folder.write("taken/by", "something");
  EXPECT_THROW(write(folder / "taken", "x"), Error);  // a folder cannot be replaced by a file
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(StoreFile, SaysWhichFileAndWhy) {
  const test::TempFolder folder;
  const auto missing = folder / "missing";
  try {
    (void)read_file(missing);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), StatusCode::not_found);
    EXPECT_EQ(std::string(error.what()), "cannot read " + missing.native() + ": No such file or directory");
  }
  EXPECT_THROW((void)read_file(folder.path()), Error);
  EXPECT_THROW(write(missing / "below", "x"), Error);
}

TEST(StoreFile, WritersAtTheSameTimeDoNotMix) {
  const test::TempFolder folder;
  std::vector<std::thread> threads;
  for (char c = 'a'; c < 'e'; ++c) {
    threads.emplace_back([&, c] {
      for (int i = 0; i < 10; ++i) write(folder / "file", std::string(10000, c));
    });
  }
  for (auto& thread : threads) thread.join();
  const auto text = test::TempFolder::read(folder / "file");
  EXPECT_EQ(text, std::string(10000, text.at(0)));
  EXPECT_EQ(files_in(folder.path()), 1u);
}

}  // namespace
}  // namespace burn::store
