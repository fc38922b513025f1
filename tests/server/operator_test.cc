// burn-server's operator port and the commands that ask it.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "daemon/operator/client.h"
#include "net/remote/remote_session.h"
#include "tests/server/operated_server.h"
#include "tests/session/answers.h"
#include "tests/session/programs.h"
#include "tests/support/http_collector.h"
#include "tests/support/temp_folder.h"

namespace burn::server {

using namespace session;
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// The singular values of a matrix, tensor 1, by LAPACK, which cannot be stopped: for ten seconds at least.
void run_for_seconds(proto::Session& session) {
  constexpr std::int64_t kSize = 3000;
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(f32({kSize, kSize}));
  const auto u = value_or_throw(builder.add(ir::Svd{}, {&x, 1}));
  EXPECT_TRUE(session.define(1, std::make_shared<const ir::Program>(builder.finish({u})), {}).ok());
  EXPECT_TRUE(session.write(1, tensor({kSize, kSize}, std::vector<float>(kSize * kSize, 0.5f))).ok());
  EXPECT_TRUE(session.run({.program = 1, .inputs = {1}, .first_output = 2}).ok());
}

TEST(BurnServerOperator, CountsWhatItsClientsDo) {
  OperatedServer server;
  EXPECT_EQ(server.get("/startupz").status, 200);
  EXPECT_EQ(server.get("/readyz").status, 200);
  EXPECT_EQ(server.get("/healthz").status, 200);
  for (int i = 0; i < 3; ++i) run(server.url(), 2);
  for (int i = 0; i < 500 && server.metric("burn_sessions_closed_total{reason=\"client\"}") != "3"; ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(server.metric("burn_sessions_opened_total"), "3");
  EXPECT_EQ(server.metric("burn_sessions_closed_total{reason=\"client\"}"), "3");
  EXPECT_EQ(server.metric("burn_runs_total{device=\"cpu\"}"), "6");
  EXPECT_EQ(server.metric("burn_run_seconds_count{device=\"cpu\"}"), "6");
  EXPECT_EQ(server.metric("burn_run_queue_seconds_count{device=\"cpu\"}"), "6");
  EXPECT_EQ(server.metric("burn_run_seconds_bucket{device=\"cpu\",le=\"+Inf\"}"), "6");
  EXPECT_GT(std::stod(server.metric("burn_run_seconds_sum{device=\"cpu\"}")), 0);
  EXPECT_LT(std::stod(server.metric("burn_run_seconds_sum{device=\"cpu\"}")), 60);
  EXPECT_EQ(server.metric("burn_plan_cache_lookups_total{device=\"cpu\",result=\"miss\"}"), "1");
  EXPECT_EQ(server.metric("burn_compile_seconds_count{device=\"cpu\"}"), "1");
  EXPECT_GT(std::stod(server.metric("burn_compile_seconds_sum{device=\"cpu\"}")), 0);
  EXPECT_EQ(server.metric("burn_plan_cache_evictions_total{device=\"cpu\"}"), "0");
  EXPECT_EQ(server.metric("burn_collectives_total{device=\"cpu\",op=\"all_reduce\"}"), "0");
  EXPECT_EQ(server.metric("burn_graph_launches_total{device=\"cpu\"}"), "") << "it has no graphs";
  // A session leaves its device a little after its connection.
  constexpr auto kAtRest = "\"devices\":[{\"name\":\"cpu\",\"why_lost\":\"\",\"sessions\":0,\"runs\":6,";
  for (int i = 0; i < 500 && server.get("/status").body.find(kAtRest) == std::string::npos; ++i)
    std::this_thread::sleep_for(10ms);
  EXPECT_THAT(server.get("/status").body, HasSubstr(kAtRest));
}

TEST(BurnServerOperator, ShowsWhatEachTenantHas) {
  const test::TempFolder folder;
  const auto tokens = folder.write("vision.tokens", "a token of the tenant vision\n");
  const auto file = folder.write("tenants.toml",
                                 "[[tenant]]\nname = \"vision\"\ntoken-file = \"vision.tokens\"\n"
                                 "[[tenant]]\nname = \"speech\"\ndisabled = true\n");
  for (const auto& path : {tokens, file}) std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  OperatedServer server{{"--tenants", file.string()}};
  net::ConnectOptions options;
  options.token = "a token of the tenant vision";
  const auto session = value_or_throw(net::connect(server.url(), options));
  ASSERT_TRUE(session->write(1, tensor({1000}, std::vector<float>(1000, 1.0f))).ok());
  ASSERT_TRUE(read(*session, 1).ok());
  const auto status = server.get("/status").body;
  EXPECT_THAT(status, HasSubstr("{\"name\":\"vision\",\"sessions\":1,\"memory_in_use_bytes\":4"));
  EXPECT_THAT(status, HasSubstr("{\"name\":\"speech\",\"sessions\":0,\"memory_in_use_bytes\":0,"));
  EXPECT_THAT(server.get("/debug").body, HasSubstr("<h2>tenants</h2>"));
}

TEST(BurnServerOperator, ListsSessionsAndTheProgramsThatTookTheLongest) {
  OperatedServer server{{"--session-lease", "60"}};
  const auto small = value_or_throw(net::connect(server.url())), large = value_or_throw(net::connect(server.url()));
  ASSERT_TRUE(small->write(1, tensor({1000}, std::vector<float>(1000, 1.0f))).ok());
  ASSERT_TRUE(large->write(1, tensor({5000}, std::vector<float>(5000, 1.0f))).ok());
  ASSERT_TRUE(large->define(1, add_program({5000}), {}).ok());
  for (proto::TensorId k = 2; k < 5; ++k)
    ASSERT_TRUE(large->run({.program = 1, .inputs = {1, 1}, .first_output = k}).ok());
  ASSERT_TRUE(read(*small, 1).ok() && read(*large, 4).ok());
  const auto status = server.get("/status").body;
  const auto first =
      status.find(fmt::format("{{\"name\":\"{}\",\"tenant\":\"default\",\"device\":\"cpu\","
                              "\"connected\":true,\"age_seconds\":",
                              large->info().session));
  const auto second = status.find(fmt::format("{{\"name\":\"{}\",\"tenant\":\"default\"", small->info().session));
  ASSERT_NE(first, std::string::npos) << status;
  ASSERT_NE(second, std::string::npos) << status;
  EXPECT_LT(first, second) << "the one with the most memory is first";
  EXPECT_THAT(status.substr(first, second - first), HasSubstr("\"resumes\":0,\"runs\":3,"));
  EXPECT_THAT(status.substr(first, second - first), HasSubstr("\"memory_in_use_bytes\":80000,"));
  EXPECT_THAT(status, HasSubstr("\"first_op\":\"add\",\"nodes\":1,\"runs\":3,"));
  EXPECT_THAT(status, HasSubstr("{\"name\":\"session-lease\",\"value\":\"60\",\"origin\":\"--session-lease\"}"));
  EXPECT_THAT(status, HasSubstr("{\"name\":\"burn-timer\",\"number\":1,"));
  EXPECT_THAT(server.get("/debug").body, HasSubstr("<h2>sessions</h2>"));
  EXPECT_THAT(server.get("/debug").body, HasSubstr("<h2>programs</h2>"));
}

TEST(BurnServerOperator, SendsOneRunInSoManyToACollector) {
  test::HttpCollector collector;
  OperatedServer server{{"--otlp", collector.url(), "--trace-one-in", "3"}};
  for (int i = 0; i < 3; ++i) run(server.url(), 2);
  const std::string sent = "burn_trace_runs_total{result=\"sent\"}";
  for (int i = 0; i < 1000 && server.metric(sent) != "2"; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(server.metric(sent), "2") << "of six";
  EXPECT_EQ(server.metric("burn_trace_runs_total{result=\"lost\"}"), "0");
  const auto text = collector.bodies();
  EXPECT_THAT(text, HasSubstr("{\"key\":\"service.name\",\"value\":{\"stringValue\":\"burn-server\"}}"));
  EXPECT_THAT(text, HasSubstr("{\"key\":\"burn.device\",\"value\":{\"stringValue\":\"cpu\"}}"));
  EXPECT_THAT(text, HasSubstr("{\"key\":\"burn.first_op\",\"value\":{\"stringValue\":\"add\"}}"));
  EXPECT_EQ(OperatedServer{}.metric(sent), "") << "without --otlp";
}

TEST(BurnServerOperator, CountsBytesOfFramesInBothDirections) {
  OperatedServer server;
  const std::string received = "burn_received_bytes_total{transport=\"websocket\"}";
  const std::string sent = "burn_sent_bytes_total{transport=\"websocket\"}";
  EXPECT_EQ(server.metric(received), "0");
  EXPECT_EQ(server.metric("burn_sent_bytes_total{transport=\"grpc\"}"), "");  // it is off
  constexpr std::int64_t kNumbers = 1 << 20;
  constexpr double kBytes = 4 * kNumbers;
  const auto session = value_or_throw(net::connect(server.url()));
  EXPECT_TRUE(session->write(1, tensor({kNumbers}, std::vector<float>(kNumbers, 0.5f))).ok());
  EXPECT_TRUE(read(*session, 1).ok());
  for (const auto& series : {received, sent}) {
    const auto bytes = std::stod(server.metric(series));
    EXPECT_GE(bytes, kBytes) << series;
    EXPECT_LE(bytes, kBytes + 10'000) << series;  // what is around the tensor
  }
}

TEST(BurnServerOperator, DrainsOnceWhenItIsTold) {
  OperatedServer server;
  const auto drained = daemon::ask_operator(server.address(), "POST", "/drain", 10s);
  ASSERT_TRUE(drained.ok()) << drained.status().to_string();
  EXPECT_EQ(drained->status, 202);
  (void)daemon::ask_operator(server.address(), "POST", "/drain", 1s);  // a second one is no second signal
  EXPECT_EQ(server.process().wait(), 0);
  EXPECT_THAT(server.process().read_errors(), HasSubstr("done"));
}

TEST(BurnServerOperator, IsHealthyAndNotReadyWhileItDrains) {
  OperatedServer server{{"--threads", "1", "--drain-timeout", "3"}};
  const auto session = value_or_throw(net::connect(server.url()));
  run_for_seconds(*session);
  for (int i = 0; i < 500 && server.metric("burn_runs_total{device=\"cpu\"}") != "1"; ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(server.get("/readyz").status, 200) << "a long run is no reason";
  server.process().send(SIGTERM);
  auto ready = server.get("/readyz");
  for (int i = 0; i < 100 && ready.status == 200; ++i) {
    std::this_thread::sleep_for(10ms);
    ready = server.get("/readyz");
  }
  EXPECT_EQ(ready.status, 503);
  EXPECT_THAT(ready.body, StartsWith("draining: 1 sessions"));
  EXPECT_EQ(server.get("/healthz").status, 200);
  EXPECT_EQ(server.metric("burn_draining"), "1");
  EXPECT_EQ(server.process().wait(), 0);
}

TEST(BurnServerOperator, CommandsAskIt) {
  OperatedServer server;
  const auto ask = [&](std::vector<std::string> words) {
    words.insert(words.begin(), BURN_SERVER);
    words.insert(words.end(), {"--operator", server.address()});
    Process process{words};
    auto line = process.read_line();
    return std::pair{std::move(line), process.wait()};
  };
  EXPECT_EQ(ask({"probe"}), (std::pair<std::string, int>{"ok", 0}));
  EXPECT_EQ(ask({"probe", "health"}), (std::pair<std::string, int>{"ok", 0}));
  EXPECT_THAT(ask({"status"}).first, StartsWith("{\"process\":[{\"name\":\"burn-server "));
  EXPECT_EQ(ask({"probe", "nonsense"}).second, 2);
  EXPECT_EQ(ask({"drain"}), (std::pair<std::string, int>{"draining", 0}));
  EXPECT_EQ(server.process().wait(), 0);
  Process late{{BURN_SERVER, "probe", "--operator", server.address()}};
  EXPECT_THAT(late.read_errors(), EndsWith(server.address() + ": Connection refused\n"));
  EXPECT_EQ(late.wait(), 1);
}

TEST(BurnServerOperator, AnAddressInUseIsToldBeforeDevicesAreOpened) {
  OperatedServer first;
  Process second{{BURN_SERVER, "--ws", "127.0.0.1:0", "--grpc", "off", "--operator", first.address()}};
  EXPECT_EQ(second.read_errors(), "burn-server: cannot listen on " + first.address() + ": Address already in use\n");
  EXPECT_EQ(second.wait(), 1);
}

}  // namespace
}  // namespace burn::server
