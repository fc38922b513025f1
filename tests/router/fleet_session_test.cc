// Sessions on a fleet (router/fleet_session.h) beside sessions on one worker: the members are sessions of this process.
#include "router/fleet_session.h"

#include <future>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/registry/registry.h"
#include "base/settings.h"
#include "router/host_memory.h"
#include "session/local_session.h"
#include "tests/session/answers.h"
#include "tests/session/programs.h"

namespace burn::router {
namespace {

using proto::HostTensor;
using session::f32;
using session::ProgramPtr;
using session::read;
using session::sync;
using session::tensor;
using session::values;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<proto::Session> member(std::uint64_t tensor_bytes = std::uint64_t{1} << 40) {
  static const auto worker = session::Worker::create(value_or_throw(backends::open_backend("cpu")));
  return session::make_local_session(worker, {.tensor_bytes = tensor_bytes});
}

std::unique_ptr<proto::ServedSession> fleet_of(std::vector<std::unique_ptr<proto::Session>> members,
                                               FleetOptions options = {}) {
  options.mesh.data = static_cast<int>(members.size());
  options.members = std::move(members);
  for (std::size_t i = 0; i < options.members.size(); ++i) options.names.push_back("w" + std::to_string(i));
  return make_fleet_session(std::move(options));
}

std::unique_ptr<proto::ServedSession> fleet(int members) {
  std::vector<std::unique_ptr<proto::Session>> sessions;
  sessions.reserve(static_cast<std::size_t>(members));
  for (int i = 0; i < members; ++i) sessions.push_back(member());
  return fleet_of(std::move(sessions));
}

HostTensor numbers(ir::Shape shape, float scale) {
  std::vector<float> all(static_cast<std::size_t>(ir::num_elements(shape)));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = scale * static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
  return tensor(shape, std::move(all));
}

// A step of least squares: loss = mean((x w - y)^2), and w less 0.1 of its gradient.
ProgramPtr step_program(std::int64_t batch, std::int64_t features) {
  using ir::PointwiseFn;
  ir::ProgramBuilder builder;
  const auto add = [&](const ir::Op& op, std::vector<ir::Ref> operands) {
    return value_or_throw(builder.add(op, operands));
  };
  const auto number = [&](double value) {
    return add(ir::Constant{.dtype = ir::DType::f32, .number = 0, .real = value}, {});
  };
  const auto w = builder.add_input(f32({features, 1})), x = builder.add_input(f32({batch, features})),
             y = builder.add_input(f32({batch, 1}));
  builder.donate(0);
  const auto error = add(ir::Pointwise{PointwiseFn::sub}, {add(ir::MatMul{}, {x, w}), y});
  const auto squares = add(ir::Pointwise{PointwiseFn::mul}, {error, error});
  const auto count = number(1.0 / static_cast<double>(batch));
  const auto loss =
      add(ir::Reshape{{}},
          {add(ir::Pointwise{PointwiseFn::mul}, {add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {squares}), count})});
  const auto transposed = add(ir::Permute{{1, 0}}, {x});
  const auto gradient = add(ir::Pointwise{PointwiseFn::mul},
                            {add(ir::MatMul{}, {transposed, error}), number(0.2 / static_cast<double>(batch))});
  const auto next = add(ir::Pointwise{PointwiseFn::sub}, {w, gradient});
  return std::make_shared<const ir::Program>(builder.finish({loss, next}));
}

struct Trained {
  std::vector<float> losses, weights;
};

// Steps over batches of other numbers each; `marked`: as batches.
Trained train(proto::Session& session, std::int64_t batch, bool marked) {
  constexpr std::int64_t kFeatures = 3;
  const auto marks = marked ? proto::WriteOptions{.batch_axis = 0} : proto::WriteOptions{};
  Trained trained;
  proto::TensorId next = 1;
  auto weights = next++;
  EXPECT_TRUE(session.write(weights, numbers({kFeatures, 1}, 0.1f)).ok());
  EXPECT_TRUE(session.define(1, step_program(batch, kFeatures), {}).ok());
  for (int step = 0; step < 5; ++step) {
    const auto x = next++, y = next++;
    EXPECT_TRUE(session.write(x, numbers({batch, kFeatures}, 0.3f + 0.1f * static_cast<float>(step)), marks).ok());
    EXPECT_TRUE(session.write(y, numbers({batch, 1}, 0.2f), marks).ok());
    EXPECT_TRUE(session.run({.program = 1, .inputs = {weights, x, y}, .first_output = next, .release = {x, y}}).ok());
    trained.losses.push_back(values(value_or_throw(read(session, next))).at(0));
    weights = next + 1;
    next += 2;
  }
  trained.weights = values(value_or_throw(read(session, weights)));
  EXPECT_EQ(sync(session).message(), "");
  return trained;
}

void expect_same(const Trained& a, const Trained& b) {
  ASSERT_EQ(a.losses.size(), b.losses.size());
  for (std::size_t i = 0; i < a.losses.size(); ++i) EXPECT_NEAR(a.losses[i], b.losses[i], 1e-5 * std::abs(b.losses[i]));
  for (std::size_t i = 0; i < a.weights.size(); ++i) EXPECT_NEAR(a.weights[i], b.weights[i], 1e-5);
}

TEST(FleetSession, TrainsAsOneWorkerDoes) {
  for (const std::int64_t batch : {8, 7, 2, 1}) {
    const auto alone = train(*member(), batch, false);
    for (const int members : {1, 2, 3}) expect_same(train(*fleet(members), batch, true), alone);
  }
}

TEST(FleetSession, WithoutMarksIsTheSameToTheLastBit) {
  const auto alone = train(*member(), 8, false), one = train(*fleet(3), 8, false);
  EXPECT_EQ(one.losses, alone.losses);
  EXPECT_EQ(one.weights, alone.weights);
}

TEST(FleetSession, PutsTogetherWhatIsSplit) {
  const auto session = fleet(3);
  EXPECT_TRUE(session->write(1, numbers({7, 2}, 1), {.batch_axis = 0}).ok());
  EXPECT_TRUE(session->define(1, session::scale_program({7, 2}), {}).ok());
  EXPECT_TRUE(
      session->run({.program = 1, .inputs = {1}, .first_output = 2, .scalars = {std::bit_cast<std::uint64_t>(2.0)}})
          .ok());
  EXPECT_EQ(values(value_or_throw(read(*session, 1))), values(numbers({7, 2}, 1)));
  EXPECT_EQ(values(value_or_throw(read(*session, 2))), values(numbers({7, 2}, 2)));
}

// table[index]; the index is the batch.
ProgramPtr pick_program(std::int64_t size, std::int64_t count) {
  ir::ProgramBuilder builder;
  const auto table = builder.add_input(f32({size}));
  const auto index = builder.add_input({ir::DType::i64, ir::Shape{count}});
  const ir::Ref operands[] = {table, index};
  const auto picked = value_or_throw(builder.add(ir::Gather{0}, operands, {"model.cc", 7}));
  const auto sum = value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {&picked, 1}, {"model.cc", 8}));
  return std::make_shared<const ir::Program>(builder.finish({picked, sum}));
}

