#include "base/cache_folder.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temp_folder.h"

namespace burn {
namespace {

constexpr std::size_t kMax = 1000;

class CacheFolderTest : public ::testing::Test {
 protected:
  CacheFolderTest() { std::filesystem::create_directories(root_); }

  void set_mode(const std::filesystem::path& path, mode_t mode) const {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0) << path;
  }
  mode_t mode(const std::filesystem::path& path) const {
    struct stat info {};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777U;
  }
  // No draft is left behind.
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(root_), {}));
  }
  void expect_refused(StatusCode code, const std::string& said) const {
    const auto text = folder_.read("file", kMax);
    EXPECT_EQ(text.status().code(), code) << text.status().to_string();
    EXPECT_NE(text.status().message().find(said), std::string::npos) << text.status().to_string();
  }

  const test::TempFolder temporary_;
  const std::filesystem::path root_ = temporary_ / "burn";
  const CacheFolder folder_{root_};
};

TEST_F(CacheFolderTest, GivesBackWhatWasWritten) {
  ASSERT_TRUE(folder_.write("file", "text").ok());
  EXPECT_EQ(*folder_.read("file", kMax), "text");
  ASSERT_TRUE(folder_.write("file", "").ok());
  EXPECT_EQ(*folder_.read("file", kMax), "");
  EXPECT_EQ(files(), 1u);
}

TEST_F(CacheFolderTest, MakesFoldersAndFilesForTheUserAlone) {
  const CacheFolder nested(temporary_ / "new/burn", "kernels");
  ASSERT_TRUE(nested.write("file", "text").ok());
  EXPECT_EQ(mode(temporary_ / "new/burn"), 0700u);
  EXPECT_EQ(mode(temporary_ / "new/burn/kernels"), 0700u);
  EXPECT_EQ(mode(temporary_ / "new/burn/kernels/file"), 0600u);
  EXPECT_EQ(*nested.read("file", kMax), "text");
}

TEST_F(CacheFolderTest, AFolderThatOthersMayReadBecomesPrivate) {
  set_mode(root_, 0755);
  ASSERT_TRUE(folder_.write("file", "text").ok());
  EXPECT_EQ(mode(root_), 0700u);
}

TEST_F(CacheFolderTest, WhatIsNotThereIsNotFound) {
  expect_refused(StatusCode::not_found, "file");
  EXPECT_EQ(CacheFolder(temporary_ / "none").read("file", kMax).status().code(), StatusCode::not_found);
  EXPECT_EQ(CacheFolder({}).read("file", kMax).status().code(), StatusCode::not_found);
  EXPECT_FALSE(CacheFolder({}).write("file", "text").ok());
}

TEST_F(CacheFolderTest, AFifoIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo((root_ / "file").c_str(), 0600), 0);
  const auto begin = std::chrono::steady_clock::now();
  expect_refused(StatusCode::failed_precondition, "is not a regular file");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{5});
  EXPECT_TRUE(folder_.write("file", "text").ok());  // takes its place
  EXPECT_EQ(*folder_.read("file", kMax), "text");
}

TEST_F(CacheFolderTest, ALinkInPlaceOfTheFileIsNotFollowed) {
  const auto target = temporary_.write("target", "untouched");
  std::filesystem::create_symlink(target, root_ / "file");
  expect_refused(StatusCode::failed_precondition, "cannot be opened");
  EXPECT_TRUE(folder_.write("file", "text").ok());
  EXPECT_EQ(test::TempFolder::read(target), "untouched");
  EXPECT_EQ(*folder_.read("file", kMax), "text");
}

TEST_F(CacheFolderTest, ALinkInPlaceOfTheFolderIsNotFollowed) {
  std::filesystem::create_directories(temporary_ / "elsewhere");
  std::filesystem::create_directory_symlink(temporary_ / "elsewhere", temporary_ / "link");
  std::filesystem::create_directory_symlink(temporary_ / "elsewhere", root_ / "kernels");
  for (const auto& folder : {CacheFolder(temporary_ / "link"), CacheFolder(root_, "kernels")}) {
    EXPECT_EQ(folder.write("file", "text").code(), StatusCode::failed_precondition);
    EXPECT_EQ(folder.read("file", kMax).status().code(), StatusCode::failed_precondition);
  }
  EXPECT_TRUE(std::filesystem::is_empty(temporary_ / "elsewhere"));
}

