#include "client/notice.h"

#include "client/record/device_state.h"
#include "net/remote/remote_session.h"

namespace burn {

std::optional<Notice> notice_of(const Device& device) {
  auto* remote = dynamic_cast<net::RemoteSession*>(&device.state()->session());
  const auto notice = remote == nullptr ? std::nullopt : remote->notice();
  if (!notice) return std::nullopt;
  return Notice{.url = device.url(), .end = notice->end};
}

}  // namespace burn
