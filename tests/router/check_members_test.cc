// Which workers may be those of one router.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/member.h"

namespace burn::router {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kOps = 0xabc;

MemberFacts facts(const std::string& url, const std::string& instance) {
  return {.url = url,
          .device = "0",
          .op_set = kOps,
          .info = {.server = "burn-server 1",
                   .devices = {"cpu", "null"},
                   .instance = instance,
                   .numerics = 7,
                   .role = "worker"}};
}

std::string error_of(const std::vector<MemberFacts>& members) {
  const auto status = check_members(members, "router", kOps);
  EXPECT_EQ(status.code(), status.ok() ? StatusCode::ok : StatusCode::failed_precondition);
  return status.message();
}

TEST(CheckMembers, TakesWorkersOfOneKind) { EXPECT_EQ(error_of({facts("ws://a:1", "a"), facts("ws://b:1", "b")}), ""); }

TEST(CheckMembers, TakesTwoDevicesOfOneWorker) {
  auto second = facts("ws://a:1/1", "a");
  second.device = "1";
  EXPECT_EQ(error_of({facts("ws://a:1", "a"), second}), "");
}

TEST(CheckMembers, RefusesAWorkerThatIsThereTwiceAlsoUnderTwoNames) {
  EXPECT_THAT(error_of({facts("ws://a:1", "a"), facts("unix:/run/a", "a")}),
              AllOf(HasSubstr("ws://a:1"), HasSubstr("unix:/run/a"), HasSubstr("same device")));
  auto named = facts("ws://localhost:1/cpu", "a");
  named.device = "cpu";
  EXPECT_THAT(error_of({facts("ws://a:1", "a"), named}), HasSubstr("same device"));
}

TEST(CheckMembers, RefusesItselfAndOtherRouters) {
  EXPECT_THAT(error_of({facts("ws://r:1", "router")}), HasSubstr("this router itself"));
  auto other = facts("ws://r:2", "other");
  other.info.role = "router";
  EXPECT_THAT(error_of({other}), HasSubstr("is a router"));
}

TEST(CheckMembers, RefusesWorkersThatDoNotSayWhatTheyAre) {
  auto old = facts("ws://a:1", "");
  old.info.role.clear();
  old.info.numerics = 0;
  EXPECT_THAT(error_of({old}), HasSubstr("older version"));
}

TEST(CheckMembers, NamesWorkersThatDifferAndBothValues) {
  auto other = facts("ws://b:1", "b");
  other.op_set = 0xdef;
  EXPECT_THAT(error_of({facts("ws://a:1", "a"), other}),
              AllOf(HasSubstr("ws://a:1"), HasSubstr("ws://b:1"), HasSubstr("0abc"), HasSubstr("0def")));
  EXPECT_THAT(error_of({other}), AllOf(HasSubstr("ws://b:1"), HasSubstr("this router"), HasSubstr("0def")));
  other = facts("ws://b:1", "b");
  other.info.numerics = 8;
  EXPECT_THAT(error_of({facts("ws://a:1", "a"), other}),
              AllOf(HasSubstr("ws://a:1"), HasSubstr("ws://b:1"), HasSubstr("0007"), HasSubstr("0008")));
}

}  // namespace
}  // namespace burn::router
