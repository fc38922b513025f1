// Frames that encode() writes can be read by decode() and by any other protobuf implementation.
#include "proto/codec.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/catalogue.h"
#include "proto/burn.pb.h"
#include "proto/verbs.h"
#include "tests/ir/samples.h"
#include "tests/proto/frames.h"

namespace burn::proto {
namespace {

Frame decoded(const EncodedFrame& frame) { return value_or_throw(decode(shared(to_string(frame)))); }

std::shared_ptr<const ir::Program> round_trip(const std::shared_ptr<const ir::Program>& program) {
  const auto frame = decoded(encode({1, DefineProgram{7, program}, {}}));
  const auto& define = std::get<DefineProgram>(frame.body);
  EXPECT_TRUE(define.invalid.ok()) << define.invalid.to_string();
  return define.program;
}

TEST(Codec, EveryBodyComesBackAsItWas) {
  for (const auto& [name, frame] : sample_frames()) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(name.starts_with(proto::name(frame.body)));  // "define", "define_forget"
    const auto bytes = to_string(encode(frame));
    const auto back = value_or_throw(decode(shared(bytes)));
    EXPECT_EQ(back.seq, frame.seq);
    EXPECT_TRUE(std::ranges::equal(back.payload.span(), frame.payload.span()));
    EXPECT_EQ(to_string(encode(back)), bytes);
    std::visit(
        [&]<typename Kind>(const Kind& body) {
          if constexpr (std::equality_comparable<Kind>) {
            EXPECT_EQ(std::get<Kind>(back.body), body);
          }
        },
        frame.body);
  }
}

TEST(Codec, EmptyBodiesComeBackToo) {
  const Body bodies[] = {Hello{0, 0, "", ""},
                         RunProgram{},
                         Write{},
                         Read{},
                         Release{},
                         Sync{},
                         Credit{},
                         Close{},
                         Ack{},
                         Data{},
                         Stats{},
                         StatsReport{},
                         PrepareGroup{},
                         GroupAddress{},
                         OpenGroup{},
                         AbortGroup{},
                         GroupDone{},
                         TakeNotices{},
                         Notice{}};
  for (const auto& body : bodies) {
    SCOPED_TRACE(name(body));
    const auto back = decoded(encode({0, body, {}}));
    EXPECT_EQ(back.body.index(), body.index());
    EXPECT_TRUE(back.payload.empty());
  }
}

TEST(Codec, ABatchAxisTravelsWhereOneIsSaid) {
  const ir::TensorType type{ir::DType::f32, {2, 3}};
  const auto axis_of = [](const Frame& frame) { return std::get<Write>(frame.body).options.batch_axis; };
  EXPECT_EQ(axis_of(decoded(encode({1, Write{5, type}, {}}))), std::nullopt);
  for (const int axis : {0, 1, ir::kMaxRank - 1})
    EXPECT_EQ(axis_of(decoded(encode({1, Write{5, type, {axis}}, {}}))), axis);

  v1::Frame hostile;
  ASSERT_TRUE(hostile.ParseFromString(to_string(encode({1, Write{5, type}, {}}))));
  for (const std::uint32_t said : {4u, 1u << 31, ~0u}) {
    hostile.mutable_header()->mutable_write()->set_batch_axis(said);
    const auto axis = axis_of(value_or_throw(decode(shared(hostile.SerializeAsString()))));
    EXPECT_GT(axis, type.shape.rank());
    EXPECT_EQ(check_batch_axis({axis}, type).code(), StatusCode::invalid_argument);
  }
}

TEST(Codec, CallSitesKeepTheNameOfWhatWasCalled) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input({ir::DType::f32, {2, 3}});
  const auto y = *builder.add(ir::Reduce{ir::ReduceFn::sum, {0}}, std::array{x}, {"model.cc", 41, "sum_dim"});
  const auto z = *builder.add(ir::Reduce{ir::ReduceFn::sum, {1}}, std::array{y}, {"model.cc", 42});
  const auto back = round_trip(std::make_shared<const ir::Program>(builder.finish({z})));
  ASSERT_EQ(back->nodes.size(), 2u);
  EXPECT_STREQ(back->nodes[0].site.op, "sum_dim");
  EXPECT_EQ(to_string(back->nodes[0].site), "model.cc:41");
  EXPECT_EQ(back->nodes[1].site.op, nullptr);
}

