#include "daemon/admission_control.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"

namespace burn::daemon {
namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef", kPeer = "10.0.0.1:4000";

TEST(AdmissionControl, WithoutATokenFileAndLimitsAdmitsEveryClient) {
  const AdmissionControl admission;
  EXPECT_TRUE(admission.authenticate("").ok());
  const auto permit = admission.admit("", kPeer);
  ASSERT_TRUE(permit.ok()) << permit.status().to_string();
  EXPECT_EQ(admission.sessions(), 1u);
}

TEST(AdmissionControl, AsksForATokenOfTheFile) {
  const test::TempFolder folder;
  const auto path = (folder.path() / "tokens").string();
  std::ofstream{path} << kToken << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  AdmissionControl admission{path};
  EXPECT_EQ(admission.authenticate(kToken).code(), StatusCode::unauthenticated) << "the file is not read yet";
  ASSERT_TRUE(admission.tokens().reload().ok());
  EXPECT_TRUE(admission.authenticate(kToken).ok());
  EXPECT_NE(admission.authenticate("").message().find("BURN_TOKEN"), std::string::npos);
  EXPECT_EQ(admission.admit("another token of some length", kPeer).status().code(), StatusCode::unauthenticated);
  EXPECT_EQ(admission.sessions(), 0u);
  std::filesystem::remove(path);
  EXPECT_EQ(admission.tokens().reload().code(), StatusCode::not_found);
  EXPECT_TRUE(admission.authenticate(kToken).ok()) << "the tokens stay";
}

TEST(AdmissionControl, CountsSessionsUntilTheirPermitsAreDropped) {
  const AdmissionControl admission{"", {.all = 3, .per_peer = 2}};
  auto first = admission.admit("", kPeer);
  auto second = admission.admit("", "10.0.0.1:4001");
  EXPECT_EQ(admission.admit("", kPeer).status().code(), StatusCode::resource_exhausted) << "two of one peer";
  const auto other = admission.admit("", "10.0.0.2:4000");
  EXPECT_TRUE(other.ok());
  EXPECT_EQ(admission.admit("", "10.0.0.3:4000").status().code(), StatusCode::resource_exhausted) << "three in all";
  first = unavailable("dropped");
  EXPECT_EQ(admission.sessions(), 2u);
  EXPECT_TRUE(admission.admit("", kPeer).ok());
}

}  // namespace
}  // namespace burn::daemon
