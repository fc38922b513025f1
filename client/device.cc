#include "client/device.h"

#include <future>
#include <map>
#include <mutex>

#include "base/error.h"
#include "client/device_state.h"
#include "client/remote_session.h"
#include "proto/session_registry.h"

namespace burn {
namespace {

// Devices that are open, by URL: the same URL is the same session for as long as anything uses it.
std::mutex open_devices_mutex;
std::map<std::string, std::weak_ptr<client::DeviceState>, std::less<>>& open_devices() {
  static auto* devices = new std::map<std::string, std::weak_ptr<client::DeviceState>, std::less<>>;
  return *devices;  // never destroyed: tensors in globals may outlive main
}

void register_network_schemes() {
  for (const char* scheme : {"ws", "grpc", "unix"}) {
    proto::register_scheme(scheme, [](const std::string& url) -> Result<std::unique_ptr<proto::Session>> {
      BURN_TRY(auto session, client::connect(url));
      return std::unique_ptr<proto::Session>{std::move(session)};
    });
  }
}

std::shared_ptr<client::DeviceState> open(std::string_view url) {
  static std::once_flag once;  // not at static initialisation, which an archive member that nobody names would not have
  std::call_once(once, register_network_schemes);
  return client::DeviceState::create(std::string{url}, value_or_throw(proto::open_session(std::string{url})));
}

}  // namespace

Device::Device(std::string_view url) {
  const std::lock_guard lock(open_devices_mutex);
  auto& known = open_devices()[std::string{url}];
  state_ = known.lock();
  if (!state_) {
    state_ = open(url);
    known = state_;
  }
}

Device Device::new_session(std::string_view url) { return Device{open(url)}; }

Device Device::from_session(std::string_view url, std::unique_ptr<proto::Session> session) {
  return Device{client::DeviceState::create(std::string{url}, std::move(session))};
}

const std::string& Device::url() const { return state_->url(); }
const proto::SessionInfo& Device::info() const { return state_->session().info(); }
void Device::seed(std::uint64_t seed) const { state_->seed(seed); }
void Device::flush() const { state_->flush(); }

void Device::sync() const {
  state_->flush_all();
  std::promise<Status> done;
  state_->session().sync([&done](Status status) { done.set_value(std::move(status)); });
  const auto status = done.get_future().get();
  throw_if_error(state_->take_paced_failure());  // earlier, if any
  throw_if_error(status);
}

}  // namespace burn
