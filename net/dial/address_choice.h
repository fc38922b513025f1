// Which of the addresses of a URL's host name the connections of one session use: the session's own address once it is
// known, and before that first those whose server has not just refused the session.
#pragma once

#include <mutex>
#include <string>
#include <vector>

namespace burn::net {

// Thread-safe. Addresses are numeric: "10.0.0.7:3000", "[::1]:3000".
class AddressChoice {
 public:
  // Sorts `found`, the addresses of the name, into the order in which they are to be tried. The session's address comes
  // first, even if the name no longer resolves to it.
  std::vector<std::string> order(std::vector<std::string> found) const;
  // Called before a connection to this address is made.
  void dialled(const std::string& address);
  // The last connection led to no session: the other addresses are tried before its address.
  void refuse();
  // The session is at the address of the last connection, or at `advertised` if that is not empty.
  void settle(const std::string& advertised);

 private:
  mutable std::mutex mutex_;
  std::string last_, home_;           // Guarded by `mutex_`.
  std::vector<std::string> refused_;  // the latest at the end. Guarded by `mutex_`.
};

}  // namespace burn::net
