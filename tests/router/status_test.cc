// What burn-router status prints.
#include "router/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn::router {
namespace {

using testing::HasSubstr;

const std::vector<proto::MemberStats> kMembers{
    {.name = "member:a:3000",
     .url = "ws://a:3000",
     .weight = 2,
     .sessions = 3,
     .device = {.memory_in_use = 3 << 20, .runs = 7}},
    {.name = "member:b:3000", .url = "ws://b:3000", .lost = "lost connection to ws://b:3000: \"gone\"\n"}};

TEST(Status, HasALineForEachMember) {
  const auto text = status_text(kMembers);
  EXPECT_THAT(text, HasSubstr("member:a:3000  up     2              3         3.0     7     0.0\n"));
  EXPECT_THAT(text, HasSubstr("member:b:3000  lost   1              0"));
  EXPECT_THAT(text, HasSubstr("  lost connection to ws://b:3000: \"gone\"\\n\n"));
}

TEST(Status, IsOneLineOfJson) {
  EXPECT_EQ(status_json({}), "{\"members\": []}");
  const auto text = status_json(kMembers);
  EXPECT_THAT(
      text,
      HasSubstr(R"({"name": "member:a:3000", "url": "ws://a:3000", "state": "up", "why": "", "weight": 2, )"
                R"("sessions": 3, "memory_in_use": 3145728, "memory_limit": 0, "runs": 7, "busy_seconds": 0}, {)"));
  EXPECT_THAT(text, HasSubstr(R"("state": "lost", "why": "lost connection to ws://b:3000: \"gone\"\u000a")"));
}

}  // namespace
}  // namespace burn::router
