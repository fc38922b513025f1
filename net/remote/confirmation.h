// Decides when a client sends the server a Credit frame, which confirms answers and grants credit for more bytes of
// downloads. Questions confirm answers, too.
#pragma once

#include <cstdint>
#include <utility>

#include "proto/message.h"

namespace burn::net {

// Used by the channel's thread only.
class Confirmation {
 public:
  // A complete answer of `bytes` has arrived.
  void add_answer(std::uint64_t bytes) { unconfirmed_bytes_ += bytes; }
  // `bytes` of a download have arrived.
  void add_chunk(std::uint64_t bytes) { consumed_ += bytes; }
  // A new connection begins: bytes consumed on the last one are not granted again.
  void restart() { consumed_ = 0; }

  // Whether enough was consumed that the server may soon run out of credit.
  bool has_consumed_much() const { return consumed_ >= kGrantBytes; }
  // Bytes of downloads that are consumed and not granted again.
  std::uint64_t consumed() const { return consumed_; }
  std::uint64_t take_consumed() { return std::exchange(consumed_, 0); }
  // Whether it is time to confirm `answers`, counted from the beginning. If so, they count as confirmed.
  bool take_due(std::uint64_t answers, bool at_once) {
    const bool is_due =
        answers - confirmed_answers_ >= proto::kConfirmAnswers || unconfirmed_bytes_ >= proto::kConfirmBytes;
    if (!at_once && !is_due) return false;
    confirmed_answers_ = answers;
    unconfirmed_bytes_ = 0;
    return true;
  }

 private:
  static constexpr std::uint64_t kGrantBytes = proto::kInitialCredit / 4;  // so the server does not run out of credit

  std::uint64_t consumed_ = 0;
  std::uint64_t confirmed_answers_ = 0;  // answers confirmed by Credit frames
  std::uint64_t unconfirmed_bytes_ = 0;  // bytes of the answers since then
};

}  // namespace burn::net
