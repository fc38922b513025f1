// A network to be tested with: forwards TCP connections on the loopback to a server, late, in part, or not at all.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace burn::test {

// Everything from any thread.
class Proxy {
 public:
  // To the server at "HOST:PORT", an IPv4 address. Throws Error.
  explicit Proxy(const std::string& target);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  std::string address() const;  // "127.0.0.1:PORT"

  // Bytes arrive so much later, in both directions.
  void delay(std::chrono::milliseconds each_way) { delay_ms_ = each_way.count(); }
  // Each connection is cut after a random number of bytes, `mean` on average; at most `cuts` of them from now on.
  void cut_randomly(std::uint64_t mean, std::uint64_t cuts, std::uint32_t seed = 1);
  // All that there are; none of them forwards anything once this returns.
  void cut() { apply(cut_all_, cut_all_applied_); }
  // Nothing is forwarded, and neither end is told: a pulled cable. What is under way stays so.
  void stall(bool wanted) { stalled_ = wanted; }
  // The same for the connections that there are, and for good: later ones have another way.
  void stall_those() { apply(stall_those_, stall_those_applied_); }
  // What the server says is held back until both sides have been silent for `silence`, and then comes all at once;
  // zero: no more. So it takes as many times as the client waits for the server, however fast either of them is.
  void hold_answers(std::chrono::milliseconds silence) { silence_ms_ = silence.count(); }
  std::uint64_t waits() const { return waits_; }
  // New connections are accepted and closed at once.
  void refuse(bool wanted) { refusing_ = wanted; }

  std::uint64_t cuts() const { return cuts_; }
  std::uint64_t connections() const { return connections_; }
  std::uint64_t bytes() const { return bytes_; }  // forwarded

 private:
  class Loop;
  using Count = std::atomic<std::uint32_t>;

  // Waits for the loop to have done what is asked for.
  static void apply(Count& wanted, const Count& applied);

  std::atomic<std::int64_t> delay_ms_ = 0, silence_ms_ = 0;
  std::atomic<std::uint64_t> waits_ = 0;
  std::atomic<std::uint64_t> mean_ = 0, cuts_left_ = 0, cuts_ = 0, connections_ = 0, bytes_ = 0;
  std::atomic<std::uint32_t> seed_ = 1;
  Count cut_all_ = 0, cut_all_applied_ = 0, stall_those_ = 0, stall_those_applied_ = 0;
  std::atomic<bool> stalled_ = false, refusing_ = false, finished_ = false;
  std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace burn::test
