// A simulated bad network: forwards TCP connections on the loopback to a server, with delays, cuts or stalls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace burn::test {

// Thread-safe.
class Proxy {
 public:
  // Forwards to the server at `target`, "HOST:PORT" with an IPv4 address. Throws Error.
  explicit Proxy(const std::string& target);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  std::string address() const;  // "127.0.0.1:PORT"

  // Delays all bytes by `each_way`, in both directions.
  void delay(std::chrono::milliseconds each_way) { delay_ms_ = each_way.count(); }
  // Each connection is cut after a random number of bytes, `mean` on average; at most `cuts` of them from now on.
  void cut_randomly(std::uint64_t mean, std::uint64_t cuts, std::uint32_t seed = 1);
  // Cuts all current connections; none of them forwards anything once this returns.
  void cut() { apply(cut_all_, cut_all_applied_); }
  // While `wanted`, forwards nothing and tells neither end, like a pulled cable. Bytes in flight are kept, not dropped.
  void stall(bool wanted) { stalled_ = wanted; }
  // Stalls the current connections for good; later connections are not affected.
  void stall_current() { apply(stall_current_, stall_current_applied_); }
  // Holds back the server's bytes until both sides have been silent for `silence`, then forwards them all at once; zero
  // turns this off. waits() then counts how often the client waits for the server, however fast either of them is.
  void hold_answers(std::chrono::milliseconds silence) { silence_ms_ = silence.count(); }
  std::uint64_t waits() const { return waits_; }
  // While `wanted`, closes new connections as soon as they are accepted.
  void refuse(bool wanted) { refusing_ = wanted; }

  std::uint64_t cuts() const { return cuts_; }
  std::uint64_t connections() const { return connections_; }
  std::uint64_t bytes() const { return bytes_; }  // forwarded

 private:
  class Loop;
  using Count = std::atomic<std::uint32_t>;

  // Requests an action of the loop and waits until it is done.
  static void apply(Count& wanted, const Count& applied);

  std::atomic<std::int64_t> delay_ms_ = 0, silence_ms_ = 0;
  std::atomic<std::uint64_t> waits_ = 0;
  std::atomic<std::uint64_t> mean_ = 0, cuts_left_ = 0, cuts_ = 0, connections_ = 0, bytes_ = 0;
  std::atomic<std::uint32_t> seed_ = 1;
  Count cut_all_ = 0, cut_all_applied_ = 0, stall_current_ = 0, stall_current_applied_ = 0;
  std::atomic<bool> stalled_ = false, refusing_ = false, finished_ = false;
  std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace burn::test
