#include "serving/calls.h"

#include <vector>

#include "base/overloaded.h"

namespace burn::serving {
namespace {

template <typename T>
std::uint64_t bytes_of(const std::vector<T>& list) {
  return list.capacity() * sizeof(T);
}

}  // namespace

std::uint64_t written_bytes(const Call& call) {
  const auto* write = std::get_if<WriteCall>(&call);
  return write ? write->tensor.bytes.size() : 0;
}

std::uint64_t held_bytes(const Call& call) {
  return sizeof(Call) +
         std::visit(
             Overloaded{
                 [](const DefineCall& call) { return call.define.encoded.size() + bytes_of(call.define.forget); },
                 [](const proto::RunProgram& call) {
                   return bytes_of(call.run.inputs) + bytes_of(call.run.scalars) + bytes_of(call.run.release);
                 },
                 [](const auto& other) {
                   if constexpr (requires { other.ids; }) return bytes_of(other.ids);
                   return std::uint64_t{0};
                 },
             },
             call);
}

}  // namespace burn::serving
