// Where tensors live, named by a URL: "cpu" (in this process), "ws://host:port", "grpc://host:port", "unix:/path".
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

// How a tensor is split over the workers of a router: along a dim, and over the workers along an axis of their mesh.
// With "data", as a batch is; with "model", so that each worker has a part of the model and computes with it.
struct SplitAlong {
  int dim = 0;  // negative: from the end
  std::string_view mesh = "data";
};

// Where the random numbers of a device come from, and how far they have been drawn. Two numbers: keep them in a
// checkpoint as they are.
struct RandomState {
  std::uint64_t seed = 0;      // what seed() was given, or what was drawn when the device was opened
  std::uint64_t position = 0;  // blocks of four numbers that have been drawn since
  friend bool operator==(const RandomState&, const RandomState&) = default;
};

// A cheap handle; copies are the same device. Opening the same URL again gives the same session, unless that has lost
// its connection: then a new one, and what was on the old one says that it is lost. fork() does not take a device
// along: in the child all of it throws, and the same URL opens one of the child's own. Thread-safe.
class Device {
 public:
  Device() : Device("cpu") {}
  // Opens the device; threads that open one URL share the attempt and its error. Errors: one sentence naming the URL
  // when it cannot be reached or does not parse.
  Device(const char* url) : Device(std::string_view{url}) {}  // NOLINT: "cpu" is a device wherever one is asked for
  Device(const std::string& url) : Device(std::string_view{url}) {}  // NOLINT
  explicit Device(std::string_view url);
  explicit Device(std::shared_ptr<client::DeviceState> state, bool autodiff = false)
      : state_(std::move(state)), autodiff_(autodiff) {}

  // A session of its own, beside any other on that URL.
  static Device new_session(std::string_view url);
  // A device on a session made elsewhere.
  static Device from_session(std::string_view url, std::unique_ptr<proto::Session> session);

  const std::string& url() const;
  const proto::SessionInfo& info() const;
  // Memory, runs and time that the session and all of its device use, in bytes and seconds. Sends nothing that was
  // recorded and waits for no call before it: a question beside the queue, of one round trip. Errors (thrown):
  // UNIMPLEMENTED, naming the server, where that is of a version that does not know it; why the session is lost.
  proto::SessionStats stats() const;

  // The same device, on which tensors can be tracked for gradients; and back.
  Device autodiff() const { return Device{state_, true}; }
  Device inner() const { return Device{state_, false}; }
  bool is_autodiff() const { return autodiff_; }

  // The same tensor, or the same parameter of a module, of which a router gives each worker a part:
  //   net.up.weight = device.place(net.up.weight, SplitAlong{1, "model"});
  // What is computed from it follows, and a parameter stays split through training. Everywhere else it changes nothing.
  // Errors (thrown): a tensor of another device; a dim that it does not have; a mesh axis other than the two.
  template <typename T>
  T place(const T& x, const SplitAlong& split, Loc where = Loc::current()) const {
    return place_on(*this, x, split, at(where, "place"));  // beside Tensor and Param
  }

  // Restarts the random stream: the same seed gives the same numbers on every device and transport.
  void seed(std::uint64_t seed) const;
  // The state after all that was recorded so far, by any thread; it is sent first. Waits for nothing: programs draw
  // from the positions that they are sent with. With set_random_state() the same numbers follow as followed then, on
  // every device and transport. Errors (thrown): inside a captured step.
  RandomState random_state() const;
  void set_random_state(const RandomState& state) const;
  // Sends what this thread has recorded, without waiting.
  void flush() const;
  // Sends what was recorded and waits until it is done. Throws the first failure since the last sync.
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
