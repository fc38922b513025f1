// fork() with devices open: the child is told, and opens its own; the parent does not notice; neither waits for the
// other.
#include <chrono>
#include <functional>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn/burn.h"
#include "client/record/device_state.h"
#include "server/server.h"
#include "tests/support/sanitized.h"
#include "tests/system/worker.h"

// The child of a fork() gives its parent's objects up on purpose: at its end they are no leaks.
static bool is_child = false;
extern "C" int __lsan_is_turned_off() { return is_child; }  // NOLINT(bugprone-reserved-identifier): LSan's name

namespace burn {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// The thread sanitizer ends a child that starts threads when its parent had some.
#ifdef __SANITIZE_THREAD__
constexpr bool kChildrenMayStartThreads = false;
#else
constexpr bool kChildrenMayStartThreads = true;
#endif
#define NEEDS_THREADS_IN_CHILDREN() \
  if (!kChildrenMayStartThreads) GTEST_SKIP() << "the sanitizer supports no threads in a child of threads"

struct Child {
  int status = -1;  // the exit code; minus the signal that ended the process; -1000: a timeout
  std::string said;
};

// What `body` says in the child of a fork(), which then ends by `leave`. Tests of gtest are not at home there.
Child in_child(const std::function<void(std::ostream&)>& body, void (*leave)(int) = ::_exit) {
  int channel[2];
  if (::pipe(channel) != 0) return {};
  const pid_t id = ::fork();
  if (id == 0) {
    is_child = true;
    ::close(channel[0]);
    int code = 0;
    std::ostringstream out;
    try {
      body(out);
    } catch (const std::exception& error) {
      out << "threw " << error.what();
      code = 3;
    }
    const std::string text = out.str();
    if (::write(channel[1], text.data(), text.size()) < 0) code = 4;
    ::close(channel[1]);
    leave(code);
  }
  ::close(channel[1]);
  Child child;
  int status = 0;
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (::waitpid(id, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ::kill(id, SIGKILL);
      ::waitpid(id, &status, 0);
      child.status = -1000;
      ::close(channel[0]);
      return child;
    }
    std::this_thread::sleep_for(2ms);
  }
  child.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  char text[4096];
  for (ssize_t n; (n = ::read(channel[0], text, sizeof text)) > 0;)
    child.said.append(text, static_cast<std::size_t>(n));
  ::close(channel[0]);
  return child;
}

void leave_by_exit(int code) { std::exit(code); }

float sum_of_products(const Device& device) {  // large enough for several threads
  const auto a = Tensor<2>::ones({256, 256}, device);
  return (a.matmul(a) + Tensor<2>::ones({256, 256}, device).exp() * 0).sum().into_scalar<float>();
}
constexpr float kSum = 256.0f * 256.0f * 256.0f;

class Fork : public ::testing::TestWithParam<const char*> {
 protected:
  static test::Worker& worker() {
    static auto& one = *new test::Worker;
    return one;
  }
  static void TearDownTestSuite() { worker().kill(); }

  std::string url = worker().url(GetParam());
  Device device{url};
  Tensor<1> x = Tensor<1>::from_data({1, 2, 3}, device);

