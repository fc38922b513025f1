// Bytes that no peer should send: decode says what is wrong with them, allocates little, and never crashes.
#include <random>

#include <gtest/gtest.h>

#include "proto/burn.pb.h"
#include "proto/codec.h"
#include "tests/proto/frames.h"

namespace burn::proto {
namespace {

Status status_of(std::string bytes) { return decode(shared(std::move(bytes))).status(); }
Status status_of(const v1::Frame& frame) { return status_of(frame.SerializeAsString()); }

// Of a program that arrives in a sound frame.
DefineProgram define(const v1::Program& program) {
  v1::Frame frame;
  frame.mutable_header()->set_seq(1);
  frame.mutable_header()->mutable_define()->set_id(3);
  *frame.mutable_header()->mutable_define()->mutable_program() = program;
  auto decoded = decode(shared(frame.SerializeAsString()));
  EXPECT_TRUE(decoded.ok()) << decoded.status().to_string();
  return decoded.ok() ? std::get<DefineProgram>(decoded->body) : DefineProgram{};
}

v1::Program wire_program() {
  v1::Frame frame;
  EXPECT_TRUE(frame.ParseFromString(to_string(encode({1, DefineProgram{3, sample_program()}, {}}))));
  return frame.header().define().program();
}

#define EXPECT_SAYS(status, expected_code, part)                                 \
  do {                                                                           \
    const Status said = (status);                                                \
    EXPECT_EQ(said.code(), StatusCode::expected_code) << said.to_string();       \
    EXPECT_NE(said.message().find(part), std::string::npos) << said.to_string(); \
  } while (false)

TEST(HostileFrame, IsNotEmpty) { EXPECT_SAYS(status_of(std::string{}), invalid_argument, "begins with its header"); }

TEST(HostileFrame, MayNotBeCutShort) {
  for (const auto& [name, frame] : sample_frames()) {
    const auto bytes = to_string(encode(frame));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      // What remains without its payload is a frame again: the announcement of chunks.
      const bool lost_payload = size == encode({frame.seq, frame.body, {}}).header.size() && name != "chunk";
      EXPECT_EQ(status_of(bytes.substr(0, size)).ok(), lost_payload) << name << " cut to " << size;
    }
  }
}

TEST(HostileFrame, EndsWhereItEnds) {
  for (const auto& [name, frame] : sample_frames()) {
    for (const auto& tail : {std::string(1, '\0'), std::string("x"), std::string("\x12\x01\x00", 3)}) {
      EXPECT_FALSE(status_of(to_string(encode(frame)) + tail).ok()) << name;
    }
  }
}

TEST(HostileFrame, MayNotClaimMoreThanItHas) {
  EXPECT_SAYS(status_of("\x0a\xff\xff\xff\xff\x0f"), invalid_argument, "header is cut short");
  EXPECT_SAYS(status_of(std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11)), invalid_argument, "header");
  auto chunk = to_string(encode({0, Chunk{1, 0}, {}}));
  EXPECT_SAYS(status_of(chunk + "\x12\xff\xff\xff\xff\x07"), invalid_argument, "payload is cut short");
}

TEST(HostileFrame, MayNotBeLargerThanTheLimit) {
  EXPECT_SAYS(status_of(std::string(kMaxFrameBytes + 1, '\x0a')), invalid_argument, "a frame of 67108865 bytes");
}

TEST(HostileFrame, SaysOneThing) {
  EXPECT_SAYS(status_of(std::string("\x0a\x00", 2)), invalid_argument, "says nothing");
  v1::Frame one;
  one.mutable_header()->mutable_ack();
  v1::Frame two;
  two.mutable_header()->mutable_sync();
  const auto header = one.header().SerializeAsString() + two.header().SerializeAsString();
  EXPECT_FALSE(status_of(std::string("\x0a") + static_cast<char>(header.size()) + header).ok());
}

