// Uploads and quotas of a session.
#include <bit>
#include <future>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "session/local_session.h"
#include "tests/session/session_test.h"

namespace burn::session {
namespace {

// --- uploads ---------------------------------------------------------------------------------------------------------

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
  EXPECT_EQ(session_->stats().session.memory_in_use, 0u);
}

TEST_F(LocalSessionTest, ClosingWakesARunThatWaitsForAnUpload) {
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

TEST_F(LocalSessionTest, AMarkOfABatchChangesNothingAndMustFit) {
  const auto numbers = tensor({2}, {1, 2});
  EXPECT_TRUE(session_->write(1, numbers, {.batch_axis = 0}).ok());
  EXPECT_EQ(values(*read(1)), values(numbers));
  EXPECT_TRUE(session_->write(2, numbers, {.batch_axis = 1}).ok());
  EXPECT_FAILS(read(2).status(), invalid_argument, "batch axis 1 of f32[2]");
  EXPECT_FAILS(session_->begin_upload(3, f32({4}), {.batch_axis = 4}).status(), invalid_argument, "batch axis 4");
  EXPECT_FAILS(read(3).status(), invalid_argument, "batch axis 4");
}

// --- quotas ----------------------------------------------------------------------------------------------------------

TEST_F(LocalSessionTest, BytesAreLimited) {
  reopen({.tensor_bytes = 20});
  write(1, {4}, {1, 2, 3, 4});
  write(2, {2}, {1, 2});
  EXPECT_FAILS(read(2).status(), resource_exhausted,
               "8 bytes more than the 16 in use exceed what a session may hold, 20");
  EXPECT_FALSE(session_->begin_upload(3, f32({4})).ok());
  define(1, add_program({4}));
  run({.program = 1, .inputs = {1, 1}, .first_output = 4});
  EXPECT_FAILS(read(4).status(), resource_exhausted, "16 bytes more");
  EXPECT_TRUE(session_->release({1, 2}).ok());
  write(5, {5}, {1, 2, 3, 4, 5});
  EXPECT_TRUE(read(5).ok());
  EXPECT_EQ(session_->stats().session.memory_in_use, 20u);
  EXPECT_EQ(session_->stats().session.memory_peak, 20u);
}

TEST_F(LocalSessionTest, ADonatedInputMakesRoomForTheResult) {
  reopen({.tensor_bytes = 16});
  define(1, scale_program({4}, true));
  write(1, {4}, {1, 2, 3, 4});
  run({.program = 1, .inputs = {1}, .first_output = 2, .scalars = {std::bit_cast<std::uint64_t>(2.0)}});
  EXPECT_TRUE(read(2).ok());
}

TEST_F(LocalSessionTest, WhatARunTakesBesideItsInputsIsCountedBeforeItBegins) {
  reopen({.tensor_bytes = 100});
  define(1, add_program({4}));
  write(1, {4}, {1, 2, 3, 4});
  device_->run_bytes = {.peak = 85};
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  EXPECT_FAILS(read(2).status(), resource_exhausted,
               "program 1: a run of 1 ops takes 85 bytes beside its inputs: 85 bytes more than the 16 in use exceed "
               "what a session may hold, 100");
  EXPECT_EQ(device_->runs, 0);
  device_->run_bytes = {.peak = 84};
  run({.program = 1, .inputs = {1, 1}, .first_output = 3});
  EXPECT_TRUE(read(3).ok());
  EXPECT_EQ(session_->stats().session.memory_in_use, 32u);  // of the rest nothing is left
  EXPECT_EQ(session_->stats().session.memory_peak, 100u);
}

TEST_F(LocalSessionTest, ARefusedRunLeavesWhatItWasNotGiven) {
  reopen({.tensor_bytes = 100});
  define(1, add_program({4}));
  write(1, {4}, {1, 2, 3, 4});
  device_->run_bytes = {.peak = 1000};
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  EXPECT_FAILS(sync(), resource_exhausted, "takes 1000 bytes");
  EXPECT_EQ(values(*read(1)), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(session_->stats().session.memory_in_use, 16u);
}

TEST_F(LocalSessionTest, WhatAStreamKeepsBetweenRunsStaysCountedOnce) {
  reopen({.tensor_bytes = 100});
  define(1, add_program({4}));
  write(1, {4}, {1, 2, 3, 4});
  device_->run_bytes = {.peak = 56, .kept = 40};
  for (const proto::TensorId output : {2, 3}) {
    run({.program = 1, .inputs = {1, 1}, .first_output = output});
    EXPECT_TRUE(read(output).ok());
  }
  EXPECT_EQ(session_->stats().session.memory_in_use, 88u);  // three tensors and the arena
  write(4, {4}, {1, 2, 3, 4});
  EXPECT_FAILS(read(4).status(), resource_exhausted, "more than the 88 in use");
  EXPECT_TRUE(session_->release({2, 3}).ok());
  device_->run_bytes = {.peak = 60, .kept = 44};  // a larger program: the arena grows
  run({.program = 1, .inputs = {1, 1}, .first_output = 5});
  EXPECT_TRUE(read(5).ok());
  EXPECT_EQ(session_->stats().session.memory_in_use, 76u);
}

// burn.proto: that a number is never used twice is the client's promise; what is checked is that none is in use.
TEST_F(LocalSessionTest, ANumberThatIsInUseIsRefusedAndAReleasedOneIsNot) {
  define(1, add_program({1}));
  write(1, {1}, {1});
  write(1, {1}, {2});
  EXPECT_FAILS(sync(), already_exists, "tensor 1 exists already");
  run({.program = 1, .inputs = {1, 1}, .first_output = 1});
  EXPECT_FAILS(sync(), already_exists, "tensor 1 exists already");
  EXPECT_FALSE(session_->begin_upload(1, f32({1})).ok() && sync().ok());
  EXPECT_EQ(values(*read(1)), std::vector<float>{1});
  EXPECT_TRUE(session_->release({1}).ok());
  write(1, {1}, {3});
  EXPECT_TRUE(sync().ok());
  EXPECT_EQ(values(*read(1)), std::vector<float>{3});
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
  for (const proto::TensorId id : {3, 4}) EXPECT_FAILS(read(id).status(), resource_exhausted, "more than 2 tensors");
  for (proto::TensorId id = 5; id < 10; ++id) write(id, {1}, {1});
  EXPECT_FAILS(read(9).status(), not_found, "tensor 9");  // reasons are kept for as many as there may be tensors
}

TEST_F(LocalSessionTest, ProgramsAreCounted) {
  const auto size = ir::num_entries(*scale_program({1}));
  reopen({.programs = 3, .program_entries = 2 * size});
  EXPECT_EQ(session_->info().max_programs, 3u);
  EXPECT_EQ(session_->info().max_program_entries, 2 * size);
  for (proto::ProgramId id = 1; id <= 3; ++id) define(id, scale_program({static_cast<std::int64_t>(id)}));
  EXPECT_FAILS(sync(), resource_exhausted, fmt::format("more than {} nodes, inputs and operands", 2 * size));
  define(4, add_program({2}));
  EXPECT_FAILS(sync(), resource_exhausted, "more than 3 programs");
}

TEST_F(LocalSessionTest, ARunOfARefusedProgramSaysWhyItWasRefused) {
  reopen({.program_entries = 1});
  define(7, add_program({1}));
  write(1, {1}, {1});
  run({.program = 7, .inputs = {1, 1}, .first_output = 2});
  EXPECT_FAILS(read(2).status(), resource_exhausted, "program 7: a session may not hold more than 1 nodes");
}

TEST_F(LocalSessionTest, ForgottenProgramsMakeRoom) {
  reopen({.programs = 2, .program_entries = 2 * ir::num_entries(*add_program({1}))});
  for (proto::ProgramId id = 1; id < 100; ++id) {
    define(id, add_program({static_cast<std::int64_t>(id)}),
           id > 2 ? std::vector{id - 2} : std::vector<proto::ProgramId>{});
    EXPECT_TRUE(sync().ok()) << id;
  }
  run({.program = 97, .inputs = {1, 2}, .first_output = 9});
  EXPECT_FAILS(sync(), not_found, "program 97 is not known");
}

TEST_F(LocalSessionTest, APlanThatLeftTheCacheIsMadeAgain) {
  worker_ = Worker::create(make_fake_backend(device_), {}, {.plans = 1});
  reopen({});
  define(1, add_program({2}));
  ASSERT_TRUE(sync().ok());  // or the second might be compiled before it
  define(2, add_program({1}));
  write(1, {2}, {1, 2});
  for (proto::TensorId output = 2; output < 5; ++output) {
    run({.program = 1, .inputs = {1, 1}, .first_output = output});
    EXPECT_EQ(values(*read(output)), (std::vector<float>{2, 4}));
  }
  EXPECT_EQ(device_->compiled, 3);
  EXPECT_EQ(worker_->stats().plans, 1u);
}

}  // namespace
}  // namespace burn::session