  void SetUp() override { EXPECT_EQ(sum_of_products(device), kSum); }
  void TearDown() override {  // the parent's is as it was
    EXPECT_EQ((x + 1).to_data().to_vec<float>()[2], 4.0f);
    EXPECT_EQ(sum_of_products(device), kSum);
    EXPECT_EQ(Device{url}, device);
  }
};

TEST_P(Fork, EveryUseOfTheParentsDeviceInTheChildIsAnErrorThatSaysSo) {
  NEEDS_THREADS_IN_CHILDREN();
  const auto pending = x * 2;
  auto asked = (x * 3).to_data_async();
  const std::vector<std::function<void()>> uses{[&] { (void)x.to_data(); },
                                                [&] { (void)(x + 1); },
                                                [&] { (void)pending.to_data_async(); },
                                                [&] { device.sync(); },
                                                [&] { device.flush(); },
                                                [&] { device.seed(1); },
                                                [&] { (void)device.info(); },
                                                [&] { (void)device.autodiff().state()->stats(); },
                                                [&] { (void)Tensor<1>::from_data({1}, device); },
                                                [&] { (void)Tensor<1>::zeros({1}, device); },
                                                [&] { std::ostringstream{} << x; }};
  const auto child = in_child([&](std::ostream& out) {
    for (const auto& use : uses) {
      try {
        use();
        out << "no error\n";
      } catch (const Error& error) {
        if (std::string{error.what()}.find("before fork()") == std::string::npos) out << error.what() << '\n';
      }
    }
    if (asked.wait_for(20s) != std::future_status::ready) out << "an answer that had not come is waited for";
    const auto copy = x;  // handles come and go
    const Tensor<1> moved = std::move(x);
  });
  EXPECT_EQ(child.status, 0);
  EXPECT_EQ(child.said, "");
  EXPECT_EQ(asked.get().to_vec<float>()[0], 3.0f);
  EXPECT_EQ(pending.to_data().to_vec<float>()[0], 2.0f);
}

TEST_P(Fork, AChildThatEndsLeavesTheParentAlone) {
  NEEDS_THREADS_IN_CHILDREN();
  for (auto leave : {+[](int code) { ::_exit(code); }, &leave_by_exit}) {
    const auto child = in_child(
        [&](std::ostream&) {
          x = {};
          device = Device{"cpu"};  // drops the last handle of the parent's
        },
        leave);
    EXPECT_EQ(child.status, 0) << child.said;
    EXPECT_EQ((x + 1).to_data().to_vec<float>()[0], 2.0f);
  }
}

TEST_P(Fork, AChildOpensDevicesOfItsOwn) {
  NEEDS_THREADS_IN_CHILDREN();
  const bool is_grpc = std::string{GetParam()}.starts_with("grpc");
  for (auto leave : {+[](int code) { ::_exit(code); }, &leave_by_exit}) {
    const auto child = in_child(
        [&](std::ostream& out) {
          const Device own{url};
          out << (own == device) << ' ' << sum_of_products(own) << ' ' << sum_of_products(Device{"cpu"});
        },
        leave);
    if (is_grpc) {  // it has no notion of fork()
      EXPECT_EQ(child.status, 3);
      EXPECT_THAT(child.said, HasSubstr("gRPC cannot be used in a process made by fork()"));
    } else {
      std::ostringstream wanted;
      wanted << 0 << ' ' << kSum << ' ' << kSum;
      EXPECT_EQ(child.said, wanted.str());
      EXPECT_EQ(child.status, 0);
    }
  }
}

TEST_P(Fork, ManyTimesWhileOtherThreadsCompute) {
  if (test::kSanitized)
    GTEST_SKIP() << "a sanitizer's allocator may be locked for ever in a child that was made while others allocate";
  std::atomic<bool> is_over = false;
  std::vector<std::thread> busy;
  busy.reserve(2);
  for (int i = 0; i < 2; ++i) {
    busy.emplace_back([&] {
      while (!is_over) {
        EXPECT_EQ(sum_of_products(device), kSum);
        (void)Device::new_session("cpu");
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    const auto child = in_child([&](std::ostream& out) {
      try {
        (void)x.to_data();
      } catch (const Error&) {
        out << sum_of_products(Device{"cpu"});
      }
    });
    EXPECT_EQ(child.status, 0) << child.said;
    std::ostringstream wanted;
    wanted << kSum;
    EXPECT_EQ(child.said, wanted.str());
  }
  is_over = true;
  for (auto& thread : busy) thread.join();
}

// The child's device has threads when the grandchild is made.
TEST_P(Fork, AChildOfAChildIsTold) {
  NEEDS_THREADS_IN_CHILDREN();
  if (test::kSanitized)
    GTEST_SKIP() << "a sanitizer's allocator may be locked for ever in a child that was made while others allocate";
  const auto child = in_child([&](std::ostream& out) {
    const Device own{"cpu"};
    const auto y = Tensor<1>::ones({1}, own);
    const auto grandchild = in_child([&](std::ostream& inner) {
      try {
        (void)y.to_data();
        inner << "no error";
      } catch (const Error& error) {
        inner << error.what();
      }
      inner << sum_of_products(Device{"cpu"});
    });
    out << grandchild.said << ' ' << y.into_scalar<float>();
  });
  EXPECT_EQ(child.status, 0);
  EXPECT_THAT(child.said, HasSubstr("before fork()"));
  EXPECT_TRUE(child.said.ends_with(" 1")) << child.said;
}

TEST(ForkedServer, IsAShellInTheChildThatWaitsForNothing) {
  NEEDS_THREADS_IN_CHILDREN();
  auto worker = std::make_unique<server::Server>(server::ServerOptions{.ws = "127.0.0.1:0"});
  const Device device{worker->url()};
  EXPECT_EQ(sum_of_products(device), kSum);
  const auto child = in_child([&](std::ostream& out) {
    worker->stop();
    worker.reset();
    out << sum_of_products(Device{"cpu"});
  });
  EXPECT_EQ(child.status, 0) << child.said;
  EXPECT_EQ(sum_of_products(device), kSum);
}

INSTANTIATE_TEST_SUITE_P(OnEveryTransport, Fork, ::testing::ValuesIn(test::kSchemes), test::kSchemeName);

}  // namespace
}  // namespace burn
