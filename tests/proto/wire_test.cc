// The wire format by hand, and programs in forms that our own writer does not choose but a parser must accept.
#include "proto/wire.h"

#include <gtest/gtest.h>

#include "ir/attrs.h"
#include "proto/burn.pb.h"
#include "proto/codec.h"

namespace burn::proto {
namespace {

using namespace std::string_literals;

std::optional<std::uint64_t> varint(std::string_view bytes) {
  WireReader in{bytes};
  std::uint64_t value = 0;
  if (!in.varint(value) || !in.at_end()) return std::nullopt;
  return value;
}

// Whether all fields in the bytes can be skipped.
bool skips(std::string_view bytes) {
  WireReader in{bytes};
  while (!in.at_end()) {
    int field = 0;
    auto type = WireType::varint;
    if (!in.tag(field, type) || !in.skip(field, type)) return false;
  }
  return true;
}

TEST(Wire, NumbersComeBack) {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{16383},
        std::uint64_t{16384}, ~std::uint64_t{0} >> 1, ~std::uint64_t{0}}) {
    WireWriter out;
    out.varint(value);
    EXPECT_EQ(varint(out.take()), value);
  }
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}, INT64_MIN, INT64_MAX})
    EXPECT_EQ(zigzag_decode(zigzag_encode(value)), value);
  for (const std::int32_t value : {0, -1, 1, INT32_MIN, INT32_MAX})
    EXPECT_EQ(zigzag_decode32(zigzag_encode32(value)), value);
}

TEST(Wire, NumbersMayNotBeCutOrTooLong) {
  EXPECT_EQ(varint(""), std::nullopt);
  EXPECT_EQ(varint("\x80"), std::nullopt);
  EXPECT_EQ(varint("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), ~std::uint64_t{0});
  EXPECT_EQ(varint("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), std::nullopt);
}

TEST(Wire, BlocksOfAnyLengthStandBehindIt) {
  for (const std::size_t size : {0u, 1u, 126u, 127u, 128u, 129u, 16383u, 16384u, 300000u}) {
    const std::string text(size, 'x');
    WireWriter out;
    out.block(1, [&] {
      out.block(2, [&] { out.text(3, text); });
      out.number(4, 5);
    });
    const auto bytes = out.take();
    WireReader in{bytes};
    int field = 0;
    auto type = WireType::varint;
    std::string_view outer, inner, read;
    std::uint64_t number = 0;
    ASSERT_TRUE(in.tag(field, type) && field == 1 && type == WireType::block && in.block(outer) && in.at_end());
    WireReader parts{outer};
    ASSERT_TRUE(parts.tag(field, type) && field == 2 && parts.block(inner));
    ASSERT_TRUE(parts.tag(field, type) && field == 4 && parts.varint(number) && parts.at_end());
    EXPECT_EQ(number, 5u);
    WireReader innermost{inner};
    ASSERT_TRUE(innermost.tag(field, type) && field == 3 && innermost.block(read) && innermost.at_end());
    EXPECT_EQ(read, text);
  }
}

TEST(Wire, UnknownFieldsOfAllKindsAreSkipped) {
  EXPECT_TRUE(skips("\x78\x05"s));                  // a number
  EXPECT_TRUE(skips("\x79"s + "12345678"));         // 64 bits
  EXPECT_TRUE(skips("\x7a\x03"s + "abc"));          // a block
  EXPECT_TRUE(skips("\x7d"s + "1234"));             // 32 bits
  EXPECT_TRUE(skips("\x7b\x08\x01\x13\x14\x7c"s));  // groups, one in another
  for (const auto& bad : {"\x78"s, "\x79"s + "1234567", "\x7a\x03"s + "ab", "\x7d"s + "123", "\x7b\x08\x01"s, "\x7c"s,
                          "\x7b\x74"s, "\x7e"s, "\x7f"s, "\x02\x00"s}) {
    EXPECT_FALSE(skips(bad));
  }
  EXPECT_FALSE(skips(std::string(100'000, '\x7b')));  // groups without an end, in each other
}

// --- programs
// ----------------------------------------------------------------------------------------------------------

ReadProgram read(const v1::Program& program) {
  const auto text = program.SerializeAsString();
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return read_program(SharedBytes::own(std::vector<std::byte>(begin, begin + text.size())));
}

v1::Program reshaped() {
  v1::Program program;
  auto* type = program.add_inputs()->mutable_type();
  type->set_dtype(v1::F32);
  type->add_shape(6);
  auto* node = program.add_nodes();
  node->set_op("reshape");
  node->add_operands(-1);
  auto* attr = node->add_attrs();
  attr->set_name(std::string{std::get<0>(ir::Reshape::kAttrs).name});
  attr->mutable_numbers()->add_values(2);
  attr->mutable_numbers()->add_values(3);
  program.add_outputs(0);
  return program;
}

// The field of a Node as bytes of its own, appended to what the node has: as a parser of messages in parts would see
// it.
std::string with_raw_node(v1::Program program, const std::string& more) {
  const auto node = program.nodes(0).SerializeAsString() + more;
  program.clear_nodes();
  return program.SerializeAsString() + "\x12" + static_cast<char>(node.size()) + node;
}

ReadProgram read(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return read_program(SharedBytes::own(std::vector<std::byte>(begin, begin + text.size())));
}

TEST(WireProgram, IsReadAsGeneratedCodeWritesIt) {
  const auto program = read(reshaped());
  ASSERT_TRUE(program.program) << program.invalid.to_string();
  EXPECT_EQ(ir::to_string(program.program->nodes[0].op), "reshape(shape=[2, 3])");
}

TEST(WireProgram, OperandsNeedNotBePacked) {
  auto program = reshaped();
  program.mutable_nodes(0)->clear_operands();
  const auto read_back = read(with_raw_node(program, "\x10\x01"));  // sint32 -1
  ASSERT_TRUE(read_back.program) << read_back.invalid.to_string();
  EXPECT_EQ(read_back.program->operands[0], ir::Ref::input(0));
}

TEST(WireProgram, TheLastOfTwoValuesCounts) {
  auto program = reshaped();
  auto attr = program.nodes(0).attrs(0).SerializeAsString();
  program.mutable_nodes(0)->clear_attrs();
  attr = "\x10\x04" + attr;  // a number first
  const auto read_back = read(with_raw_node(program, "\x1a"s + static_cast<char>(attr.size()) + attr));
  ASSERT_TRUE(read_back.program) << read_back.invalid.to_string();
  EXPECT_EQ(ir::to_string(read_back.program->nodes[0].op), "reshape(shape=[2, 3])");
}

TEST(WireProgram, CutNodesAreMalformed) {
  const auto node = reshaped().nodes(0).SerializeAsString();
  auto rest = reshaped();
  rest.clear_nodes();
  for (std::size_t size = 0; size < node.size(); ++size) {
    const auto text = rest.SerializeAsString() + "\x12" + static_cast<char>(size) + node.substr(0, size);
    EXPECT_FALSE(read(text).program) << size;
  }
}

TEST(WireProgram, TooManyNumbersAreCounted) {
  auto program = reshaped();
  auto* numbers = program.mutable_nodes(0)->mutable_attrs(0)->mutable_numbers();
  while (numbers->values_size() < 1000) numbers->add_values(1);
  const auto read_back = read(program);
  EXPECT_FALSE(read_back.program);
  EXPECT_NE(read_back.invalid.message().find("1000 numbers; at most 8"), std::string::npos)
      << read_back.invalid.to_string();
}

}  // namespace
}  // namespace burn::proto
