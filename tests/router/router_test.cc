// The devices of a router, and the tokens on both of its sides.
#include "router/router.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/router/routed.h"
#include "tests/session/programs.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace burn::router {
namespace {

using session::add_program;
using session::tensor;
using testing::AllOf;
using testing::HasSubstr;

std::string address(const server::Server& worker) { return worker.url().substr(std::string{"ws://"}.size()); }

class TwoWorkers : public ::testing::Test {
 protected:
  // Which worker a session computes on.
  std::string worker_of(proto::Session& session) {
    const auto before = a_.session_counts().runs;
    EXPECT_TRUE(session.define(1, add_program({1}), {}).ok());
    EXPECT_TRUE(session.write(1, tensor({1}, {1})).ok());
    EXPECT_TRUE(session.run({.program = 1, .inputs = {1, 1}, .first_output = 2}).ok());
    EXPECT_TRUE(sync(session).ok());
    return a_.session_counts().runs > before ? "a" : "b";
  }
  std::vector<proto::MemberStats> members() {
    return value_or_throw(stats(*connect(router_.url() + "/status"))).members;
  }

  server::Server a_{worker_options()}, b_{worker_options()};
  Router router_{router_options({a_.url() + "=2", b_.url()})};
};

TEST_F(TwoWorkers, AreDevicesByNumberAndByName) {
  EXPECT_EQ(worker_of(*connect(router_.url() + "/1")), "a");
  EXPECT_EQ(worker_of(*connect(router_.url() + "/2")), "b");
  EXPECT_EQ(worker_of(*connect(router_.url() + "/member:" + address(a_))), "a");
  EXPECT_EQ(worker_of(*connect(router_.url() + "/member:" + address(b_))), "b");
  const auto devices = connect(router_.url() + "/1")->info().devices;
  EXPECT_EQ(devices, (std::vector<std::string>{"fleet", "member:" + address(a_), "member:" + address(b_)}));
}

TEST_F(TwoWorkers, ANameThatIsNotThereIsNotFound) {
  for (const auto* name : {"/3", "/member:x:1", "/cpu"}) {
    const auto session = net::connect(router_.url() + name);
    ASSERT_FALSE(session.ok()) << name;
    EXPECT_EQ(session.status().code(), StatusCode::not_found);
    EXPECT_THAT(session.status().message(),
                AllOf(HasSubstr("0: fleet"), HasSubstr("member:" + address(b_)), HasSubstr("least-loaded")));
  }
}

TEST_F(TwoWorkers, TheLeastLoadedIsByItsSessionsAndWeight) {
  std::vector<std::unique_ptr<net::RemoteSession>> sessions;
  int on_a = 0;
  for (int k = 0; k < 6; ++k) {
    sessions.push_back(connect(router_.url() + "/least-loaded"));
    on_a += worker_of(*sessions.back()) == "a" ? 1 : 0;
  }
  EXPECT_EQ(on_a, 4) << "it weighs twice as much";
}

TEST_F(TwoWorkers, TheStatusSaysWhatTheyDo) {
  const auto session = connect(router_.url() + "/2");
  ASSERT_EQ(worker_of(*session), "b");
  const auto members = this->members();
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].url, a_.url());
  EXPECT_EQ(members[0].weight, 2);
  EXPECT_EQ(members[0].sessions, 0u);
  EXPECT_EQ(members[1].name, "member:" + address(b_));
  EXPECT_EQ(members[1].sessions, 1u);
  EXPECT_EQ(members[1].lost, "");
  b_.stop();
  test::eventually([&] { return !this->members()[1].lost.empty(); }, std::chrono::seconds{1});
  EXPECT_THAT(this->members()[1].lost, HasSubstr(b_.url()));
  EXPECT_EQ(worker_of(*connect(router_.url() + "/least-loaded")), "a") << "where there is a worker";
}

TEST_F(TwoWorkers, ASessionOnTheStatusComputesNothing) {
  const auto session = connect(router_.url() + "/status");
  EXPECT_EQ(sync(*session).code(), StatusCode::failed_precondition);
  EXPECT_TRUE(session->health().ok());
  EXPECT_TRUE(session->release({1}).ok()) << "sent";
  EXPECT_FALSE(sync(*session).ok());
  EXPECT_THAT(session->health().message(), HasSubstr("\"status\""));
}

// A file that only its owner may read.
std::string private_file(const test::TempFolder& folder, const std::string& name, const std::string& text) {
  const auto path = folder.path() / name;
  std::ofstream{path} << text << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  return path.string();
}

