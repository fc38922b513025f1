#include "daemon/certificate_log.h"

#include <chrono>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "daemon/log.h"

namespace burn::daemon {

void log_certificate(const net::tls::ServerTls& tls, const Status& read, std::string_view cause) {
  if (!read.ok()) {
    return log_warning(fmt::format("TLS: {}: the certificate stays what it was: {}", cause, read.message()));
  }
  const auto identity = tls.current();
  log_info(fmt::format("TLS: {}: the certificate {} is shown from now on, until {:%Y-%m-%d %H:%M:%S} UTC", cause,
                       identity->subject(), fmt::gmtime(std::chrono::system_clock::to_time_t(identity->not_after()))));
}

}  // namespace burn::daemon
