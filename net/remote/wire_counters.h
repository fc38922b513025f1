// Counts of the frames and bytes that a conversation has sent and received.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "net/remote/remote_session.h"
#include "proto/verbs.h"

namespace burn::net {

// Thread-safe.
struct WireCounters {
  std::atomic<std::uint64_t> frames_sent = 0, bytes_sent = 0, frames_received = 0, bytes_received = 0;
  std::atomic<std::uint64_t> resumes = 0, frames_resent = 0;
  std::array<std::atomic<std::uint64_t>, proto::kVerbs.size()> sent = {};  // ordered frames by verb, each once

  WireStats read() const {
    return {frames_sent,
            bytes_sent,
            frames_received,
            bytes_received,
            sent[proto::kIndexOf<proto::DefineProgram>],
            sent[proto::kIndexOf<proto::RunProgram>],
            resumes,
            frames_resent};
  }
};

}  // namespace burn::net
