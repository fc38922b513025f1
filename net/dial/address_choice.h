// Which addresses of a URL's name the connections of one session are made to: where the session is, once it is
// somewhere, and before that not first where a server has just refused it.
#pragma once

#include <mutex>
#include <string>
#include <vector>

namespace burn::net {

// Thread-safe. Addresses are numeric: "10.0.0.7:3000", "[::1]:3000".
class AddressChoice {
 public:
  // The addresses of the name, `found`, in the order in which they are to be tried. Where the session is comes first,
  // even if the name does not stand for it any more.
  std::vector<std::string> order(std::vector<std::string> found) const;
  // The last connection was made to this address.
  void dialled(const std::string& address);
  // No session came of that connection: the other addresses are tried before it.
  void refuse();
  // The session is at that address, or, if it is not empty, at `advertised`.
  void settle(const std::string& advertised);

 private:
  mutable std::mutex mutex_;
  std::string last_, home_;           // Guarded by `mutex_`.
  std::vector<std::string> refused_;  // the last one at the end. Guarded by `mutex_`.
};

}  // namespace burn::net
