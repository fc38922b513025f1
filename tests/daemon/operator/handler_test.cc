// The paths of the operator's port.
#include "daemon/operator/handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/operator/fake_source.h"

namespace burn::daemon {
namespace {

using testing::HasSubstr;

class HandlerTest : public testing::Test {
 protected:
  HttpResponse get(std::string target, bool is_local = true) {
    return handle({.method = "GET", .target = std::move(target), .host = "127.0.0.1:3002"}, is_local, source_);
  }
  HttpResponse ask(const HttpRequest& request, bool is_local = true) { return handle(request, is_local, source_); }

  FakeSource source_;
};

TEST_F(HandlerTest, HealthIsAYesOrAReason) {
  for (const auto* path : {"/startupz", "/readyz", "/healthz"}) {
    EXPECT_EQ(get(path).status, 200) << path;
    EXPECT_EQ(get(path).body, "ok\n") << path;
  }
  source_.is_ready = false;
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_EQ(get("/readyz").body, "draining: 3 sessions are left\n");
  EXPECT_EQ(get("/healthz").status, 200) << "a process that drains is not to be killed";
  source_.is_healthy = false;
  EXPECT_EQ(get("/healthz").status, 503);
  EXPECT_EQ(get("/healthz").body, "the device cuda:0 is lost\n");
}

TEST_F(HandlerTest, MetricsAreText) {
  const auto response = get("/metrics?name=burn_sessions_limit");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, kMetricsContentType);
  EXPECT_THAT(response.body, HasSubstr("\nburn_sessions_limit 7\n"));
}

TEST_F(HandlerTest, StatusIsJsonAndAPage) {
  EXPECT_EQ(get("/status").body, "{\"process\":[{\"name\":\"fake\"}]}\n");
  EXPECT_EQ(get("/status").content_type, "application/json");
  EXPECT_THAT(get("/debug").body, HasSubstr("<h1>fake 1.2.3</h1>"));
}

TEST_F(HandlerTest, TheLogLevelIsSet) {
  const auto post = [&](const char* target, bool is_local = true) {
    return ask({.method = "POST", .target = target, .host = "localhost"}, is_local).status;
  };
  EXPECT_EQ(post("/log-level?level=debug"), 200);
  EXPECT_EQ(source_.log_level, "debug");
  EXPECT_EQ(post("/log-level?level=loud"), 400);
  EXPECT_EQ(post("/log-level?"), 400);
  EXPECT_EQ(post("/log-level"), 400);
  EXPECT_EQ(post("/log-level?level=debug", false), 403);
  EXPECT_EQ(get("/log-level?level=debug").status, 405);
}

TEST_F(HandlerTest, ASessionIsClosedByItsName) {
  const auto post = [&](const std::string& target, bool is_local = true) {
    return ask({.method = "POST", .target = target, .host = "localhost"}, is_local).status;
  };
  EXPECT_EQ(post("/sessions/s-1/close"), 200);
  EXPECT_EQ(source_.closed, 1);
  EXPECT_EQ(post("/sessions/s-2/close"), 404);
  EXPECT_EQ(post("/sessions/s-1/close", false), 403);
  EXPECT_EQ(get("/sessions/s-1/close").status, 405);
  for (const auto* target : {"/sessions/close", "/sessions//close", "/sessions/../../close", "/sessions/../drain",
                             "/sessions/NAME/close", "/sessions/s-1/close/", "/sessions/s-1", "/sessions/s%2d1/close"})
    EXPECT_EQ(post(target), 404) << target;
  EXPECT_EQ(source_.closed, 1);
}

TEST_F(HandlerTest, OtherMachinesSeeCountsAndNoMore) {
  for (const auto* path : {"/startupz", "/readyz", "/healthz", "/metrics"})
    EXPECT_EQ(get(path, false).status, 200) << path;
  for (const auto* path : {"/status", "/debug"}) EXPECT_EQ(get(path, false).status, 403) << path;
  const auto drain = ask({.method = "POST", .target = "/drain", .host = "10.0.0.7:3002"}, false);
  EXPECT_EQ(drain.status, 403);
  EXPECT_EQ(drain.body, "/drain answers on loopback and unix sockets only\n");
  EXPECT_EQ(source_.drains, 0);
}

TEST_F(HandlerTest, DrainsByPostAlone) {
  const auto got = get("/drain");
  EXPECT_EQ(got.status, 405);
  EXPECT_EQ(got.allow, "POST");
  EXPECT_EQ(source_.drains, 0);
  EXPECT_EQ(ask({.method = "POST", .target = "/drain", .host = "localhost"}).status, 202);
  EXPECT_EQ(source_.drains, 1);
  EXPECT_EQ(ask({.method = "POST", .target = "/metrics"}).status, 405);
}

// A browser on this machine comes from loopback, whatever page it shows.
TEST_F(HandlerTest, WebPagesSeeAndDoNothing) {
  const auto post = [&](std::string host, bool has_origin) {
    return ask({.method = "POST", .target = "/drain", .host = std::move(host), .has_origin = has_origin}).status;
  };
  EXPECT_EQ(post("127.0.0.1:3002", true), 403) << "a form of a page";
  EXPECT_EQ(post("rebound.example:3002", false), 403) << "a name that was made to mean this machine";
  EXPECT_EQ(post("localhost.example", false), 403);
  EXPECT_EQ(source_.drains, 0);
  for (const auto* host : {"", "localhost", "localhost:3002", "127.0.0.1", "[::1]:3002"}) {
    EXPECT_EQ(post(host, false), 202) << host;
  }
}

TEST_F(HandlerTest, PathsThatThereAreNotAreNamed) {
  for (const auto* path : {"/", "", "/readyz/", "/READYZ", "/sessions/../..", "//metrics", "*"}) {
    EXPECT_EQ(get(path).status, 404) << path;
  }
  EXPECT_THAT(get("/nothing").body, HasSubstr("GET /readyz"));
}

}  // namespace
}  // namespace burn::daemon
