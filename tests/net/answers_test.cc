// What a client is told again when it comes back.
#include "net/serve/answers.h"

#include <gtest/gtest.h>

namespace burn::net {
namespace {

// A channel whose peer does not receive.
class FullChannel final : public proto::Channel {
 public:
  void send(proto::EncodedFrame frame, proto::Lane /*lane*/) override {
    ++frames_;
    queued_ += frame.size();
  }
  void close() override {}
  std::size_t queued_bytes() const override { return queued_; }
  std::string peer() const override { return "test:peer"; }

  std::size_t frames() const { return frames_; }

 private:
  std::size_t frames_ = 0, queued_ = 0;
};

// All answers that are held go to the new channel before it has sent any of them: each counts, however many wait.
TEST(Answers, ThatAreHeldAreAllSentAgainToAClientThatComesBack) {
  static_assert(Answers::kMaxUnconfirmed * proto::kInlineBytes <= Answers::kMaxBacklogBytes);
  Answers answers(true);
  const ir::TensorType type{ir::DType::f32, {1, 1, 1, 1, 128, 128}};
  const auto bytes = SharedBytes::own(std::vector<std::byte>(type.num_bytes()));
  ASSERT_EQ(bytes.size(), proto::kInlineBytes);
  for (std::uint64_t request = 1; request <= Answers::kMaxUnconfirmed; ++request)
    ASSERT_EQ(answers.answer(proto::Data{request, type}, bytes), Status{});
  const auto channel = std::make_shared<FullChannel>();
  answers.connect(channel, proto::Welcome{});
  EXPECT_GT(channel->queued_bytes(), Answers::kMaxBacklogBytes - proto::kInlineBytes);
  EXPECT_EQ(channel->frames(), 1 + Answers::kMaxUnconfirmed);
}

}  // namespace
}  // namespace burn::net
