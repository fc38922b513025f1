// A client that speaks to a Connection by hand, frame by frame, properly or not.
#pragma once

#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include "ir/catalogue.h"
#include "net/serve/connection.h"
#include "server/worker_host.h"
#include "tests/server/fake_channel.h"
#include "tests/session/expect_fails.h"
#include "tests/session/fake_backend.h"
#include "tests/session/programs.h"

namespace burn::server {

using namespace session;  // the devices, programs and checks of tests/session

class FakeClient {
 public:
  explicit FakeClient(const std::shared_ptr<Worker>& worker, const Quotas& quotas = {})
      : FakeClient(WorkerHost::Workers{worker}, quotas) {}
  explicit FakeClient(const WorkerHost::Workers& workers, const Quotas& quotas = {})
      : connection_(std::make_shared<net::Connection>(channel_, std::make_shared<WorkerHost>(workers, quotas),
                                                      [this](auto) { ++ended; })) {}
  ~FakeClient() {
    leave();
    connection_->dispose();
  }

  // Says hello and returns the welcome.
  proto::Welcome enter(std::uint32_t device = 0) {
    send(proto::Hello{proto::kProtocolVersion, ir::op_set_fingerprint(), "test", "", device});
    return expect<proto::Welcome>();
  }
  // Ends the connection as if the socket had closed.
  void leave() {
    if (!std::exchange(left_, true)) connection_->on_closed(unavailable("gone"));
  }

  // Ordered frames get the next number, unless `seq` is not 0.
  void send(proto::Body body, SharedBytes payload = {}, std::uint64_t seq = 0) {
    if (seq == 0 && proto::is_ordered(body)) seq = ++last_seq_;
    send_bytes(proto::to_string(proto::encode({seq, std::move(body), std::move(payload)})));
  }
  void send_bytes(std::string bytes) { connection_->on_frame(proto::shared(std::move(bytes))); }
  // Delivers a chunk like a transport that asks where to put the payload; false: the server names no space.
  bool send_in_place(const proto::Chunk& chunk, SharedBytes payload) {
    const auto encoded = proto::encode({0, chunk, payload});
    const auto space = connection_->receive_space(std::as_bytes(std::span{encoded.header}), encoded.size());
    if (space.begin == 0) return false;
    EXPECT_EQ(space.begin, encoded.header.size());
    EXPECT_EQ(space.bytes.size(), payload.size());
    std::ranges::copy(payload.span(), space.bytes.begin());
    connection_->on_frame_in_place(proto::shared(encoded.header), SharedBytes{space.owner, space.bytes});
    return true;
  }
  void write(proto::TensorId id, const proto::HostTensor& tensor) { send(proto::Write{id, tensor.type}, tensor.bytes); }
  void run(proto::Run run) { send(proto::RunProgram{std::move(run)}); }

  // The next frame, which must be a Kind. Acks are skipped, unless Kind is Ack.
  template <typename Kind>
  Kind expect(SharedBytes* payload = nullptr) {
    return channel_->expect<Kind>(payload);
  }

  Status sync() {
    send(proto::Sync{1});
    return expect<proto::Done>().status;
  }
  // A read that is answered in one frame.
  Result<proto::HostTensor> read(proto::TensorId id) {
    send(proto::Read{2, id});
    while (auto sent = channel_->next()) {
      if (const auto* done = std::get_if<proto::Done>(&sent->frame.body)) return done->status;
      if (const auto* data = std::get_if<proto::Data>(&sent->frame.body)) {
        return proto::HostTensor{data->type, sent->frame.payload};
      }
    }
    return unavailable("the server says nothing");
  }
  // Expects a Close as the last frame, and returns its status.
  Status expect_close() {
    auto status = expect<proto::Close>().status;
    EXPECT_FALSE(channel_->next().has_value());
    EXPECT_TRUE(channel_->is_closed());
    return status;
  }

  FakeChannel& channel() { return *channel_; }
  net::Connection& connection() { return *connection_; }
  std::uint64_t last_seq() const { return last_seq_; }

  std::atomic<int> ended = 0;  // calls of the Connection's callback

 private:
  const std::shared_ptr<FakeChannel> channel_ = std::make_shared<FakeChannel>();
  const std::shared_ptr<net::Connection> connection_;
  std::uint64_t last_seq_ = 0;
  bool left_ = false;
};

class ConnectionTest : public testing::Test {
 protected:
  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>();
  std::shared_ptr<Worker> worker_ = Worker::create(make_fake_backend(device_));
};

}  // namespace burn::server
