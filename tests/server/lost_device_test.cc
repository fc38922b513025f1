// A device that is lost while sessions are at work on it.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "daemon/operator/client.h"
#include "daemon/operator/port.h"
#include "daemon/process_view.h"
#include "daemon/service.h"
#include "net/remote/remote_session.h"
#include "server/worker_host.h"
#include "tests/session/answers.h"
#include "tests/session/fake_backend.h"
#include "tests/session/programs.h"

namespace burn::server {

using namespace session;
namespace {

using testing::HasSubstr;

TEST(LostDevice, FailsItsRunsTurnsHealthAndLeavesTheOtherDeviceAlone) {
  const auto first = std::make_shared<FakeDevice>(), second = std::make_shared<FakeDevice>();
  std::atomic<bool> fails = false;
  first->on_run = [&](const ir::Program&) {
    if (!fails) return Status{};
    first->is_lost = true;
    return internal_error("it fell off the bus");
  };
  const auto host = std::make_shared<WorkerHost>(
      WorkerHost::Workers{Worker::create(make_fake_backend(first)), Worker::create(make_fake_backend(second))},
      Quotas{});
  daemon::Service service{{.ws = "127.0.0.1:0"}, host};
  daemon::ProcessView view{"burn-test 4.5.6", [] {}};
  view.attach(service, *host);
  const daemon::OperatorPort port{"127.0.0.1:0", view};
  const auto get = [&](std::string_view path) {
    const auto address = port.url().substr(std::string_view{"http://"}.size());
    return value_or_throw(daemon::ask_operator(address, "GET", path, std::chrono::seconds{10}));
  };
  const auto open = [&](const std::string& device) {
    auto session = value_or_throw(net::connect(service.urls().front() + device));
    EXPECT_TRUE(session->define(1, add_program({1}), {}).ok());
    EXPECT_TRUE(session->write(1, tensor({1}, {2})).ok());
    return session;
  };
  const auto twice = [](proto::Session& session, proto::TensorId to) {
    EXPECT_TRUE(session.run({.program = 1, .inputs = {1, 1}, .first_output = to}).ok());
    return read(session, to);
  };
  const auto one = open("/0"), neighbour = open("/0"), other = open("/1");
  for (const auto* session : {&one, &neighbour, &other}) EXPECT_TRUE(twice(**session, 2).ok());
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(get("/readyz").status, 200);

  fails = true;
  EXPECT_THAT(twice(*one, 3).status().message(), HasSubstr("it fell off the bus"));
  const auto health = get("/healthz");
  EXPECT_EQ(health.status, 503);
  EXPECT_EQ(health.body, "the device fake is lost: it fell off the bus\n");
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_THAT(get("/metrics").body, HasSubstr("burn_device_up{device=\"fake\"} 0\n"));
  EXPECT_THAT(get("/metrics").body, HasSubstr("burn_device_up{device=\"fake#1\"} 1\n"));
  EXPECT_THAT(get("/status").body, HasSubstr("\"why_lost\":\"it fell off the bus\""));

  EXPECT_THAT(twice(*neighbour, 3).status().message(), HasSubstr("it fell off the bus")) << "it is answered, too";
  EXPECT_EQ(values(value_or_throw(twice(*other, 3))), std::vector<float>{4}) << "the other device computes";
  view.detach();
  service.stop();
}

}  // namespace
}  // namespace burn::server
