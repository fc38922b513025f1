// How burn-router starts, and what it says where it cannot.
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/router/routed.h"
#include "tests/server/process.h"

namespace burn::router {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(const RouterOptions& options) {
  try {
    const Router router{options};
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
std::string error_for(std::vector<std::string> workers) { return error_of(router_options(std::move(workers))); }

// A listening socket that never sends anything, or (`hangs_up`) closes each connection at once.
class SilentServer {
 public:
  explicit SilentServer(bool hangs_up = false) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd_, 8), 0);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    if (hangs_up) {
      hanging_up_ = std::thread([fd = fd_] {
        for (int caller = ::accept(fd, nullptr, nullptr); caller >= 0; caller = ::accept(fd, nullptr, nullptr))
          ::close(caller);
      });
    }
  }
  ~SilentServer() {
    ::shutdown(fd_, SHUT_RDWR);  // ends a blocked accept()
    if (hanging_up_.joinable()) hanging_up_.join();
    ::close(fd_);
  }
  std::string url() const { return "ws://127.0.0.1:" + std::to_string(port_); }

 private:
  const int fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
  std::thread hanging_up_;
};

TEST(RouterStart, NeedsAWorker) { EXPECT_THAT(error_for({}), HasSubstr("needs a worker")); }

TEST(RouterStart, RefusesWorkersThatAreTheSame) {
  const auto path = "/tmp/burn-start-test-" + std::to_string(::getpid());
  auto options = worker_options();
  options.unix_path = path;
  server::Server worker{options};
  EXPECT_THAT(error_for({worker.url(), worker.url()}), HasSubstr("the same device"));
  EXPECT_THAT(error_for({worker.url(), "unix:" + path}),
              AllOf(HasSubstr(worker.url()), HasSubstr("unix:" + path), HasSubstr("the same device")));
}

TEST(RouterStart, TakesTwoDevicesOfOneWorker) {
  auto options = worker_options();
  options.device = "null:0,null:1";
  server::Server worker{options};
  EXPECT_EQ(error_for({worker.url() + "/0", worker.url() + "/1"}), "");
}

TEST(RouterStart, RefusesWorkersThatComputeOtherwise) {
  server::Server cpu{worker_options()};
  auto options = worker_options();
  options.device = "null";
  server::Server null{options};
  EXPECT_THAT(error_for({cpu.url(), null.url()}),
              AllOf(HasSubstr(cpu.url()), HasSubstr(null.url()), HasSubstr("do not compute the same bits")));
}

TEST(RouterStart, RefusesRoutersAndItself) {
  server::Server worker{worker_options()};
  Router other{router_options({worker.url()})};
  EXPECT_THAT(error_for({other.url()}), AllOf(HasSubstr(other.url()), HasSubstr("is a router")));
  const auto path = "/tmp/burn-start-self-" + std::to_string(::getpid());
  auto options = router_options({"unix:" + path});
  options.service.unix_path = path;
  EXPECT_THAT(error_of(options), HasSubstr("this router itself"));
}

TEST(RouterStart, RefusesADeviceThatAWorkerDoesNotHave) {
  server::Server worker{worker_options()};
  EXPECT_THAT(error_for({worker.url() + "/1"}), AllOf(HasSubstr(worker.url()), HasSubstr("no device 1")));
}

TEST(RouterStart, RefusesAMeshThatDoesNotMultiplyToTheWorkers) {
  auto options = router_options({"ws://127.0.0.1:1", "ws://127.0.0.1:2"});
  options.mesh = "data=3";
  EXPECT_THAT(error_of(options), HasSubstr("room for 3 workers; there are 2"));
  options.mesh = "data=2,model=2";
  EXPECT_THAT(error_of(options), HasSubstr("room for 4 workers; there are 2"));
}

TEST(RouterStart, GivesUpOnAWorkerThatRefusesOrSaysNothing) {
  auto options = router_options({"ws://127.0.0.1:9"});
  options.worker_timeout = std::chrono::seconds{1};
  EXPECT_THAT(error_of(options),
              AllOf(HasSubstr("ws://127.0.0.1:9"), HasSubstr("Connection refused"), HasSubstr("1 s")));
  const SilentServer silent;
  options.workers = {silent.url()};
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(error_of(options), HasSubstr(silent.url()));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{5});
}

