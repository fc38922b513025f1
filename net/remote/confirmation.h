// When a client tells the server which answers it has, and grants it credit for more bytes of downloads: now and then,
// as questions say the first, too.
#pragma once

#include <cstdint>
#include <utility>

#include "proto/message.h"

namespace burn::net {

// Used by the channel's thread only.
class Confirmation {
 public:
  // An answer of so many bytes has come whole.
  void add_answer(std::uint64_t bytes) { unconfirmed_bytes_ += bytes; }
  // So many bytes of a download have come.
  void add_chunk(std::uint64_t bytes) { consumed_ += bytes; }
  // Another connection: what was consumed of the last one is granted no more.
  void restart() { consumed_ = 0; }

  // Whether so much was consumed that the server may soon have no credit.
  bool has_consumed_much() const { return consumed_ >= kGrantBytes; }
  // Bytes of downloads for which no credit was granted again.
  std::uint64_t consumed() const { return consumed_; }
  std::uint64_t take_consumed() { return std::exchange(consumed_, 0); }
  // Whether it is time to confirm `answers` in all; then they count as confirmed.
  bool take_due(std::uint64_t answers, bool at_once) {
    const bool is_due =
        answers - confirmed_answers_ >= proto::kConfirmAnswers || unconfirmed_bytes_ >= proto::kConfirmBytes;
    if (!at_once && !is_due) return false;
    confirmed_answers_ = answers;
    unconfirmed_bytes_ = 0;
    return true;
  }

 private:
  static constexpr std::uint64_t kGrantBytes = proto::kInitialCredit / 4;  // so that the server never runs dry

  std::uint64_t consumed_ = 0;
  std::uint64_t confirmed_answers_ = 0;  // in a frame of their own
  std::uint64_t unconfirmed_bytes_ = 0;  // of answers since
};

}  // namespace burn::net
