// Loggers: their output, read back.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"
#include "tests/train/events/made_up_run.h"
#include "train/events/json_text.h"
#include "train/log/loggers.h"

namespace burn::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

void tell(events::EventSink& sink, const std::vector<events::Event>& events) {
  for (const auto& event : events) sink.event(event);
  sink.flush();
}

std::vector<events::Event> resumed_after_epoch_1() {
  auto start = events::made_up_start();
  start.resumed = true;
  start.epoch = 1;
  start.step = 100;
  std::vector<events::Event> events{{1, start}};
  const auto more = events::made_up_epoch(2);
  events.insert(events.end(), more.begin(), more.end());
  return events;
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::istringstream text{test::TempFolder::read(path)};
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST(JsonText, HasNothingThatIsNoUtf8) {
  EXPECT_EQ(events::json_text("\xc3\xa9<\"\n"), "\"\xc3\xa9\\u003c\\\"\\u000a\"");
  EXPECT_EQ(events::json_text("a\xff\xed\xa0\x80"), "\"a\\ufffd\\ufffd\\ufffd\\ufffd\"");
  EXPECT_EQ(events::json_text("\xe2\x82"), "\"\\ufffd\\ufffd\"");
}

TEST(MemoryLogger, GivesPointsAndEpochsByName) {
  MemoryLogger logger;
  tell(logger, events::made_up_run(2));
  EXPECT_EQ(logger.points("Loss", Split::train).size(), 200u);
  const auto epochs = logger.epochs("Accuracy", Split::valid);
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_EQ(epochs[1].step, 200);
  EXPECT_EQ(epochs[1].value, 90);
  EXPECT_TRUE(logger.points("Perplexity", Split::train).empty());
}

TEST(CsvLogger, WritesARowForEachPointAndEpoch) {
  const test::TempFolder folder;
  CsvLogger logger{folder / "a/run.csv"};
  tell(logger, events::made_up_run(1));
  const auto lines = lines_of(folder / "a/run.csv");
  ASSERT_EQ(lines.size(), 1u + 200 + 4);
  EXPECT_EQ(lines[0], "time,kind,split,metric,epoch,step,count,mean,min,max");
  EXPECT_EQ(lines.back(), "1764097210.000,epoch,valid,Accuracy,1,100,200,89,89,89");
}

TEST(CsvLogger, OfAResumedRunHasEachStepOnce) {
  const test::TempFolder folder;
  for (const auto& part : {events::made_up_run(3), resumed_after_epoch_1()}) {
    CsvLogger logger{folder / "run.csv"};
    tell(logger, part);
  }
  EXPECT_EQ(lines_of(folder / "run.csv").size(), 1u + 2 * 204);
}

TEST(JsonLinesLogger, WritesAnObjectForEachEventAndDropsWhatIsMadeAgain) {
  const test::TempFolder folder;
  {
    JsonLinesLogger logger{folder / "run.jsonl"};
    tell(logger, events::made_up_run(2));
    tell(logger, {{5'000'000, events::Message{events::Level::warning, "a \"quoted\"\nline"}}});
  }
  const auto lines = lines_of(folder / "run.jsonl");
  EXPECT_EQ(lines.back(), R"({"event":"message","time":5.000,"level":1,"text":"a \"quoted\"\u000aline"})");
  EXPECT_THAT(lines[1], HasSubstr(R"("split":"train","metric":"Loss","first_step":1,"step":1,"count":1)"));
  JsonLinesLogger logger{folder / "run.jsonl"};
  tell(logger, resumed_after_epoch_1());
  std::size_t points = 0;
  for (const auto& line : lines_of(folder / "run.jsonl"))
    points += line.find("\"event\":\"point\"") != std::string::npos;
  EXPECT_EQ(points, 400u);
}

TEST(ApplicationLogger, WritesWhatAPersonReads) {
  const test::TempFolder folder;
  ApplicationLogger logger{folder / "experiment.log"};
  tell(logger, events::made_up_run(1));
  tell(logger, {{0, events::End{events::Ended::failed, "device lost"}}});
  EXPECT_THAT(lines_of(folder / "experiment.log"),
              ElementsAre("2025-11-25 19:00:00.000 UTC  run a1b2 begins: 4 epochs on cpu",
                          HasSubstr("epoch 1 train: loss 0.5000 acc 80.0 % (800 items in 4.0 s)"),
                          HasSubstr("epoch 1 valid: loss 0.4000 acc 89.0 %"), HasSubstr("checkpoint of step 100"),
                          HasSubstr("failed: device lost")));
}

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

// Expected: tests/train/events/tensorboard_reference.py. The first one is also in the documentation of TensorBoard's
// own reader.
TEST(TensorBoard, RecordsAreThoseThatItReads) {
  EXPECT_EQ(hex(tensorboard::version_event(1599759586)),
            "1800000000000000a37f4b22090000803899d6d7411a0d627261696e2e4576656e743a32124b36ab");
  EXPECT_EQ(hex(tensorboard::scalar_event(1.5, 300, "Loss/train", 0.25F)),
            "2100000000000000017becf609000000000000f83f10ac022a130a110a0a4c6f73732f747261696e150000803e67e4da3b");
  EXPECT_EQ(hex(tensorboard::restart_event(1.5, 300)),
            "100000000000000095fbfe1809000000000000f83f10ac023a020801713b788a");
}

TEST(TensorBoard, HasAFileForEachPartOfARun) {
  const test::TempFolder folder;
  for (const auto& part : {events::made_up_run(1), resumed_after_epoch_1()}) {
    TensorBoardLogger logger{folder / "board"};
    tell(logger, part);
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "board")) {
    EXPECT_THAT(entry.path().filename().string(), HasSubstr("events.out.tfevents."));
    files.push_back(test::TempFolder::read(entry.path()));
  }
  ASSERT_EQ(files.size(), 2u);
  for (const auto& file : files) {
    EXPECT_THAT(file, HasSubstr("brain.Event:2"));
    EXPECT_THAT(file, HasSubstr("Loss/train"));
    EXPECT_THAT(file, HasSubstr("Accuracy/valid"));
    EXPECT_THAT(file, Not(HasSubstr("Accuracy/test")));
  }
}

}  // namespace
}  // namespace burn::train
