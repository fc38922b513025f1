// The browser's dashboard: which requests are answered, and which changes are sent to the page.
#include <future>
#include <random>

#include <arpa/inet.h>
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "tests/support/temp_folder.h"
#include "tests/train/events/made_up_run.h"
#include "train/dashboard/web/answer.h"
#include "train/dashboard/web/json.h"
#include "train/dashboard/web/web_dashboard.h"

namespace burn::train::dashboard {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(DashboardAddress, IsReadInAllItsForms) {
  EXPECT_EQ(to_string(*parse_address("127.0.0.1:6006")), "127.0.0.1:6006");
  EXPECT_EQ(to_string(*parse_address("localhost:7000")), "127.0.0.1:7000");
  EXPECT_EQ(to_string(*parse_address("7000")), "127.0.0.1:7000");
  EXPECT_EQ(to_string(*parse_address("[::1]:80")), "[::1]:80");
  EXPECT_EQ(to_string(*parse_address("0.0.0.0")), "0.0.0.0:6006");
  EXPECT_TRUE(parse_address("[::1]:80")->is_loopback);
  EXPECT_FALSE(parse_address("0.0.0.0:80")->is_loopback);
  for (const char* text :
       {"", "host", "1.2.3:80", "127.0.0.1:", "127.0.0.1:99999", "[::1", "[::1]80", "127.0.0.1:8a", "::1"}) {
    if (std::string_view{text}.empty()) continue;
    EXPECT_FALSE(parse_address(text).ok()) << text;
  }
  EXPECT_THAT(parse_address("over there").status().message(), HasSubstr("\"over there\" is no address"));
}

TEST(DashboardGate, OnLoopbackRefusesForeignHostsAndOrigins) {
  const Gate gate{{"127.0.0.1", 6006, true}, ""};
  const auto check = [&](std::string_view host, std::string_view origin = "") {
    return gate.check(
        {.method = "GET", .target = "/", .host = host, .origin = origin, .cookie = "", .authorization = ""});
  };
  EXPECT_EQ(check("127.0.0.1:6006"), 0);
  EXPECT_EQ(check("localhost:8080", "http://localhost:8080"), 0);
  EXPECT_EQ(check("[::1]:6006"), 0);
  EXPECT_EQ(check("evil.example:6006"), 403);
  EXPECT_EQ(check("127.0.0.1.evil.example"), 403);
  EXPECT_EQ(check(""), 403);
  EXPECT_EQ(check("127.0.0.1:6006", "http://evil.example"), 403);
  EXPECT_EQ(check("127.0.0.1:6006", "null"), 403);
}

TEST(DashboardGate, ElsewhereAsksForTheToken) {
  const Gate gate{{"0.0.0.0", 6006, false}, "secret"};
  const auto check = [&](std::string_view target, std::string_view cookie, std::string_view bearer) {
    return gate.check({.method = "GET",
                       .target = target,
                       .host = "10.0.0.7:6006",
                       .origin = "",
                       .cookie = cookie,
                       .authorization = bearer});
  };
  EXPECT_EQ(check("/", "", ""), 401);
  EXPECT_EQ(check("/?token=wrong", "", ""), 401);
  EXPECT_EQ(check("/?token=secret", "", ""), 0);
  EXPECT_EQ(check("/", "a=b; burn_dashboard=secret", ""), 0);
  EXPECT_EQ(check("/", "burn_dashboard=secre", ""), 401);
  EXPECT_EQ(check("/", "", "Bearer secret"), 0);
  EXPECT_EQ(check("/", "", "Bearer "), 401);
}

TEST(DashboardGate, ReadsParametersWithPercentSigns) {
  EXPECT_EQ(parameter("/a?x=1&y=b%20c+d", "y"), "b c d");
  EXPECT_EQ(parameter("/a?xy=1", "x"), "");
  EXPECT_EQ(parameter("/a?x=%4", "x"), "%4");
  EXPECT_EQ(runs_in("/api/events?runs=0,2,2,x,7"), (std::vector<std::size_t>{0, 2, 7}));
}

std::string get(const std::string& target, RunBoard& board, std::string_view method = "GET") {
  const Gate gate{{"127.0.0.1", 6006, true}, ""};
  const auto found = answer(
      gate, {.method = method, .target = target, .host = "localhost", .origin = "", .cookie = "", .authorization = ""},
      board);
  return found ? std::to_string(found->status) + " " + found->body : "stream";
}

TEST(DashboardAnswer, StopsTheTrainingThatIsAskedFor) {
  RunBoard board;
  std::vector<StopRequest> asked;
  BoardRun run;
  run.stop = [&](StopRequest request) { asked.push_back(request); };
  board.add(std::move(run));
  board.add({});
  EXPECT_THAT(get("/api/stop?run=0&checkpoint=1", board), HasSubstr("405"));
  EXPECT_THAT(get("/api/stop?run=0&checkpoint=1", board, "POST"), HasSubstr("202"));
  EXPECT_THAT(get("/api/stop?run=0&checkpoint=0", board, "POST"), HasSubstr("202"));
  EXPECT_THAT(get("/api/stop?run=1&checkpoint=0", board, "POST"), HasSubstr("409"));
  EXPECT_THAT(get("/api/stop?run=2&checkpoint=0", board, "POST"), HasSubstr("404"));
  EXPECT_THAT(get("/api/stop?run=-1&checkpoint=0", board, "POST"), HasSubstr("400"));
  EXPECT_THAT(get("/api/stop?run=0", board, "POST"), HasSubstr("400"));
  EXPECT_EQ(asked, (std::vector{StopRequest::with_checkpoint, StopRequest::without_checkpoint}));
  EXPECT_EQ(get("/api/events?runs=0", board), "stream");
  EXPECT_THAT(get("/etc/passwd", board), HasSubstr("404"));
}

BoardRun made_up_board_run(std::int64_t epochs) {
  BoardRun run;
  run.folder = "runs/<b>\"first\"";
  for (const auto& event : events::made_up_run(epochs)) run.state.add(event);
  return run;
}

TEST(DashboardJson, TellsTheTableOfRuns) {
  RunBoard board;
  board.add(made_up_board_run(3));
  boost::json::value runs;
  board.read([&](const auto& all) { runs = boost::json::parse(runs_json(all)); });
  const auto& run = runs.at(0);
  EXPECT_EQ(run.at("folder").as_string(), "runs/<b>\"first\"");
  EXPECT_EQ(run.at("state").as_string(), "ended without notice");
  EXPECT_EQ(run.at("metrics").at(0).at("splits").at("valid").at("best").at("epoch").as_int64(), 2);
  EXPECT_TRUE(run.at("metrics").at(0).at("texts").as_object().empty());
  EXPECT_EQ(run.at("progress").at("items").as_int64(), 800);
  EXPECT_EQ(run.at("checkpoint").at("step").as_int64(), 300);
}

TEST(DashboardJson, TellsWhatMetricsSayWhoseResultIsAText) {
  RunBoard board;
  board.add(made_up_board_run(1));
  board.change(0, [](BoardRun& run) {
    run.state.add({1, events::TextPoint{"Accuracy", Split::valid, 100, "actual \"cat\"\ncat 5"}});
  });
  boost::json::value runs;
  board.read([&](const auto& all) { runs = boost::json::parse(runs_json(all)); });
  const auto& metrics = runs.at(0).at("metrics");
  EXPECT_EQ(metrics.at(1).at("texts").at("valid").as_string(), "actual \"cat\"\ncat 5");
  EXPECT_TRUE(metrics.at(0).at("texts").as_object().empty());
}

TEST(DashboardJson, TellsTheMemoryOfTheDeviceWhereItIsKnown) {
  RunBoard board;
  board.add(made_up_board_run(1));
  const auto told = [&] {
    boost::json::value runs;
    board.read([&](const auto& all) { runs = boost::json::parse(runs_json(all)); });
    return runs.at(0).at("deviceUse");
  };
  EXPECT_TRUE(told().is_null());
  board.change(0, [](BoardRun& run) { run.state.set_device_use(events::DeviceUse{1'500'000'000, 8'000'000'000, {}}); });
  EXPECT_EQ(told().as_string(), "memory 1.50/8.00 GB");
}

TEST(DashboardJson, SendsOnlyWhatIsNewOfCurves) {
  RunBoard board;
  board.add(made_up_board_run(1));
  CurveCursor cursor{{0, 5}};
  boost::json::value parts;
  const auto take = [&] {
    std::string text;
    board.read([&](const auto& all) { text = cursor.changes(all); });
    parts = text.empty() ? boost::json::value(boost::json::array()) : boost::json::parse(text);
    return parts.as_array().size();
  };
  EXPECT_EQ(take(), 1u + 2 + 4);  // clear; two metrics by step; two metrics by epoch, on two splits each
  EXPECT_EQ(take(), 0u);
  board.change(0, [](BoardRun& run) {
    run.state.add({1, events::MetricPoint::of(0, Split::train, 101, std::nan(""))});
  });
  ASSERT_EQ(take(), 1u);
  const auto& part = parts.at(0);
  EXPECT_EQ(part.at("from").as_int64(), 99);
  EXPECT_EQ(part.at("step").as_array().size(), 2u);
  EXPECT_TRUE(part.at("mean").at(1).is_null());
}

// --- over a socket ---------------------------------------------------------------------------------------------------

UniqueFd connect_to(const std::string& url) {
  const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const timeval limit{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return socket;
}

void send_text(const UniqueFd& socket, const std::string& text) {
  (void)::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

// Receives until the connection is closed or `until` has arrived.
std::string receive(const UniqueFd& socket, const std::string& until = "") {
  std::string text;
  char bytes[4096];
  while (until.empty() || text.find(until) == std::string::npos) {
    const auto count = ::recv(socket.get(), bytes, sizeof bytes, 0);
    if (count <= 0) break;
    text.append(bytes, static_cast<std::size_t>(count));
  }
  return text;
}

const std::string kLocal = "Host: localhost\r\nConnection: close\r\n\r\n";

TEST(WebDashboard, ServesThePageTheTableAndTheEvents) {
  const test::TempFolder folder;
  WebDashboard dashboard{{.address = {"127.0.0.1", 0, true}, .token = ""}, folder.path(), {}};
  for (const auto& event : events::made_up_run(2)) dashboard.event(event);
  const auto page = connect_to(dashboard.url());
  send_text(page, "GET / HTTP/1.1\r\n" + kLocal);
  EXPECT_THAT(receive(page), HasSubstr("Content-Security-Policy: default-src 'none'"));
  const auto runs = connect_to(dashboard.url());
  send_text(runs, "GET /api/runs HTTP/1.1\r\n" + kLocal);
  EXPECT_THAT(receive(runs), HasSubstr("\"name\":\"first-run\""));
  const auto stream = connect_to(dashboard.url());
  send_text(stream, "GET /api/events?runs=0 HTTP/1.1\r\n" + kLocal);
  EXPECT_THAT(receive(stream, "event: curves"), HasSubstr("text/event-stream"));
  dashboard.event({1, events::MetricPoint::of(0, Split::train, 777, 0.5)});
  EXPECT_THAT(receive(stream, "777"), HasSubstr("777"));
}

TEST(WebDashboard, AsksForTheUseOfTheDeviceWhileTheTrainingGoesOn) {
  int asked = 0;
  WebDashboard dashboard{{.address = {"127.0.0.1", 0, true}, .token = ""}, "run", {}, [&] {
                           ++asked;
                           return std::optional(events::DeviceUse{1'000'000'000, 2'000'000'000, 0.5});
                         }};
  for (const auto& event : events::made_up_run(1)) dashboard.event(event);
  EXPECT_EQ(asked, 1);  // once, for the only Progress event
  const auto runs = connect_to(dashboard.url());
  send_text(runs, "GET /api/runs HTTP/1.1\r\n" + kLocal);
  EXPECT_THAT(receive(runs), HasSubstr("memory 1.00/2.00 GB, use 50 %"));
}

// A browser's headers arrive in more than one read.
TEST(WebDashboard, TakesRequestsOfUpToEightKibibytes) {
  WebDashboard dashboard{{.address = {"127.0.0.1", 0, true}, .token = ""}, "run", {}};
  for (const std::size_t size : {400U, 600U, 2000U, 7000U}) {
    const auto socket = connect_to(dashboard.url());
    send_text(socket, "GET /api/runs HTTP/1.1\r\nX-Long: " + std::string(size, 'x') + "\r\n" + kLocal);
    EXPECT_THAT(receive(socket), HasSubstr("200 OK")) << size;
  }
  const auto socket = connect_to(dashboard.url());
  send_text(socket, "GET /api/runs HTTP/1.1\r\nX-Long: " + std::string(9000, 'x') + "\r\n" + kLocal);
  EXPECT_THAT(receive(socket), Not(HasSubstr("200 OK")));
}

TEST(WebDashboard, RefusesWhatIsForeignOrWithoutToken) {
  std::vector<StopRequest> asked;
  WebDashboard dashboard{{.address = {"127.0.0.1", 0, true}, .token = "secret"}, "run", [&](StopRequest request) {
                           asked.push_back(request);
                         }};
  const auto url = dashboard.url().substr(0, dashboard.url().rfind('/'));
  const auto status = [&](const std::string& line, const std::string& headers) {
    const auto socket = connect_to(url);
    send_text(socket, line + " HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n");
    return receive(socket).substr(9, 3);
  };
  const std::string stop = "POST /api/stop?run=0&checkpoint=1", host = "Host: localhost\r\n",
                    token = "Authorization: Bearer secret\r\n";
  EXPECT_EQ(status(stop, "Host: evil.example\r\n" + token), "403");
  EXPECT_EQ(status(stop, host + token + "Origin: http://evil.example\r\n"), "403");
  EXPECT_EQ(status(stop, host), "401");
  EXPECT_EQ(status(stop, host + "Authorization: Bearer wrong\r\n"), "401");
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(status("GET /?token=secret", host), "303");
  EXPECT_EQ(status(stop, host + token + "Origin: http://localhost\r\n"), "202");
  EXPECT_EQ(asked.size(), 1u);
}

TEST(WebDashboard, RefusesTheSeventeenthConnection) {
  WebDashboard dashboard{{.address = {"127.0.0.1", 0, true}, .token = ""}, "run", {}};
  std::vector<UniqueFd> streams;
  for (int i = 0; i < WebServer::kMaxConnections; ++i) {
    streams.push_back(connect_to(dashboard.url()));
    send_text(streams.back(), "GET /api/events HTTP/1.1\r\n" + kLocal);
    EXPECT_THAT(receive(streams.back(), "event: runs"), HasSubstr("200 OK"));
  }
  const auto one_more = connect_to(dashboard.url());
  send_text(one_more, "GET / HTTP/1.1\r\n" + kLocal);
  EXPECT_THAT(receive(one_more), HasSubstr("503"));
}

TEST(WebDashboard, SurvivesRubbish) {
  WebDashboard dashboard{{.address = {"127.0.0.1", 0, true}, .token = ""}, "run", {}};
  std::mt19937 random{5};
  const std::string good = "GET /api/runs?x=%41 HTTP/1.1\r\n" + kLocal;
  for (int i = 0; i < 200; ++i) {
    auto text = good;
    for (int k = 0; k < 4; ++k) text[random() % text.size()] = static_cast<char>(random());
    if (i % 10 == 0) text = std::string(20'000, 'x');
    const auto socket = connect_to(dashboard.url());
    send_text(socket, text);
    ::shutdown(socket.get(), SHUT_WR);
    (void)receive(socket);
  }
  const auto socket = connect_to(dashboard.url());
  send_text(socket, good);
  EXPECT_THAT(receive(socket), HasSubstr("200 OK"));
}

TEST(WebDashboard, SaysWhereItIsAndThatAPortIsTaken) {
  WebDashboard first{{.address = {"127.0.0.1", 0, true}, .token = ""}, "run", {}};
  ASSERT_EQ(first.notices().size(), 1u);
  EXPECT_THAT(first.notices()[0].text, HasSubstr("dashboard: http://127.0.0.1:"));
  const auto url = first.url();
  const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  WebDashboard second{{.address = {"127.0.0.1", port, true}, .token = ""}, "run", {}};
  ASSERT_EQ(second.notices().size(), 1u);
  EXPECT_THAT(second.notices()[0].text, HasSubstr("cannot listen on 127.0.0.1:" + std::to_string(port)));
  EXPECT_THAT(second.notices()[0].text, HasSubstr("the training goes on"));
  WebDashboard elsewhere{{.address = {"0.0.0.0", 0, false}, .token = ""}, "run", {}};
  EXPECT_THAT(elsewhere.url(), HasSubstr("/?token="));
}

}  // namespace
}  // namespace burn::train::dashboard