TEST(FleetSession, WhatFailsOnOneMemberFailsForAllAndTheSessionGoesOn) {
  const auto session = fleet(2);
  const auto index = [](std::vector<std::int64_t> all) {
    return HostTensor{{ir::DType::i64, ir::Shape{static_cast<std::int64_t>(all.size())}},
                      SharedBytes::own(std::move(all))};
  };
  EXPECT_TRUE(session->define(1, pick_program(3, 4), {}).ok());
  EXPECT_TRUE(session->write(1, tensor({3}, {10, 20, 30})).ok());
  EXPECT_TRUE(session->write(2, index({0, 1, 2, 5}), {.batch_axis = 0}).ok());
  EXPECT_TRUE(session->run({.program = 1, .inputs = {1, 2}, .first_output = 3}).ok());
  EXPECT_THAT(std::string{read(*session, 4).status().message()}, HasSubstr("index 5"));
  EXPECT_THAT(std::string{read(*session, 3).status().message()}, HasSubstr("index 5"));
  EXPECT_EQ(sync(*session).message(), "") << "a read has reported it";
  EXPECT_TRUE(session->write(6, index({0, 1, 2, 2}), {.batch_axis = 0}).ok());
  EXPECT_TRUE(session->run({.program = 1, .inputs = {1, 6}, .first_output = 7}).ok());
  EXPECT_THAT(values(value_or_throw(read(*session, 8))), ElementsAre(90));
  EXPECT_THAT(values(value_or_throw(read(*session, 7))), ElementsAre(10, 20, 30, 30));
}

