// The queue of calls to be sent to the members of a session.
#pragma once

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "proto/message.h"
#include "proto/session.h"

namespace burn::router {

struct MemberWrite {
  proto::TensorId id = 0;
  proto::HostTensor tensor;
};
using MemberCall = std::variant<proto::DefineProgram, proto::Run, MemberWrite, proto::Release>;

// A call for one member, given by its rank.
struct Outgoing {
  int member = 0;
  MemberCall call;
};

// Calls for the same member are in order; calls for different members are independent.
class Outbox {
 public:
  void send(int member, MemberCall call) { calls_.push_back({member, std::move(call)}); }
  std::vector<Outgoing> take() { return std::exchange(calls_, {}); }
  const std::vector<Outgoing>& calls() const { return calls_; }

 private:
  std::vector<Outgoing> calls_;
};

}  // namespace burn::router
