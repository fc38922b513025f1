// A read that is not answered yet when the process forks.
#include <future>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/tensor/tensor.h"
#include "tests/client/recording_session.h"

namespace burn {
namespace {

// Stores reads, which the test answers later.
class SilentSession : public test::RecordingSession {
 public:
  explicit SilentSession(std::vector<ReadCallback>& asked)
      : RecordingSession(std::make_shared<test::RecordedCalls>()), asked_(asked) {}
  void read(proto::TensorId, ReadCallback done) override { asked_.push_back(std::move(done)); }

 private:
  std::vector<ReadCallback>& asked_;
};

TEST(ForkedRead, IsAnErrorInTheChildAndAnsweredInTheParent) {
  std::vector<proto::Session::ReadCallback> asked;
  const Device device = Device::from_session("test", std::make_unique<SilentSession>(asked));
  std::vector<std::future<TensorData>> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(Tensor<1>::from_data({1, 2}, device).to_data_async());
  ASSERT_EQ(asked.size(), 3u);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    int failed = 0;
    for (auto& numbers : waiting) {
      try {
        (void)numbers.get();
      } catch (const Error& error) {
        failed += std::string{error.what()}.find("before fork()") != std::string::npos ? 1 : 0;
      }
    }
    ::_exit(failed == 3 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  for (auto& done : asked) done(proto::HostTensor{{ir::DType::f32, {2}}, SharedBytes::own(std::vector<float>{7, 8})});
  for (auto& numbers : waiting) EXPECT_EQ(numbers.get().to_vec<float>()[0], 7.0f);
}

}  // namespace
}  // namespace burn
