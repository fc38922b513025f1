// A peer that need not follow a protocol: plain sockets that write any bytes.
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
  // `receive_bytes`: size of the receive buffer; 0: the system's default. `from`: the local address, "127.0.0.2".
  static RawSocket connect(const std::string& address, int receive_bytes = 0, const char* from = nullptr);
  // Connects an existing socket; false if no server listens.
  static bool connect(const net::UniqueFd& socket, const std::string& address);
  explicit RawSocket(net::UniqueFd fd) : fd_(std::move(fd)) {}

  bool write(std::string_view bytes) const;       // false: the peer has closed
  void write_some(std::string_view bytes) const;  // as much as fits without blocking
  bool is_open() const;                           // the peer has not closed, or has sent something
  int descriptor() const { return fd_.get(); }
  // Returns what is received until the peer closes or the time is over; `closed` says which.
  std::string read_until_closed(std::chrono::milliseconds patience, bool* closed) const;
  std::string read_some(std::size_t limit = 4096) const;  // blocks; empty: closed
  void reset();                                           // closes with RST
  void close() { fd_ = {}; }

  // Performs a WebSocket handshake; returns the server's first line. `more`: further header lines.
  std::string upgrade(std::string_view more = {}) const;

 private:
  net::UniqueFd fd_;
};

// Forwards bytes between one client and a server, until told to discard them: both then have a silent peer on an open
// connection.
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
