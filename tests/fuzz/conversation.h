// Any conversation of a client, mostly well-formed and often wrong, read from a fuzzer's bytes as a list of steps.
#pragma once

#include <cstdint>
#include <string>

#include "net/serve/connection.h"
#include "tests/fuzz/input.h"
#include "tests/proto/frames.h"
#include "tests/session/programs.h"

namespace burn::fuzz {

using session::add_program;
using session::f32;
using session::ProgramPtr;
using session::reshape_program;
using session::scale_program;

inline ir::TensorType type_of(Input& in) {
  static const ir::TensorType types[] = {f32({2}),
                                         f32({0}),
                                         f32({}),
                                         f32({2, 2}),
                                         f32({20000}),
                                         f32({300000}),
                                         {ir::DType::bool_, {3}},
                                         f32({std::int64_t{1} << 38})};
  return types[in.byte() % std::size(types)];
}

inline SharedBytes zeros(std::size_t size) { return SharedBytes::own(std::vector<std::uint8_t>(size)); }

inline ProgramPtr program_of(Input& in) {
  switch (in.byte() % 6) {
    case 0:
      return add_program({2}, true, false);
    case 1:
      return scale_program({2}, true);
    case 2:
      return reshape_program({2}, {2, 1});
    case 3:
      return scale_program({20000});
    case 4:
      return add_program({300000});
    default:
      return add_program({2});
  }
}

// Some are said to be of a batch, along an axis that the type may not have.
inline proto::Write write_of(std::uint64_t id, const ir::TensorType& type) {
  if (id % 3 != 0) return {id, type};
  return {id, type, {.batch_axis = static_cast<std::int32_t>(id / 3 % 4)}};
}

inline proto::GroupPlace place_of(Input& in) {
  return {static_cast<std::uint32_t>(in.number()), in.number(), static_cast<std::uint32_t>(in.number() % 3),
          static_cast<std::uint32_t>(in.number() % 11), in.byte() % 8 == 0 ? in.text() : "0123456789abcdef"};
}

// Soon over: what it calls is not there.
inline proto::OpenGroup open_group_of(Input& in) {
  proto::OpenGroup open{in.number(), place_of(in), {}, std::chrono::milliseconds{in.byte() % 8}};
  for (int i = in.byte() % 9; i > 0; --i)
    open.addresses.push_back(in.byte() % 2 == 0 ? in.text() : "127.0.0.1:" + std::to_string(in.number() % 8));
  return open;
}

inline proto::Frame frame_of(Input& in) {
  switch (in.byte() % 18) {
    case 0:
      return {0, proto::DefineProgram{in.number(), program_of(in)}, {}};
    case 1:
    case 2:
      return {0, proto::RunProgram{{in.number(), in.numbers(), in.number(), in.numbers(), 0, 0, in.numbers()}}, {}};
    case 3: {
      const auto type = type_of(in);
      const auto size = type.num_bytes();
      return {0, write_of(in.number(), type), size <= proto::kInlineBytes ? zeros(size) : SharedBytes{}};
    }
    case 4: {
      const auto id = in.number();
      return {0, write_of(id, type_of(in)), {}};
    }
    case 5:
      return {0, proto::Chunk{in.number(), in.number() * 40000}, zeros(1 + (in.byte() % 4) * 39999)};
    case 6:
      return {0, proto::Read{in.number(), in.number()}, {}};
    case 7:
      return {0, proto::Release{in.numbers()}, {}};
    case 8:
      return {0, proto::Sync{in.number()}, {}};
    case 9:
      return {0, proto::Credit{in.number()}, {}};
    case 10:
      return {0, proto::Ack{in.number()}, {}};
    case 11:
      return {0, proto::Close{}, {}};
    case 12:
      return {0, proto::Data{in.number(), f32({})}, {}};
    case 13:
      return {0, proto::Stats{in.number()}, {}};
    case 15:
      return {0, proto::PrepareGroup{in.number(), place_of(in)}, {}};
    case 16:
      return {0, open_group_of(in), {}};
    case 17:
      return {0, proto::AbortGroup{in.number(), static_cast<std::uint32_t>(in.number()), in.number(), {}}, {}};
    default:
      return {0, proto::Hello{static_cast<std::uint32_t>(in.number()), 0, in.text(), ""}, {}};
  }
}

inline void converse(Input& in, net::Connection& connection) {
  std::uint64_t seq = 0;
  const auto mode = in.byte();
  if (mode & 1) connection.on_frame(proto::shared(proto::to_string(proto::encode({0, proto::Hello{}, {}}))));
  while (!in.empty()) {
    const auto how = in.byte();
    if (how == 0xff) {
      connection.on_frame(proto::shared(in.text()));
      continue;
    }
    if (how == 0xfe) connection.drain();
    auto frame = frame_of(in);
    if (proto::is_ordered(frame.body)) frame.seq = how == 0xfd ? in.number() : ++seq;
    connection.on_frame(proto::shared(proto::to_string(proto::encode(frame))));
  }
}

}  // namespace burn::fuzz
