// A device stores tensors and computes with them. Named by a URL: "cpu" (in this process), "ws://host:port",
// "grpc://host:port", "unix:/path".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "client/where.h"
#include "proto/session.h"

namespace burn {

namespace client {
class DeviceState;
}

// How a tensor is split over the workers of a router: along a dim, over the workers along an axis of their mesh.
// "data": as a batch is split; "model": each worker has a part of the model and computes with it.
struct SplitAlong {
  int dim = 0;  // negative: from the end
  std::string_view mesh = "data";
};

// The state of a device's random number stream: its seed, and how many numbers have been drawn. A checkpoint stores
// both numbers.
struct RandomState {
  std::uint64_t seed = 0;      // the argument of seed(), or a random one, drawn when the device was opened
  std::uint64_t position = 0;  // blocks of four numbers drawn since
  friend bool operator==(const RandomState&, const RandomState&) = default;
};

// A cheap handle; copies are the same device. Opening the same URL again returns the same session, or a new one if that
// has lost its connection; tensors of the lost session then report it as an error. A device does not survive fork(): in
// the child every use of it throws, and opening the URL again makes a session of the child's own. Thread-safe.
class Device {
 public:
  Device() : Device("cpu") {}
  // Opens the device; threads that open one URL at the same time share the attempt and its error. Errors: one sentence
  // naming the URL, if it cannot be reached or does not parse.
  Device(const char* url) : Device(std::string_view{url}) {}  // NOLINT: "cpu" is a device wherever one is asked for
  Device(const std::string& url) : Device(std::string_view{url}) {}  // NOLINT
  explicit Device(std::string_view url);
  explicit Device(std::shared_ptr<client::DeviceState> state, bool autodiff = false)
      : state_(std::move(state)), autodiff_(autodiff) {}

  // Opens a new session, even if another one is open on that URL.
  static Device new_session(std::string_view url);
  // A device on a session that the caller has made.
  static Device from_session(std::string_view url, std::unique_ptr<proto::Session> session);

  const std::string& url() const;
  const proto::SessionInfo& info() const;
  // Memory, runs and time that the session, and all sessions of its device, use, in bytes and seconds. Bypasses the
  // queue of calls: sends nothing that was recorded, waits for no earlier call, and takes one round trip. Errors
  // (thrown): UNIMPLEMENTED, naming the server, if its version lacks this request; why the session is lost.
  proto::SessionStats stats() const;

  // The same device with tracking of gradients (autodiff), and without it (inner).
  Device autodiff() const { return Device{state_, true}; }
  Device inner() const { return Device{state_, false}; }
  bool is_autodiff() const { return autodiff_; }

  // The same tensor, or parameter of a module, which a router splits over its workers:
  //   net.up.weight = device.place(net.up.weight, SplitAlong{1, "model"});
  // Values computed from it are split accordingly, and a parameter stays split through training. On other devices it
  // changes nothing. Errors (thrown): a tensor of another device; a dim that it does not have; a mesh axis other than
  // the two.
  template <typename T>
  T place(const T& x, const SplitAlong& split, Loc where = Loc::current()) const {
    return place_on(*this, x, split, at(where, "place"));  // overloads next to Tensor and Param
  }

  // Restarts the random stream: the same seed gives the same numbers on every device and transport.
  void seed(std::uint64_t seed) const;
  // The state after all ops recorded so far, by any thread; they are sent first. Does not wait: each program is sent
  // with its position in the stream. After set_random_state() the same numbers are drawn as after the call that
  // returned the state, on every device and transport. Errors (thrown): inside a captured step.
  RandomState random_state() const;
  void set_random_state(const RandomState& state) const;
  // Sends the ops that this thread has recorded, without waiting.
  void flush() const;
  // Sends the ops that this thread has recorded, and waits until the device has finished. Throws the first failure
  // since the last sync.
  void sync() const;

  // Errors (thrown): the handle was moved from.
  const std::shared_ptr<client::DeviceState>& state() const {
    if (!state_) [[unlikely]]
      throw_moved_from();
    return state_;
  }
  friend bool operator==(const Device& a, const Device& b) {
    return a.state_ == b.state_ && a.autodiff_ == b.autodiff_;
  }

 private:
  [[noreturn]] static void throw_moved_from();

  std::shared_ptr<client::DeviceState> state_;
  bool autodiff_ = false;
};

}  // namespace burn
