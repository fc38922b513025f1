// A server that sends arbitrary frames to a client with open requests: each request is answered once, with a complete
// tensor or an error, and nothing is read beyond the received bytes. The input is read as a list of steps.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "net/remote/conversation.h"
#include "net/transport/handler_gate.h"
#include "tests/fuzz/input.h"
#include "tests/proto/frames.h"

using namespace burn;

namespace {

using fuzz::Input;

// Drops all frames and sends none.
class DeafChannel final : public proto::Channel {
 public:
  explicit DeafChannel(std::shared_ptr<net::HandlerGate> gate) : gate_(std::move(gate)) {}
  ~DeafChannel() override { gate_->shut(); }
  void send(proto::EncodedFrame, proto::Lane) override {}
  void close() override {}
  std::size_t queued_bytes() const override { return 0; }
  std::string peer() const override { return "fuzz"; }

 private:
  const std::shared_ptr<net::HandlerGate> gate_;
};

ir::TensorType type_of(Input& in) {
  static const ir::TensorType types[] = {{ir::DType::f32, {2}},     {ir::DType::f32, {0}},
                                         {ir::DType::f32, {}},      {ir::DType::bool_, {3}},
                                         {ir::DType::f32, {20000}}, {ir::DType::f32, {std::int64_t{1} << 38}}};
  return types[in.byte() % std::size(types)];
}

// A slice of one shared block of zeros, which is never written to.
SharedBytes zeros(std::size_t size) {
  static const auto block = SharedBytes::own(std::vector<std::uint8_t>(1 << 18));
  return block.slice(0, size);
}

proto::Frame frame_of(Input& in) {
  const auto seq = in.byte() < 250 ? 0 : in.number();
  switch (in.byte() % 14) {
    case 0:
      return {seq, proto::Ack{in.number()}, {}};
    case 1: {
      const auto type = type_of(in);
      return {seq, proto::Data{in.number(), type}, type.num_bytes() < 100 ? zeros(type.num_bytes()) : SharedBytes{}};
    }
    case 2:
      return {seq, proto::Data{in.number(), type_of(in)}, zeros(in.byte())};
    case 3:
    case 4:
      return {seq, proto::Chunk{in.number(), in.number() * 40000}, zeros(1 + (in.byte() % 4) * 39999)};
    case 5:
      return {seq, proto::Done{in.number(), in.byte() % 2 ? Status{} : data_loss(in.text())}, {}};
    case 6:
      return {seq, proto::Credit{in.number()}, {}};
    case 7:
      return {seq, proto::Close{in.byte() % 2 ? Status{} : unavailable(in.text())}, {}};
    case 8:
      return {seq, proto::Welcome{static_cast<std::uint32_t>(in.number()), 0, {.max_in_flight = in.number()}}, {}};
    case 9:
      return {seq, proto::Sync{in.number()}, {}};
    case 10:
      return {seq, proto::GroupAddress{in.number(), in.byte() % 2 ? Status{} : data_loss(in.text()), in.text()}, {}};
    case 11:
      return {seq, proto::GroupDone{in.number(), in.byte() % 2 ? Status{} : data_loss(in.text())}, {}};
    case 12:
      return {seq, proto::Notice{proto::Notice::Kind{in.byte()}, std::chrono::milliseconds{in.number()}}, {}};
    default:
      return {seq, proto::StatsReport{in.number(), in.byte() % 2 ? Status{} : data_loss(in.text()), {}}, {}};
  }
}

struct Questions {
  int asked = 0, answered = 0;

  auto read() {
    ++asked;
    return [this](Result<proto::HostTensor> tensor) {
      ++answered;
      if (!tensor.ok()) return;
      const auto bytes = tensor->bytes.span();
      if (!bytes.empty()) (void)std::memchr(bytes.data(), 0xff, bytes.size());  // reads every byte
    };
  }
  auto sync() {
    ++asked;
    return [this](Status) { ++answered; };
  }
  auto address() {
    ++asked;
    return [this](const Result<std::string>&) { ++answered; };
  }
  auto stats() {
    ++asked;
    return [this](const Result<proto::SessionStats>&) { ++answered; };
  }
};

// At most 500 steps: fewer than the window has, so that no call blocks.
void talk(Input& in, proto::Session& session, net::HandlerGate& gate, Questions& questions) {
  static const auto program = proto::sample_program();
  for (int i = 0; i < 500 && !in.empty(); ++i) {
    switch (in.byte() % 20) {
      case 0:
        (void)session.write(1 + in.number(), {{ir::DType::f32, {2}}, zeros(8)});
        break;
      case 1:
        (void)session.write(1 + in.number(), {{ir::DType::f32, {20000}}, zeros(80000)});
        break;
      case 2:
        (void)session.define(in.number(), program, {});
        break;
      case 3:
        (void)session.release({in.number()});
        break;
      case 4:
      case 5:
        session.read(in.number(), questions.read());
        break;
      case 6:
        session.sync(questions.sync());
        break;
      case 7:
        session.stats(questions.stats());
        break;
      case 8:
        session.prepare_group({0, in.number(), 0, 1, "0123456789abcdef"}, questions.address());
        break;
      case 9:
        session.open_group({0, in.number(), 0, 1, "0123456789abcdef"}, {"127.0.0.1:1"}, std::chrono::milliseconds{5},
                           questions.sync());
        break;
      case 10:
        session.abort_group(0, in.number(), cancelled("over"));
        break;
      case 11:
        gate.frame(proto::shared(in.text()));
        break;
      default:
        gate.frame(proto::shared(proto::to_string(proto::encode(frame_of(in)))));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  Input in{data, size, 16};
  const auto gate = std::make_shared<net::HandlerGate>();
  const auto factory = [&](std::shared_ptr<proto::ChannelHandler> handler, auto) {
    gate->open(std::move(handler));
    const proto::SessionInfo info{.server = "fuzz",
                                  .session = "s",
                                  .devices = {"cpu"},
                                  .max_tensor_bytes = 1 << 20,
                                  .max_in_flight = 1024,
                                  .bulk_credit = 1 << 20};
    const proto::Welcome welcome{proto::kProtocolVersion, 0, info, 0, "", {}, proto::kExtensions};
    gate->frame(proto::shared(proto::to_string(proto::encode({0, welcome, {}}))));
    return Result<std::shared_ptr<proto::Channel>>(std::make_shared<DeafChannel>(gate));
  };
  Questions questions;
  auto session = net::connect_over(factory, "fuzz://server", {.timeout_seconds = 1, .answer_timeout_seconds = 0});
  if (!session.ok()) std::abort();
  talk(in, **session, *gate, questions);
  gate->closed(unavailable("the end"));
  session->reset();
  if (questions.asked != questions.answered) std::abort();
  return 0;
}
