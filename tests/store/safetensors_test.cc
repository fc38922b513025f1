// Files that a reader must refuse: a table of hostile headers, and a good file with flipped bits.
#include "store/safetensors.h"

#include <cstring>
#include <random>

#include <gmock/gmock.h>

#include "base/error.h"
#include "store/record.h"

namespace burn::store {
namespace {

using testing::HasSubstr;

std::string with_length(std::uint64_t length, const std::string& rest) {
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + rest;
}

std::string file_of(const std::string& json, std::size_t data_size = 0) {
  return with_length(json.size(), json + std::string(data_size, '\0'));
}

std::string message_of(const std::string& file) {
  const auto header = parse_safetensors(std::as_bytes(std::span(file)));
  return header.ok() ? "ok" : header.status().message();
}

struct Hostile {
  std::string json;
  std::size_t data_size;
  std::string message;
};

TEST(Safetensors, RefusesHostileHeaders) {
  const Hostile table[] = {
      {R"([])", 0, "the header is an array, not an object"},
      {R"("x")", 0, "the header is a string, not an object"},
      {R"({)", 0, "the header is not JSON at byte 1: "},
      {R"()", 0, "the header is not JSON at byte 0: "},
      {R"({} x)", 0, "the header goes on after its object, at byte 3"},
      {"{\"\xff\":{}}", 0, "the header is not JSON at byte "},
      {R"({"a":1})", 0, "1 stands for 'a', not an object"},
      {R"({"a":null})", 0, "a null stands for 'a', not an object"},
      {R"({"a":{}})", 0, "tensor 'a' lacks dtype, shape or data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", 4, "tensor 'a' lacks dtype, shape or data_offsets"},
      {R"({"a":{"dtype":1}})", 0, "tensor 'a' has 1 in dtype"},
      {R"({"a":{"dtype":"f32"}})", 0, "tensor 'a' has the unsupported dtype 'f32'"},
      {R"({"a":{"dtype":"F8_E4M3"}})", 0, "tensor 'a' has the unsupported dtype 'F8_E4M3'"},
      {R"({"a":{"shape":"x"}})", 0, "tensor 'a' has a string in shape"},
      {R"({"a":{"shape":[[1]]}})", 0, "tensor 'a' has an array in shape"},
      {R"({"a":{"shape":[-1]}})", 0, "tensor 'a' has -1 in shape"},
      {R"({"a":{"shape":[1.5]}})", 0, "tensor 'a' has a fraction or a huge number in shape"},
      {R"({"a":{"shape":[99999999999999999999]}})", 0, "tensor 'a' has a fraction or a huge number in shape"},
      {R"({"a":{"shape":[18446744073709551615]}})", 0, "tensor 'a' has a size of 18446744073709551615"},
      {R"({"a":{"shape":[1,1,1,1,1,1,1,1,1]}})", 0, "tensor 'a' has more than 8 numbers in shape"},
      {R"({"a":{"data_offsets":[0]}})", 0, "tensor 'a' has 1 data_offsets instead of 2"},
      {R"({"a":{"data_offsets":[0,1,2]}})", 0, "tensor 'a' has 3 data_offsets instead of 2"},
      {R"({"a":{"data_offsets":true}})", 0, "tensor 'a' has a bool in data_offsets"},
      {R"({"a":{"dtype":"F32","dtype":"F32"}})", 0, "tensor 'a' has the field dtype twice"},
      {R"({"a":{"strides":[1]}})", 0, "tensor 'a' has the unknown field 'strides'"},
      {R"({"__metadata__":{"k":1}})", 0, "1 stands for metadata 'k', not a string"},
      {R"({"__metadata__":{"k":{}}})", 0, "an object stands for metadata 'k', not a string"},
      {R"({"__metadata__":{"k":"a","k":"b"}})", 0, "the key 'k' stands twice"},
      {R"({"__metadata__":{},"__metadata__":{}})", 0, "the key '__metadata__' stands twice"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
       2, "the key 'a' stands twice"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
       "tensor 'a' is f32[2] of 8 bytes, but its data_offsets are 0 to 4"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8,
       "tensor 'a' is f32[2] of 8 bytes, but its data_offsets are 8 to 0"},
      {R"({"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
       "tensor 'a' is too large: f64[4294967296, 4294967296]"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 3,
       "the tensors end at 4, but there are 3 bytes of data"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 5,
       "the tensors end at 4, but there are 5 bytes of data"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}})", 5,
       "tensor 'a' starts at 1, but the one before it ends at 0"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
       6, "tensor 'b' starts at 2, but the one before it ends at 4"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[18446744073709551612,18446744073709551615]}})", 4,
       "tensor 'a' is u8[4] of 4 bytes, but its data_offsets are 18446744073709551612 to 18446744073709551615"},
      {R"({"a\u0000\n":1})", 0, "1 stands for 'a..', not an object"},
  };
  for (const auto& hostile : table) {
    EXPECT_THAT(message_of(file_of(hostile.json, hostile.data_size)), testing::StartsWith(hostile.message))
        << hostile.json;
  }
}