TEST(RouterStart, GivesUpOnAWorkerThatVanishesInTheHandshake) {
  const SilentServer vanishes{true};
  auto options = router_options({vanishes.url()});
  options.worker_timeout = std::chrono::seconds{1};
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(error_of(options), AllOf(HasSubstr(vanishes.url()), HasSubstr("1 s")));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{5});
}

TEST(RouterStart, OfMoreWorkersThanAnAxisHasServesEachAndSaysWhyNotAll) {
  auto of_worker = worker_options();
  of_worker.device = "null:0";
  std::vector<std::string> workers;
  for (int i = 1; i < 9; ++i) of_worker.device += ",null:" + std::to_string(i);
  const server::Server worker{of_worker};
  for (int i = 0; i < 9; ++i) workers.push_back(worker.url() + "/" + std::to_string(i));
  const Router router{router_options(workers)};
  const auto all = net::connect(router.url(), {});
  const auto why = all.ok() ? sync(**all) : all.status();
  EXPECT_EQ(why.code(), StatusCode::failed_precondition);
  EXPECT_THAT(why.message(), AllOf(HasSubstr("all 9 workers"), HasSubstr("at most 8"), HasSubstr("--mesh")));
  EXPECT_TRUE(sync(*connect(router.url() + "/9")).ok());
}

TEST(RouterStart, WaitsForAWorkerThatIsNotThereYetAndTellsClientsMeanwhile) {
  auto options = worker_options();
  std::string worker_url;
  {
    const server::Server first{options};
    worker_url = first.url();
  }
  options.ws = worker_url.substr(5);
  const auto path = "/tmp/burn-start-wait-" + std::to_string(::getpid());
  auto router_options = router::router_options({worker_url});
  router_options.service.unix_path = path;
  router_options.worker_timeout = std::chrono::seconds{20};
  std::optional<Router> router;
  std::thread starting{[&] { router.emplace(router_options); }};
  while (::access(path.c_str(), F_OK) != 0) std::this_thread::sleep_for(std::chrono::milliseconds{5});
  std::this_thread::sleep_for(std::chrono::milliseconds{50});
  const auto early = net::connect("unix:" + path);
  EXPECT_THAT(early.status().message(), AllOf(HasSubstr("waits for its worker"), HasSubstr(worker_url)));
  const server::Server worker{options};
  starting.join();
  EXPECT_TRUE(sync(*connect("unix:" + path)).ok());
}

// --- the program -----------------------------------------------------------------------------------------------------

TEST(BurnRouter, SaysWhereItListensAndItsStatus) {
  server::Server worker{worker_options()};
  server::Process router{{BURN_ROUTER, "--worker", worker.url(), "--ws", "127.0.0.1:0", "--grpc", "off"}};
  const auto line = router.read_line();
  ASSERT_THAT(line, StartsWith("listening ws://127.0.0.1:"));
  const auto url = line.substr(line.find(' ') + 1);
  EXPECT_TRUE(sync(*connect(url)).ok());
  server::Process text{{BURN_ROUTER, "status", "--device", url}};
  EXPECT_THAT(text.read_line(), StartsWith("member"));
  EXPECT_THAT(text.read_line(), HasSubstr("  up "));
  EXPECT_EQ(text.wait(), 0);
  server::Process json{{BURN_ROUTER, "status", "--json", "--device", url}};
  EXPECT_THAT(json.read_line(), HasSubstr("\"url\": \"" + worker.url() + "\", \"state\": \"up\""));
  server::Process of_worker{{BURN_ROUTER, "status", "--device", worker.url()}};
  EXPECT_THAT(of_worker.read_errors(), HasSubstr("which is no router"));
  EXPECT_EQ(of_worker.wait(), 1);
  router.send(SIGTERM);
  EXPECT_EQ(router.wait(), 0);
}

TEST(BurnRouter, EndsWithOneAndASentenceWhereItCannotStart) {
  server::Process none{{BURN_ROUTER, "--ws", "127.0.0.1:0", "--grpc", "off"}};
  EXPECT_THAT(none.read_errors(), HasSubstr("burn-router: a router needs a worker"));
  EXPECT_EQ(none.wait(), 1);
}

}  // namespace
}  // namespace burn::router
