#include "store/record.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <future>
#include <numeric>

#include <gmock/gmock.h>

#include "base/error.h"
#include "store/pieces.h"
#include "tests/support/temp_folder.h"

namespace burn {
namespace {

using testing::ElementsAre;

// One tensor of every element type, of odd sizes so that they do not align by luck.
Record every_dtype() {
  Record record;
  for (int i = 0; i < ir::kDTypeCount; ++i) {
    const auto dtype = static_cast<ir::DType>(i);
    std::vector<float> values(static_cast<std::size_t>(i % 3 + 1) * 5);
    std::iota(values.begin(), values.end(), 0.f);
    record.insert(std::string("weights.") + std::string(ir::name(dtype)),
                  TensorData(values, {i % 3 + 1, 5}).convert_dtype(dtype));
  }
  record.insert("scalar", TensorData(std::vector<float>{3}, {}));
  record.insert("empty", TensorData::zeros({0, 4}, ir::DType::i64));
  record.metadata() = {{"format", "pt"}, {"quote \" and \\", "line\nbreak \xc3\xa9"}};
  return record;
}

void expect_same(const Record& actual, const Record& expected) {
  ASSERT_EQ(actual.names(), expected.names());
  for (const auto& [name, data] : expected) EXPECT_EQ(actual.get(name), data) << name;
  EXPECT_EQ(actual.metadata(), expected.metadata());
}

std::vector<Record::Read> one_read(std::promise<TensorData>& numbers) {
  std::vector<Record::Read> reads;
  reads.emplace_back("awaited", numbers.get_future());
  return reads;
}

TEST(Record, OfNumbersThatAreStillComingWaitsWhenItIsLookedAt) {
  std::promise<TensorData> numbers;
  Record record;
  record.insert("here", TensorData(std::vector<float>{1}, {1}));
  record.insert_reads(one_read(numbers));
  const Record copy = record;
  auto size = std::async(std::launch::async, [&] { return copy.size(); });
  EXPECT_EQ(size.wait_for(std::chrono::milliseconds{20}), std::future_status::timeout);
  numbers.set_value(TensorData(std::vector<float>{2}, {1}));
  EXPECT_EQ(size.get(), 2u);
  EXPECT_THAT(record.names(), ElementsAre("awaited", "here"));
  EXPECT_EQ(record.get("awaited").to_vec<float>(), std::vector<float>{2});
  EXPECT_TRUE(record.remove("here"));
  EXPECT_EQ(record.size(), 1u);
  EXPECT_EQ(copy.size(), 2u) << "a copy is a value of its own";
}

TEST(Record, OfNumbersThatDoNotComeSaysWhyToEachReader) {
  std::promise<TensorData> numbers;
  Record record;
  record.insert_reads(one_read(numbers));
  const Record copy = record;
  numbers.set_exception(std::make_exception_ptr(Error(StatusCode::data_loss, "they are lost")));
  EXPECT_THROW((void)record.size(), Error);
  EXPECT_THROW((void)record.find("awaited"), Error);
  EXPECT_THROW((void)copy.to_bytes(), Error);
}

TEST(Record, OfNumbersThatAreElsewhereIsWrittenAFewTensorsAtATime) {
  const test::TempFolder folder;
  const auto written = [&] {
    std::size_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) bytes += file.file_size();
    return bytes;
  };
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  const auto tensor = [](std::size_t mib, float first) {
    std::vector<float> numbers(mib * kMiB / sizeof(float));
    numbers[0] = first;
    const auto count = static_cast<std::int64_t>(numbers.size());
    return TensorData(std::move(numbers), {count});
  };
  std::size_t asked = 0, most = 0;
  std::vector<Record::Source> sources;
  for (int i = 0; i < 24; ++i) {
    const std::size_t mib = i == 12 ? 80 : 5;  // one is larger than the limit of staged bytes
    const auto type = tensor(mib, 0).type();
    sources.push_back({"tensor " + std::to_string(i), type, [=, &asked, &most] {
                         asked += mib * kMiB;
                         if (mib == 5) most = std::max(most, asked - std::min(asked, written()));
                         std::promise<TensorData> numbers;
                         numbers.set_value(tensor(mib, static_cast<float>(i)));
                         return numbers.get_future();
                       }});
  }
  Record record;
  record.insert_sources(std::move(sources));
  record.save(folder / "large.safetensors");
  EXPECT_GT(most, 40 * kMiB);  // save() asks ahead
  EXPECT_LE(most, Record::kStagingBytes + kMiB);
  const auto loaded = Record::load(folder / "large.safetensors");
  ASSERT_EQ(loaded.size(), 24u);
  for (int i = 0; i < 24; ++i)
    EXPECT_EQ(loaded.get("tensor " + std::to_string(i)).as_slice<float>()[0], static_cast<float>(i));
}

TEST(Record, OfALargeTensorInPiecesIsWrittenAFewPiecesAtATime) {
  const test::TempFolder folder;
  constexpr std::int64_t kPiece = std::int64_t{4} << 20, kPieces = 10;  // elements
  const auto numbers = [](std::int64_t begin, std::int64_t count, const ir::Shape& shape) {
    std::vector<float> of(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < of.size(); ++i)
      of[i] = static_cast<float>((begin + static_cast<std::int64_t>(i)) % 9973);
    return TensorData(std::move(of), shape);
  };
  const auto ready = [](TensorData data) {
    std::promise<TensorData> promise;
    promise.set_value(std::move(data));
    return promise.get_future();
  };
  const ir::Shape shape{kPieces, kPiece - 1};  // the last piece is shorter
  const std::int64_t all = ir::num_elements(shape);
  bool was_read_whole = false;
  std::size_t wrong = kPieces;  // which piece is too short
  store::ReadInPieces read;
  read.whole = [&] {
    was_read_whole = true;
    return ready(numbers(0, all, shape));
  };
  read.count = kPieces;
  read.piece = [&](std::size_t k) {
    const auto begin = static_cast<std::int64_t>(k) * kPiece;
    const auto count = std::min(kPiece, all - begin) - (k == wrong ? 1 : 0);
    return ready(numbers(begin, count, {count}));
  };
  const auto record = [&] {
    std::vector<Record::Source> sources;
    sources.push_back({"a small one", TensorData::zeros({2}).type(), [&] { return ready(TensorData::zeros({2})); }});
    sources.push_back({"large", {ir::DType::f32, shape}, read});
    Record of;
    of.insert_sources(std::move(sources));
    return of;
  };
  record().save(folder / "pieces.safetensors");
  EXPECT_FALSE(was_read_whole);
  const auto loaded = Record::load(folder / "pieces.safetensors");
  EXPECT_EQ(loaded.get("large").shape(), shape);
  EXPECT_EQ(loaded.get("large").to_vec<float>(), numbers(0, all, shape).to_vec<float>());
  EXPECT_EQ(loaded.get("a small one").to_vec<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(record().get("large").shape(), shape);
  EXPECT_TRUE(was_read_whole);
  wrong = 3;
  EXPECT_THROW(record().save(folder / "short.safetensors"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "short.safetensors"));
}

TEST(Record, OfNumbersThatCannotBeReadIsNotWritten) {
  const test::TempFolder folder;
  std::vector<Record::Source> sources;
  sources.push_back({"lost", TensorData::zeros({2}).type(), [] {
                       std::promise<TensorData> numbers;
                       numbers.set_exception(std::make_exception_ptr(Error(StatusCode::unavailable, "no device")));
                       return numbers.get_future();
                     }});
  Record record;
  record.insert_sources(std::move(sources));
  EXPECT_THROW(record.save(folder / "lost.safetensors"), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Record, OfASourceThatThrowsTellsThatErrorAtEachAccess) {
  int asked = 0;
  const auto ready = [&asked] {
    asked += 1;
    std::promise<TensorData> numbers;
    numbers.set_value(TensorData::zeros({2}));
    return numbers.get_future();
  };
  std::vector<Record::Source> sources;
  sources.push_back({"first", TensorData::zeros({2}).type(), ready});
  sources.push_back({"lost", TensorData::zeros({2}).type(),
                     []() -> std::future<TensorData> { throw Error(StatusCode::unavailable, "no device"); }});
  Record record;
  record.insert_sources(std::move(sources));
  for (int k = 0; k < 3; ++k) EXPECT_THROW((void)record.size(), Error);
  EXPECT_EQ(asked, 1);
}

TEST(Record, RoundTripsEveryTypeThroughAFile) {
  const test::TempFolder folder;
  const auto record = every_dtype();
  record.save(folder / "all.safetensors");
  expect_same(Record::load(folder / "all.safetensors"), record);
}

TEST(Record, RoundTripsThroughMemoryWithoutCopyingTensors) {
  const auto record = every_dtype();
  const auto bytes = record.to_bytes();
  const auto copy = Record::from_bytes(bytes);
  expect_same(copy, record);
  for (const auto& [name, data] : copy) {
    if (data.num_elements() == 0) continue;
    EXPECT_GE(data.as_bytes().data(), bytes.data()) << name;
    EXPECT_LT(data.as_bytes().data(), bytes.data() + bytes.size()) << name;
  }
}

TEST(Record, TensorsOutliveTheRecord) {
  const test::TempFolder folder;
  every_dtype().save(folder / "file");
  const TensorData data = Record::load(folder / "file").get("weights.f64");
  std::filesystem::remove(folder / "file");
  EXPECT_EQ(data.as_slice<double>()[4], 4.0);
}

TEST(Record, EmptyRoundTrips) { expect_same(Record::from_bytes(Record{}.to_bytes()), Record{}); }

TEST(Record, FollowsTheLayoutByteForByte) {
  Record record;
  record.insert("b", TensorData(std::vector<std::uint8_t>{7, 8, 9}, {3}));
  record.insert("a", TensorData(std::vector<float>{1.0f}, {1}));
  record.metadata()["k"] = "v";
  const std::string json = R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                           R"("b":{"dtype":"U8","shape":[3],"data_offsets":[4,7]}})";
  const std::string padding((8 - json.size() % 8) % 8, ' ');
  std::string expected(8, '\0');
  expected[0] = static_cast<char>(json.size() + padding.size());
  expected += json + padding + std::string("\0\0\x80\x3f\x07\x08\x09", 7);
  const auto bytes = record.to_bytes();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), expected);
}

TEST(Record, InsertReplacesAndRemoveRemoves) {
  Record record;
  record.insert("x", TensorData::zeros({1}));
  record.insert("x", TensorData::ones({1}));
  EXPECT_THAT(record.get("x").to_vec<float>(), ElementsAre(1));
  EXPECT_EQ(record.size(), 1u);
  EXPECT_TRUE(record.remove("x"));
  EXPECT_FALSE(record.remove("x"));
  EXPECT_FALSE(record.contains("x"));
  EXPECT_EQ(record.find("x"), nullptr);
}

TEST(Record, SaysWhichTensorIsMissing) {
  Record record;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) record.insert(name, TensorData::zeros({1}));
  try {
    (void)record.get("x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), StatusCode::not_found);
    EXPECT_STREQ(error.what(), "record: no tensor 'x' among 6: a, b, c, d, e, ...");
  }
  EXPECT_THROW(record.insert("__metadata__", TensorData::zeros({1})), Error);
}

TEST(Record, LoadNamesTheFile) {
  const test::TempFolder folder;
  const auto path = folder.write("short.safetensors", "1234");
  try {
    (void)Record::load(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), path.native() + ": this is no safetensors file: 4 bytes are too few for one");
  }
}

TEST(Record, LoadSaysThatAFileIsOfAnotherKind) {
  const test::TempFolder folder;
  const auto path = folder.write("model.pt", "PK\x03\x04 or whatever else files begin with");
  try {
    (void)Record::load(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith(path.native() + ": this is no safetensors file: "));
  }
}

TEST(Record, CopiesTensorsThatAForeignFileMisaligned) {
  const std::string json =
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(json.size());
  const double value = 2.5;
  file += json + std::string(1, '\7') + std::string(reinterpret_cast<const char*>(&value), 8);
  const auto record = Record::from_bytes(SharedBytes::own(std::vector<char>(file.begin(), file.end())));
  EXPECT_THAT(record.get("b").to_vec<double>(), ElementsAre(2.5));
}

}  // namespace
}  // namespace burn