TEST(HostileFrame, OfAnUnknownKindIsUnimplemented) {
  EXPECT_SAYS(status_of(std::string("\x0a\x03\xe2\x03\x00", 5)), unimplemented, "kind 60");
}

TEST(HostileFrame, TextsAreUtf8AndOthersAreNotLogged) {
  auto bytes = to_string(encode({0, Hello{1, 0, "name", ""}, {}}));
  bytes[bytes.find("name")] = '\xff';
  testing::internal::CaptureStderr();
  EXPECT_SAYS(status_of(bytes), invalid_argument, "malformed");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(HostileFrame, UnknownFieldsAreSkipped) {
  const std::string body("\x08\x05\xa8\x1f\x07", 5);  // Ack.seq = 5, field 501 = 7
  const std::string header = std::string("\x6a\x05", 2) + body + std::string("\xa8\x1f\x07", 3);
  const auto frame = decode(shared("\x0a" + std::string(1, static_cast<char>(header.size())) + header));
  ASSERT_TRUE(frame.ok()) << frame.status().to_string();
  EXPECT_EQ(std::get<Ack>(frame->body).seq, 5u);
}

TEST(HostileFrame, BodiesHaveLimits) {
  v1::Frame frame;
  frame.mutable_header()->mutable_hello()->set_token(std::string(100'000, 'x'));
  EXPECT_SAYS(status_of(frame), invalid_argument, "at most 65536");
  frame.mutable_header()->mutable_release()->mutable_ids()->Resize(17 << 20, 1);
  EXPECT_SAYS(status_of(frame), invalid_argument, "at most 1836032");
  frame.Clear();
  frame.mutable_header()->mutable_define()->mutable_program()->add_site_files(std::string(17 << 20, 'x'));
  EXPECT_SAYS(status_of(frame), invalid_argument, "at most 16777216");
}

TEST(HostileFrame, ListsOfIdsHaveLimits) {
  const auto most = static_cast<int>(kMaxIds);
  v1::Frame frame;
  auto* run = frame.mutable_header()->mutable_run();
  run->mutable_inputs()->Resize(most, 1);
  run->mutable_release()->Resize(most, 1);
  run->mutable_scalars()->Resize(most, 1);
  EXPECT_TRUE(status_of(frame).ok());
  run->add_inputs(1);
  EXPECT_SAYS(status_of(frame), invalid_argument, "65537 inputs; at most 65536");
  run->mutable_inputs()->Clear();
  run->add_release(1);
  EXPECT_SAYS(status_of(frame), invalid_argument, "65537 tensors to release; at most 65536");
  run->mutable_release()->Clear();
  run->add_scalars(1);
  EXPECT_SAYS(status_of(frame), invalid_argument, "65537 scalars; at most 65536");
  frame.mutable_header()->mutable_release()->mutable_ids()->Resize(most + 1, 1);
  EXPECT_SAYS(status_of(frame), invalid_argument, "65537 tensors to release; at most 65536");
  auto* define = frame.mutable_header()->mutable_define();
  define->mutable_program();
  define->mutable_forget()->Resize(most + 1, 1);
  EXPECT_SAYS(status_of(frame), invalid_argument, "malformed");
}

// --- programs that are read later ------------------------------------------------------------------------------------

DefineProgram define_later(const std::string& bytes) {
  auto decoded = decode(shared(bytes), Programs::later);
  EXPECT_TRUE(decoded.ok());
  return decoded.ok() ? std::get<DefineProgram>(decoded->body) : DefineProgram{};
}

TEST(LaterProgram, IsLeftAsItIsUntilItIsRead) {
  const auto later = define_later(to_string(encode({1, DefineProgram{9, sample_program(), {4, 300}}, {}})));
  EXPECT_EQ(later.id, 9u);
  EXPECT_EQ(later.forget, (std::vector<ProgramId>{4, 300}));
  EXPECT_EQ(later.program, nullptr);
  ProgramSize seen;
  const auto read = read_program(later.encoded, [&](const ProgramSize& size) {
    seen = size;
    return Status{};
  });
  ASSERT_NE(read.program, nullptr) << read.invalid.to_string();
  EXPECT_TRUE(ir::same(*read.program, *sample_program()));
  EXPECT_EQ(seen.nodes, sample_program()->nodes.size());
  EXPECT_EQ(seen.inputs, sample_program()->inputs.size());
  EXPECT_EQ(seen.outputs, sample_program()->outputs.size());
  EXPECT_EQ(seen.bytes, later.encoded.size());
}

TEST(LaterProgram, IsNotReadWhereThereIsNoRoomForIt) {
  const auto later = define_later(to_string(encode({1, DefineProgram{9, sample_program()}, {}})));
  const auto read = read_program(later.encoded, [](const ProgramSize&) { return resource_exhausted("too large"); });
  EXPECT_EQ(read.program, nullptr);
  EXPECT_SAYS(read.invalid, resource_exhausted, "too large");
  EXPECT_EQ(read.output_count, sample_program()->outputs.size());
}

TEST(LaterProgram, ThatIsNoneIsInvalid) {
  v1::Frame frame;
  auto* define = frame.mutable_header()->mutable_define();
  define->mutable_program()->add_site_files("here");
  auto bytes = frame.SerializeAsString();
  bytes[bytes.find("here") - 1] = 100;  // longer than there is
  const auto later = define_later(bytes);
  EXPECT_SAYS(read_program(later.encoded).invalid, invalid_argument, "the program is malformed");
}

// What is kept of a frame is charged by its size: the rest of the frame must not hang on it.
TEST(LaterProgram, KeepsNothingOfALargerFrame) {
  v1::Frame frame;
  ASSERT_TRUE(frame.ParseFromString(to_string(encode({1, DefineProgram{9, sample_program()}, {}}))));
  const auto varint = [](std::size_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    return bytes + static_cast<char>(value);
  };
  constexpr std::size_t kMore = 1 << 20;  // in field 501
  const auto header = frame.header().SerializeAsString() + "\xaa\x1f" + varint(kMore) + std::string(kMore, 'x');
  const auto whole = shared("\x0a" + varint(header.size()) + header);
  const auto decoded = decode(whole, Programs::later);
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  const auto* kept = std::get<DefineProgram>(decoded->body).encoded.data();
  EXPECT_TRUE(kept < whole.data() || kept >= whole.data() + whole.size());
}

TEST(HostileTensor, ShapesHaveEightDimsAtMost) {
  v1::Frame frame;
  auto* type = frame.mutable_header()->mutable_write()->mutable_type();
  for (int i = 0; i < 9; ++i) type->add_shape(1);
  EXPECT_SAYS(status_of(frame), invalid_argument, "9 dims");
}

TEST(HostileTensor, SizesMustMakeSense) {
  for (const auto& shape : {std::vector<std::uint64_t>{~std::uint64_t{0}},
                            {std::uint64_t{1} << 40, std::uint64_t{1} << 40},
                            {0, std::uint64_t{1} << 62, 4}}) {
    v1::Frame frame;
    auto* type = frame.mutable_header()->mutable_write()->mutable_type();
    type->mutable_shape()->Add(shape.begin(), shape.end());
    EXPECT_SAYS(status_of(frame), invalid_argument, "there is no tensor of shape");
  }
}

TEST(HostileTensor, DTypesMustExist) {
  v1::Frame frame;
  frame.mutable_header()->mutable_write()->mutable_type()->set_dtype(static_cast<v1::DType>(13));
  EXPECT_SAYS(status_of(frame), invalid_argument, "13 is not the number of a dtype");
  frame.mutable_header()->mutable_write()->mutable_type()->set_dtype(static_cast<v1::DType>(-1));
  EXPECT_SAYS(status_of(frame), invalid_argument, "-1 is not the number of a dtype");
}

TEST(HostileTensor, PayloadsFitTheirType) {
  v1::Frame frame;
  frame.mutable_header()->mutable_write()->mutable_type()->add_shape(2);
  frame.set_payload("1234567");
  EXPECT_SAYS(status_of(frame), invalid_argument, "f64[2]");
  frame.mutable_header()->mutable_write()->mutable_type()->set_shape(0, kInlineBytes / 8 + 1);
  frame.set_payload(std::string(kInlineBytes + 8, 'x'));
  EXPECT_SAYS(status_of(frame), invalid_argument, "65544 bytes");
  frame.mutable_header()->mutable_sync();
  frame.set_payload("1");
  EXPECT_SAYS(status_of(frame), invalid_argument, "where none belongs");
  frame.mutable_header()->mutable_chunk();
  frame.set_payload(std::string(kChunkBytes + 1, 'x'));
  EXPECT_SAYS(status_of(frame), invalid_argument, "1048577");
  frame.clear_payload();
  EXPECT_FALSE(status_of(frame).ok());
}

TEST(HostileProgram, WithANewerOpFailsAloneAndSaysWhichOne) {
  auto program = wire_program();
  program.mutable_nodes(2)->set_op("teleport");
  const auto read = define(program);
  EXPECT_FALSE(read.program);
  EXPECT_EQ(read.id, 3u);
  EXPECT_EQ(read.output_count, 2u);
  EXPECT_SAYS(read.invalid, unimplemented, "node 2 at mlp.cc:42: op \"teleport\"");
}

TEST(HostileProgram, RefersOnlyToWhatCameBefore) {
  for (const int code :
       {2, 3, 1 << 30, -3, -(1 << 30), std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    auto program = wire_program();
    program.mutable_nodes(2)->set_operands(0, code);
    EXPECT_SAYS(define(program).invalid, invalid_argument, "node 2");
  }
}

TEST(HostileProgram, HasDistinctNodesAsOutputs) {
  for (const int code : {3, -1, 4, 1 << 30, std::numeric_limits<int>::min()}) {  // 3 is the first output
    auto program = wire_program();
    program.set_outputs(1, code);
    EXPECT_SAYS(define(program).invalid, invalid_argument, "output");
  }
}

TEST(HostileProgram, IsInferredAnew) {
  auto program = wire_program();
  program.mutable_inputs(1)->mutable_type()->set_shape(0, 5);
  EXPECT_SAYS(define(program).invalid, invalid_argument, "node 0 at mlp.cc:41: matmul");
}

TEST(HostileProgram, InputsHaveSaneTypes) {
  auto program = wire_program();
  program.mutable_inputs(0)->mutable_type()->set_shape(0, std::uint64_t{1} << 63);
  EXPECT_SAYS(define(program).invalid, invalid_argument, "no tensor of shape");
  program.mutable_inputs(0)->mutable_type()->mutable_shape()->Resize(9, 1);
  EXPECT_SAYS(define(program).invalid, invalid_argument, "9 dims");
}

TEST(HostileProgram, AttributesAreCheckedBeforeTheyAreBelieved) {
  auto program = wire_program();
  auto* axes = program.mutable_nodes(3)->mutable_attrs(0);
  axes->mutable_numbers()->mutable_values()->Resize(9, 0);
  EXPECT_SAYS(define(program).invalid, invalid_argument, "9 numbers");
  axes->clear_value();
  EXPECT_SAYS(define(program).invalid, invalid_argument, "without a value");
  for (int i = 0; i < 40; ++i) program.mutable_nodes(3)->add_attrs();
  EXPECT_SAYS(define(program).invalid, invalid_argument, "32 attributes");
}

TEST(HostileProgram, CountsAreLimited) {
  v1::Program program;
  for (std::size_t i = 0; i <= ir::ProgramBuilder::kMaxNodes; ++i) program.add_nodes();
  EXPECT_SAYS(define(program).invalid, invalid_argument, "more than 1048576 nodes");
  program.Clear();
  for (int i = 0; i < 5000; ++i) program.add_site_files("x");
  EXPECT_SAYS(define(program).invalid, invalid_argument, "4096 site files");
  program.Clear();
  program.add_nodes()->set_op(std::string(300'000, 'x'));
  EXPECT_SAYS(define(program).invalid, resource_exhausted,
              "node 0 has 300004 bytes with its operands and attributes; at most 262144 may be");
}

TEST(HostileProgram, MayComeInAnyOrderOfFields) {
  v1::Program nodes = wire_program();
  v1::Program rest = wire_program();
  nodes.clear_inputs();
  nodes.clear_outputs();
  nodes.clear_site_files();
  rest.clear_nodes();
  const auto program = nodes.SerializeAsString() + rest.SerializeAsString();
  v1::Frame frame;
  frame.mutable_header()->mutable_define()->set_id(1);
  ASSERT_TRUE(frame.mutable_header()->mutable_define()->mutable_program()->ParseFromString(program));
  const auto decoded = decode(shared(frame.SerializeAsString()));
  ASSERT_TRUE(decoded.ok());
  EXPECT_TRUE(ir::same(*std::get<DefineProgram>(decoded->body).program, *sample_program()));
}

// --- not a fuzzer, but always at hand (tests/fuzz has the real one) --------------------------------------------------

std::string mutated(std::string bytes, std::mt19937& random) {
  const auto pick = [&](std::size_t below) { return std::uniform_int_distribution<std::size_t>{0, below - 1}(random); };
  const auto changes = 1 + pick(4);
  for (std::size_t i = 0; i < changes && !bytes.empty(); ++i) {
    const auto at = pick(bytes.size());
    switch (pick(5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << pick(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(pick(256));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(at, 1 + pick(10), static_cast<char>(pick(2) ? 0xff : pick(256)));
        break;
      case 4:
        bytes.erase(at, 1 + pick(4));
        break;
    }
  }
  return bytes;
}

TEST(HostileFrame, SurvivesMutationByTheHundredThousand) {
  std::vector<std::string> seeds;
  for (const auto& [name, frame] : sample_frames()) seeds.push_back(to_string(encode(frame)));
  for (int i = 0; i < 3; ++i) seeds.push_back(to_string(encode({1, DefineProgram{9, sample_program()}, {}})));
  std::mt19937 random{20240117};
  std::size_t understood = 0, peeked = 0;
  for (int i = 0; i < 200'000; ++i) {
    const auto bytes = mutated(seeds[static_cast<std::size_t>(i) % seeds.size()], random);
    const auto frame = decode(shared(bytes));
    if (const auto chunk = peek_chunk(std::as_bytes(std::span{bytes}), bytes.size())) {
      ++peeked;
      ASSERT_EQ(chunk->payload_begin + chunk->payload_size, bytes.size());
      const auto parts =
          decode(shared(bytes.substr(0, chunk->payload_begin)), shared(bytes.substr(chunk->payload_begin)));
      ASSERT_EQ(parts.status(), frame.status());
      EXPECT_TRUE(!parts.ok() || std::get<Chunk>(parts->body) == chunk->chunk);
    }
    if (!frame.ok()) {
      EXPECT_FALSE(frame.status().message().empty());
      continue;
    }
    ++understood;
    // A decoded frame can be encoded again with the same meaning.
    const auto again = decode(shared(to_string(encode(*frame))));
    const auto* define = std::get_if<DefineProgram>(&frame->body);
    EXPECT_TRUE(again.ok() || (define && !define->program)) << again.status().to_string();
  }
  EXPECT_GT(understood, 10'000u);
  EXPECT_GT(peeked, 300u);
}

}  // namespace
}  // namespace burn::proto