TEST(Codec, ProgramsComeBackWithTheSameHash) {
  const auto program = sample_program();
  const auto back = round_trip(program);
  ASSERT_TRUE(back);
  EXPECT_TRUE(ir::same(*program, *back));
  EXPECT_EQ(ir::to_string(*back), ir::to_string(*program));  // call sites included
  EXPECT_EQ(back->scalar_count, 1);
}

TEST(Codec, SeveralResultsRecomputationAndBoxesComeBack) {
  const auto program = language_program();
  const auto back = round_trip(program);
  ASSERT_TRUE(back);
  EXPECT_TRUE(ir::same(*program, *back));
  EXPECT_EQ(ir::to_string(*back), ir::to_string(*program));
  EXPECT_EQ(back->random_blocks, program->random_blocks);
}

TEST(Codec, RealAttributesKeepEveryBit) {
  for (const std::uint64_t bits : {0x7ff8000000000005ull, 0xfff0000000000000ull, 0x8000000000000000ull, 1ull}) {
    const auto program = program_of(ir::Constant::of_bits(ir::DType::f64, static_cast<std::int64_t>(bits)), {});
    const auto back = round_trip(program);
    ASSERT_TRUE(back);
    EXPECT_TRUE(ir::same(*program, *back));
    EXPECT_EQ(static_cast<std::uint64_t>(std::get<ir::Constant>(back->nodes[0].op).bits()), bits);
  }
}

TEST(Codec, CallSitesOutliveTheFrame) {
  std::shared_ptr<const ir::Program> program;
  {
    std::string file = "somewhere/model.cc";
    ir::ProgramBuilder builder;
    const auto y = value_or_throw(builder.add(ir::Iota{ir::DType::i64, 3}, {}, {file.c_str(), 12}));
    program = round_trip(std::make_shared<const ir::Program>(builder.finish({y})));
    file.assign(file.size(), 'x');
  }
  EXPECT_EQ(ir::to_string(program->nodes[0].site), "model.cc:12");
}

TEST(Codec, EveryOpTravels) {
  for (const auto& sample : ir::samples()) {
    SCOPED_TRACE(ir::to_string(sample.op));
    const auto program = program_of(sample.op, sample.operands);
    const auto back = round_trip(program);
    ASSERT_TRUE(back);
    EXPECT_TRUE(ir::same(*program, *back));
  }
}

TEST(Codec, ThePayloadIsNotCopied) {
  const std::vector<std::byte> numbers(4096);
  const auto payload = SharedBytes::own(std::vector<float>(1024, 1.0f));
  const auto frame = encode({0, Chunk{1, 0}, payload});
  EXPECT_EQ(frame.payload.data(), payload.data());
  const auto bytes = shared(to_string(frame));
  const auto back = value_or_throw(decode(bytes));
  EXPECT_EQ(back.payload.data(), bytes.data() + frame.header.size());
}

TEST(Codec, ThePayloadOutlivesTheFrameItCameIn) {
  SharedBytes payload;
  {
    const auto back = decoded(encode({0, Chunk{1, 0}, SharedBytes::own(std::vector<std::uint8_t>{1, 2, 3})}));
    payload = back.payload;
  }
  EXPECT_EQ(payload.span()[2], std::byte{3});
}

TEST(Codec, AChunkIsKnownByItsFirstBytesAndReadInTwoParts) {
  const std::string payload(kChunkBytes, 'x');
  const auto encoded = encode({0, Chunk{std::uint64_t{1} << 63, std::uint64_t{1} << 62}, shared(payload)});
  ASSERT_LE(encoded.header.size(), kMaxChunkHead);
  const auto whole = to_string(encoded);
  const auto head = peek_chunk(std::as_bytes(std::span{whole}).first(kMaxChunkHead), whole.size());
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->chunk, (Chunk{std::uint64_t{1} << 63, std::uint64_t{1} << 62}));
  EXPECT_EQ(head->payload_begin, encoded.header.size());
  EXPECT_EQ(head->payload_size, payload.size());
  const auto frame = decode(shared(encoded.header), encoded.payload);
  ASSERT_TRUE(frame.ok()) << frame.status().to_string();
  EXPECT_EQ(frame->payload.data(), encoded.payload.data());
  EXPECT_FALSE(decode(shared(encoded.header + "x"), encoded.payload).ok());
  EXPECT_FALSE(peek_chunk(std::as_bytes(std::span{whole}).first(kMaxChunkHead), whole.size() - 1));
  EXPECT_FALSE(peek_chunk(std::as_bytes(std::span{whole}).first(3), whole.size()));
  const auto ack = to_string(encode({0, Ack{6}, {}}));
  EXPECT_FALSE(peek_chunk(std::as_bytes(std::span{ack}), ack.size()));
}

