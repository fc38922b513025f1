// A service around a host that is no worker.
#include "daemon/service.h"

#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "net/remote/remote_session.h"
#include "tests/daemon/fake_host.h"

namespace burn::daemon {
namespace {

using namespace std::chrono_literals;

StatusCode refused(const ServiceOptions& options) {
  try {
    Service{options, std::make_shared<FakeHost>()};
  } catch (const Error& error) {
    return error.code();
  }
  return StatusCode::ok;
}

TEST(Service, ServesAnyHostOverEveryTransport) {
  const auto host = std::make_shared<FakeHost>(30s);
  Service service{{.ws = "127.0.0.1:0", .grpc = "127.0.0.1:0"}, host};
  ASSERT_EQ(service.urls().size(), 2u);
  for (const auto& url : service.urls()) {
    const auto session = net::connect(url + "/1");
    ASSERT_TRUE(session.ok()) << session.status().to_string();
    EXPECT_EQ((*session)->info().devices, (std::vector<std::string>{"first", "second"}));
  }
  EXPECT_EQ(host->hellos().size(), 2u);
  EXPECT_EQ(host->hellos()[0].device, 1u);
  EXPECT_GE(host->ticks, 1);
  service.stop();
  EXPECT_EQ(service.connections(), 0u);
  service.stop();
}

TEST(Service, EndsSessionsWhoseClientsDoNotComeBack) {
  const auto host = std::make_shared<FakeHost>(1s);
  Service service{{.ws = "127.0.0.1:0", .session_lease = 1s, .hello_timeout = 1s, .drain_timeout = 1s}, host};
  FakeLine line;
  {
    auto connection = std::make_shared<net::Connection>(line.channel, host, [](auto) {});
    line.handler = connection;
    line.enter({.client = "test", .lease_seconds = 1});
    line.cut();
    connection->dispose();
  }
  for (int i = 0; i < 1000 && !host->has_logged("its client has not come back"); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(host->has_logged("its client has not come back"));
}

TEST(Service, RefusesAddressesThatItCannotServe) {
  EXPECT_EQ(refused({}), StatusCode::invalid_argument) << "none at all";
  EXPECT_EQ(refused({.ws = "nonsense"}), StatusCode::invalid_argument);
  EXPECT_EQ(refused({.ws = "0.0.0.0:0"}), StatusCode::failed_precondition) << "without a token";
  EXPECT_EQ(refused({.ws = "0.0.0.0:0", .insecure = true}), StatusCode::ok);
  const Service first{{.ws = "127.0.0.1:0"}, std::make_shared<FakeHost>()};
  EXPECT_EQ(refused({.ws = first.urls()[0].substr(5)}), StatusCode::unavailable);
}

}  // namespace
}  // namespace burn::daemon
