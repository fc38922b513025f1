// What the operator's port shows of a service and its host.
#include "daemon/process_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/option_source.h"
#include "net/remote/remote_session.h"
#include "tests/daemon/fake_host.h"

namespace burn::daemon {
namespace {

using testing::HasSubstr;

std::string text_of(const ProcessView& view) {
  Samples samples;
  view.collect(samples);
  return samples.to_text();
}

TEST(ProcessView, IsStartingUntilThereIsAService) {
  int drains = 0;
  ProcessView view{"burn-test 4.5.6", [&] { ++drains; }};
  EXPECT_EQ(view.startup().code(), StatusCode::unavailable);
  EXPECT_EQ(view.ready().code(), StatusCode::unavailable);
  EXPECT_TRUE(view.healthy().ok()) << "what starts is not to be killed";
  EXPECT_THAT(text_of(view), HasSubstr("burn_ready 0\n"));
  EXPECT_THAT(text_of(view), HasSubstr("burn_build_info{version=\"4.5.6\","));
  EXPECT_EQ(view.report().tables.size(), 1u);
  view.drain();
  EXPECT_EQ(drains, 1);
}

TEST(ProcessView, ShowsAServiceAndItsEnd) {
  const auto host = std::make_shared<FakeHost>();
  Service service{{.ws = "127.0.0.1:0"}, host};
  ProcessView view{"burn-test 4.5.6", [] {}};
  view.attach(service, *host);
  EXPECT_TRUE(view.startup().ok());
  EXPECT_TRUE(view.ready().ok()) << view.ready().to_string();
  {
    const auto session = net::connect(service.urls().front());
    ASSERT_TRUE(session.ok()) << session.status().to_string();
    const auto text = text_of(view);
    EXPECT_THAT(text, HasSubstr("burn_ready 1\n"));
    EXPECT_THAT(text, HasSubstr("burn_sessions{state=\"connected\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("burn_connections 1\n"));
    EXPECT_THAT(text, HasSubstr("burn_sessions_opened_total 1\n"));
    EXPECT_THAT(text, HasSubstr("burn_insecure 1\n"));
    EXPECT_THAT(to_json(view.report()), HasSubstr(service.urls().front()));
  }
  service.stop();
  EXPECT_THAT(view.ready().message(), HasSubstr("draining"));
  EXPECT_TRUE(view.startup().ok());
  EXPECT_TRUE(view.healthy().ok()) << "what drains is not to be killed";
  EXPECT_THAT(text_of(view), HasSubstr("burn_draining 1\n"));
  view.detach();
  EXPECT_EQ(view.startup().code(), StatusCode::unavailable);
}

TEST(ProcessView, ReportsOptionsWithTheirOriginsAndThreads) {
  const auto host = std::make_shared<FakeHost>();
  Service service{{.ws = "127.0.0.1:0"}, host};
  ProcessView view{"burn-test 4.5.6", [] {}};
  OptionValues values;
  ASSERT_TRUE(set_options({{Option::sessions, {"64"}, "line 3 of /etc/burn/server.toml"}}, values).ok());
  view.show_options(Daemon::worker, values);
  const auto starting = to_json(view.report());
  EXPECT_THAT(starting,
              HasSubstr("{\"name\":\"sessions\",\"value\":\"64\",\"origin\":\"line 3 of /etc/burn/server.toml\"}"))
      << "also before there is a service";
  view.attach(service, *host);
  const auto text = to_json(view.report());
  EXPECT_THAT(text, HasSubstr("{\"name\":\"session-lease\",\"value\":\"30\",\"origin\":\"default\"}"));
  EXPECT_THAT(text, HasSubstr("{\"name\":\"threads\",\"value\":\"\",\"origin\":\"not set\"}"));
  EXPECT_THAT(text, testing::Not(HasSubstr("\"worker-lease\""))) << "an option of routers";
  EXPECT_THAT(text, testing::Not(HasSubstr("\"print-config\"")));
  EXPECT_THAT(text, HasSubstr("\"threads\":[{\"name\":\""));
  view.detach();
}

TEST(ProcessView, ALostDeviceIsNeitherReadyNorHealthy) {
  const auto host = std::make_shared<FakeHost>();
  Service service{{.ws = "127.0.0.1:0"}, host};
  ProcessView view{"burn-test 4.5.6", [] {}};
  view.attach(service, *host);
  EXPECT_TRUE(view.healthy().ok());
  host->lose_device();
  EXPECT_EQ(view.healthy().message(), "the device second is lost");
  EXPECT_EQ(view.ready().message(), "the device second is lost");
  view.detach();
}

TEST(Service, IsStuckWhenItsTimerHasNotComeRound) {
  const auto host = std::make_shared<FakeHost>();
  Service service{{.ws = "127.0.0.1:0"}, host};
  const auto now = std::chrono::steady_clock::now();
  EXPECT_FALSE(service.is_stuck(now + std::chrono::seconds{20}));
  EXPECT_TRUE(service.is_stuck(now + std::chrono::seconds{60}));
  service.stop();
  EXPECT_FALSE(service.is_stuck(now + std::chrono::seconds{60})) << "its end has a limit of its own";
}

}  // namespace
}  // namespace burn::daemon
