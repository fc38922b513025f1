// Sessions of each kind: in this process and over each transport, on a synchronous and on an asynchronous device;
// through a router with one worker; and through a router with three workers, where a session is on one of them
// ("fleet") or, because a batch was written to it, on all ("wide").
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <map>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/registry/registry.h"
#include "net/remote/remote_session.h"
#include "proto/session_registry.h"
#include "router/router.h"
#include "server/server.h"
#include "session/local_session.h"
#include "tests/session/answers.h"
#include "tests/session/expect_fails.h"
#include "tests/session/programs.h"
#include "tests/system/on_every_transport.h"

namespace burn {

using proto::HostTensor;
using proto::ProgramId;
using proto::TensorId;
using session::add_program;
using session::f32;
using session::ProgramPtr;
using session::scale_program;
using session::tensor;
using session::values;
using testing::AnyOf;
using testing::HasSubstr;

// A program with two results: in0[in1], and in0 + in0.
inline ProgramPtr gather_and_add_program(std::int64_t size, std::int64_t count) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(f32({size}));
  const auto index = builder.add_input({ir::DType::i64, ir::Shape{count}});
  const ir::Ref picked[] = {x, index}, both[] = {x, x};
  const auto a = value_or_throw(builder.add(ir::Gather{0}, picked, {"model.cc", 7}));
  const auto b = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::add}, both, {"model.cc", 8}));
  return std::make_shared<const ir::Program>(builder.finish({a, b}));
}

inline HostTensor index_tensor(std::vector<std::int64_t> numbers) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  return {{ir::DType::i64, ir::Shape{count}}, SharedBytes::own(std::move(numbers))};
}

// Options of a router with these workers.
inline router::RouterOptions router_of(std::vector<std::string> workers) {
  const auto listens = test::on_every_transport();
  router::RouterOptions options;
  options.service.ws = listens.ws;
  options.service.grpc = listens.grpc;
  options.service.unix_path = listens.unix_path;
  options.service.grpc_unix_path = listens.grpc_unix_path;
  options.workers = std::move(workers);
  return options;
}

// The URL for "scheme", "scheme device", "router scheme", "fleet" or "wide". All tests share one server per device;
// each test has its own session.
inline const std::string& url_of(const std::string& name) {
  static const server::Server cpu(test::on_every_transport()), delayed({.device = "delayed", .ws = "127.0.0.1:0"});
  static const std::array<server::Server, 3> three{server::Server({.ws = "127.0.0.1:0"}),
                                                   server::Server({.ws = "127.0.0.1:0"}),
                                                   server::Server({.ws = "127.0.0.1:0"})};
  static const router::Router router(router_of({cpu.url()})),
      fleet(router_of({three[0].url(), three[1].url(), three[2].url()}));
  static const auto& urls = *new std::map<std::string, std::string>([] {
    std::map<std::string, std::string> all{{"cpu", "cpu"}, {"delayed", "delayed"}, {"ws delayed", delayed.url()}};
    for (const auto& url : cpu.urls()) all[url.substr(0, url.find(':'))] = url;
    all["fleet"] = all["wide"] = fleet.url();
    for (const auto& url : router.urls()) all["router " + url.substr(0, url.find(':'))] = url;
    return all;
  }());
  return urls.at(name);
}

class SessionContract : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { session_ = open(); }

  std::unique_ptr<proto::Session> open() const {
    const auto& url = url_of(GetParam());
    if (url == "cpu") return value_or_throw(proto::open_session(url));
    if (url == "delayed") {
      static const auto worker = session::Worker::create(value_or_throw(backends::open_backend(url)));
      return session::make_local_session(worker);
    }
    auto session = value_or_throw(net::connect(url));
    if (std::string_view(GetParam()) == "wide") {
      constexpr TensorId kBatch = TensorId{1} << 40;
      EXPECT_TRUE(session->write(kBatch, tensor({6}, {1, 2, 3, 4, 5, 6}), {.batch_axis = 0}).ok());
      EXPECT_TRUE(session->release({kBatch}).ok());
      EXPECT_TRUE(session::sync(*session).ok());
    }
    return session;
  }

  Result<HostTensor> read(TensorId id) { return session::read(*session_, id); }
  Status sync() { return session::sync(*session_); }
  void define(ProgramId id, ProgramPtr program, std::vector<ProgramId> forget = {}) {
    EXPECT_TRUE(session_->define(id, std::move(program), std::move(forget)).ok());
  }
  void run(proto::Run run) { EXPECT_TRUE(session_->run(std::move(run)).ok()); }
  void write(TensorId id, HostTensor numbers) { EXPECT_TRUE(session_->write(id, std::move(numbers)).ok()); }
  void release(std::vector<TensorId> ids) { EXPECT_TRUE(session_->release(std::move(ids)).ok()); }
  Result<proto::SessionStats> stats() { return session::stats(*session_); }
  std::vector<float> numbers(TensorId id) {
    const auto result = read(id);
    EXPECT_TRUE(result.ok()) << result.status().to_string();
    return result.ok() ? values(*result) : std::vector<float>{};
  }

  std::unique_ptr<proto::Session> session_;
};

}  // namespace burn
