// A RemoteSession beside a server that the test plays, and the results of its callbacks.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>

#include <gtest/gtest.h>

#include "net/remote/remote_session.h"
#include "tests/net/scripted_server.h"

namespace burn::test {

inline const proto::SessionInfo kInfo{.server = "script",
                                      .session = "s",
                                      .devices = {"cpu"},
                                      .max_tensor_bytes = 1 << 30,
                                      .max_in_flight = 4,
                                      .bulk_credit = 3 << 20};

inline ir::TensorType bytes_type(std::int64_t size) { return {ir::DType::u8, {size}}; }

inline proto::HostTensor counting(std::size_t size) {
  std::vector<std::uint8_t> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<std::uint8_t>(i * 7 + (i >> 10));
  return {bytes_type(static_cast<std::int64_t>(size)), SharedBytes::own(std::move(values))};
}

inline bool same(const SharedBytes& a, const SharedBytes& b) {
  return a.size() == b.size() && std::equal(a.span().begin(), a.span().end(), b.span().begin());
}

// The one result of a callback, and that it is one.
template <typename T>
class Outcome {
 public:
  auto callback() {
    return [state = state_](T value) {
      if (++state->calls == 1) state->promise.set_value(std::move(value));
    };
  }
  T get() {
    auto future = state_->promise.get_future();
    if (future.wait_for(std::chrono::seconds{20}) != std::future_status::ready)
      return unavailable("the callback was not called");
    return future.get();
  }
  int calls() const { return state_->calls; }

 private:
  struct State {
    std::atomic<int> calls = 0;
    std::promise<T> promise;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};
using ReadOutcome = Outcome<Result<proto::HostTensor>>;
using SyncOutcome = Outcome<Status>;
using StatsOutcome = Outcome<Result<proto::SessionStats>>;

class RemoteSessionTest : public testing::Test {
 protected:
  ScriptedServer server_;
};

}  // namespace burn::test
