#include "net/serve/connection.h"

#include <thread>

#include <gtest/gtest.h>

#include "proto/verbs.h"
#include "tests/server/fake_client.h"
#include "tests/support/delayed_backend.h"

namespace burn::server {
namespace {

TEST_F(ConnectionTest, WelcomesAClient) {
  FakeClient client{worker_};
  EXPECT_FALSE(client.connection().is_welcome());
  const auto welcome = client.enter();
  EXPECT_EQ(welcome.version, proto::kProtocolVersion);
  EXPECT_EQ(welcome.fingerprint, ir::op_set_fingerprint());
  EXPECT_EQ(welcome.info.devices, std::vector<std::string>{"fake"});
  EXPECT_EQ(welcome.info.max_in_flight, Quotas{}.in_flight);
  EXPECT_EQ(welcome.info.bulk_credit, proto::kInitialCredit);
  EXPECT_TRUE(client.connection().is_welcome());
}

TEST_F(ConnectionTest, IsOnTheDeviceThatTheClientNames) {
  const auto other = std::make_shared<FakeDevice>();
  const WorkerHost::Workers devices{worker_, Worker::create(make_fake_backend(other))};
  FakeClient client{devices};
  EXPECT_EQ(client.enter(1).info.devices, (std::vector<std::string>{"fake", "fake"}));
  client.write(1, tensor({2}, {1, 2}));
  EXPECT_TRUE(client.sync().ok());
  EXPECT_EQ(device_->in_use, 0u);
  EXPECT_EQ(other->in_use, 8u);
}

TEST_F(ConnectionTest, SaysWhichDevicesThereAre) {
  FakeClient client{WorkerHost::Workers{worker_, Worker::create(make_fake_backend(device_))}};
  client.send(proto::Hello{proto::kProtocolVersion, 0, "test", "", 2});
  EXPECT_EQ(client.expect_close(), not_found("there is no device 2 here: the worker has 0: fake, 1: fake"));
}

TEST_F(ConnectionTest, RefusesAnotherVersion) {
  FakeClient client{worker_};
  client.send(proto::Hello{7, ir::op_set_fingerprint(), "from the future", ""});
  EXPECT_EQ(client.expect_close(), failed_precondition("client speaks protocol 7, this server 2"));
}

TEST_F(ConnectionTest, AcceptsAnotherOpSet) {
  FakeClient client{worker_};
  client.send(proto::Hello{proto::kProtocolVersion, 4711, "another build", ""});
  client.expect<proto::Welcome>();
  EXPECT_TRUE(client.sync().ok());
}

TEST_F(ConnectionTest, WantsAHelloFirstAndOnce) {
  FakeClient hasty{worker_};
  hasty.run({});
  EXPECT_FAILS(hasty.expect_close(), failed_precondition, "the first frame must be a hello, not a run");
  FakeClient twice{worker_};
  twice.enter();
  twice.send(proto::Hello{});
  EXPECT_FAILS(twice.expect_close(), invalid_argument, "hello: a client may not send this now");
}

TEST_F(ConnectionTest, ComputesAndAnswers) {
  FakeClient client{worker_};
  client.enter();
  client.send(proto::DefineProgram{1, add_program({2})});
  client.write(1, tensor({2}, {1, 2}));
  client.run({.program = 1, .inputs = {1, 1}, .first_output = 2, .release = {1}});
  const auto sum = client.read(2);
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(sum->type, f32({2}));
  EXPECT_EQ(values(*sum), (std::vector<float>{2, 4}));
  EXPECT_FAILS(client.read(1).status(), not_found, "tensor 1");
  client.send(proto::Release{{2}});
  EXPECT_TRUE(client.sync().ok());
  EXPECT_EQ(device_->in_use, 0u);
}

TEST_F(ConnectionTest, AcknowledgesInBatches) {
  FakeClient client{worker_};
  client.enter();
  for (proto::TensorId id = 1; id <= 100; ++id) client.write(id, tensor({1}, {1}));
  std::uint64_t last = 0;
  while (last < 100) {
    const auto seq = client.expect<proto::Ack>().seq;
    EXPECT_GT(seq, last);
    last = seq;
  }
  EXPECT_EQ(last, 100u);
}

TEST_F(ConnectionTest, EmptyTensorsTravelBothWays) {
  FakeClient client{worker_};
  client.enter();
  client.write(1, tensor({0, 3}, {}));
  const auto back = client.read(1);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->type, f32({0, 3}));
  EXPECT_TRUE(back->bytes.empty());
}

// --- what fails alone ------------------------------------------------------------------------------------------------

TEST_F(ConnectionTest, ARequestThatCannotBeFulfilledFailsAlone) {
  FakeClient client{worker_};
  client.enter();
  client.send(proto::DefineProgram{1, add_program({2})});
  client.run({.program = 9, .inputs = {}, .first_output = 50});
  client.run({.program = 1, .inputs = {1}, .first_output = 51});
  client.send(proto::Release{{44}});
  EXPECT_FAILS(client.sync(), not_found, "program 9");
  EXPECT_FAILS(client.read(51).status(), invalid_argument, "1 inputs given, it has 2");
  EXPECT_TRUE(client.sync().ok());
}

TEST_F(ConnectionTest, APoisonedTensorTellsTheFirstCause) {
  FakeClient client{worker_};
  client.enter();
  device_->on_run = [](const ir::Program&) { return resource_exhausted("add (at model.cc:41): no memory"); };
  client.send(proto::DefineProgram{1, add_program({2})});
  client.write(1, tensor({2}, {1, 2}));
  client.run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  client.run({.program = 1, .inputs = {2, 1}, .first_output = 3});
  EXPECT_FAILS(client.read(3).status(), resource_exhausted, "program 1: add (at model.cc:41): no memory");
}

TEST_F(ConnectionTest, AnUnknownOpFailsItsProgram) {
  FakeClient client{worker_};
  client.enter();
  auto bytes = proto::to_string(proto::encode({1, proto::DefineProgram{1, proto::sample_program()}, {}}));
  bytes.replace(bytes.find("matmul"), 6, "matmux");
  client.send_bytes(bytes);
  client.send(proto::RunProgram{{.program = 1, .inputs = {1, 2}, .first_output = 3, .scalars = {0}}}, {}, 2);
  client.send(proto::Read{5, 4}, {}, 3);
  const auto done = client.expect<proto::Done>();
  EXPECT_EQ(done.request, 5u);
  EXPECT_FAILS(done.status, unimplemented, "program 1: node 0 at mlp.cc:41: op \"matmux\"");
}

TEST_F(ConnectionTest, IdsOfAnotherSessionAreUnknown) {
  FakeClient one{worker_}, other{worker_};
  one.enter();
  other.enter();
  one.send(proto::DefineProgram{1, add_program({2})});
  one.write(1, tensor({2}, {1, 2}));
  EXPECT_TRUE(one.sync().ok());
  EXPECT_FAILS(other.read(1).status(), not_found, "tensor 1 is not known in this session");
  other.run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  EXPECT_FAILS(other.sync(), not_found, "program 1 is not known in this session");
  EXPECT_TRUE(one.read(1).ok());
}

TEST_F(ConnectionTest, StatsAreTakenAndAnsweredBesideWhatWaits) {
  FakeClient client{worker_};
  EXPECT_EQ(client.enter().extensions, proto::kExtensions);
  client.send(proto::DefineProgram{1, add_program({65536})});
  client.send(proto::Write{1, f32({65536})});  // none of its 256 KiB has arrived
  client.run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  client.send(proto::Read{5, 2});
  client.send(proto::Stats{9});
  const auto report = client.expect<proto::StatsReport>();
  EXPECT_EQ(report.request, 9u);
  EXPECT_TRUE(report.status.ok()) << report.status.to_string();
  EXPECT_EQ(report.stats.session.memory_in_use, 65536u * 4);
  EXPECT_EQ(report.stats.device.runs, 0u);
  EXPECT_FALSE(client.connection().is_caught_up());
}

TEST_F(ConnectionTest, ADrainingServerAnswersStats) {
  FakeClient client{worker_};
  client.enter();
  client.connection().drain();
  client.send(proto::Stats{9});
  EXPECT_EQ(client.expect<proto::StatsReport>().request, 9u);
}

TEST_F(ConnectionTest, StatsAreNotKeptForAClientThatDoesNotRead) {
  FakeClient client{worker_};
  client.enter();
  client.channel().backlog = std::size_t{1} << 30;
  client.send(proto::Stats{1});
  EXPECT_FAILS(client.expect_close(), resource_exhausted, "does not read its answers");
}

// --- what ends the connection ----------------------------------------------------------------------------------------

TEST_F(ConnectionTest, GarbageEndsIt) {
  FakeClient client{worker_};
  client.enter();
  client.send_bytes("GET / HTTP/1.1\r\n\r\n");
  EXPECT_FAILS(client.expect_close(), invalid_argument, "a frame begins with its header");
}

TEST_F(ConnectionTest, FramesAreNumberedWithoutGaps) {
  for (const std::uint64_t seq : {0, 1, 3, 1 << 20}) {
    FakeClient client{worker_};
    client.enter();
    client.send(proto::Sync{1});
    client.expect<proto::Done>();
    auto bytes = proto::to_string(proto::encode({seq, proto::Sync{2}, {}}));
    client.send_bytes(bytes);
    EXPECT_FAILS(client.expect_close(), invalid_argument, "sync: frame " + std::to_string(seq) + " where 2 is due");
  }
}

TEST_F(ConnectionTest, WhatOnlyAServerSaysEndsIt) {
  for (const proto::Body& body : {proto::Body{proto::Welcome{}},
                                  {proto::Ack{}},
                                  {proto::Data{}},
                                  {proto::Done{}},
                                  {proto::StatsReport{}},
                                  {proto::GroupAddress{}},
                                  {proto::GroupDone{}},
                                  {proto::Notice{}}}) {
    FakeClient client{worker_};
    client.enter();
    client.send(body);
    EXPECT_FAILS(client.expect_close(), invalid_argument, "a client may not send");
  }
}

TEST_F(ConnectionTest, TheWindowIsKept) {
  session::Gate gate;
  device_->on_run = [&](const ir::Program&) {
    gate.pass();
    return Status{};
  };
  FakeClient client{worker_, {.in_flight = 4}};
  EXPECT_EQ(client.enter().info.max_in_flight, 4u);
  client.send(proto::DefineProgram{1, add_program({1})});
  client.write(1, tensor({1}, {1}));
  EXPECT_TRUE(client.sync().ok());
  while (client.expect<proto::Ack>().seq < 3) {
  }
  for (std::uint64_t i = 0; i < 4; ++i) client.run({.program = 1, .inputs = {1, 1}, .first_output = 10 + i});
  gate.await(1);
  EXPECT_FALSE(client.channel().is_closed());
  client.run({.program = 1, .inputs = {1, 1}, .first_output = 20});
  EXPECT_FAILS(client.expect_close(), resource_exhausted, "frame 8 while 3 is the last acknowledged; at most 4");
  gate.open();
}

TEST_F(ConnectionTest, AClientThatDoesNotReadIsDropped) {
  FakeClient client{worker_};
  client.enter();
  client.channel().backlog = std::size_t{1} << 30;
  client.send(proto::Read{1, 1});
  EXPECT_FAILS(client.expect_close(), resource_exhausted, "does not read its answers");
}

// --- the end ---------------------------------------------------------------------------------------------------------

TEST_F(ConnectionTest, TheEndFreesEverything) {
  session::Gate gate;
  device_->on_run = [&](const ir::Program&) {
    gate.pass();
    return Status{};
  };
  FakeClient client{worker_};
  client.enter();
  client.send(proto::DefineProgram{1, add_program({1000})});
  for (proto::TensorId id = 1; id <= 10; ++id) client.write(id, tensor({1000}, std::vector<float>(1000)));
  client.run({.program = 1, .inputs = {1, 2}, .first_output = 20});
  client.run({.program = 1, .inputs = {20, 2}, .first_output = 21});
  client.send(proto::Write{30, f32({1 << 20})});  // an upload that will never be done
  gate.await(1);
  EXPECT_EQ(device_->in_use, 40000u);
  client.leave();  // returns at once, though a program is running
  EXPECT_EQ(client.ended, 1);
  gate.open();
  client.connection().dispose();
  EXPECT_EQ(device_->in_use, 0u);
  EXPECT_EQ(device_->runs, 1);
}

TEST_F(ConnectionTest, AClientMayLeavePolitely) {
  FakeClient client{worker_};
  client.enter();
  client.send(proto::Close{});
  EXPECT_TRUE(client.channel().is_closed());
  EXPECT_FALSE(client.channel().next().has_value());
  client.send(proto::Sync{1});  // too late: ignored
  client.leave();
  EXPECT_EQ(client.ended, 1);
}

TEST_F(ConnectionTest, DrainingFinishesWhatHasCome) {
  session::Gate gate;
  device_->on_run = [&](const ir::Program&) {
    gate.pass();
    return Status{};
  };
  FakeClient client{worker_};
  client.enter();
  client.send(proto::DefineProgram{1, add_program({1})});
  client.write(1, tensor({1}, {1}));
  client.run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  client.send(proto::Read{7, 2});
  gate.await(1);
  client.connection().drain();
  EXPECT_FALSE(client.connection().is_idle());
  client.send(proto::Read{8, 2});  // comes too late
  gate.open();
  while (!client.connection().is_idle()) std::this_thread::yield();
  client.connection().end(unavailable("the server is shutting down"));
  EXPECT_EQ(client.expect<proto::Data>().request, 7u);
  EXPECT_EQ(client.expect_close(), unavailable("the server is shutting down"));
}

TEST_F(ConnectionTest, DrainingWaitsForWhatTheDeviceHasYetToAnswer) {
  const auto control = std::make_shared<test::DelayedControl>();
  FakeClient client{Worker::create(test::make_delayed_backend({}, control))};
  client.enter();
  control->hold();
  client.write(1, tensor({2}, {1, 2}));
  client.send(proto::Read{7, 1});
  while (client.expect<proto::Ack>().seq < 2) {
  }
  EXPECT_TRUE(client.connection().is_caught_up());
  EXPECT_FALSE(client.connection().is_idle());
  control->release();
  EXPECT_EQ(client.expect<proto::Data>().request, 7u);
  while (!client.connection().is_idle()) std::this_thread::yield();
}

}  // namespace
}  // namespace burn::server
