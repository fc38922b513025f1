// A server played by the test, frame by frame, on a channel in memory: no port, no thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "net/remote/conversation.h"
#include "proto/codec.h"

namespace burn::test {

class ScriptedServer {
 public:
  struct Said {
    proto::Frame frame;
    proto::Lane lane;
  };

  // Connects a session, playing the server's part of the hello.
  std::unique_ptr<net::RemoteSession> welcome(const proto::SessionInfo& info);
  // The same without an answer; the caller plays on.
  std::future<Result<std::unique_ptr<net::RemoteSession>>> connect(int timeout_seconds = 20);

  // The next frame from the client; std::nullopt if none arrives for a while.
  std::optional<Said> next(std::chrono::milliseconds patience = std::chrono::seconds{20});
  // The next frame, which must be a Kind.
  template <typename Kind>
  Kind expect(proto::Frame* whole = nullptr) {
    auto said = next();
    if (!said || !std::holds_alternative<Kind>(said->frame.body)) {
      ADD_FAILURE() << "the client said " << (said ? proto::name(said->frame.body) : "nothing");
      return {};
    }
    if (whole) *whole = said->frame;
    return std::get<Kind>(std::move(said->frame.body));
  }
  bool is_silent() { return !next(std::chrono::milliseconds{30}); }

  // Tells the client, on the calling thread.
  void send(proto::Body body, SharedBytes payload = {});
  void say_bytes(SharedBytes bytes);
  void close(Status why = {});

  bool closed_by_client() const;
  net::ConnectOptions options;  // but for the timeout
  bool closes_at_once = true;   // answers the client's close() like a transport; from a thread of its own

 private:
  class Pipe;
  struct State;
  std::shared_ptr<State> state();

  std::shared_ptr<State> state_;
};

}  // namespace burn::test
