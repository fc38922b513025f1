// The router's cost of a new program, and of each run. There are no workers: the calls to be sent are counted and
// dropped.
#include <stdexcept>

#include "base/error.h"
#include "base/heap.h"
#include "bench/bench.h"
#include "router/core/session_core.h"

namespace burn::bench {
namespace {

constexpr int kMembers = 4;
constexpr int kLayers = 64;
constexpr std::int64_t kBatch = 64, kWidth = 32;

// A batch through layers of matmul, bias and relu, and the sum of the output. Inputs: the batch, then a weight and a
// bias for each layer.
std::shared_ptr<const ir::Program> layers_program() {
  using ir::PointwiseFn;
  ir::ProgramBuilder builder;
  const auto add = [&](const ir::Op& op, std::vector<ir::Ref> operands) {
    return value_or_throw(builder.add(op, operands));
  };
  auto x = builder.add_input({ir::DType::f32, {kBatch, kWidth}});
  for (int layer = 0; layer < kLayers; ++layer) {
    const auto weight = builder.add_input({ir::DType::f32, {kWidth, kWidth}});
    const auto bias = builder.add_input({ir::DType::f32, {kWidth}});
    const auto rows = add(ir::Expand{{kBatch, kWidth}}, {add(ir::Reshape{{1, kWidth}}, {bias})});
    x = add(ir::Pointwise{PointwiseFn::relu},
            {add(ir::Pointwise{PointwiseFn::add}, {add(ir::MatMul{}, {x, weight}), rows})});
  }
  return std::make_shared<const ir::Program>(builder.finish({add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {x})}));
}

proto::HostTensor zeros(const ir::TensorType& type) {
  return {type, SharedBytes::own(std::vector<std::byte>(type.num_bytes()))};
}

// A wide session with the program's inputs, the batch split.
struct Session {
  router::SessionCore core{{.mesh = {.data = kMembers}}};
  router::Outbox out;
  std::shared_ptr<const ir::Program> program = layers_program();
  proto::Run run{.program = 1};

  Session() {
    if (const auto status = core.widen(out); !status.ok()) throw Error(status);
    for (std::size_t i = 0; i < program->inputs.size(); ++i) {
      run.inputs.push_back(i + 1);
      const auto mark = i == 0 ? std::optional<std::int32_t>{0} : std::nullopt;
      check(core.write(i + 1, zeros(program->inputs[i].type), mark, out));
    }
    run.first_output = program->inputs.size() + 1;
    define();
  }
  void define() {
    core.define(1, program, {}, out);
    out.take();
  }
  void step() {
    check(core.run(run, out));
    check(core.release(std::span{&run.first_output, 1}, out));
    ++run.first_output;
    out.take();
  }
  static void check(const Failure& why) {
    if (why) throw Error(*why);
  }
};

// The time per node to rewrite a program for the members.
std::vector<double> rewriting(const Context& c) {
  keep_freed_blocks();  // as burn-router does
  Session session;
  const auto nodes = static_cast<double>(session.program->nodes.size());
  auto seconds = repeat(c, [&] {
    session.define();  // defined again, so that it has no variants
    session.step();
  });
  for (auto& s : seconds) s /= nodes;
  return microseconds(std::move(seconds));
}

// A run with 129 inputs and its release, for four members.
std::vector<double> running(const Context& c) {
  keep_freed_blocks();
  Session session;
  return microseconds(repeat_batched(
      c, 100, [&] { session.step(); }, [] {}));
}

}  // namespace

void add_router(std::vector<Benchmark>& list) {
  list.push_back({"router_rewrite", "us/op", "lower", rewriting});
  list.push_back({"router_run", "us", "lower", running});
}

}  // namespace burn::bench
