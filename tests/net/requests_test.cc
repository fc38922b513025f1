// Questions beside the order that are asked on more than one connection.
#include "net/remote/requests.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn::net {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class QuestionsBeside : public ::testing::Test {
 protected:
  std::uint64_t ask() {
    std::uint64_t number = 0;
    requests_.add_unordered<proto::GroupDone>(
        [&](std::uint64_t id) {
          number = id;
          return proto::Body{proto::AbortGroup{.request = id, .group = 1, .epoch = 2, .why = {}}};
        },
        [this](const Result<proto::Body>& answer) { answers_.push_back(answer.status()); });
    return number;
  }
  Status answer(std::uint64_t number, Status status = {}) {
    auto completion = requests_.on_report(proto::GroupDone{number, std::move(status)});
    if (completion.ok() && *completion) (*completion)();
    return completion.status();
  }

  Requests requests_;
  std::vector<Status> answers_;
};

TEST_F(QuestionsBeside, AskedAgainOnANewConnectionMayBeAnsweredTwice) {
  const auto number = ask();
  EXPECT_EQ(requests_.unordered_to_resend().size(), 1u);
  EXPECT_TRUE(answer(number).ok());
  EXPECT_TRUE(answer(number, unavailable("the second")).ok());
  EXPECT_THAT(answers_, ElementsAre(Status{}));
  EXPECT_THAT(answer(number).message(), HasSubstr("group_done for request 1, which awaits none"));
}

TEST_F(QuestionsBeside, AskedOnceAreAnsweredOnce) {
  const auto number = ask();
  EXPECT_TRUE(answer(number).ok());
  EXPECT_THAT(answer(number).message(), HasSubstr("which awaits none"));
  EXPECT_TRUE(requests_.unordered_to_resend().empty());
}

TEST_F(QuestionsBeside, AskedAgainTakeNoAnswerOfAnotherKind) {
  const auto number = ask();
  EXPECT_EQ(requests_.unordered_to_resend().size(), 1u);
  EXPECT_TRUE(answer(number).ok());
  const auto wrong = requests_.on_report(proto::GroupAddress{number, {}, "tcp://127.0.0.1:1"});
  EXPECT_THAT(wrong.status().message(), HasSubstr("group_address for request 1, which awaits none"));
}

}  // namespace
}  // namespace burn::net
