#include "client/notice.h"

#include "client/record/device_state.h"

namespace burn {

std::optional<Notice> notice_of(const Device& device) {
  const auto end = device.state()->session().announced_end();
  if (!end) return std::nullopt;
  return Notice{.url = device.url(), .end = *end};
}

}  // namespace burn
