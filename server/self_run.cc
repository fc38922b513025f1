#include "server/self_run.h"

#include <array>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/backend.h"
#include "ir/program.h"

namespace burn::server {
namespace {

constexpr std::chrono::minutes kPatience{1};
constexpr std::array kInput{1.0F, -2.0F, 3.0F, 0.5F};

// A program that computes |x| + x.
Result<std::shared_ptr<const ir::Program>> two_nodes(const ir::TensorType& type) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(type);
  const std::array of_abs{x};
  BURN_TRY(const auto positive, builder.add(ir::Pointwise{ir::PointwiseFn::abs}, of_abs));
  const std::array of_add{positive, x};
  BURN_TRY(const auto sum, builder.add(ir::Pointwise{ir::PointwiseFn::add}, of_add));
  return std::make_shared<const ir::Program>(builder.finish({sum}));
}

Status check(const SharedBytes& answer) {
  std::array<float, kInput.size()> computed{};
  if (answer.size() != sizeof computed)
    return internal_error(fmt::format("{} bytes come back, not {}", answer.size(), sizeof computed));
  std::memcpy(computed.data(), answer.data(), sizeof computed);
  for (std::size_t k = 0; k < kInput.size(); ++k) {
    const float right = (kInput[k] < 0 ? -kInput[k] : kInput[k]) + kInput[k];
    if (computed[k] != right)
      return internal_error(fmt::format("it computes |{0}| + {0} = {1}, not {2}", kInput[k], computed[k], right));
  }
  return {};
}

// Uses the backend directly, not the worker's sessions and plans, so that their counts are of clients alone.
Status try_device(backends::Backend& backend) {
  const ir::TensorType type{ir::DType::f32, ir::Shape{static_cast<std::int64_t>(kInput.size())}};
  BURN_TRY(auto program, two_nodes(type));
  BURN_TRY(auto compiled, backend.compile(std::move(program)));
  const std::shared_ptr<backends::Executable> executable = std::move(compiled);
  struct Answer {
    SharedBytes bytes;
    Failure failure;
  };
  const auto answer = std::make_shared<std::promise<Answer>>();
  auto done = answer->get_future();
  BURN_TRY(const auto stream, backend.open_stream([](std::uint64_t, const Failure&) {}));
  BURN_TRY(auto input, stream->upload(SharedBytes::own(std::vector<float>(kInput.begin(), kInput.end()))));
  BURN_TRY(auto result, stream->run(executable, {.inputs = {std::move(input)}}));
  BURN_RETURN_IF_ERROR(result.stopped);
  if (!result.failures.empty() && result.failures.front()) return *result.failures.front();
  stream->download(result.outputs.front(), sizeof kInput, [answer](SharedBytes bytes, const Failure& failure) {
    answer->set_value({std::move(bytes), failure});
  });
  if (done.wait_for(kPatience) != std::future_status::ready)
    return {StatusCode::deadline_exceeded,
            fmt::format("no answer within {} s", std::chrono::seconds{kPatience}.count())};
  const auto computed = done.get();
  if (computed.failure) return *computed.failure;
  return backend.name().starts_with("null") ? Status{} : check(computed.bytes);
}

}  // namespace

Status try_devices(const WorkerHost& host) {
  for (const auto& worker : host.workers()) {
    const auto status = try_device(worker->backend());
    if (!status.ok())
      return status.with_context(fmt::format("a first program on the device {} fails", worker->backend().name()));
  }
  return {};
}

}  // namespace burn::server
