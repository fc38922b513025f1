// Chunks in both directions: what is right arrives whole, what is not ends the connection.
#include <algorithm>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "net/serve/connection.h"
#include "tests/server/fake_client.h"

namespace burn::server {
namespace {

using proto::Chunk;
using proto::kChunkBytes;

std::vector<float> counting(std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i);
  return numbers;
}

constexpr std::int64_t kMega = std::int64_t{1} << 20;  // elements; 4 MiB of f32

// Chunks of `size` bytes from the beginning on, keeping to the credit that the server gives.
class Uploader {
 public:
  Uploader(FakeClient& client, std::uint64_t credit) : client_(client), credit_(credit) {}

  void upload(proto::TensorId id, const proto::HostTensor& tensor, std::size_t size = kChunkBytes) {
    client_.send(proto::Write{id, tensor.type});
    for (std::size_t at = 0; at < tensor.bytes.size(); at += size) {
      const auto part = tensor.bytes.slice(at, std::min(size, tensor.bytes.size() - at));
      while (credit_ < part.size()) credit_ += client_.expect<proto::Credit>().bytes;
      credit_ -= part.size();
      client_.send(Chunk{id, at}, part);
    }
  }

 private:
  FakeClient& client_;
  std::uint64_t credit_;
};

TEST_F(ConnectionTest, LargeTensorsAreUploadedInChunks) {
  FakeClient client{worker_};
  Uploader uploader{client, client.enter().info.bulk_credit};
  for (const std::size_t size : {kChunkBytes, kChunkBytes - 4, std::size_t{70000}}) {
    const proto::TensorId id = size;
    uploader.upload(id, tensor({5 * kMega}, counting(5 * kMega)), size);
    client.send(proto::DefineProgram{id, reshape_program({5 * kMega}, {5 * kMega, 1})});
    client.run({.program = id, .inputs = {id}, .first_output = id + 1, .release = {id}});
  }
  EXPECT_EQ(device_->largest_request, std::uint64_t{20} << 20);
}

TEST_F(ConnectionTest, ChunksMayBeReceivedWhereTheyBelong) {
  FakeClient client{worker_};
  client.enter();
  const auto numbers = tensor({kMega / 2}, counting(kMega / 2));
  EXPECT_FALSE(client.send_in_place({1, 0}, numbers.bytes.slice(0, kChunkBytes))) << "it was not announced";
  client.send(proto::Write{1, numbers.type});
  EXPECT_FALSE(client.send_in_place({1, 4}, numbers.bytes.slice(0, kChunkBytes))) << "not its turn";
  EXPECT_TRUE(client.send_in_place({1, 0}, numbers.bytes.slice(0, kChunkBytes)));
  EXPECT_FALSE(client.send_in_place({1, kChunkBytes}, SharedBytes::own(std::vector<char>(kChunkBytes + 1))))
      << "too large";
  EXPECT_TRUE(client.send_in_place({1, kChunkBytes}, numbers.bytes.slice(kChunkBytes, kChunkBytes)));
  client.send(proto::Read{7, 1});
  client.expect<proto::Credit>();
  client.expect<proto::Credit>();
  EXPECT_EQ(client.expect<proto::Data>().request, 7u);
  SharedBytes first;
  EXPECT_EQ(client.expect<Chunk>(&first).offset, 0u);
  EXPECT_TRUE(std::ranges::equal(first.span(), numbers.bytes.span().first(kChunkBytes)));
}

TEST_F(ConnectionTest, LargeTensorsAreReadInChunksAsCreditAllows) {
  FakeClient client{worker_};
  Uploader uploader{client, client.enter().info.bulk_credit};
  const auto numbers = counting(5 * kMega);
  uploader.upload(1, tensor({5 * kMega}, numbers));
  client.send(proto::Read{3, 1});
  std::vector<std::byte> bytes;
  std::uint64_t credit = proto::kInitialCredit;
  bool announced = false;
  while (bytes.size() < numbers.size() * 4) {
    if (credit < kChunkBytes) {
      client.send(proto::Credit{3 * kChunkBytes / 2});
      credit += 3 * kChunkBytes / 2;
    }
    const auto sent = client.channel().next();
    ASSERT_TRUE(sent);
    if (const auto* data = std::get_if<proto::Data>(&sent->frame.body)) {
      EXPECT_EQ(data->request, 3u);
      EXPECT_EQ(data->type, f32({5 * kMega}));
      EXPECT_EQ(sent->lane, proto::Lane::control);
      announced = true;
    }
    const auto* chunk = std::get_if<Chunk>(&sent->frame.body);
    if (!chunk) continue;
    EXPECT_TRUE(announced);
    EXPECT_EQ(sent->lane, proto::Lane::bulk);
    EXPECT_EQ(chunk->key, 3u);
    EXPECT_EQ(chunk->offset, bytes.size());
    const auto part = sent->frame.payload.span();
    bytes.insert(bytes.end(), part.begin(), part.end());
    ASSERT_GE(credit, part.size());  // nothing comes without credit
    credit -= part.size();
  }
  EXPECT_EQ(std::memcmp(bytes.data(), numbers.data(), bytes.size()), 0);
  EXPECT_EQ(device_->in_use, bytes.size());
}

TEST_F(ConnectionTest, CreditComesBackAsChunksAreTaken) {
  FakeClient client{worker_};
  client.enter();
  client.send(proto::Write{1, f32({3 * kMega})});
  const auto part = SharedBytes::own(std::vector<float>(kChunkBytes / 4));
  for (std::uint64_t i = 0; i < 12; ++i) {
    client.send(Chunk{1, i * kChunkBytes}, part);
    EXPECT_EQ(client.expect<proto::Credit>().bytes, kChunkBytes);
  }
  EXPECT_TRUE(client.sync().ok());
}

TEST_F(ConnectionTest, AClaimOfATebibyteAllocatesNothing) {
  FakeClient client{worker_};
  client.enter();
  client.send(proto::Write{1, f32({std::int64_t{1} << 38})});
  client.send(Chunk{1, 0}, SharedBytes::own(std::vector<float>(1000)));  // taken and dropped
  EXPECT_FAILS(client.read(1).status(), resource_exhausted, "has 1099511627776 bytes, at most 4294967296 may be");
  EXPECT_EQ(device_->largest_request, 0u);
  EXPECT_TRUE(client.sync().ok());  // the read has reported it
}

TEST_F(ConnectionTest, AReleasedUploadMayStillCome) {
  FakeClient client{worker_};
  client.enter();
  client.send(proto::Write{1, f32({2 * 70000})});
  client.send(Chunk{1, 0}, SharedBytes::own(std::vector<float>(70000)));
  client.send(proto::Release{{1}});
  EXPECT_TRUE(client.sync().ok());
  client.send(Chunk{1, 280000}, SharedBytes::own(std::vector<float>(70000)));
  EXPECT_TRUE(client.sync().ok());
  EXPECT_EQ(device_->in_use, 0u);
}

TEST_F(ConnectionTest, ChunksThatBreakTheRulesEndIt) {
  const auto part = SharedBytes::own(std::vector<float>(100));
  struct Abuse {
    std::string what;
    std::function<void(FakeClient&)> act;
    StatusCode code;
  };
  const Abuse cases[] = {
      {"a chunk of tensor 9, which awaits none",
       [&](FakeClient& c) {
         c.send(Chunk{9, 0}, part);
       },
       StatusCode::invalid_argument},
      {"due is 0 of 400000",
       [&](FakeClient& c) {
         c.send(Chunk{1, 400}, part);
       },
       StatusCode::invalid_argument},
      {"due is 400 of 400000",
       [&](FakeClient& c) {
         c.send(Chunk{1, 0}, part);
         c.send(Chunk{1, 0}, part);
       },
       StatusCode::invalid_argument},
      {"due is 0 of 400000",
       [&](FakeClient& c) {
         c.send(Chunk{1, ~std::uint64_t{0}}, part);
       },
       StatusCode::invalid_argument},
      {"which awaits none",
       [&](FakeClient& c) {
         c.write(2, tensor({100}, std::vector<float>(100)));
         c.send(Chunk{2, 0}, part);
       },
       StatusCode::invalid_argument},
      {"which awaits none",
       [&](FakeClient& c) {
         c.send(Chunk{1, 0}, SharedBytes::own(std::vector<float>(100000)));
         c.send(Chunk{1, 400000}, part);
       },
       StatusCode::invalid_argument},
      {"write: tensor 1 is announced while its chunks are still coming",
       [&](FakeClient& c) {
         c.send(proto::Write{1, f32({100000})});
       },
       StatusCode::invalid_argument},
      {"credit for", [&](FakeClient& c) { c.send(proto::Credit{~std::uint64_t{0}}); }, StatusCode::invalid_argument},
  };
  for (const auto& [what, act, code] : cases) {
    FakeClient client{worker_};
    client.enter();
    client.send(proto::Write{1, f32({100000})});
    act(client);
    const auto status = client.expect_close();
    EXPECT_EQ(status.code(), code) << status.to_string();
    EXPECT_NE(status.message().find(what), std::string::npos) << status.to_string();
  }
}

TEST_F(ConnectionTest, ChunksBeyondTheCreditEndIt) {
  net::BulkReceiver receiver{1000};
  EXPECT_TRUE(receiver.announce(1, 1 << 20, nullptr).ok());
  const auto part = SharedBytes::own(std::vector<std::byte>(600));
  EXPECT_TRUE(receiver.receive({1, 0}, part).ok());
  EXPECT_EQ(receiver.take_grant(0), 0u);
  EXPECT_FAILS(receiver.receive({1, 600}, part), resource_exhausted, "600 bytes with 400 bytes of credit left");
}

TEST_F(ConnectionTest, AnnouncementsHaveAnEnd) {
  net::BulkReceiver receiver{1000};
  for (proto::TensorId id = 0; id < net::BulkReceiver::kMaxIncoming; ++id)
    ASSERT_TRUE(receiver.announce(id, 1, nullptr).ok());
  EXPECT_FAILS(receiver.announce(~proto::TensorId{0}, 1, nullptr), resource_exhausted, "more than 65536 tensors");
}

TEST_F(ConnectionTest, ReadsThatAreNotTakenHaveAnEnd) {
  FakeClient client{worker_, {.in_flight = 8}};
  Uploader uploader{client, client.enter().info.bulk_credit};
  uploader.upload(1, tensor({3 * kMega}, std::vector<float>(3 * kMega)));
  for (std::uint64_t i = 0; i < 100 && !client.channel().is_closed(); ++i) {
    client.send(proto::Read{i, 1});
    while (!client.channel().is_closed() && !client.connection().is_caught_up()) std::this_thread::yield();
  }
  EXPECT_TRUE(client.channel().is_closed());
  EXPECT_EQ(device_->in_use, std::uint64_t{12} << 20);
}

}  // namespace
}  // namespace burn::server
