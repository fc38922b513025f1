// The calls of a session as they wait for their turn, and what they take until then.
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

// A define, and what is prepared ahead of its turn. Of a program as it came off the wire only `encoded` is there: it is
// read when its turn comes.
struct DefineCall {
  proto::DefineProgram define;
  PreparationHolder ahead = {};
};
// A write: of the whole tensor, or of one that comes in parts.
struct WriteCall {
  struct Parts {
    std::shared_ptr<StagedUpload> upload;
    Budget::Share share;
    Status failed;  // why there is no upload
  };
  proto::TensorId id;
  proto::HostTensor tensor;  // without bytes if it comes in parts
  std::optional<Parts> parts = {};
  proto::WriteOptions options = {};

  // It takes its turn all the same, and fails alone.
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

// What waits of an ordered verb (proto/verbs.def): its message, unless one of the above stands for it.
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

// Bytes of a tensor to be written; of these a session bounds how many wait, on their own account.
std::uint64_t written_by(const Call& call);
// Bytes that the call takes besides while it waits.
std::uint64_t held_by(const Call& call);

}  // namespace burn::serving
