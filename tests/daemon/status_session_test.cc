// Sessions without a device.
#include "daemon/status_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn::daemon {
namespace {

using testing::HasSubstr;

TEST(StatusSubject, IsTheDeviceThatTheStatusIsAbout) {
  const auto subject = [](const std::string& name) { return status_subject({.device = 1, .device_name = name}); };
  EXPECT_FALSE(subject("").has_value());
  EXPECT_FALSE(subject("cpu").has_value());
  EXPECT_FALSE(subject("statuses").has_value());
  EXPECT_EQ(subject("status")->device, 1u);
  EXPECT_EQ(subject("status")->device_name, "");
  EXPECT_EQ(subject("status:3")->device, 3u);
  EXPECT_EQ(subject("status:3")->device_name, "");
  EXPECT_EQ(subject("status:cuda:1")->device_name, "cuda:1");
}

TEST(StatusSession, HasStatsAndRefusesTheRest) {
  const auto session =
      make_status_session({.server = "test"}, [] { return proto::SessionStats{.session = {}, .device = {.runs = 7}}; });
  EXPECT_TRUE(session->health().ok());
  EXPECT_EQ(session->info().server, "test");
  EXPECT_EQ(session->stats().device.runs, 7u);
  EXPECT_EQ(session->run({}).code(), StatusCode::failed_precondition);
  EXPECT_EQ(session->begin_upload(1, {}).status().code(), StatusCode::failed_precondition);
  std::uint64_t executed = 0;
  session->on_progress([&](std::uint64_t calls) { executed = calls; });
  Status synced;
  session->sync([&](Status status) { synced = std::move(status); });
  EXPECT_THAT(synced.message(), HasSubstr("\"status\""));
  session->read(1, [](const auto& result) { EXPECT_FALSE(result.ok()); });
  EXPECT_EQ(executed, 2u);
}

TEST(RefusedSession, SaysWhy) {
  const auto session = make_refused_session(unavailable("not now"));
  EXPECT_EQ(session->health(), unavailable("not now"));
  EXPECT_EQ(session->release({1}), unavailable("not now"));
}

}  // namespace
}  // namespace burn::daemon
