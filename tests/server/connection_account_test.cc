// What clients leave waiting on a worker, as they send it.
#include <gtest/gtest.h>

#include "tests/server/fake_client.h"

namespace burn::server {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// An upload that never comes, something that needs it, and behind it lists that are eight times larger here than on the
// wire: the connection ends long before they take what was sent.
TEST(ConnectionAccount, ListsBehindAnUploadThatNeverComesEndTheirConnection) {
  const auto device = std::make_shared<FakeDevice>();
  const auto worker = Worker::create(make_fake_backend(device));
  FakeClient client{worker, {.queue_bytes = 8 * kMiB}};
  client.enter();
  client.send(proto::DefineProgram{1, add_program({1 << 20})});
  client.send(proto::Write{1, f32({1 << 20})});
  client.run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  const std::vector<proto::TensorId> ids(proto::kMaxIds, 1);
  for (int i = 0; i < 40; ++i) client.send(proto::Release{ids});
  const auto close = client.expect<proto::Close>();
  EXPECT_FAILS(close.status, resource_exhausted, "release: ");
  EXPECT_LE(worker->stats().host_bytes, 12 * kMiB);
  FakeClient other{worker};
  other.enter();
  other.write(1, tensor({2}, {1, 2}));
  EXPECT_TRUE(other.read(1).ok());
}

TEST(ConnectionAccount, WhatASessionHeldComesBack) {
  const auto device = std::make_shared<FakeDevice>();
  const auto worker = Worker::create(make_fake_backend(device));
  {
    FakeClient client{worker};
    client.enter();
    client.send(proto::DefineProgram{1, add_program({1})});
    client.write(1, tensor({1}, {1}));
    for (proto::TensorId id = 2; id < 900; ++id) client.run({.program = 1, .inputs = {1, 1}, .first_output = id});
    EXPECT_TRUE(client.sync().ok());
    EXPECT_GT(worker->stats().host_bytes, 0u);
  }
  EXPECT_EQ(worker->stats().host_bytes, 0u);
  EXPECT_EQ(device->in_use, 0u);
}

}  // namespace
}  // namespace burn::server
