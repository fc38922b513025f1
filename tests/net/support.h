// Both ends of a transport in one process: handlers that record frames, servers that echo, and the transports as a
// test parameter.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/dial/connect.h"
#include "net/listen/listener.h"
#include "proto/channel.h"
#include "tests/support/eventually.h"

namespace burn::test {

using namespace std::chrono_literals;
inline constexpr auto kPatience = 20s;  // for what should happen at once

// `header` and `payload` as they would travel; the transports do not look inside.
proto::EncodedFrame frame(std::string header, std::size_t payload_bytes = 0, std::uint8_t seed = 0);
std::string text(const SharedBytes& bytes);
// Whether `bytes` is frame(header, payload_bytes, seed).
bool matches(const SharedBytes& bytes, std::string_view header, std::size_t payload_bytes, std::uint8_t seed = 0);

// Records the frames that arrive. Thread-safe.
class Recorder : public proto::ChannelHandler {
 public:
  explicit Recorder(bool keep_frames = true) : keep_frames_(keep_frames) {}

  void on_frame(SharedBytes frame) override;
  void on_closed(Status why) override;

  // False if it did not happen in time.
  bool wait_for_frames(std::size_t count);
  bool wait_until_closed();

  std::vector<SharedBytes> frames() const;
  std::size_t frame_count() const;
  int closed_count() const;
  Status why() const;

  std::function<void(const SharedBytes&)> frame_hook;  // called first, without a lock

 private:
  const bool keep_frames_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<SharedBytes> frames_;
  std::size_t frame_count_ = 0;
  int closed_count_ = 0;
  Status why_;
};

// A client's handler on the server that holds its channel, as real ones do.
struct Served : Recorder {
  using Recorder::Recorder;
  std::shared_ptr<proto::Channel> channel;
};

// Records every client; sends each frame back if `echo`. Thread-safe.
class TestAcceptor : public net::Acceptor {
 public:
  explicit TestAcceptor(bool echo) : echo_(echo) {}

  std::shared_ptr<proto::ChannelHandler> accept(std::shared_ptr<proto::Channel> channel) override;
  std::shared_ptr<proto::ChannelHandler> accept_returning(std::shared_ptr<proto::Channel> channel,
                                                          const Status& full) override;

  // The k-th client that connected; null if it did not connect in time.
  std::shared_ptr<Served> client(std::size_t k);
  std::size_t client_count() const;

  bool refuse = false;
  bool takes_returning = false;  // also beyond the limit; why there is no other place is in
  std::vector<Status> full() const;
  bool keep_frames = true;
  std::function<void(Served&)> prepare;  // called with a client's handler before the transport uses it

 private:
  const bool echo_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Served>> clients_;
  std::vector<Status> full_;
};

enum class Transport { websocket, unix_socket, unix_without_memory, grpc, grpc_unix };
std::string name(Transport transport);

std::string temporary_path(std::string_view name);

// A listener on a free port of the loopback, or on a path of its own.
Result<std::unique_ptr<net::Listener>> listen(Transport transport, net::Acceptor& acceptor,
                                              const net::ListenOptions& options = {});

// Connects, or ends the test program.
std::shared_ptr<proto::Channel> must_connect(const std::string& url, std::shared_ptr<proto::ChannelHandler> handler);

// Resident bytes of this process.
std::size_t resident();

inline bool eventually(const std::function<bool()>& condition) { return eventually(condition, kPatience); }

}  // namespace burn::test
