// A session that passes through a router: what it does, and how it ends. What every session promises is in
// tests/system/session_contract_test.cc, also through a router.
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/router/routed.h"
#include "tests/server/process.h"
#include "tests/session/programs.h"
#include "tests/support/eventually.h"

namespace burn::router {
namespace {

using session::add_program;
using session::tensor;
using session::values;
using std::chrono::steady_clock;
using test::eventually;
using testing::AllOf;
using testing::HasSubstr;

// "listening URL"
std::string url_of(server::Process& process) {
  const auto line = process.read_line();
  return line.substr(line.find(' ') + 1);
}

TEST(PassThrough, ComputesOnTheWorker) {
  server::Server worker{worker_options()};
  Router router{router_options({worker.url()})};
  const auto session = connect(router.url());
  EXPECT_THAT(session->info().server, AllOf(HasSubstr("burn-router "), HasSubstr("burn-server ")));
  EXPECT_EQ(session->info().role, "router");
  EXPECT_NE(session->info().numerics, 0u);
  EXPECT_EQ(session->info().devices.size(), 2u);
  ASSERT_TRUE(session->define(1, add_program({2}), {}).ok());
  ASSERT_TRUE(session->write(1, tensor({2}, {1, 2})).ok());
  ASSERT_TRUE(session->run({.program = 1, .inputs = {1, 1}, .first_output = 2}).ok());
  EXPECT_EQ(values(value_or_throw(read(*session, 2))), (std::vector<float>{2, 4}));
  EXPECT_EQ(stats(*session)->session.runs, 1u) << "of the worker";
  EXPECT_EQ(worker.session_counts().runs, 1u);
}

TEST(PassThrough, AProgramGoesOnAsItCame) {
  server::Server worker{worker_options()};
  Router router{router_options({worker.url()})};
  const auto session = connect(router.url());
  const auto nonsense = SharedBytes::own(std::vector<unsigned char>{0xff, 0xff, 0xff});
  ASSERT_TRUE(session->define_encoded(1, nonsense, {}).ok());
  ASSERT_TRUE(session->run({.program = 1, .inputs = {}, .first_output = 2}).ok());
  EXPECT_THAT(sync(*session).message(), HasSubstr("malformed")) << "said by the worker";
  EXPECT_TRUE(session->health().ok());
}

TEST(PassThrough, LargeUploadsAndReadsTakeTheirTurn) {
  server::Server worker{worker_options()};
  Router router{router_options({worker.url()})};
  const auto session = connect(router.url());
  constexpr std::int64_t kCount = 10 << 20;  // 40 MiB: five times the credit
  std::vector<float> numbers(kCount);
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<float>(k % 1021);
  const auto expected = numbers;
  ASSERT_TRUE(session->define(1, add_program({kCount}), {}).ok());
  for (proto::TensorId id = 1; id <= 2; ++id) ASSERT_TRUE(session->write(id, tensor({kCount}, expected)).ok());
  ASSERT_TRUE(session->run({.program = 1, .inputs = {1, 2}, .first_output = 3, .release = {1, 2}}).ok());
  const auto sum = values(value_or_throw(read(*session, 3)));
  ASSERT_EQ(sum.size(), expected.size());
  for (std::size_t k = 0; k < sum.size(); ++k) ASSERT_EQ(sum[k], 2 * expected[k]) << k;
}

TEST(PassThrough, TwoUploadsMayComeInTurns) {
  server::Server worker{worker_options()};
  Router router{router_options({worker.url()})};
  const auto session = connect(router.url(), {.lease_seconds = 0});
  constexpr std::int64_t kCount = 6 << 20;
  const std::vector<float> numbers(kCount, 3);
  const auto bytes = std::as_bytes(std::span{numbers});
  auto a = value_or_throw(session->begin_upload(1, {ir::DType::f32, {kCount}}));
  auto b = value_or_throw(session->begin_upload(2, {ir::DType::f32, {kCount}}));
  constexpr std::size_t kPart = 3 << 19;
  for (std::size_t at = 0; at < bytes.size(); at += kPart) {
    for (auto* upload : {a.get(), b.get()}) ASSERT_TRUE(upload->fill(at, bytes.subspan(at, kPart)).ok());
  }
  EXPECT_TRUE(a->complete());
  EXPECT_FALSE(a->fill(bytes.size(), bytes.first(1)).ok()) << "beyond the tensor";
  for (const proto::TensorId id : {1, 2}) EXPECT_EQ(values(value_or_throw(read(*session, id))), numbers);
  EXPECT_EQ(session->upload_backlog(), 0u);
}

TEST(PassThrough, AnUploadThatTheWorkerRefusesFailsAlone) {
  auto options = worker_options();
  options.session_bytes = 1 << 20;
  server::Server worker{options};
  Router router{router_options({worker.url()})};
  const auto session = connect(router.url(), {.lease_seconds = 0});
  const std::vector<std::byte> bytes(2 << 20);
  auto upload = value_or_throw(session->begin_upload(1, {ir::DType::u8, {2 << 20}}));
  ASSERT_TRUE(upload->fill(0, bytes).ok());
  EXPECT_EQ(read(*session, 1).status().code(), StatusCode::resource_exhausted);
  ASSERT_TRUE(session->write(2, tensor({1}, {5})).ok());
  EXPECT_EQ(values(value_or_throw(read(*session, 2))), (std::vector<float>{5}));
}

// The signal is on its way for a while.
bool is_stopped(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string stat{std::istreambuf_iterator<char>{file}, {}};
  return stat.find(") T ") != std::string::npos;
}

TEST(PassThrough, ALostWorkerIsOneClearErrorWithinASecond) {
  server::Process worker{{BURN_SERVER, "--device", "cpu", "--ws", "127.0.0.1:0", "--grpc", "off"}};
  const auto worker_url = url_of(worker);
  Router router{router_options({worker_url})};
  const auto session = connect(router.url());
  ASSERT_TRUE(session->write(1, tensor({1}, {1})).ok());
  ASSERT_TRUE(sync(*session).ok());
  worker.send(SIGSTOP);  // so that what follows stays open
  while (!is_stopped(worker.id())) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  std::promise<Status> open;
  session->read(1, [&](const auto& result) { open.set_value(result.status()); });
  std::this_thread::sleep_for(std::chrono::milliseconds{50});
  const auto killed_at = steady_clock::now();
  worker.send(SIGKILL);
  const auto failed = open.get_future().get();
  EXPECT_LT(steady_clock::now() - killed_at, std::chrono::seconds{1});
  EXPECT_EQ(failed.code(), StatusCode::unavailable);
  EXPECT_THAT(failed.message(), HasSubstr(worker_url));
  while (session->health().ok() && steady_clock::now() - killed_at < std::chrono::seconds{1})
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  EXPECT_EQ(session->health().code(), StatusCode::unavailable);
  EXPECT_THAT(session->health().message(), HasSubstr(worker_url));
  const auto next = net::connect(router.url());
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.status().code(), StatusCode::unavailable);
  EXPECT_THAT(next.status().message(), HasSubstr(worker_url));
}

// The client waits for its window and says nothing: it has to be told.
TEST(PassThrough, AClientThatWaitsForItsWindowIsToldOfALostWorker) {
  server::Process worker{{BURN_SERVER, "--device", "cpu", "--ws", "127.0.0.1:0", "--grpc", "off"}};
  Router router{router_options({url_of(worker)})};
  const auto session = connect(router.url());
  ASSERT_TRUE(session->write(1, tensor({1}, {1})).ok());
  ASSERT_TRUE(sync(*session).ok());
  worker.send(SIGSTOP);
  std::promise<Status> ended;
  std::thread caller{[&] {
    Status status;
    while (status.ok()) status = session->release({1});
    ended.set_value(status);
  }};
  std::this_thread::sleep_for(std::chrono::milliseconds{200});
  worker.send(SIGKILL);
  auto end = ended.get_future();
  EXPECT_EQ(end.wait_for(std::chrono::seconds{2}), std::future_status::ready);
  caller.join();
}

TEST(PassThrough, ALostWorkerThatComesBackIsServedAgain) {
  auto options = worker_options();
  auto worker = std::make_unique<server::Server>(options);
  options.ws = worker->url().substr(5);
  Router router{router_options({worker->url()})};
  const auto session = connect(router.url());
  worker.reset();
  EXPECT_FALSE(sync(*session).ok());
  worker = std::make_unique<server::Server>(options);
  auto again = net::connect(router.url());
  eventually([&] { return again.ok() || (again = net::connect(router.url())).ok(); }, std::chrono::seconds{10});
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_TRUE(sync(**again).ok());
}

TEST(PassThrough, TheSessionOnTheWorkerEndsWithTheClients) {
  server::Server worker{worker_options()};
  Router router{router_options({worker.url()})};
  const auto link = worker.sessions();  // the router's own
  auto session = connect(router.url());
  ASSERT_TRUE(session->write(1, tensor({1000}, std::vector<float>(1000))).ok());
  ASSERT_TRUE(sync(*session).ok());
  EXPECT_EQ(worker.sessions(), link + 1);
  session.reset();
  const auto is_over = [&] {
    return worker.sessions() == link && worker.memory_in_use() == 0 && router.sessions() == 0;
  };
  eventually(is_over, std::chrono::seconds{5});
  EXPECT_EQ(worker.sessions(), link);
  EXPECT_EQ(worker.memory_in_use(), 0u);
  EXPECT_EQ(router.sessions(), 0u);
}

}  // namespace
}  // namespace burn::router