TEST(Safetensors, RefusesLengthsThatCannotBe) {
  EXPECT_EQ(message_of(""), "this is no safetensors file: 0 bytes are too few for one");
  EXPECT_EQ(message_of("1234567"), "this is no safetensors file: 7 bytes are too few for one");
  EXPECT_EQ(message_of(with_length(3, "{}")),
            "this is no safetensors file, or one cut short: the header claims 3 bytes, but 2 follow");
  EXPECT_EQ(message_of(with_length(100'000'001, "{}")),
            "this is no safetensors file: its header would have 100000001 bytes, more than the 100000000 allowed");
  EXPECT_THAT(message_of(with_length(~0ull, "{}")),
              HasSubstr("its header would have 18446744073709551615 bytes, more than"));
}

TEST(Safetensors, BearsDeepNesting) {
  EXPECT_NE(message_of(file_of(std::string(100000, '['))), "ok");
  std::string nested = R"({"a":)";
  for (int i = 0; i < 100000; ++i) nested += R"({"a":)";
  EXPECT_NE(message_of(file_of(nested)), "ok");
}

TEST(Safetensors, AcceptsWhatOthersWrite) {
  // Blanks, fields in another order, tensors not in the order of their data, an unpadded header.
  EXPECT_EQ(message_of(file_of("{ \"b\" : {\"data_offsets\":[4,8],\"dtype\":\"BF16\", \"shape\":[2]},\n"
                               "\"a\":{\"shape\":[],\"dtype\":\"I32\",\"data_offsets\":[0,4]}}   ",
                               8)),
            "ok");
  EXPECT_EQ(message_of(file_of("{}")), "ok");
  EXPECT_EQ(message_of(file_of(R"({"z":{"dtype":"U8","shape":[0,5],"data_offsets":[0,0]}})")), "ok");
}

// Whatever bits of a good file change, it must load or throw burn::Error.
TEST(Safetensors, SurvivesFlippedBits) {
  Record record;
  record.insert("layer.weight", TensorData::ones({3, 5}));
  record.insert("layer.mask", TensorData(std::vector<bool>(7, true), {7}));
  record.insert("steps", TensorData(std::vector<std::int64_t>{42}, {}));
  record.metadata()["format"] = "pt";
  const auto good = record.to_bytes();

  std::mt19937_64 random(7);
  int loaded = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> bytes(good.span().begin(), good.span().end());
    for (std::uint64_t flips = random() % 4 + 1; flips > 0; --flips) {
      bytes[random() % bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
    }
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    try {
      for (const auto& [name, data] : Record::from_bytes(SharedBytes::own(std::move(bytes)))) {
        (void)data.to_vec_as<double>();
      }
      ++loaded;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), StatusCode::invalid_argument);
      ++refused;
    }
  }
  EXPECT_GT(loaded, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace burn::store
