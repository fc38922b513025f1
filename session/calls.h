// The calls of a session as they wait for their turn, and what they take until then.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "proto/message.h"
#include "session/budget.h"
#include "session/preparation.h"
#include "session/upload.h"

namespace burn::session {

struct DefineCall {
  proto::ProgramId id;
  std::shared_ptr<const ir::Program> program;
  std::vector<proto::ProgramId> forget;
  PreparationHolder ahead = {};
};
// A program as it came: it is read when its turn comes.
struct EncodedCall {
  proto::ProgramId id;
  SharedBytes program;
  std::vector<proto::ProgramId> forget;
  PreparationHolder ahead = {};
};
struct InvalidCall {
  proto::ProgramId id;
  std::size_t output_count;
  Status why;
  std::vector<proto::ProgramId> forget;
};
struct WriteCall {
  proto::TensorId id;
  proto::HostTensor tensor;
};
struct UploadCall {
  proto::TensorId id;
  ir::TensorType type;
  std::shared_ptr<StagedUpload> upload;
  Budget::Share share;
  Status failed;
};
struct ReleaseCall {
  std::vector<proto::TensorId> ids;
};
struct ReadCall {
  proto::TensorId id;
  proto::Session::ReadCallback done;
};
struct SyncCall {
  proto::Session::SyncCallback done;
};
using Call = std::variant<DefineCall, EncodedCall, InvalidCall, proto::Run, WriteCall, UploadCall, ReleaseCall,
                          ReadCall, SyncCall>;

// Bytes of a tensor to be written; of these a session bounds how many wait, on their own account.
std::uint64_t written_by(const Call& call);
// Bytes that the call takes besides while it waits.
std::uint64_t held_by(const Call& call);

}  // namespace burn::session
