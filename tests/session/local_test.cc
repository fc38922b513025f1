// Devices inside the process, as burn::local registers them.
#include <future>

#include <gtest/gtest.h>

#include "proto/session_registry.h"
#include "tests/session/programs.h"

namespace burn::session {
namespace {

TEST(Local, LinkingItRegistersTheDevices) {
  for (const std::string url : {"cpu", "null", "cpu:0"}) {
    const auto session = proto::open_session(url);
    ASSERT_TRUE(session.ok()) << session.status().to_string();
    EXPECT_EQ((*session)->info().devices, std::vector<std::string>{url.substr(0, url.find(':'))});
  }
  EXPECT_EQ(proto::open_session("cpu:7").status(),
            not_found("no device \"cpu:7\": of this kind there is only cpu:0 here"));
  EXPECT_EQ((*proto::open_session("null:3"))->info().devices, std::vector<std::string>{"null:3"});
}

TEST(Local, TheCpuComputes) {
  const auto session = value_or_throw(proto::open_session("cpu"));
  EXPECT_TRUE(session->define(1, add_program({3}, true, false), {}).ok());
  EXPECT_TRUE(session->write(1, tensor({3}, {1, 2, 3})).ok());
  EXPECT_TRUE(session->write(2, tensor({3}, {10, 20, 30})).ok());
  EXPECT_TRUE(session->run({.program = 1, .inputs = {1, 2}, .first_output = 3}).ok());
  std::promise<Result<proto::HostTensor>> promise;
  session->read(3, [&](auto tensor) { promise.set_value(std::move(tensor)); });
  EXPECT_EQ(values(value_or_throw(promise.get_future().get())), (std::vector<float>{11, 22, 33}));
}

}  // namespace
}  // namespace burn::session
