// Sessions in this process, and on workers over ws://, that perform collectives together.
#pragma once

#include <array>
#include <functional>
#include <thread>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/registry/registry.h"
#include "net/remote/remote_session.h"
#include "server/server.h"
#include "session/local_session.h"
#include "tests/session/group_members.h"
#include "tests/session/programs.h"
#include "tests/system/worker.h"

namespace burn {

using ir::Dims, ir::ReduceFn, ir::Ref;
using proto::HostTensor;
using session::f32;
using session::ProgramPtr;
using session::tensor;
using session::values;
using std::chrono::milliseconds;
using test::GroupMembers, test::open, test::prepare, test::read;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

// A program of one op on one input.
inline ProgramPtr program_of(const ir::TensorType& type, const ir::Op& op) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(type);
  return std::make_shared<const ir::Program>(
      builder.finish({value_or_throw(builder.add(op, {&x, 1}, {"model.cc", 41}))}));
}

// Returns in0[in1] summed over the members, and in0 + in0.
inline ProgramPtr gathered_and_reduced() {
  ir::ProgramBuilder builder;
  const Ref picked[] = {builder.add_input(f32({4})), builder.add_input({ir::DType::i64, {2}})};
  const Ref both[] = {picked[0], picked[0]};
  const auto part = value_or_throw(builder.add(ir::Gather{0}, picked, {"model.cc", 7}));
  const auto sum = value_or_throw(builder.add(ir::AllReduce{}, {&part, 1}, {"model.cc", 8}));
  const auto other = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::add}, both, {"model.cc", 9}));
  return std::make_shared<const ir::Program>(builder.finish({sum, other}));
}

// A step of an optimizer: the donated in0 moves by in1[in2], summed over the members, unless something fails.
inline ProgramPtr guarded_step() {
  ir::ProgramBuilder builder;
  const auto add = [&](const ir::Op& op, std::initializer_list<Ref> operands) {
    return value_or_throw(builder.add(op, std::span(operands.begin(), operands.size()), {"model.cc", 41}));
  };
  const auto state = builder.add_input(f32({2})), x = builder.add_input(f32({4}));
  const auto index = builder.add_input({ir::DType::i64, {2}});
  builder.donate(0);
  const auto change = add(ir::AllReduce{}, {add(ir::Gather{0}, {x, index})});
  const auto ok = add(ir::Commit{}, {});
  const auto next = add(ir::Pointwise{ir::PointwiseFn::add}, {state, change});
  const auto kept = add(ir::Pointwise{ir::PointwiseFn::select}, {ok, next, state});
  return std::make_shared<const ir::Program>(builder.finish({kept}));
}

inline HostTensor index_tensor(std::vector<std::int64_t> numbers) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  return {{ir::DType::i64, ir::Shape{count}}, SharedBytes::own(std::move(numbers))};
}

inline server::ServerOptions on_any_port() {
  server::ServerOptions options;
  options.ws = "127.0.0.1:0";
  return options;
}

class Groups : public testing::TestWithParam<const char*> {
 protected:
  static std::unique_ptr<proto::Session> open_session() {
    if (std::string_view(GetParam()) == "local") {
      static const auto worker = session::Worker::create(value_or_throw(backends::open_backend("cpu")));
      return session::make_local_session(worker);
    }
    // Two workers, to which sessions connect alternately.
    static const std::array<server::Server, 2> servers = {server::Server(on_any_port()), server::Server(on_any_port())};
    static std::size_t next = 0;
    return value_or_throw(net::connect(servers[next++ % 2].url()));
  }
  static GroupMembers sessions(std::size_t count) {
    std::vector<std::unique_ptr<proto::Session>> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(open_session());
    return GroupMembers(std::move(all));
  }
  static GroupMembers group(std::size_t count) {
    auto members = sessions(count);
    EXPECT_EQ(members.form().to_string(), "OK");
    return members;
  }

  // Runs each member's program on its input; returns the single output of each.
  static std::vector<std::vector<float>> run(GroupMembers& members, const std::function<ProgramPtr(int)>& program,
                                             const std::vector<HostTensor>& inputs) {
    std::vector<std::future<Result<HostTensor>>> answers;
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
      auto& session = members[rank];
      EXPECT_TRUE(session.write(1, inputs[rank]).ok());
      EXPECT_TRUE(session.define(1, program(static_cast<int>(rank)), {}).ok());
      EXPECT_TRUE(session.run({.program = 1, .inputs = {1}, .first_output = 2, .release = {1}}).ok());
      answers.push_back(read(session, 2));
      EXPECT_TRUE(session.release({2}).ok());
    }
    std::vector<std::vector<float>> outputs;
    for (auto& answer : answers) {
      const auto made = answer.get();
      EXPECT_TRUE(made.ok()) << made.status().to_string();
      outputs.push_back(made.ok() ? values(*made) : std::vector<float>{});
    }
    return outputs;
  }

  // Starts a run that waits for the other members; returns the future of its output.
  static std::future<Result<HostTensor>> begin_waiting(proto::Session& session) {
    EXPECT_TRUE(session.write(1, tensor({2}, {1, 2})).ok());
    EXPECT_TRUE(session.define(1, program_of(f32({2}), ir::AllReduce{}), {}).ok());
    EXPECT_TRUE(session.run({.program = 1, .inputs = {1}, .first_output = 2}).ok());
    return read(session, 2);
  }
};

}  // namespace burn
