// All-reduce between the GPUs of this process, or between two CPU sessions if there is no GPU; one session per member,
// without a router.
#include <cstdio>
#include <future>

#include <fmt/format.h>

#include "base/error.h"
#include "bench/bench.h"
#include "proto/session_registry.h"

namespace burn::bench {
namespace {

constexpr int kEach = 8;  // all-reduces per run, one after the other

std::shared_ptr<const ir::Program> all_reduces(std::int64_t count) {
  ir::ProgramBuilder builder;
  auto x = builder.add_input({ir::DType::f32, {count}});
  builder.donate(0);
  for (int i = 0; i < kEach; ++i) {
    const ir::Ref operands[] = {x};
    x = value_or_throw(builder.add(ir::AllReduce{}, operands));
  }
  return std::make_shared<const ir::Program>(builder.finish({x}));
}

void check(const Status& status) {
  if (!status.ok()) throw Error(status);
}

// Sessions that form one group.
class Group {
 public:
  explicit Group(bool gpu) {
    if (!gpu) {
      for (int i = 0; i < 2; ++i) sessions_.push_back(value_or_throw(proto::open_session("cpu")));
    }
    for (int i = 0; gpu && i < static_cast<int>(proto::kMaxGroupMembers); ++i) {
      auto session = proto::open_session(fmt::format("cuda:{}", i));
      if (!session.ok()) break;
      sessions_.push_back(*std::move(session));
    }
    if (sessions_.empty()) throw Error(failed_precondition("there is no GPU"));
    form();
  }

  std::size_t size() const { return sessions_.size(); }
  // Defines the program with id 1, and writes zeros as its input.
  void begin(std::int64_t count) {
    const ir::TensorType type{ir::DType::f32, {count}};
    const auto zeros = SharedBytes::own(std::vector<std::byte>(type.num_bytes()));
    last_ = 1;
    for (const auto& session : sessions_) {
      check(session->define(1, all_reduces(count), {}));
      check(session->write(last_, {type, zeros}));
    }
  }
  void run() {
    for (const auto& session : sessions_)
      check(session->run({.program = 1, .inputs = {last_}, .first_output = last_ + 1}));
    ++last_;
  }
  void settle() {
    std::vector<std::promise<Status>> done(sessions_.size());
    for (std::size_t i = 0; i < sessions_.size(); ++i)
      sessions_[i]->sync([&promise = done[i]](Status status) { promise.set_value(std::move(status)); });
    for (auto& promise : done) check(promise.get_future().get());
  }

 private:
  proto::GroupPlace place(std::size_t rank) const {
    return {0, 1, static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(size()), "0123456789abcdef"};
  }
  void form() {
    std::vector<std::string> addresses(size());
    for (std::size_t rank = 0; rank < size(); ++rank) {
      std::promise<Result<std::string>> answer;
      sessions_[rank]->prepare_group(place(rank), [&](Result<std::string> to) { answer.set_value(std::move(to)); });
      addresses[rank] = value_or_throw(answer.get_future().get());
    }
    std::vector<std::promise<Status>> opened(size());
    for (std::size_t rank = 0; rank < size(); ++rank) {
      sessions_[rank]->open_group(place(rank), addresses, std::chrono::seconds{60},
                                  [&promise = opened[rank]](Status status) { promise.set_value(std::move(status)); });
    }
    std::vector<Status> all;
    all.reserve(opened.size());
    for (auto& promise : opened) all.push_back(promise.get_future().get());
    for (const auto& status : all) check(status);
  }

  std::vector<std::unique_ptr<proto::Session>> sessions_;
  proto::TensorId last_ = 0;
};

// GB/s per member: the minimum that each member must send, 2 (N - 1) / N times the tensor, divided by the time.
std::vector<double> all_reduce(const Context& c, std::int64_t bytes) {
  Group group(c.gpu);
  group.begin(bytes / 4);
  const auto members = static_cast<double>(group.size());
  std::fprintf(stderr, "allreduce of %lld bytes between %zu members\n", static_cast<long long>(bytes), group.size());
  const auto sent = 2 * (members - 1) / members * static_cast<double>(bytes) * kEach;
  return giga_per_second(repeat_batched(
                             c, 10, [&] { group.run(); }, [&] { group.settle(); }),
                         sent);
}

}  // namespace

void add_collectives(std::vector<Benchmark>& list) {
  for (const std::int64_t mib : {1, 25, 256, 1024}) {
    list.push_back({fmt::format("allreduce_{}m", mib), "GB/s", "higher",
                    [mib](const Context& c) { return all_reduce(c, mib << 20); }, true});
  }
}

}  // namespace burn::bench