TEST(Codec, GeneratedCodeReadsAFrame) {
  const auto frames = sample_frames();
  const auto run = std::ranges::find(frames, "run", &NamedFrame::name)->frame;
  v1::Frame frame;
  ASSERT_TRUE(frame.ParseFromString(to_string(encode(run))));
  EXPECT_EQ(frame.header().seq(), 2u);
  EXPECT_EQ(frame.header().run().inputs_size(), 4);
  EXPECT_EQ(frame.header().run().scalars(2), ~std::uint64_t{0});
  EXPECT_TRUE(frame.payload().empty());

  const auto write = std::ranges::find(frames, "write", &NamedFrame::name)->frame;
  ASSERT_TRUE(frame.ParseFromString(to_string(encode(write))));
  EXPECT_EQ(frame.header().write().type().dtype(), v1::F32);
  EXPECT_EQ(frame.payload().size(), 24u);
}

TEST(Codec, GeneratedCodeWritesAFrame) {
  for (const auto& [name, frame] : sample_frames()) {
    SCOPED_TRACE(name);
    v1::Frame message;
    ASSERT_TRUE(message.ParseFromString(to_string(encode(frame))));
    EXPECT_EQ(static_cast<int>(message.header().body_case()), verb_of(frame.body).field);
    EXPECT_EQ(message.SerializeAsString(), to_string(encode(frame)));
  }
}

TEST(Codec, ARunThatIsNotTracedHasNoByteOfATrace) {
  v1::Frame frame;
  ASSERT_TRUE(frame.ParseFromString(to_string(encode({1, RunProgram{}, {}}))));
  EXPECT_FALSE(frame.header().run().has_trace());
}

TEST(Codec, ATraceWhoseIdsAreZeroIsNone) {
  v1::Frame frame;
  frame.mutable_header()->set_seq(1);
  auto* trace = frame.mutable_header()->mutable_run()->mutable_trace();
  const auto read = [&] {
    return std::get<RunProgram>(value_or_throw(decode(shared(frame.SerializeAsString()))).body).run.trace;
  };
  trace->set_flags(1);
  trace->set_span(7);
  EXPECT_EQ(read(), TraceContext{}) << "without a trace id";
  trace->set_trace_low(8);
  EXPECT_EQ(read(), (TraceContext{.trace_low = 8, .span = 7, .is_sampled = true}));
  trace->set_flags(0xfe);
  EXPECT_FALSE(read().is_sampled) << "other flags are not looked at";
  trace->clear_span();
  EXPECT_EQ(read(), TraceContext{}) << "without a span";
}

// As a peer of an older version reads one with a trace.
TEST(Codec, ARunOfALaterVersionIsReadWithoutWhatIsNotKnownOfIt) {
  const auto frames = sample_frames();
  const auto run = std::ranges::find(frames, "run", &NamedFrame::name)->frame;
  v1::Frame frame;
  ASSERT_TRUE(frame.ParseFromString(to_string(encode(run))));
  ASSERT_TRUE(frame.mutable_header()->mutable_run()->MergeFromString({"\x82\x7d\x02hi", 5}));  // field 2000
  const auto back = value_or_throw(decode(shared(frame.SerializeAsString())));
  EXPECT_EQ(std::get<RunProgram>(back.body), std::get<RunProgram>(run.body));
}

TEST(Codec, DTypesHaveTheirNamesOnTheWire) {
  for (int i = 0; i < ir::kDTypeCount; ++i) {
    auto text = v1::DType_Name(static_cast<v1::DType>(i));
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    EXPECT_EQ(text, ir::name(static_cast<ir::DType>(i)));
  }
}

