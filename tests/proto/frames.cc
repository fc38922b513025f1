#include "tests/proto/frames.h"

#include <cstring>

#include "base/error.h"

namespace burn::proto {
namespace {

SharedBytes floats(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 0.5f * static_cast<float>(i);
  return SharedBytes::own(std::move(values));
}

SessionInfo sample_info() {
  return {"burn-server 0.1.0", "s-7", {"cpu", "null"}, std::uint64_t{1} << 40, 1024, kInitialCredit};
}

SessionInfo info_with_programs() {
  auto info = sample_info();
  info.max_programs = 4096;
  info.max_program_entries = 1 << 20;
  return info;
}

SessionInfo info_with_identity() {
  auto info = sample_info();
  info.instance = "0123456789abcdef";
  info.numerics = 0x0123456789abcdef;
  info.role = "worker";
  return info;
}

SessionStats sample_stats() {
  return {.session = {1 << 20, 1 << 21, 1 << 22, std::uint64_t{1} << 40, 4096, 300, 1.5},
          .device = {1 << 23, 1 << 24, 1 << 25, std::uint64_t{1} << 36, 8192, 70000, 2.25},
          .programs = 7,
          .queued = 12};
}

SessionStats stats_with_members() {
  return {.members = {{"member:a:3000", "ws://a:3000", 2, "", 3, {.memory_in_use = 1 << 20}},
                      {"member:b:3000", "ws://b:3000", 1, "lost connection to ws://b:3000"}}};
}

}  // namespace

std::shared_ptr<const ir::Program> sample_program() {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input({ir::DType::f32, {2, 3}});
  const auto w = builder.add_input({ir::DType::f32, {3, 4}});
  builder.donate(1);
  const ir::Ref matmul[] = {x, w};
  const auto y = value_or_throw(builder.add(ir::MatMul{}, matmul, {"models/mlp.cc", 41}));
  const ir::Ref mul[] = {y, builder.add_scalar(ir::DType::f32)};
  const auto scaled = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::mul}, mul, {"models/mlp.cc", 42}));
  const auto sum = value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {&scaled, 1}, {"train.cc", 7}));
  return std::make_shared<const ir::Program>(builder.finish({sum, scaled}));
}

std::shared_ptr<const ir::Program> language_program() {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input({ir::DType::f32, {2, 3}});
  const auto sorted = value_or_throw(builder.add(ir::Sort{1, true}, {&x, 1}, {"rank.cc", 3}));
  const auto half = value_or_throw(builder.add(ir::Constant{ir::DType::f32, 0, 0.5}, {}));
  const ir::Ref product[] = {sorted, half};
  const auto scaled = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::mul}, product));
  const auto again = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::mul}, product, {}, true));
  const auto noise = value_or_throw(builder.add_random({.shape = {2, 3}, .whole = {4, 3}, .starts = {2, 0}}));
  return std::make_shared<const ir::Program>(builder.finish({sorted.result(1), scaled, again, noise}));
}

std::shared_ptr<const ir::Program> program_of(const ir::Op& op, std::span<const ir::TensorType> operands) {
  ir::ProgramBuilder builder;
  std::vector<ir::Ref> refs;
  for (const auto& type : operands) refs.push_back(builder.add_input(type));
  return std::make_shared<const ir::Program>(builder.finish({value_or_throw(builder.add(op, refs))}));
}

