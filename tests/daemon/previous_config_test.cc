// The file of options that held before a reload, kept and put back.
#include "daemon/previous_config.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/command_line.h"
#include "tests/support/temp_folder.h"

namespace burn::daemon {
namespace {

using std::filesystem::perms;
using test::TempFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kOld = "sessions = 3\n";

class KeptConfig : public testing::Test {
 protected:
  KeptConfig() { folder_.write("server.toml", "sesions = 4\n"); }
  std::string config() const { return folder_ / "server.toml"; }
  std::string kept() const { return config() + ".previous"; }
  std::string text() const { return TempFolder::read(config()); }
  Result<std::string> put_back() const { return roll_back(Daemon::worker, config(), {kept()}); }

  TempFolder folder_;
};

TEST_F(KeptConfig, LiesBesideTheFileOrInTheFolderOfTheService) {
  const std::array<const char*, 1> none{nullptr};
  EXPECT_EQ(previous_config_path("/etc/burn/server.toml", none.data()), "/etc/burn/server.toml.previous");
  const std::array<const char*, 2> given{"STATE_DIRECTORY=/var/lib/burn:/var/lib/other", nullptr};
  EXPECT_EQ(previous_config_path("/etc/burn/server.toml", given.data()), "/var/lib/burn/server.toml.previous");
}

TEST_F(KeptConfig, IsPutBackWithTheOwnerAndModeOfTheFile) {
  std::filesystem::permissions(config(), perms::owner_read | perms::owner_write | perms::group_read);
  ASSERT_TRUE(write_config(kept(), kOld).ok());
  const auto from = put_back();
  ASSERT_TRUE(from.ok()) << from.status().to_string();
  EXPECT_EQ(*from, kept());
  EXPECT_EQ(text(), kOld);
  EXPECT_EQ(std::filesystem::status(config()).permissions(),
            perms::owner_read | perms::owner_write | perms::group_read);
}

TEST_F(KeptConfig, TheNewestOfSeveralIsPutBack) {
  const std::string other = folder_ / "other.previous";
  ASSERT_TRUE(write_config(other, "sessions = 1\n").ok());
  ASSERT_TRUE(write_config(kept(), kOld).ok());
  std::filesystem::last_write_time(other, std::filesystem::last_write_time(kept()) - std::chrono::hours{1});
  ASSERT_TRUE(roll_back(Daemon::worker, config(), {other, kept(), folder_ / "none"}).ok());
  EXPECT_EQ(text(), kOld);
}

TEST_F(KeptConfig, ALinkStaysAndItsFileIsReplaced) {
  std::filesystem::rename(config(), folder_ / "real.toml");
  std::filesystem::create_symlink("real.toml", config());
  ASSERT_TRUE(write_config(kept(), kOld).ok());
  ASSERT_TRUE(put_back().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(config()));
  EXPECT_EQ(TempFolder::read(folder_ / "real.toml"), kOld);
}

TEST_F(KeptConfig, WhatIsNoFileOfOptionsIsNotPutBack) {
  EXPECT_THAT(put_back().status().message(), HasSubstr("there is no " + kept()));
  const auto secret = folder_.write("secret", "root:x:0\n");
  std::filesystem::create_symlink(secret, kept());  // as another user of the folder may
  EXPECT_THAT(put_back().status().message(), HasSubstr("cannot read " + kept()));
  std::filesystem::remove(kept());
  std::filesystem::create_directory(kept());
  EXPECT_THAT(put_back().status().message(), HasSubstr("is no regular file"));
  std::filesystem::remove(kept());
  for (const auto* text : {"root:x:0\n", "sesions = 3\n"}) {
    ASSERT_TRUE(write_config(kept(), text).ok());
    EXPECT_THAT(put_back().status().message(), AllOf(StartsWith("line 1"), HasSubstr(kept())));
  }
  ASSERT_TRUE(write_config(kept(), std::string(2 << 20, '#')).ok());
  EXPECT_THAT(put_back().status().message(), HasSubstr("more than"));
  EXPECT_EQ(text(), "sesions = 4\n") << "all of these leave the file as it was";
}

TEST_F(KeptConfig, AFolderThatIsNotThereIsAnErrorWithItsPath) {
  const std::string path = folder_ / "none" / "server.toml.previous";
  EXPECT_THAT(write_config(path, kOld).message(), HasSubstr("cannot write beside " + path));
}

TEST_F(KeptConfig, TheCommandLinePutsItBackThoughTheFileIsWrong) {
  const Program worker{.daemon = Daemon::worker, .name = "burn-server", .version = "1", .description = "Serves."};
  const auto path = config();
  const std::array<const char*, 4> line{"burn-server", "--rollback", "--config", path.c_str()};
  const std::array<const char*, 1> none{nullptr};
  EXPECT_EQ(parse_command_line(worker, 4, line.data(), none.data()).exit_code, 1);
  ASSERT_TRUE(write_config(kept(), kOld).ok());
  EXPECT_EQ(parse_command_line(worker, 4, line.data(), none.data()).exit_code, 0);
  EXPECT_EQ(text(), kOld);
  EXPECT_EQ(parse_command_line(worker, 2, line.data(), none.data()).exit_code, 1) << "of which file?";
}

}  // namespace
}  // namespace burn::daemon
