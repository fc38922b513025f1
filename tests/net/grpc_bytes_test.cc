// How frames become gRPC messages: small ones together, large ones alone, and what a hostile peer makes of that.
#include "net/transport/grpc_bytes.h"

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>

namespace burn::net {
namespace {

proto::EncodedFrame named(std::string name) { return {std::move(name), {}}; }
SharedBytes bytes_of(std::string text) { return SharedBytes::own(std::vector<char>(text.begin(), text.end())); }
std::string text_of(const SharedBytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::string text_of(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  EXPECT_TRUE(buffer.DumpToSingleSlice(&slice).ok());
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

std::vector<std::string> frames_of(const std::string& message) {
  const auto frames = unpack(bytes_of(message));
  EXPECT_TRUE(frames.ok());
  std::vector<std::string> texts;
  if (frames.ok())
    for (const auto& frame : *frames) texts.push_back(text_of(frame));
  return texts;
}

// All that the queue has, message by message.
std::vector<std::vector<std::string>> messages_of(SendQueue& queue) {
  std::vector<std::vector<std::string>> messages;
  GrpcPacker packer;
  grpc::ByteBuffer buffer;
  while (packer.pack(queue, &buffer) == GrpcPacker::Next::message) messages.push_back(frames_of(text_of(buffer)));
  return messages;
}

TEST(GrpcBytes, SmallFramesShareAMessage) {
  SendQueue queue;
  for (const char* name : {"a", "", "ccc"}) queue.push(named(name), proto::Lane::control);
  const std::vector<std::vector<std::string>> together = {{"a", "", "ccc"}};
  EXPECT_EQ(messages_of(queue), together);
  queue.push(named("alone"), proto::Lane::control);
  const std::vector<std::vector<std::string>> alone = {{"alone"}};
  EXPECT_EQ(messages_of(queue), alone);
}

TEST(GrpcBytes, LargeFramesGoAloneAndInTheirTurn) {
  SendQueue queue;
  const std::string large(100'000, 'x');
  for (const std::string& name : {std::string{"a"}, std::string{"b"}, large, std::string{"c"}, large}) {
    queue.push(named(name), proto::Lane::control);
  }
  const std::vector<std::vector<std::string>> expected = {{"a", "b"}, {large}, {"c"}, {large}};
  EXPECT_EQ(messages_of(queue), expected);
}

TEST(GrpcBytes, ManyFramesMakeSeveralMessages) {
  SendQueue queue;
  for (int i = 0; i < 100; ++i) queue.push(named(std::string(5000, 'y')), proto::Lane::control);
  const auto messages = messages_of(queue);
  EXPECT_GT(messages.size(), 5u);
  std::size_t count = 0;
  for (const auto& message : messages) count += message.size();
  EXPECT_EQ(count, 100u);
}

TEST(GrpcBytes, BrokenMessagesAreRefused) {
  EXPECT_FALSE(unpack(bytes_of("\x1a")).ok());
  EXPECT_FALSE(unpack(bytes_of("\x1a\x05"
                               "abc"))
                   .ok());
  EXPECT_FALSE(unpack(bytes_of("\x1a\x01"
                               "abc"))
                   .ok());
  EXPECT_FALSE(unpack(bytes_of("\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")).ok());
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += std::string("\x1a\x00", 2);
  EXPECT_FALSE(unpack(bytes_of(many)).ok()) << "more frames than a client sends in one";
  EXPECT_EQ(frames_of(""), std::vector<std::string>{""});
}

}  // namespace
}  // namespace burn::net