// The drafts' names used to be known before: the file's and the process's number.
TEST_F(CacheFolderTest, ALinkUnderTheNameOfAnEarlierDraftIsNotFollowed) {
  const auto target = temporary_.write("target", "untouched");
  const auto draft = root_ / ("file." + std::to_string(::getpid()));
  std::filesystem::create_symlink(target, draft);
  EXPECT_TRUE(folder_.write("file", "text").ok());
  EXPECT_EQ(test::TempFolder::read(target), "untouched");
}

TEST_F(CacheFolderTest, WhatOthersMayWriteIsRefused) {
  ASSERT_TRUE(folder_.write("file", "text").ok());
  for (const mode_t open : {0666U, 0620U}) {
    set_mode(root_ / "file", open);
    expect_refused(StatusCode::failed_precondition, "other users may write to it");
  }
  set_mode(root_ / "file", 0644);
  EXPECT_TRUE(folder_.read("file", kMax).ok());
  for (const mode_t open : {0777U, 0770U, 01777U}) {
    set_mode(root_, open);
    expect_refused(StatusCode::failed_precondition, "other users may write to it");
    EXPECT_FALSE(folder_.write("file", "other").ok());
  }
}

TEST_F(CacheFolderTest, WhatBelongsToAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t kOther = 64123;
  ASSERT_TRUE(folder_.write("file", "text").ok());
  ASSERT_EQ(::chown((root_ / "file").c_str(), kOther, 0), 0);
  expect_refused(StatusCode::failed_precondition, "belongs to user 64123");
  ASSERT_EQ(::chown(root_.c_str(), kOther, 0), 0);
  EXPECT_FALSE(folder_.write("file", "text").ok());
}

TEST_F(CacheFolderTest, ALargeFileIsRefusedBeforeItIsRead) {
  temporary_.write("burn/file", "x");
  std::filesystem::resize_file(root_ / "file", std::uintmax_t{1} << 40);  // takes no room on the disk
  expect_refused(StatusCode::resource_exhausted, "has 1099511627776 bytes, at most 1000 are read");
}

TEST_F(CacheFolderTest, AFolderInPlaceOfTheFileIsRefused) {
  std::filesystem::create_directories(root_ / "file");
  expect_refused(StatusCode::failed_precondition, "is not a regular file");
  EXPECT_EQ(folder_.write("file", "text").code(), StatusCode::failed_precondition);
  EXPECT_EQ(files(), 1u);  // no draft is left
}

TEST_F(CacheFolderTest, AFileInPlaceOfTheFolderIsRefused) {
  const auto path = temporary_.write("plain", "text");
  EXPECT_EQ(CacheFolder(path).write("file", "text").code(), StatusCode::failed_precondition);
  EXPECT_EQ(CacheFolder(path).read("file", kMax).status().code(), StatusCode::failed_precondition);
}

TEST_F(CacheFolderTest, WhatCannotBeReadIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  ASSERT_TRUE(folder_.write("file", "text").ok());
  set_mode(root_ / "file", 0200);
  expect_refused(StatusCode::failed_precondition, "cannot be opened");
}

TEST_F(CacheFolderTest, WithoutRoomOnTheDiskTheOldFileStays) {
  ASSERT_TRUE(folder_.write("file", "text").ok());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit little{16, before.rlim_max};  // writes beyond it fail as on a full disk
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  const auto status = folder_.write("file", std::string(kMax, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status.code(), StatusCode::failed_precondition) << status.to_string();
  EXPECT_EQ(*folder_.read("file", kMax), "text");
  EXPECT_EQ(files(), 1u);
}

TEST(CacheWarning, ComesOnceInAProcessAndNotForWhatIsNotThere) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own
  const auto warns = [] {
    ::testing::internal::CaptureStderr();
    warn_of_cache(ok_status());
    warn_of_cache(not_found("nothing"));
    warn_of_cache(failed_precondition("first\nline"));
    warn_of_cache(failed_precondition("second"));
    const auto said = ::testing::internal::GetCapturedStderr();
    const bool is_once = said.find("the cache is not used: first\\nline") != said.npos &&
                         said.find("second") == said.npos && said.find("nothing") == said.npos;
    std::_Exit(is_once ? 0 : 1);
  };
  EXPECT_EXIT(warns(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace burn