TEST(Codec, LongMessagesAreCut) {
  const auto back = decoded(encode({0, Done{1, internal_error(std::string(100000, 'x'))}, {}}));
  EXPECT_EQ(std::get<Done>(back.body).status.message().size(), 4096u);
}

TEST(Codec, MessagesAreValidUtf8WhateverTheyWere) {
  const std::pair<std::string, std::string> cases[] = {
      {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5"},
      {"\xff\xfe", "??"},
      {"cut \xe2\x82", "cut ??"},
      {"\xc0\x80", "??"},                                             // overlong
      {"\xed\xa0\x80", "???"},                                        // a surrogate
      {"\xf4\x90\x80\x80", "????"},                                   // beyond U+10FFFF
      {std::string(4095, 'x') + "\xc3\xa9", std::string(4095, 'x')},  // never half a character
  };
  for (const auto& [given, wanted] : cases) {
    const auto back = decoded(encode({0, Done{1, internal_error(given)}, {}}));
    EXPECT_EQ(std::get<Done>(back.body).status.message(), wanted);
  }
}

TEST(Codec, UnknownStatusCodesBecomeUnknown) {
  v1::Frame frame;
  frame.mutable_header()->mutable_close()->mutable_status()->set_code(4711);
  const auto back = value_or_throw(decode(shared(frame.SerializeAsString())));
  EXPECT_EQ(std::get<Close>(back.body).status.code(), StatusCode::unknown);
}

TEST(Verbs, EveryOneHasASampleAndARowUnderItsField) {
  std::set<std::string_view> seen;
  for (const auto& [name, frame] : sample_frames()) {
    const auto& verb = verb_of(frame.body);
    EXPECT_EQ(verb_at(verb.field), &verb);
    EXPECT_EQ(&kVerbs[frame.body.index()], &verb);
    seen.insert(verb.name);
  }
  EXPECT_EQ(seen.size(), kVerbs.size());
  EXPECT_EQ(verb_at(1), nullptr);
  EXPECT_EQ(verb_at(kVerbs.back().field + 1), nullptr);
  EXPECT_EQ(verb_at(-1), nullptr);
}

TEST(Verbs, WhatIsOrderedComesFromAClientAlone) {
  for (const auto& verb : kVerbs) {
    EXPECT_TRUE(verb.turn != Turn::ordered || verb.sender == Sender::client) << verb.name;
    EXPECT_TRUE(!verb.is_awaited || verb.turn == Turn::ordered) << verb.name;
  }
}

TEST(Verbs, ExtensionsAreWhatOlderServersDoNotTake) {
  std::uint64_t bits = 0;
  for (const int field : {16, 18, 20, 21, 23}) bits |= std::uint64_t{1} << field;
  EXPECT_EQ(kExtensions, bits);
  EXPECT_TRUE(kVerbOf<Stats>.is_announced);
  EXPECT_FALSE(kVerbOf<Sync>.is_announced);
}

TEST(WriteOptions, AreOfAnAxisThatTheTensorHas) {
  const ir::TensorType type{ir::DType::f32, {2, 3}}, scalar{ir::DType::f32, {}};
  for (const auto& axis :
       {std::optional<std::int32_t>{}, std::optional<std::int32_t>{0}, std::optional<std::int32_t>{1}})
    EXPECT_TRUE(check_batch_axis({axis}, type).ok());
  EXPECT_TRUE(check_batch_axis({}, scalar).ok());
  EXPECT_EQ(check_batch_axis({2}, type).to_string(),
            invalid_argument("write: batch axis 2 of f32[2, 3], which has 2 axes").to_string());
  EXPECT_FALSE(check_batch_axis({-1}, type).ok());
  EXPECT_FALSE(check_batch_axis({0}, scalar).ok());
}

TEST(Message, OrderedFramesAreThoseThatChangeOrReadState) {
  std::string ordered;
  for (const auto& [name, frame] : sample_frames()) {
    if (is_ordered(frame.body)) ordered += name + " ";
  }
  EXPECT_EQ(ordered,
            "define run write read release sync define_forget define_language read_confirms sync_confirms write_batch "
            "run_traced ");
}

}  // namespace
}  // namespace burn::proto
