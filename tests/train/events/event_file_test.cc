// The file of events: reads return the events that were written, also after a killed process, a resume, or damage.
#include "train/events/event_file.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"
#include "tests/train/events/made_up_run.h"
#include "train/dashboard/run_board.h"
#include "train/events/codec.h"

namespace burn::train::events {
namespace {

using ::testing::HasSubstr;

std::vector<Event> read_all(const std::filesystem::path& path) {
  EventFileReader reader{path};
  std::vector<Event> events;
  while (auto event = reader.next()) events.push_back(std::move(*event));
  return events;
}

void write(const std::filesystem::path& path, const std::vector<Event>& events) {
  EventFileSink sink{path};
  for (const auto& event : events) sink.event(event);
  sink.flush();
}

TEST(Codec, GivesBackEveryKindOfEvent) {
  const std::vector<Body> bodies{made_up_start(),
                                 SplitStart{Split::test, 3, 1000},
                                 Progress{.items = 5, .seconds = 0.25, .values = {{1, -2.5}}},
                                 MetricPoint{1, Split::valid, -3, 1'000'000'000'000, 7, 2, 0.1, -1e300, HUGE_VAL},
                                 TextPoint{"sample", Split::valid, 4, "öäü\n"},
                                 SplitEnd{Split::train, 1, 2, 3, 4, 5.5, {{0, 1}, {1, 2}}},
                                 EpochEnd{2, 10, 400, 1e-4},
                                 CheckpointWritten{2, 400, 1.5, true},
                                 Message{Level::error, "no"},
                                 Phases{1, 2, 3, 4, 5, 6, 7, 8},
                                 Summary{{{Split::valid, 1, 0.5, 0.75, 3, 4}}},
                                 End{Ended::failed, "device lost"}};
  ASSERT_EQ(bodies.size(), std::variant_size_v<Body>);
  for (const auto& body : bodies) {
    const auto bytes = encode({-12345, body});
    const auto back = decode(bytes);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->time_us, -12345);
    EXPECT_EQ(back->body.index(), body.index());
    EXPECT_EQ(encode(*back), bytes);
  }
}

TEST(Codec, ReadsFewerFieldsAndSkipsUnknownKinds) {
  auto bytes = encode({1, EpochEnd{2, 10, 400, 1e-4}});
  bytes.resize(bytes.size() - 8);  // drops the last field, the learning rate
  EXPECT_EQ(std::get<EpochEnd>(decode(bytes)->body).step, 400);
  std::string unknown;
  put_varint(unknown, 2);
  put_varint(unknown, 99);
  EXPECT_FALSE(decode(unknown));
}

TEST(Codec, RefusesRubbishWithoutReadingBeyondIt) {
  std::mt19937 random{7};
  const auto good = encode({1, made_up_start()});
  for (int i = 0; i < 20'000; ++i) {
    auto bytes = good;
    for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % (bytes.size() + 1));
    try {
      (void)decode(bytes);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), StatusCode::data_loss);
    }
  }
}

TEST(Crc, IsThatOfCastagnoli) { EXPECT_EQ(crc32c("123456789"), 0xe3069283U); }

TEST(EventFile, HoldsWhatWasWritten) {
  const test::TempFolder folder;
  const auto path = folder / "run/events";
  write(path, made_up_run(3));
  const auto events = read_all(path);
  ASSERT_EQ(events.size(), made_up_run(3).size());
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(encode(events[i]), encode(made_up_run(3)[i]));
  EXPECT_EQ(run_of(path), "a1b2");
}

TEST(EventFile, CutAnywhereIsReadToItsLastWholeEvent) {
  const test::TempFolder folder;
  const auto path = folder / "events";
  write(path, {{1, made_up_start()}, {2, EpochEnd{.epoch = 1}}, {3, EpochEnd{.epoch = 2}}});
  const auto whole = test::TempFolder::read(path);
  std::size_t most = 0;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const auto cut = folder.write("cut", whole.substr(0, size));
    const auto found = read_all(cut).size();
    EXPECT_GE(found, most);
    most = found;
  }
  EXPECT_EQ(most, 3u);
}

TEST(EventFile, ReadsOnWhenTheRestArrives) {
  const test::TempFolder folder;
  const auto path = folder / "events";
  write(path, {{1, made_up_start()}, {2, EpochEnd{.epoch = 1}}});
  const auto whole = test::TempFolder::read(path);
  folder.write("growing", whole.substr(0, whole.size() - 3));
  EventFileReader reader{folder / "growing"};
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.has_rest());
  folder.write("growing", whole);
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.has_rest());
}

TEST(EventFile, DamageEndsItAndAResumedRunWritesOverIt) {
  const test::TempFolder folder;
  const auto path = folder / "events";
  write(path, {{1, made_up_start()}, {2, EpochEnd{.epoch = 1}}, {3, EpochEnd{.epoch = 2}}});
  auto bytes = test::TempFolder::read(path);
  bytes[bytes.size() - 5] ^= 1;
  folder.write("events", bytes);
  EXPECT_EQ(read_all(path).size(), 2u);
  auto resumed = made_up_start();
  resumed.resumed = true;
  write(path, {{4, resumed}, {5, EpochEnd{.epoch = 7}}});
  const auto events = read_all(path);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(std::get<EpochEnd>(events.back().body).epoch, 7);
}

TEST(EventFile, OfAnotherRunIsRefused) {
  const test::TempFolder folder;
  const auto path = folder / "events";
  write(path, {{1, made_up_start("aaaa")}});
  auto other = made_up_start("bbbb");
  other.resumed = true;
  EXPECT_THAT(test::error_of([&] { write(path, {{2, other}}); }), HasSubstr("is of the run aaaa, not of bbbb"));
  EXPECT_THAT(test::error_of([&] { (void)run_to_resume(path, "bbbb"); }), HasSubstr("the checkpoint of the run bbbb"));
  EXPECT_EQ(run_to_resume(path, "aaaa"), "aaaa");
  EXPECT_EQ(run_to_resume(path, ""), "aaaa");
  EXPECT_EQ(run_to_resume(folder / "none", "cccc"), "cccc");
  folder.write("text", "epoch,loss\n1,0.5\n");
  EXPECT_THAT(test::error_of([&] { (void)run_of(folder / "text"); }), HasSubstr("text is no event file"));
}

TEST(EventFile, IsHeldByOneWriter) {
  const test::TempFolder folder;
  const auto path = folder / "events";
  EventFileSink first{path}, second{path};
  first.event({1, made_up_start()});
  EXPECT_TRUE(is_locked(path));
  EXPECT_THAT(test::error_of([&] { second.event({1, made_up_start()}); }), HasSubstr("written by another process"));
}

TEST(EventFile, ThatIsReplacedIsReadFromItsBeginning) {
  const test::TempFolder folder;
  const auto path = folder / "run/events";
  dashboard::RunBoard board;
  dashboard::FolderReader reader{{folder.path()}, board};
  write(path, made_up_run(2));
  EXPECT_TRUE(reader.poll());
  board.read([](const auto& runs) { EXPECT_EQ(runs.at(0)->state.epoch(), 2); });
  EXPECT_FALSE(reader.poll());
  auto second = made_up_run(1);
  std::get<Start>(second[0].body).run = "other";
  write(path, second);
  EXPECT_TRUE(reader.poll());
  board.read([](const auto& runs) {
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0]->state.start().run, "other");
    EXPECT_EQ(runs[0]->state.epoch(), 1);
    EXPECT_FALSE(runs[0]->is_running);
  });
}

}  // namespace
}  // namespace burn::train::events
