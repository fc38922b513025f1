// What a program says about batches: it comes to the session as it was said, whatever happens to the connection, and
// changes nothing that a worker computes.
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include <gmock/gmock.h>

#include "base/overloaded.h"
#include "daemon/host.h"
#include "daemon/service.h"
#include "net/remote/remote_session.h"
#include "serving/call_performer.h"
#include "serving/callback_scope.h"
#include "serving/queued_session.h"
#include "serving/signal.h"
#include "tests/support/proxy.h"
#include "tests/system/digits_training.h"

namespace burn {
namespace {

using namespace std::chrono_literals;

using Axis = std::optional<std::int32_t>;

// What came to a session: each tensor's mark, and how many of its bytes.
struct Written {
  std::mutex mutex;
  std::map<proto::TensorId, Axis> axes;
  std::map<proto::TensorId, std::size_t> bytes;
};

class Block final : public HostBlock {
 public:
  explicit Block(std::size_t size) : bytes_(size) {}
  std::span<std::byte> bytes() override { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Has no device: notes what is written, and fails what is asked.
class NotingPerformer final : public serving::CallPerformer {
 public:
  explicit NotingPerformer(std::shared_ptr<Written> written) : written_(std::move(written)) {}

  const proto::SessionInfo& info() const override { return info_; }
  proto::SessionTraits traits() const override { return {}; }
  Status health() const override { return {}; }
  serving::Budget& budget() override { return budget_; }
  serving::WriteCall::Parts receive(proto::TensorId, const ir::TensorType& type) override {
    return {std::make_shared<serving::StagedUpload>(signal_, std::make_shared<Block>(type.num_bytes())), {}, {}};
  }
  proto::SessionStats stats() const override { return {}; }

  void perform(serving::Call& call) override {
    const serving::CallbackScope scope{static_cast<const CallPerformer*>(this)};
    std::visit(Overloaded{
                   [&](serving::WriteCall& write) {
                     auto bytes = write.tensor.bytes.size();
                     if (write.parts) {
                       const auto block = write.parts->upload->wait();
                       bytes = block.ok() ? (*block)->bytes().size() : 0;
                     }
                     const std::lock_guard lock{written_->mutex};
                     written_->axes[write.id] = write.options.batch_axis;
                     written_->bytes[write.id] = bytes;
                   },
                   [&](serving::ReadCall& read) { read.done(unimplemented("nothing is here")); },
                   [&](serving::SyncCall& sync) { sync.done({}); },
                   [](auto&) {},
               },
               call);
  }
  void prepare_ahead(serving::Call&) override {}
  void prepare_run(proto::ProgramId) override {}
  bool is_quick(const serving::Call&) const override { return false; }
  bool ran_long() const override { return false; }
  void interrupt() override { signal_->close(); }
  void finish() override {}
  void clear() override {}

 private:
  const std::shared_ptr<Written> written_;
  const std::shared_ptr<serving::SessionSignal> signal_ = std::make_shared<serving::SessionSignal>();
  const proto::SessionInfo info_{.server = "test",
                                 .session = "s",
                                 .devices = {"none"},
                                 .max_tensor_bytes = 1 << 30,
                                 .max_in_flight = 64,
                                 .bulk_credit = proto::kInitialCredit};
  serving::Budget budget_{std::uint64_t{1} << 30};
};

class NotingHost final : public daemon::Host {
 public:
  explicit NotingHost(std::shared_ptr<Written> written) : Host(30s), written_(std::move(written)) {}

  const std::vector<std::string>& devices() const override { return devices_; }
  std::unique_ptr<proto::ServedSession> open_session(const proto::Hello&) override {
    return serving::QueuedSession::make(std::make_unique<NotingPerformer>(written_), {},
                                        serving::Execution::session_thread);
  }

 private:
  const std::shared_ptr<Written> written_;
  const std::vector<std::string> devices_{"none"};
};

class Marks : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(, Marks, ::testing::Values("ws", "grpc"));

TEST_P(Marks, SurviveAConnectionThatIsLost) {
  constexpr int kWrites = 60;
  const auto written = std::make_shared<Written>();
  const std::string scheme = GetParam();
  daemon::ServiceOptions options;
  (scheme == "ws" ? options.ws : options.grpc) = "127.0.0.1:0";
  const daemon::Service service{options, std::make_shared<NotingHost>(written)};
  test::Proxy proxy{service.urls()[0].substr(scheme.size() + 3)};
  const auto session = value_or_throw(net::connect(scheme + "://" + proxy.address()));
  (void)session->info();  // from here on there is something to come back to
  proxy.cut_randomly(1 << 20, 8);

  // Large ones travel in chunks behind their announcement, small ones inside of it.
  const auto axis_of = [](int i) { return i % 3 == 2 ? Axis{} : Axis{i % 3}; };
  const auto rows_of = [](int i) { return i % 2 == 0 ? 100 : 70'000; };
  for (int i = 0; i < kWrites; ++i) {
    const ir::TensorType type{ir::DType::u8, {rows_of(i), 4}};
    const auto id = static_cast<proto::TensorId>(i) + 1;
    ASSERT_TRUE(
        session->write(id, {type, SharedBytes::own(std::vector<std::byte>(type.num_bytes()))}, {axis_of(i)}).ok());
  }
  std::promise<Status> done;
  session->sync([&](Status status) { done.set_value(std::move(status)); });
  ASSERT_TRUE(done.get_future().get().ok());
  EXPECT_GT(session->wire_stats().resumes, 2u);
  const std::lock_guard lock{written->mutex};
  ASSERT_EQ(written->axes.size(), static_cast<std::size_t>(kWrites));
  for (int i = 0; i < kWrites; ++i) {
    const auto id = static_cast<proto::TensorId>(i) + 1;
    EXPECT_EQ(written->axes[id], axis_of(i)) << i;
    EXPECT_EQ(written->bytes[id], static_cast<std::size_t>(rows_of(i) * 4)) << i;
  }
}

TEST(MarkedTraining, HasTheLossesOfTheUnmarkedOneOnAWorker) {
  const server::Server worker{test::on_every_transport()};
  for (const std::string& url : {std::string{"cpu"}, worker.urls()[0]}) {
    const auto unmarked = test::losses_on(Device::new_session(url), 12);
    const BatchScope scope;
    EXPECT_EQ(test::losses_on(Device::new_session(url), 12), unmarked) << url;
  }
}

}  // namespace
}  // namespace burn