std::vector<NamedFrame> sample_frames() {
  const Run run{9, {1, 2, 300, 1 << 20}, 70000, {0x3ff0000000000000, 0, ~std::uint64_t{0}}, 42, 17, {300}};
  auto traced = run;
  traced.trace = {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736, 0x00f067aa0ba902b7, true};
  const ir::TensorType type{ir::DType::f32, {2, 3}};
  const Status bad{StatusCode::invalid_argument, "matmul: k differs (at mlp.cc:41)"};
  const std::string secret = "0123456789abcdef";
  const Resume resume{"s-00ff", secret, 9, 2, 4096};
  return {
      {"hello", {0, Hello{2, 0x0123456789abcdef, "burn-cpp 0.1.0", "secret"}, {}}},
      {"define", {1, DefineProgram{9, sample_program()}, {}}},
      {"run", {2, RunProgram{run}, {}}},
      {"write", {3, Write{5, type}, floats(6)}},
      {"chunk", {0, Chunk{6, 1 << 20}, floats(4)}},
      {"read", {4, Read{11, 5}, {}}},
      {"release", {5, Release{{5, 6, 1 << 30}}, {}}},
      {"sync", {6, Sync{12}, {}}},
      {"credit", {0, Credit{kInitialCredit}, {}}},
      {"close", {0, Close{bad}, {}}},
      {"welcome", {0, Welcome{2, 0x0123456789abcdef, sample_info()}, {}}},
      {"ack", {0, Ack{6}, {}}},
      {"data", {0, Data{11, type}, floats(6)}},
      {"done", {0, Done{12, bad}, {}}},
      {"define_forget", {1, DefineProgram{9, sample_program(), {4, 300}}, {}}},
      {"define_language", {1, DefineProgram{10, language_program()}, {}}},
      {"welcome_programs", {0, Welcome{2, 0x0123456789abcdef, info_with_programs()}, {}}},
      {"hello_device", {0, Hello{1, 0x0123456789abcdef, "burn-cpp 0.1.0", "secret", 3}, {}}},
      {"hello_lease", {0, Hello{2, 0, "burn-cpp 0.1.0", "", 0, 30}, {}}},
      {"hello_resume", {0, Hello{2, 0, "burn-cpp 0.1.0", "", 0, 30, resume}, {}}},
      {"welcome_lease", {0, Welcome{2, 0, sample_info(), 30, secret}, {}}},
      {"welcome_resumed", {0, Welcome{2, 0, sample_info(), 30, secret, Resumed{70, 68, {{5, 1 << 20}, {6, 0}}}}, {}}},
      {"read_confirms", {4, Read{11, 5, 8}, {}}},
      {"sync_confirms", {6, Sync{12, 9}, {}}},
      {"credit_confirms", {0, Credit{0, 64, 2}, {}}},
      {"stats", {0, Stats{13}, {}}},
      {"report", {0, StatsReport{13, {}, sample_stats()}, {}}},
      {"report_failed", {0, StatsReport{13, bad, {}}, {}}},
      {"welcome_extensions", {0, Welcome{2, 0, sample_info(), 0, "", {}, std::uint64_t{1} << 16}, {}}},
      {"write_batch", {3, Write{5, type, {.batch_axis = 1}}, floats(6)}},
      {"hello_name", {0, Hello{.fingerprint = 7, .client = "c", .device_name = "least-loaded"}, {}}},
      {"welcome_identity", {0, Welcome{2, 7, info_with_identity()}, {}}},
      {"report_members", {0, StatsReport{13, {}, stats_with_members()}, {}}},
      {"prepare_group", {0, PrepareGroup{14, {3, 70000, 1, 2, secret}}, {}}},
      {"group_address", {0, GroupAddress{14, {}, "127.0.0.1:41001"}, {}}},
      {"group_address_failed", {0, GroupAddress{14, bad, ""}, {}}},
      {"open_group",
       {0,
        OpenGroup{15, {3, 70000, 1, 2, secret}, {"10.0.0.1:41001", "10.0.0.2:41002"}, std::chrono::milliseconds{2500}},
        {}}},
      {"abort_group", {0, AbortGroup{16, 3, 70000, bad}, {}}},
      {"group_done", {0, GroupDone{15, bad}, {}}},
      {"take_notices", {0, TakeNotices{}, {}}},
      {"notice", {0, Notice{Notice::Kind::draining, std::chrono::milliseconds{29'500}}, {}}},
      {"close_elsewhere", {0, Close{bad, true}, {}}},
      {"welcome_advertised",
       {0, Welcome{.info = sample_info(), .advertised = {"ws://10.0.0.7:3000", "grpcs://10.0.0.7:3001"}}, {}}},
      {"run_traced", {2, RunProgram{traced}, {}}},
  };
}

std::string to_string(const EncodedFrame& frame) {
  std::string bytes = frame.header;
  bytes.append(reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size());
  return bytes;
}

SharedBytes shared(std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  return {owner, std::as_bytes(std::span{*owner})};
}

}  // namespace burn::proto
