#include "server/local_session.h"

#include <bit>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "tests/server/fake_backend.h"
#include "tests/server/programs.h"

namespace burn::server {
namespace {

using proto::Run;

class LocalSessionTest : public testing::Test {
 protected:
  Result<proto::HostTensor> read(proto::TensorId id) { return read(*session_, id); }
  static Result<proto::HostTensor> read(proto::Session& session, proto::TensorId id) {
    std::promise<Result<proto::HostTensor>> promise;
    session.read(id, [&](Result<proto::HostTensor> tensor) { promise.set_value(std::move(tensor)); });
    return promise.get_future().get();
  }
  Status sync() {
    std::promise<Status> promise;
    session_->sync([&](Status status) { promise.set_value(std::move(status)); });
    return promise.get_future().get();
  }
  void reopen(const Quotas& quotas) { session_ = make_local_session(worker_, quotas); }
  void write(proto::TensorId id, ir::Shape shape, std::vector<float> numbers) {
    EXPECT_TRUE(session_->write(id, tensor(shape, std::move(numbers))).ok());
  }
  void run(Run run) { EXPECT_TRUE(session_->run(std::move(run)).ok()); }
  void define(proto::ProgramId id, ProgramPtr program) { EXPECT_TRUE(session_->define(id, std::move(program)).ok()); }

  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>();
  std::shared_ptr<Worker> worker_ = Worker::create(make_fake_backend(device_));
  std::unique_ptr<LocalSession> session_ = make_local_session(worker_);
};

#define EXPECT_FAILS(status, expected_code, part)                               \
  do {                                                                          \
    const Status said = (status);                                               \
    EXPECT_EQ(said.code(), StatusCode::expected_code) << said.to_string();      \
    EXPECT_NE(said.message().find(part), std::string::npos) << said.message();  \
  } while (false)

TEST_F(LocalSessionTest, ComputesWhatWasDefined) {
  define(1, add_program({2}));
  write(1, {2}, {1, 2});
  write(2, {2}, {10, 20});
  run({.program = 1, .inputs = {1, 2}, .first_output = 3});
  const auto sum = read(3);
  ASSERT_TRUE(sum.ok()) << sum.status().to_string();
  EXPECT_EQ(sum->type, f32({2}));
  EXPECT_EQ(values(*sum), (std::vector<float>{11, 22}));
  EXPECT_TRUE(sync().ok());
}

TEST_F(LocalSessionTest, BindsScalars) {
  define(1, scale_program({2}));
  write(1, {2}, {1, 2});
  run({.program = 1, .inputs = {1}, .first_output = 2, .scalars = {std::bit_cast<std::uint64_t>(3.0)}});
  EXPECT_EQ(values(*read(2)), (std::vector<float>{3, 6}));
}

TEST_F(LocalSessionTest, SaysWhatItIs) {
  const auto& info = session_->info();
  EXPECT_EQ(info.server.rfind("burn-server ", 0), 0u);
  EXPECT_EQ(info.devices, std::vector<std::string>{"fake"});
  EXPECT_EQ(info.max_tensor_bytes, std::uint64_t{1} << 32);
  EXPECT_EQ(info.max_in_flight, Quotas{}.in_flight);
  EXPECT_GT(info.bulk_credit, 0u);
}

TEST_F(LocalSessionTest, KnowsOnlyWhatItWasTold) {
  EXPECT_FAILS(read(17).status(), not_found, "tensor 17 is not known in this session");
  run({.program = 4, .inputs = {}, .first_output = 1});
  EXPECT_FAILS(sync(), not_found, "program 4 is not known in this session");
  EXPECT_TRUE(session_->release({8}).ok());
  EXPECT_FAILS(sync(), not_found, "tensor 8 is not known in this session");
  EXPECT_TRUE(sync().ok());  // a failure is reported once
}

TEST_F(LocalSessionTest, SessionsDoNotSeeEachOther) {
  write(1, {2}, {1, 2});
  const auto other = make_local_session(worker_);
  EXPECT_FAILS(read(*other, 1).status(), not_found, "tensor 1 is not known");
}

TEST_F(LocalSessionTest, ReleasedTensorsAreGone) {
  write(1, {2}, {1, 2});
  EXPECT_TRUE(session_->release({1}).ok());
  EXPECT_FAILS(read(1).status(), not_found, "tensor 1");
  EXPECT_EQ(device_->in_use, 0u);
}

TEST_F(LocalSessionTest, RunsReleaseWhatTheyAreTold) {
  define(1, add_program({2}));
  write(1, {2}, {1, 2});
  write(2, {2}, {1, 2});
  run({.program = 1, .inputs = {1, 1}, .first_output = 3, .release = {1, 2}});
  EXPECT_TRUE(read(3).ok());
  EXPECT_FALSE(read(1).ok());
  EXPECT_FALSE(read(2).ok());
  EXPECT_EQ(device_->in_use, 8u);
}

TEST_F(LocalSessionTest, ChecksRunsBeforeItRunsThem) {
  define(1, add_program({2}));
  define(2, scale_program({2}));
  write(1, {2}, {1, 2});
  write(2, {3}, {1, 2, 3});
  const std::tuple<Run, StatusCode, std::string> cases[] = {
      {{.program = 1, .inputs = {1}, .first_output = 10}, StatusCode::invalid_argument, "program 1: 1 inputs given, it has 2"},
      {{.program = 1, .inputs = {1, 2}, .first_output = 20}, StatusCode::invalid_argument,
       "program 1: input 1 is f32[2], tensor 2 is f32[3]"},
      {{.program = 1, .inputs = {1, 9}, .first_output = 30}, StatusCode::not_found, "program 1: tensor 9 is not known"},
      {{.program = 2, .inputs = {1}, .first_output = 40}, StatusCode::invalid_argument, "0 scalars given, it has 1"},
      {{.program = 1, .inputs = {1, 1}, .first_output = 2}, StatusCode::already_exists, "tensor 2 exists already"},
      {{.program = 1, .inputs = {1, 1}, .first_output = ~std::uint64_t{0}}, StatusCode::invalid_argument, "no 1 ids from"},
      {{.program = 1, .inputs = {1, 1}, .first_output = 50, .release = {77}}, StatusCode::not_found, "tensor 77"},
  };
  for (const auto& [call, code, part] : cases) {
    run(call);
    const auto status = sync();
    EXPECT_EQ(status.code(), code) << status.to_string();
    EXPECT_NE(status.message().find(part), std::string::npos) << status.to_string();
  }
  EXPECT_EQ(device_->runs, 0);
  EXPECT_TRUE(read(1).ok());
  EXPECT_EQ(values(*read(2)), (std::vector<float>{1, 2, 3}));  // not overwritten by the failure
}

TEST_F(LocalSessionTest, IdsAreUsedOnce) {
  write(1, {1}, {1});
  write(1, {1}, {2});
  EXPECT_FAILS(sync(), already_exists, "tensor 1 exists already");
  EXPECT_EQ(values(*read(1)), std::vector<float>{1});
  define(1, add_program({2}));
  define(1, add_program({3}));
  EXPECT_FAILS(sync(), already_exists, "program 1 exists already");
}

// --- failures ----------------------------------------------------------------------------------------------------------------

TEST_F(LocalSessionTest, AFailedRunPoisonsWhatDependsOnIt) {
  device_->on_run = [n = 0](const ir::Program&) mutable {
    return n++ == 0 ? Status{StatusCode::out_of_range, "gather: index 7 (at model.cc:9)"} : Status{};
  };
  define(1, add_program({2}));
  write(1, {2}, {1, 2});
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  run({.program = 1, .inputs = {1, 2}, .first_output = 3});
  run({.program = 1, .inputs = {3, 1}, .first_output = 4});
  const auto cause = "program 1: gather: index 7 (at model.cc:9)";
  for (const proto::TensorId id : {2, 3, 4}) EXPECT_FAILS(read(id).status(), out_of_range, cause);
  EXPECT_EQ(read(4).status().message(), cause);  // the first cause, not a chain
  EXPECT_FAILS(sync(), out_of_range, cause);
  EXPECT_TRUE(sync().ok());
  run({.program = 1, .inputs = {1, 1}, .first_output = 5});  // the session lives
  EXPECT_TRUE(read(5).ok());
}

TEST_F(LocalSessionTest, RunsOfAProgramThatDoesNotCompileFail) {
  device_->on_compile = [](const ir::Program&) { return unimplemented("op \"scan\""); };
  define(5, add_program({2}));
  EXPECT_FAILS(sync(), unimplemented, "program 5: op \"scan\"");
  run({.program = 5, .inputs = {1, 2}, .first_output = 3});
  EXPECT_FAILS(read(3).status(), unimplemented, "program 5: op \"scan\"");
}

TEST_F(LocalSessionTest, RunsOfAProgramThatCouldNotBeReadFail) {
  EXPECT_TRUE(session_->define_invalid(5, 2, unimplemented("node 3: op \"teleport\"")).ok());
  run({.program = 5, .inputs = {1, 2, 3}, .first_output = 8});
  for (const proto::TensorId id : {8, 9}) EXPECT_FAILS(read(id).status(), unimplemented, "program 5: node 3: op \"teleport\"");
  EXPECT_FAILS(read(10).status(), not_found, "tensor 10");
}

TEST_F(LocalSessionTest, ExceptionsOfABackendAreFailuresOfTheRun) {
  device_->on_run = [](const ir::Program&) -> Status { throw std::bad_alloc{}; };
  define(1, add_program({2}));
  write(1, {2}, {1, 2});
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  EXPECT_FAILS(sync(), resource_exhausted, "out of memory");
  EXPECT_FAILS(read(2).status(), resource_exhausted, "out of memory");
}

TEST_F(LocalSessionTest, ATensorOfTheWrongSizeIsPoisoned) {
  EXPECT_TRUE(session_->write(1, {f32({4}), SharedBytes::own(std::vector<float>{1, 2})}).ok());
  EXPECT_FAILS(read(1).status(), invalid_argument, "8 bytes for tensor 1: f32[4], which has 16");
}

// --- donation ----------------------------------------------------------------------------------------------------------------

TEST_F(LocalSessionTest, DonatedInputsAreGoneAfterwards) {
  define(1, add_program({2}, true, false));
  write(1, {2}, {1, 2});
  write(2, {2}, {5, 5});
  run({.program = 1, .inputs = {1, 2}, .first_output = 3});
  EXPECT_EQ(values(*read(3)), (std::vector<float>{6, 7}));
  EXPECT_FAILS(read(1).status(), not_found, "tensor 1");
  EXPECT_TRUE(read(2).ok());
  EXPECT_EQ(device_->shared_donations, 0);
}

TEST_F(LocalSessionTest, DonatedInputsAreGoneAfterAFailureToo) {
  define(1, add_program({2}, true, true));
  write(1, {2}, {1, 2});
  run({.program = 1, .inputs = {1, 9}, .first_output = 3});
  EXPECT_FAILS(sync(), not_found, "tensor 9");
  EXPECT_FAILS(read(1).status(), not_found, "tensor 1");
  EXPECT_EQ(device_->in_use, 0u);
}

TEST_F(LocalSessionTest, WhatIsDonatedIsUsedOnce) {
  define(1, add_program({2}, true, false));
  define(2, add_program({2}, false, true));
  for (const proto::ProgramId program : {1, 2}) {
    write(program, {2}, {1, 2});
    run({.program = program, .inputs = {program, program}, .first_output = 10 + program});
    EXPECT_FAILS(sync(), invalid_argument, "is donated and used twice");
  }
  write(3, {2}, {1, 2});
  write(4, {2}, {1, 2});
  run({.program = 1, .inputs = {3, 4}, .first_output = 20, .release = {3}});
  EXPECT_FAILS(sync(), invalid_argument, "tensor 3 is donated and released");
}

TEST_F(LocalSessionTest, ADonatedBufferIsHeldByNobodyElse) {
  define(1, reshape_program({2}, {1, 2}));
  define(2, scale_program({1, 2}, true));
  write(1, {2}, {1, 2});
  run({.program = 1, .inputs = {1}, .first_output = 2});  // shares the buffer of tensor 1
  const auto view = read(2);
  run({.program = 2, .inputs = {2}, .first_output = 3, .scalars = {std::bit_cast<std::uint64_t>(2.0)}});
  EXPECT_EQ(values(*read(3)), (std::vector<float>{2, 4}));
  EXPECT_EQ(values(*read(1)), (std::vector<float>{1, 2}));
  EXPECT_EQ(values(*view), (std::vector<float>{1, 2}));
  EXPECT_EQ(device_->shared_donations, 0);
}

// --- uploads -----------------------------------------------------------------------------------------------------------------

std::span<const std::byte> bytes_of(const std::vector<float>& numbers) { return std::as_bytes(std::span{numbers}); }

TEST_F(LocalSessionTest, RunsWaitForUploads) {
  define(1, add_program({4}));
  auto upload = session_->begin_upload(1, f32({4}));
  ASSERT_TRUE(upload.ok());
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  std::promise<Result<proto::HostTensor>> promise;
  auto answer = promise.get_future();
  session_->read(2, [&](auto tensor) { promise.set_value(std::move(tensor)); });
  const std::vector<float> numbers{1, 2, 3, 4};
  EXPECT_TRUE((*upload)->fill(0, bytes_of(numbers).first(8)).ok());
  EXPECT_FALSE((*upload)->complete());
  EXPECT_EQ(answer.wait_for(std::chrono::milliseconds{20}), std::future_status::timeout);
  EXPECT_TRUE((*upload)->fill(8, bytes_of(numbers).last(8)).ok());
  EXPECT_TRUE((*upload)->complete());
  EXPECT_EQ(values(*answer.get()), (std::vector<float>{2, 4, 6, 8}));
}

TEST_F(LocalSessionTest, UploadsComeInOrderAndWithinTheirTensor) {
  auto upload = session_->begin_upload(1, f32({4}));
  const std::vector<float> numbers(8);
  EXPECT_FAILS((*upload)->fill(0, bytes_of(numbers)), out_of_range, "bytes 0 to 32 of a tensor of 16");
  EXPECT_FAILS((*upload)->fill(~std::uint64_t{0}, bytes_of(numbers)), out_of_range, "of a tensor of 16");
  EXPECT_FAILS((*upload)->fill(8, bytes_of(numbers).first(8)), invalid_argument, "byte 8 where byte 0 is due");
  EXPECT_TRUE((*upload)->fill(0, bytes_of(numbers).first(8)).ok());
  EXPECT_FAILS((*upload)->fill(4, bytes_of(numbers).first(8)), invalid_argument, "byte 4 where byte 8 is due");
}

TEST_F(LocalSessionTest, AnUploadThatEndsEarlyIsDataLoss) {
  {
    auto upload = session_->begin_upload(1, f32({4}));
    const std::vector<float> numbers(2);
    EXPECT_TRUE((*upload)->fill(0, bytes_of(numbers)).ok());
  }
  EXPECT_FAILS(read(1).status(), data_loss, "after 8 of 16 bytes");
  EXPECT_FAILS(read(1).status(), data_loss, "after 8 of 16 bytes");
}

TEST_F(LocalSessionTest, AReleasedUploadTakesItsBytesAndForgetsThem) {
  auto upload = session_->begin_upload(1, f32({4}));
  EXPECT_TRUE(session_->release({1}).ok());
  EXPECT_TRUE(sync().ok());
  const std::vector<float> numbers(4);
  EXPECT_TRUE((*upload)->fill(0, bytes_of(numbers)).ok());
  EXPECT_EQ(device_->in_use, 0u);
  EXPECT_EQ(session_->stats().bytes, 0u);
}

TEST_F(LocalSessionTest, ClosingWakesWhoWaitsForAnUpload) {
  auto upload = session_->begin_upload(1, f32({4}));
  std::promise<Status> promise;
  session_->read(1, [&](auto tensor) { promise.set_value(tensor.status()); });
  session_->close();
  EXPECT_FAILS(promise.get_future().get(), cancelled, "");
}

TEST_F(LocalSessionTest, AnUploadBeyondTheLimitAllocatesNothingAndPoisons) {
  const auto upload = session_->begin_upload(1, {ir::DType::f32, {std::int64_t{1} << 38}});  // 1 TiB
  EXPECT_FAILS(upload.status(), resource_exhausted, "has 1099511627776 bytes, at most 4294967296 may be");
  EXPECT_FAILS(read(1).status(), resource_exhausted, "at most 4294967296");
  EXPECT_EQ(device_->largest_request, 0u);
}

// --- quotas ------------------------------------------------------------------------------------------------------------------

TEST_F(LocalSessionTest, BytesAreLimited) {
  reopen({.tensor_bytes = 20});
  write(1, {4}, {1, 2, 3, 4});
  write(2, {2}, {1, 2});
  EXPECT_FAILS(read(2).status(), resource_exhausted, "8 bytes more than the 16 in use exceed what a session may hold, 20");
  EXPECT_FALSE(session_->begin_upload(3, f32({4})).ok());
  define(1, add_program({4}));
  run({.program = 1, .inputs = {1, 1}, .first_output = 4});
  EXPECT_FAILS(read(4).status(), resource_exhausted, "16 bytes more");
  EXPECT_TRUE(session_->release({1, 2}).ok());
  write(5, {5}, {1, 2, 3, 4, 5});
  EXPECT_TRUE(read(5).ok());
  EXPECT_EQ(session_->stats().bytes, 20u);
  EXPECT_EQ(session_->stats().peak_bytes, 20u);
}

TEST_F(LocalSessionTest, ADonatedInputMakesRoomForTheResult) {
  reopen({.tensor_bytes = 16});
  define(1, scale_program({4}, true));
  write(1, {4}, {1, 2, 3, 4});
  run({.program = 1, .inputs = {1}, .first_output = 2, .scalars = {std::bit_cast<std::uint64_t>(2.0)}});
  EXPECT_TRUE(read(2).ok());
}

TEST_F(LocalSessionTest, TensorsAreCounted) {
  reopen({.tensors = 2});
  define(1, add_program({1}));
  write(1, {1}, {1});
  write(2, {1}, {1});
  write(3, {1}, {1});
  EXPECT_FAILS(sync(), resource_exhausted, "more than 2 tensors");
  run({.program = 1, .inputs = {1, 2}, .first_output = 4});
  EXPECT_FAILS(sync(), resource_exhausted, "more than 2 tensors");
  EXPECT_FAILS(read(4).status(), not_found, "tensor 4");  // not even the reason is kept
}

TEST_F(LocalSessionTest, ProgramsAreCounted) {
  reopen({.programs = 2, .nodes = 3});
  define(1, scale_program({1}));
  define(2, scale_program({2}));
  EXPECT_FAILS(sync(), resource_exhausted, "more than 3 nodes");
  define(3, add_program({2}));
  define(4, add_program({2}));
  EXPECT_FAILS(sync(), resource_exhausted, "more than 2 programs");
}

// --- order, progress and the end ---------------------------------------------------------------------------------------------

TEST_F(LocalSessionTest, CallersWaitWhileTooMuchIsQueued) {
  reopen({.in_flight = 4});
  Gate gate;
  device_->on_run = [&](const ir::Program&) {
    gate.pass();
    return Status{};
  };
  define(1, add_program({1}));
  write(1, {1}, {1});
  EXPECT_TRUE(sync().ok());
  std::atomic<int> accepted = 0;
  std::thread caller{[&] {
    for (std::uint64_t i = 0; i < 20; ++i) {
      run({.program = 1, .inputs = {1, 1}, .first_output = 10 + i});
      ++accepted;
    }
  }};
  gate.await(1);
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  EXPECT_LE(accepted, 5);  // one runs, four wait
  gate.open();
  caller.join();
  EXPECT_TRUE(read(29).ok());
}

TEST_F(LocalSessionTest, CallbacksMayMakeMoreCallsThanThereIsRoomFor) {
  reopen({.in_flight = 2});
  std::promise<void> done;
  session_->sync([&](Status) {
    for (proto::TensorId id = 1; id <= 10; ++id) EXPECT_TRUE(session_->write(id, tensor({1}, {1})).ok());
    session_->sync([&](Status) { done.set_value(); });
  });
  done.get_future().get();
}

TEST_F(LocalSessionTest, ReportsProgressInBatches) {
  std::mutex mutex;
  std::vector<std::uint64_t> reports;
  session_->on_progress([&](std::uint64_t executed) {
    const std::lock_guard lock{mutex};
    reports.push_back(executed);
  });
  Gate gate;
  session_->sync([&](Status) { gate.pass(); });
  gate.await(1);
  for (proto::TensorId id = 1; id <= 99; ++id) write(id, {1}, {1});
  gate.open();
  while (true) {
    const std::lock_guard lock{mutex};
    if (!reports.empty() && reports.back() == 100) break;
  }
  EXPECT_EQ(reports, (std::vector<std::uint64_t>{32, 64, 96, 100}));
}

TEST_F(LocalSessionTest, ClosingCancelsWhatIsLeft) {
  Gate gate;
  device_->on_run = [&](const ir::Program&) {
    gate.pass();
    return Status{};
  };
  define(1, add_program({1}));
  write(1, {1}, {1});
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  run({.program = 1, .inputs = {1, 1}, .first_output = 3});
  std::promise<Status> a, b;
  session_->read(2, [&](auto tensor) { a.set_value(tensor.status()); });
  session_->sync([&](Status status) { b.set_value(std::move(status)); });
  gate.await(1);
  session_->begin_close();
  gate.open();
  session_->close();
  session_->close();
  EXPECT_FAILS(a.get_future().get(), cancelled, "closed");
  EXPECT_FAILS(b.get_future().get(), cancelled, "closed");
  EXPECT_EQ(device_->runs, 1);  // the one it was at
  EXPECT_EQ(device_->in_use, 0u);
  EXPECT_FAILS(session_->run({}), cancelled, "closed");
  EXPECT_FAILS(read(2).status(), cancelled, "closed");
  EXPECT_FAILS(sync(), cancelled, "closed");
}

TEST_F(LocalSessionTest, ClosingWakesBlockedCallers) {
  reopen({.in_flight = 1});
  Gate gate;
  session_->sync([&](Status) { gate.pass(); });
  gate.await(1);
  write(1, {1}, {1});
  std::thread caller{[&] { EXPECT_FAILS(session_->write(2, tensor({1}, {1})), cancelled, "closed"); }};
  std::this_thread::sleep_for(std::chrono::milliseconds{10});
  session_->begin_close();
  caller.join();
  gate.open();
}

TEST_F(LocalSessionTest, AReadOutlivesTheSession) {
  write(1, {2}, {1, 2});
  const auto kept = read(1);
  session_ = nullptr;
  EXPECT_EQ(values(*kept), (std::vector<float>{1, 2}));
}

TEST_F(LocalSessionTest, PlansAreSharedAndCounted) {
  const auto other = make_local_session(worker_);
  define(1, add_program({2}));
  EXPECT_TRUE(sync().ok());
  EXPECT_TRUE(other->define(7, add_program({2})).ok());
  EXPECT_TRUE(read(*other, 1).status().code() == StatusCode::not_found);  // waits for the definition
  const auto stats = worker_->stats();
  EXPECT_EQ(stats.plans, 1u);
  EXPECT_EQ(stats.plan_hits, 1u);
  EXPECT_EQ(stats.sessions, 2u);
  EXPECT_EQ(device_->compiled, 1);
}

TEST_F(LocalSessionTest, ManySessionsWorkSideBySide) {
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      const auto session = make_local_session(worker_);
      EXPECT_TRUE(session->define(1, scale_program({64}, true)).ok());
      EXPECT_TRUE(session->write(1, tensor({64}, std::vector<float>(64, static_cast<float>(c)))).ok());
      for (std::uint64_t i = 1; i <= 200; ++i) {
        EXPECT_TRUE(session->run({.program = 1, .inputs = {i}, .first_output = i + 1,
                                  .scalars = {std::bit_cast<std::uint64_t>(1.0)}}).ok());
      }
      EXPECT_EQ(values(*read(*session, 201)), std::vector<float>(64, static_cast<float>(c)));
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(device_->in_use, 0u);
  EXPECT_EQ(device_->shared_donations, 0);
  EXPECT_EQ(worker_->stats().runs, 1600u);
}

}  // namespace
}  // namespace burn::server
