#include "server/collective_address.h"

#include <fmt/format.h>

#include "backends/collective/internet_address.h"
#include "backends/collective/rendezvous.h"

namespace burn::server {

Result<std::string> find_collective_address(const std::string& host) {
  const auto addresses = backends::resolve_host(host);
  if (!addresses.ok()) return invalid_argument(fmt::format("--collective-address: {}", addresses.status().message()));
  const std::string any_ticket(backends::kTicketBytes, '0');
  Status why;
  for (const auto& address : *addresses) {
    const auto rendezvous = backends::Rendezvous::listen(address, any_ticket, 0, 1);
    if (rendezvous.ok()) return address;
    if (why.ok()) why = rendezvous.status();
  }
  return Status{why.code(), fmt::format("--collective-address {}: {}", host, why.message())};
}

}  // namespace burn::server