TEST(Router, OfATenantOfItsOwnMayHaveMoreSessionsOnAWorkerThanAnotherClient) {
  const test::TempFolder folder;
  const std::string for_router = "a-token-of-the-router", for_others = "a-token-of-the-others";
  auto worker_options = router::worker_options();
  worker_options.sessions_per_peer = 2;
  worker_options.token_file = private_file(folder, "others", for_others);
  private_file(folder, "router", for_router);
  worker_options.tenant_file = private_file(
      folder, "tenants.toml", "[[tenant]]\nname = \"fleet\"\ntoken-file = \"router\"\nsessions-per-peer = 7");
  server::Server a{worker_options}, b{worker_options};
  const net::ConnectOptions as_other{.token = for_others, .lease_seconds = 0};

  auto options = router_options({a.url(), b.url()});
  options.worker_token_file = (folder.path() / "router").string();
  Router router{options};
  std::vector<std::unique_ptr<net::RemoteSession>> sessions;
  for (int k = 0; k < 6; ++k) {  // and one that says whether the worker is there
    sessions.push_back(connect(router.url(), {.lease_seconds = 0}));
    ASSERT_TRUE(sync(*sessions.back()).ok()) << "fleet session " << k;
  }
  const auto eighth = net::connect(router.url(), {.lease_seconds = 0});
  const auto refused = eighth.ok() ? sync(**eighth) : eighth.status();
  EXPECT_THAT(refused.message(), HasSubstr("at most 7 may be of one peer"));
  const auto other = net::connect(a.url(), as_other);
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.status().message(), HasSubstr("at most 2 may be of one peer")) << "the router's count, too";
}

TEST(Router, TokensOfClientsEndAtItAndWorkersKnowItByItsOwn) {
  const test::TempFolder folder;
  const std::string for_workers = "a-token-of-the-workers", for_clients = "a-token-of-the-clients";
  auto worker_options = router::worker_options();
  worker_options.token_file = private_file(folder, "workers", for_workers);
  server::Server worker{worker_options};

  auto options = router_options({worker.url()});
  options.service.token_file = private_file(folder, "clients", for_clients);
  try {
    const Router without{options};
    FAIL() << "a worker lets a router in without a token";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), StatusCode::unauthenticated);
    EXPECT_THAT(error.what(), AllOf(HasSubstr(worker.url()), HasSubstr("--worker-token-file")));
  }
  options.worker_token_file = worker_options.token_file;
  Router router{options};
  EXPECT_EQ(net::connect(router.url()).status().code(), StatusCode::unauthenticated);
  EXPECT_EQ(net::connect(router.url(), {.token = for_workers}).status().code(), StatusCode::unauthenticated);
  EXPECT_TRUE(sync(*connect(router.url(), {.token = for_clients})).ok());
}

TEST(Router, ATokenForWorkersThatIsReplacedHoldsForNewConnections) {
  const test::TempFolder folder;
  const auto write = [&](const std::string& name, const std::string& token) {
    const auto path = folder.write(name, token + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return path.string();
  };
  const std::string known = "a-token-of-the-workers";
  auto worker_options = router::worker_options();
  worker_options.token_file = write("workers", known);
  server::Server worker{worker_options};
  auto options = router_options({worker.url()});
  options.worker_token_file = write("router", known);
  Router router{options};
  const auto works = [&] {
    const auto session = net::connect(router.url());
    return session.ok() && sync(**session).ok();
  };
  const auto before = connect(router.url());
  EXPECT_TRUE(works());
  write("router", "short");  // is no token: that before holds
  EXPECT_TRUE(works());
  write("router", "a-token-that-no-worker-knows");
  EXPECT_FALSE(works());
  EXPECT_TRUE(sync(*before).ok()) << "sessions that are open stay";
  write("router", known);
  EXPECT_TRUE(works());
}

TEST(Router, ServesItsClientsOnEveryTransport) {
  const test::TempFolder folder;
  server::Server worker{worker_options()};
  auto options = router_options({worker.url()});
  options.service.grpc = "127.0.0.1:0";
  options.service.unix_path = (folder.path() / "ws").string();
  options.service.grpc_unix_path = (folder.path() / "grpc").string();
  Router router{options};
  ASSERT_EQ(router.urls().size(), 4u);
  for (const auto& url : router.urls()) EXPECT_TRUE(sync(*connect(url)).ok()) << url;
  EXPECT_TRUE(sync(*connect("unix/least-loaded:" + options.service.unix_path)).ok());
  EXPECT_TRUE(sync(*connect("unix/member:" + address(worker) + ":" + options.service.unix_path)).ok());
}

}  // namespace
}  // namespace burn::router