TEST(FleetSession, WhatOneMemberHasNoMemoryForFailsForAllAndTheSessionGoesOn) {
  std::vector<std::unique_ptr<proto::Session>> members;
  members.push_back(member());
  members.push_back(member(std::uint64_t{1} << 20));
  const auto session = fleet_of(std::move(members));
  // x + the sum of all of x, which the members have to add up together.
  const auto sum_program = [](std::int64_t rows) {
    ir::ProgramBuilder builder;
    const auto x = builder.add_input(f32({rows, 4}));
    const auto sum = value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {&x, 1}));
    const auto everywhere = value_or_throw(builder.add(ir::Expand{{rows, 4}}, {&sum, 1}));
    const ir::Ref both[] = {x, everywhere};
    const auto y = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::add}, both));
    return std::make_shared<const ir::Program>(builder.finish({y, sum}));
  };
  for (const std::int64_t rows : {std::int64_t{1} << 17, std::int64_t{8}}) {
    const bool fits = rows == 8;
    const auto id = static_cast<proto::TensorId>(rows);
    SCOPED_TRACE(rows);
    EXPECT_TRUE(session->define(id, sum_program(rows), {}).ok());
    EXPECT_TRUE(
        session
            ->write(id, tensor({rows, 4}, std::vector<float>(static_cast<std::size_t>(rows) * 4, 1)), {.batch_axis = 0})
            .ok());
    EXPECT_TRUE(session->run({.program = id, .inputs = {id}, .first_output = id + 1}).ok());
    const auto sum = read(*session, id + 2);
    EXPECT_EQ(sum.ok(), fits) << sum.status().message();
    if (fits) {
      EXPECT_THAT(values(*sum), ElementsAre(32));
    }
    EXPECT_EQ(sync(*session).ok(), fits);
    EXPECT_TRUE(session->release({id, id + 1, id + 2}).ok());
  }
}

// Each member has room for its part of the products, and for no more.
TEST(FleetSession, AValueThatIsTooLargeToBePutTogetherFailsAloneAndTheSessionGoesOn) {
  std::vector<std::unique_ptr<proto::Session>> members;
  members.reserve(2);
  for (int i = 0; i < 2; ++i) members.push_back(member(std::uint64_t{3} << 19));
  const auto session = fleet_of(std::move(members));
  constexpr std::int64_t kRows = 512;
  ir::ProgramBuilder builder;
  const auto column = builder.add_input(f32({kRows, 1}));
  const auto wide = value_or_throw(builder.add(ir::Expand{{kRows, kRows}}, {&column, 1}));
  const ir::Ref both[] = {wide, wide};
  const auto products = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::mul}, both));
  const auto sums = value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, {1}}, {&products, 1}));
  EXPECT_TRUE(session->define(1, std::make_shared<const ir::Program>(builder.finish({products, sums})), {}).ok());
  ir::ProgramBuilder sorting;
  const auto x = sorting.add_input(f32({kRows, kRows}));
  const ir::Ref determinant = value_or_throw(sorting.add(ir::Det{}, {&x, 1}));  // of all of it
  EXPECT_TRUE(session->define(2, std::make_shared<const ir::Program>(sorting.finish({determinant})), {}).ok());
  EXPECT_TRUE(session->write(1, numbers({kRows, 1}, 1), {.batch_axis = 0}).ok());
  EXPECT_TRUE(session->run({.program = 1, .inputs = {1}, .first_output = 2}).ok());
  EXPECT_TRUE(session->run({.program = 2, .inputs = {2}, .first_output = 4}).ok());
  EXPECT_EQ(read(*session, 4).status().code(), StatusCode::resource_exhausted);
  EXPECT_EQ(values(value_or_throw(read(*session, 3))).size(), static_cast<std::size_t>(kRows));
}

