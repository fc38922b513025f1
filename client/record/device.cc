#include "client/device.h"

#include <chrono>
#include <future>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/fork.h"
#include "client/record/device_state.h"
#include "client/spin.h"
#include "net/remote/remote_session.h"
#include "net/trace/client_spans.h"
#include "proto/session_registry.h"

namespace burn {
namespace {

using State = std::shared_ptr<client::DeviceState>;
using Dial = std::shared_future<Result<State>>;

// The open devices, by URL: a URL has the same session as long as a handle to it exists and the session works.
struct OpenDevices {
  struct Entry {
    std::weak_ptr<client::DeviceState> device;
    Dial dial;  // valid while a thread is opening the device
  };
  std::mutex mutex;  // never held while something is opened or closed
  std::map<std::string, Entry, std::less<>> by_url;
};

OpenDevices& open_devices() {
  static auto& devices = *new OnePerProcess<OpenDevices>;
  return devices.get();
}

// How long opening a device waits for the server's welcome. A nearby server answers in time, and its errors are thrown
// at once; a distant one sets up the session while the program goes on.
constexpr std::chrono::milliseconds kNear{25};

void register_network_schemes() {
  for (const char* scheme : {"ws", "grpc", "wss", "grpcs", "unix", "grpc+unix"}) {
    proto::register_scheme(scheme, [](const std::string& url) -> Result<std::unique_ptr<proto::Session>> {
      BURN_TRY(auto spans, net::client_spans());
      BURN_TRY(auto session, net::connect(url, {.welcome_wait = kNear, .spans = std::move(spans)}));
      return std::unique_ptr<proto::Session>{std::move(session)};
    });
  }
}

Result<State> try_open(const std::string& url) {
  static std::once_flag once;  // not at static initialisation, which an unreferenced archive member would not have
  std::call_once(once, register_network_schemes);
  try {
    BURN_TRY(auto session, proto::open_session(url));
    return client::DeviceState::create(url, std::move(session));
  } catch (const std::exception& error) {  // out of memory, or a thread could not be started
    return internal_error("device " + url + ": " + error.what());
  }
}

// One try_open() for all threads that open the same URL meanwhile.
Result<State> open_for_all(const std::string& url, std::promise<Result<State>> answer) {
  auto opened = try_open(url);
  {
    auto& devices = open_devices();
    const std::lock_guard lock(devices.mutex);
    auto& entry = devices.by_url[url];
    entry.dial = {};
    if (opened.ok()) entry.device = *opened;
  }
  answer.set_value(opened);
  return opened;
}

Result<State> open_or_share(const std::string& url) {
  State known;  // dropped outside the lock: it may be the last handle
  Dial theirs;
  std::promise<Result<State>> ours;
  {
    auto& devices = open_devices();
    const std::lock_guard lock(devices.mutex);
    auto& entry = devices.by_url[url];
    known = entry.device.lock();
    if (known && known->health().ok()) return known;
    theirs = entry.dial;
    if (!theirs.valid()) entry.dial = ours.get_future().share();
  }
  return theirs.valid() ? theirs.get() : open_for_all(url, std::move(ours));
}

}  // namespace

Device::Device(std::string_view url) : state_(value_or_throw(open_or_share(std::string{url}))) {}

Device Device::new_session(std::string_view url) { return Device{value_or_throw(try_open(std::string{url}))}; }

Device Device::from_session(std::string_view url, std::unique_ptr<proto::Session> session) {
  return Device{client::DeviceState::create(std::string{url}, std::move(session))};
}

void Device::throw_moved_from() {
  throw Error(StatusCode::failed_precondition, "the device is empty: it was moved from; assign one to it first");
}

const std::string& Device::url() const { return state()->url(); }
const proto::SessionInfo& Device::info() const {
  const auto& session = state()->session();
  const auto& info = session.info();
  if (session.known_info() == nullptr) throw_if_error(session.health());
  return info;
}
proto::SessionStats Device::stats() const {
  std::promise<Result<proto::SessionStats>> answer;
  state()->session().stats([&answer](Result<proto::SessionStats> stats) { answer.set_value(std::move(stats)); });
  return value_or_throw(answer.get_future().get());
}
void Device::seed(std::uint64_t seed) const { state()->seed(seed); }
RandomState Device::random_state() const { return state()->random_state(); }
void Device::set_random_state(const RandomState& state) const { this->state()->set_random_state(state); }
void Device::flush() const { state()->flush(); }

void Device::sync() const {
  std::promise<Status> done;
  {
    const proto::Burst burst{state()->session()};
    state_->flush_all();
    state_->session().sync([&done](Status status) { done.set_value(std::move(status)); });
  }
  auto answer = done.get_future();
  // Only if cores are to spare: otherwise the threads that compute need this one's core.
  if (state_->spin_time() > client::kSpinTime) client::spin_until_ready(answer, state_->spin_time());
  const auto status = answer.get();
  throw_if_error(state_->take_paced_failure());  // that of an earlier step, if any
  throw_if_error(status);
}

}  // namespace burn
