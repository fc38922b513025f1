#include "tests/net/scripted_server.h"

#include <cstring>
#include <thread>
#include <vector>

#include "net/transport/handler_gate.h"

namespace burn::test {

struct ScriptedServer::State {
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<Said> said;
  net::HandlerGate gate;
  bool closed = false;
  bool closes_at_once = true;
};

class ScriptedServer::Pipe final : public proto::Channel {
 public:
  explicit Pipe(std::shared_ptr<State> state) : state_(std::move(state)) {}
  ~Pipe() override { state_->gate.shut(); }

  void send(proto::EncodedFrame frame, proto::Lane lane) override {
    std::vector<std::byte> bytes(frame.size());
    std::memcpy(bytes.data(), frame.header.data(), frame.header.size());
    if (!frame.payload.empty())
      std::memcpy(bytes.data() + frame.header.size(), frame.payload.data(), frame.payload.size());
    auto decoded = proto::decode(SharedBytes::own(std::move(bytes)));
    ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
    const std::lock_guard lock(state_->mutex);
    if (state_->closed) return;
    state_->said.push_back({*std::move(decoded), lane});
    state_->changed.notify_all();
  }
  void close() override {
    const std::lock_guard lock(state_->mutex);
    if (std::exchange(state_->closed, true) || !state_->closes_at_once) return;
    std::thread([state = state_] { state->gate.closed(ok_status()); }).detach();  // not this one: it may be a caller's
  }
  std::size_t queued_bytes() const override { return 0; }
  std::string peer() const override { return "script"; }

 private:
  const std::shared_ptr<State> state_;
};

std::shared_ptr<ScriptedServer::State> ScriptedServer::state() {
  if (!state_) state_ = std::make_shared<State>();
  return state_;
}

std::future<Result<std::unique_ptr<net::RemoteSession>>> ScriptedServer::connect(int timeout_seconds) {
  state()->closes_at_once = closes_at_once;
  const auto factory = [state = state()](std::shared_ptr<proto::ChannelHandler> handler, auto) {
    state->gate.open(std::move(handler));
    return Result<std::shared_ptr<proto::Channel>>(std::make_shared<Pipe>(state));
  };
  net::ConnectOptions with = options;
  with.timeout_seconds = timeout_seconds;
  return std::async(std::launch::async, [=] { return net::connect_over(factory, "test://server", with); });
}

std::unique_ptr<net::RemoteSession> ScriptedServer::welcome(const proto::SessionInfo& info) {
  auto session = connect();
  expect<proto::Hello>();
  send(proto::Welcome{proto::kProtocolVersion, 0, info});
  return *session.get();
}

std::optional<ScriptedServer::Said> ScriptedServer::next(std::chrono::milliseconds patience) {
  std::unique_lock lock(state()->mutex);
  if (!state_->changed.wait_for(lock, patience, [&] { return !state_->said.empty(); })) return std::nullopt;
  Said first = std::move(state_->said.front());
  state_->said.pop_front();
  return first;
}

void ScriptedServer::send(proto::Body body, SharedBytes payload) {
  const proto::EncodedFrame frame = proto::encode({0, std::move(body), std::move(payload)});
  std::vector<std::byte> bytes(frame.size());
  std::memcpy(bytes.data(), frame.header.data(), frame.header.size());
  if (!frame.payload.empty())
    std::memcpy(bytes.data() + frame.header.size(), frame.payload.data(), frame.payload.size());
  say_bytes(SharedBytes::own(std::move(bytes)));
}

void ScriptedServer::say_bytes(SharedBytes bytes) { state()->gate.frame(std::move(bytes)); }

void ScriptedServer::close(Status why) {
  {
    const std::lock_guard lock(state()->mutex);
    state_->closed = true;
  }
  state_->gate.closed(std::move(why));
}

bool ScriptedServer::closed_by_client() const {
  const std::lock_guard lock(state_->mutex);
  return state_->closed;
}

}  // namespace burn::test