// The router keeps a client's programs, too, and they are its sessions' to share.
TEST(FleetSession, ProgramsBeyondTheRoomOfTheRouterAreRefusedUntilOthersAreForgotten) {
  const auto memory = std::make_shared<HostMemory>(std::uint64_t{2} << 20);
  {
    std::vector<std::unique_ptr<proto::Session>> members;
    members.reserve(2);
    for (int i = 0; i < 2; ++i) members.push_back(member());
    FleetOptions options;
    options.account = memory;
    const auto session = fleet_of(std::move(members), std::move(options));
    std::vector<proto::ProgramId> known;
    Status refused;
    while (refused.ok() && known.size() < 10'000) {
      known.push_back(known.size() + 1);
      EXPECT_TRUE(session->define(known.back(), step_program(8, 3), {}).ok());
      refused = sync(*session);
    }
    EXPECT_EQ(refused.code(), StatusCode::resource_exhausted);
    EXPECT_THAT(refused.message(), HasSubstr("of all sessions exceed what this router may take"));
    EXPECT_GT(known.size(), 100u);
    EXPECT_EQ(memory->taken(), std::uint64_t{2} << 20) << "it is granted in steps of 1 MiB";
    EXPECT_TRUE(session->define(20'000, step_program(8, 3), known).ok());
    EXPECT_EQ(sync(*session).message(), "");
    EXPECT_TRUE(session->write(1, numbers({3, 1}, 1)).ok());
    EXPECT_TRUE(session->write(2, numbers({8, 3}, 1), {.batch_axis = 0}).ok());
    EXPECT_TRUE(session->write(3, numbers({8, 1}, 1), {.batch_axis = 0}).ok());
    EXPECT_TRUE(session->run({.program = 20'000, .inputs = {1, 2, 3}, .first_output = 4}).ok());
    EXPECT_TRUE(read(*session, 4).ok());
  }
  EXPECT_EQ(memory->taken(), 0u);
}

// A client's program is of one device: what has collectives already is refused, with the place in the program.
TEST(FleetSession, CollectivesOfAClientAreRefused) {
  for (const bool is_wide : {false, true}) {
    const auto session = fleet(2);
    ir::ProgramBuilder builder;
    const auto x = builder.add_input(f32({2}));
    const auto sum = value_or_throw(builder.add(ir::AllReduce{}, {&x, 1}, {"model.cc", 41}));
    EXPECT_TRUE(session->define(1, std::make_shared<const ir::Program>(builder.finish({sum})), {}).ok());
    const auto mark = is_wide ? std::optional<std::int32_t>{0} : std::nullopt;
    EXPECT_TRUE(session->write(1, numbers({2}, 1), {.batch_axis = mark}).ok());
    EXPECT_TRUE(session->run({.program = 1, .inputs = {1}, .first_output = 2}).ok());
    EXPECT_THAT(std::string{read(*session, 2).status().message()},
                AllOf(HasSubstr("all_reduce"), HasSubstr("model.cc:41")));
    EXPECT_EQ(values(value_or_throw(read(*session, 1))), values(numbers({2}, 1)));
  }
}

TEST(FleetSession, OfALostMemberEverythingSaysSoAtOnce) {
  std::vector<std::unique_ptr<proto::Session>> members;
  members.reserve(3);
  for (int i = 0; i < 3; ++i) members.push_back(member());
  auto* const second = members[1].get();
  const auto session = fleet_of(std::move(members));
  EXPECT_TRUE(session->define(1, step_program(6, 3), {}).ok());
  EXPECT_TRUE(session->write(1, numbers({3, 1}, 1)).ok());
  EXPECT_TRUE(session->write(2, numbers({6, 3}, 1), {.batch_axis = 0}).ok());
  EXPECT_TRUE(session->write(3, numbers({6, 1}, 1), {.batch_axis = 0}).ok());
  EXPECT_TRUE(sync(*session).ok());
  second->close();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(session->run({.program = 1, .inputs = {1, 2, 3}, .first_output = 10}).ok());
  EXPECT_THAT(std::string{read(*session, 10).status().message()}, HasSubstr("worker w1 is lost"));
  EXPECT_THAT(std::string{sync(*session).message()}, HasSubstr("worker w1 is lost"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{1});
}

// A worker whose numbers are not those of the others: the first byte of each is another one.
class Altered final : public proto::Session {
 public:
  explicit Altered(std::unique_ptr<proto::Session> session) : session_(std::move(session)) {}
  const proto::SessionInfo& info() const override { return session_->info(); }
  Status define(proto::ProgramId id, ProgramPtr program, std::vector<proto::ProgramId> forget) override {
    return session_->define(id, std::move(program), std::move(forget));
  }
  Status run(proto::Run run) override { return session_->run(std::move(run)); }
  Status write(proto::TensorId id, HostTensor tensor, proto::WriteOptions options) override {
    return session_->write(id, std::move(tensor), options);
  }
  Status release(std::vector<proto::TensorId> ids) override { return session_->release(std::move(ids)); }
  void read(proto::TensorId id, ReadCallback done) override {
    session_->read(id, [done = std::move(done)](const Result<HostTensor>& result) {
      if (!result.ok() || result->bytes.empty()) return done(result);
      const auto all = result->bytes.span();
      std::vector<std::byte> bytes(all.begin(), all.end());
      bytes[0] ^= std::byte{1};
      done(HostTensor{result->type, SharedBytes::own(std::move(bytes))});
    });
  }
  void sync(SyncCallback done) override { session_->sync(std::move(done)); }
  void prepare_group(const proto::GroupPlace& place, const AddressCallback& done) override {
    session_->prepare_group(place, done);
  }
  void open_group(const proto::GroupPlace& place, std::vector<std::string> addresses,
                  std::chrono::milliseconds deadline, const SyncCallback& done) override {
    session_->open_group(place, std::move(addresses), deadline, done);
  }
  void close() override { session_->close(); }

 private:
  const std::unique_ptr<proto::Session> session_;
};

TEST(FleetSession, ReplicasThatDifferAreNamedWhereTheyAreCompared) {
  override_setting(Setting::check_replicas, "1");
  expect_same(train(*fleet(2), 6, true), train(*member(), 6, false));
  std::vector<std::unique_ptr<proto::Session>> members;
  members.push_back(member());
  members.push_back(std::make_unique<Altered>(member()));
  const auto session = fleet_of(std::move(members));
  override_setting(Setting::check_replicas, "0");
  EXPECT_TRUE(session->define(1, step_program(6, 3), {}).ok());
  EXPECT_TRUE(session->write(1, numbers({3, 1}, 1)).ok());
  EXPECT_TRUE(session->write(2, numbers({6, 3}, 1), {.batch_axis = 0}).ok());
  EXPECT_TRUE(session->write(3, numbers({6, 1}, 1), {.batch_axis = 0}).ok());
  EXPECT_TRUE(session->run({.program = 1, .inputs = {1, 2, 3}, .first_output = 10}).ok());
  EXPECT_TRUE(read(*session, 10).ok());
  EXPECT_THAT(std::string{sync(*session).message()},
              HasSubstr("BURN_CHECK_REPLICAS: tensor 10 (f32[]) of program 1 differs on w0 and w1"));
}

TEST(FleetSession, AnswersComeInTheOrderOfTheQuestions) {
  const auto session = fleet(2);
  EXPECT_TRUE(session->write(1, numbers({64, 1024}, 1), {.batch_axis = 0}).ok());
  EXPECT_TRUE(session->write(2, numbers({1}, 1)).ok());
  std::vector<int> order;
  std::promise<void> done;
  session->read(1, [&](const Result<HostTensor>&) { order.push_back(0); });
  session->read(2, [&](const Result<HostTensor>&) { order.push_back(1); });
  session->sync([&](const Status&) { order.push_back(2); });
  session->read(1, [&](const Result<HostTensor>&) {
    order.push_back(3);
    done.set_value();
  });
  done.get_future().wait();
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
}

TEST(FleetSession, ClosedWhileItComputesItEndsAtOnce) {
  const auto session = fleet(2);
  EXPECT_TRUE(session->write(1, numbers({64, 64}, 1), {.batch_axis = 0}).ok());
  std::atomic<bool> answered = false;
  session->read(1, [&](const Result<HostTensor>&) { answered = true; });
  session->close();
  EXPECT_TRUE(answered);
  EXPECT_FALSE(session->health().ok());
}

}  // namespace
}  // namespace burn::router
