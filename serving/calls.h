// The calls of a session as they wait in its queue, and the memory they need there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "proto/message.h"
#include "proto/verbs.h"
#include "serving/budget.h"
#include "serving/preparation.h"
#include "serving/upload.h"

namespace burn::serving {

// A define, and its preparation. A received program is only in `encoded`: it is decoded in its turn.
struct DefineCall {
  proto::DefineProgram define;
  PreparationHolder ahead = {};
};
// A write: of a whole tensor, or of one that is received in parts.
struct WriteCall {
  struct Parts {
    std::shared_ptr<StagedUpload> upload;
    Budget::Share share;
    Status failed;  // why there is no upload
  };
  proto::TensorId id;
  proto::HostTensor tensor;  // without bytes if it is received in parts
  std::optional<Parts> parts = {};
  proto::WriteOptions options = {};

  // The call keeps its place in the order; only this call fails.
  void fail(Status why) {
    tensor.bytes = {};
    parts.emplace(nullptr, Budget::Share{}, std::move(why));
  }
};
struct ReadCall {
  proto::TensorId id;
  proto::Session::ReadCallback done;
};
struct SyncCall {
  proto::Session::SyncCallback done;
};

// The call type of an ordered verb (proto/verbs.def): its message, or one of the structs above.
template <typename Verb>
struct CallFor {
  using Type = Verb;
};
template <>
struct CallFor<proto::DefineProgram> {
  using Type = DefineCall;
};
template <>
struct CallFor<proto::Write> {
  using Type = WriteCall;
};
template <>
struct CallFor<proto::Read> {
  using Type = ReadCall;
};
template <>
struct CallFor<proto::Sync> {
  using Type = SyncCall;
};
template <typename Verb>
using CallOf = typename CallFor<Verb>::Type;
using Call = proto::OrderedVariant<CallOf>;

// Bytes of a tensor to be written; these have a limit of their own.
std::uint64_t written_bytes(const Call& call);
// Other bytes that the call needs while it waits.
std::uint64_t held_bytes(const Call& call);

}  // namespace burn::serving
