#include "session/calls.h"

#include "base/overloaded.h"

namespace burn::session {
namespace {

template <typename T>
std::uint64_t bytes_of(const std::vector<T>& list) {
  return list.capacity() * sizeof(T);
}

}  // namespace

std::uint64_t written_by(const Call& call) {
  const auto* write = std::get_if<WriteCall>(&call);
  return write ? write->tensor.bytes.size() : 0;
}

std::uint64_t held_by(const Call& call) {
  return sizeof(Call) +
         std::visit(Overloaded{
                        [](const DefineCall& define) { return bytes_of(define.forget); },
                        [](const EncodedCall& define) { return define.program.size() + bytes_of(define.forget); },
                        [](const InvalidCall& invalid) { return bytes_of(invalid.forget); },
                        [](const proto::Run& run) {
                          return bytes_of(run.inputs) + bytes_of(run.scalars) + bytes_of(run.release);
                        },
                        [](const ReleaseCall& release) { return bytes_of(release.ids); },
                        [](const auto&) { return std::uint64_t{0}; },
                    },
                    call);
}

}  // namespace burn::session
