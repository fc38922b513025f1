#include "proto/transport/grpc_bytes.h"

#include <array>
#include <memory>
#include <utility>

#include <grpc/grpc.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

namespace burn::proto {

void keep_grpc_running() {
  [[maybe_unused]] static const bool once = (grpc_init(), true);
}

void to_byte_buffer(const EncodedFrame& frame, grpc::ByteBuffer* buffer) {
  const grpc::Slice header{frame.header};
  if (frame.payload.empty()) {
    *buffer = grpc::ByteBuffer{&header, 1};
    return;
  }
  auto* owner = new SharedBytes(frame.payload);
  const auto release = [](void* bytes) { delete static_cast<SharedBytes*>(bytes); };
  void* data = const_cast<std::byte*>(owner->data());  // gRPC only reads it
  const std::array<grpc::Slice, 2> slices = {header, grpc::Slice{data, owner->size(), release, owner}};
  *buffer = grpc::ByteBuffer{slices.data(), slices.size()};
}

SharedBytes to_shared_bytes(grpc::ByteBuffer* buffer) {
  auto slice = std::make_shared<grpc::Slice>();
  if (!buffer->TrySingleSlice(slice.get()).ok()) (void)buffer->DumpToSingleSlice(slice.get());
  buffer->Clear();
  const std::span bytes{reinterpret_cast<const std::byte*>(slice->begin()), slice->size()};
  return {std::move(slice), bytes};
}

}  // namespace burn::proto
