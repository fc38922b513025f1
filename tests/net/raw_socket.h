// A peer without manners: plain sockets that write whatever they like.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "net/transport/socket.h"

namespace burn::test {

// A blocking connection to the loopback.
class RawSocket {
 public:
  // `address` is "127.0.0.1:3000"; ends the test program if no server listens.
  // `receive_bytes`: of its buffer; 0: as the system has it. `from`: our own address, "127.0.0.2".
  static RawSocket connect(const std::string& address, int receive_bytes = 0, const char* from = nullptr);
  // The same with a socket that is there already; false if no server listens.
  static bool connect(const net::UniqueFd& socket, const std::string& address);
  explicit RawSocket(net::UniqueFd fd) : fd_(std::move(fd)) {}

  bool write(std::string_view bytes) const;       // false: the peer is gone
  void write_some(std::string_view bytes) const;  // what the system takes at once
  bool is_open() const;                           // the peer has not closed, or has said something
  int descriptor() const { return fd_.get(); }
  // What comes until the peer closes, or the time is over; `closed` says which.
  std::string read_until_closed(std::chrono::milliseconds patience, bool* closed) const;
  std::string read_some(std::size_t limit = 4096) const;  // blocks; empty: closed
  void reset();                                           // closes with RST
  void close() { fd_ = {}; }

  // Shakes hands for a WebSocket; returns the server's first line. `more`: lines of headers.
  std::string upgrade(std::string_view more = {}) const;

 private:
  net::UniqueFd fd_;
};

// Stands between one client and a server and passes bytes on, until told to swallow them: both then face a peer that is
// silent, on a connection that is open.
class Proxy {
 public:
  explicit Proxy(const std::string& server);  // "127.0.0.1:3000"
  ~Proxy();

  const std::string& address() const { return address_; }
  void stall() { stalled_ = true; }

 private:
  void run();

  const std::string server_;
  net::UniqueFd listener_;
  std::string address_;
  std::atomic<bool> stalled_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

// "127.0.0.1:3000" of "ws://127.0.0.1:3000".
std::string address_of(const std::string& url);

}  // namespace burn::test
