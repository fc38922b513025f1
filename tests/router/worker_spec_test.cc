// What --worker and --mesh say.
#include "router/worker_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn::router {
namespace {

using compile::partition::Mesh;
using testing::HasSubstr;

TEST(ParseWorker, TakesAUrlAndAWeight) {
  const std::tuple<const char*, const char*, double> cases[] = {
      {"ws://a:3000", "ws://a:3000", 1},
      {"ws://a:3000=2", "ws://a:3000", 2},
      {"grpc://b:3001/1=0.5", "grpc://b:3001/1", 0.5},
      {"unix:/run/burn=3", "unix:/run/burn", 3},
      {"unix:/run/burn=x", "unix:/run/burn=x", 1},  // a path may have one
      {"ws://a:3000/cuda:1=1e2", "ws://a:3000/cuda:1", 100}};
  for (const auto& [text, url, weight] : cases) {
    const auto worker = parse_worker(text);
    ASSERT_TRUE(worker.ok()) << text << ": " << worker.status().to_string();
    EXPECT_EQ(worker->url, url);
    EXPECT_EQ(worker->weight, weight) << text;
  }
}

TEST(ParseWorker, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "ws://HOST:PORT"},           {"a:3000", "ws://HOST:PORT"},      {"ws://a", "no port"},
      {"ws://a:3000=", "not a number"}, {"ws://a:3000=x", "not a number"}, {"ws://a:3000=0", "positive"},
      {"ws://a:3000=-1", "positive"},   {"ws://a:3000=inf", "positive"},   {"ws://a:3000=nan", "positive"}};
  for (const auto& [text, why] : cases) {
    const auto worker = parse_worker(text);
    ASSERT_FALSE(worker.ok()) << text;
    EXPECT_EQ(worker.status().code(), StatusCode::invalid_argument);
    EXPECT_THAT(worker.status().message(), HasSubstr(why)) << text;
  }
}

TEST(MemberName, IsTheAddressAndTheDeviceBeyondTheFirst) {
  EXPECT_EQ(member_name("ws://a:3000"), "member:a:3000");
  EXPECT_EQ(member_name("grpc://a:3001/0"), "member:a:3001");
  EXPECT_EQ(member_name("ws://a:3000/1"), "member:a:3000/1");
  EXPECT_EQ(member_name("ws://a:3000/cuda:1"), "member:a:3000/cuda:1");
  EXPECT_EQ(member_name("unix:/run/burn"), "member:/run/burn");
}

TEST(ParseMesh, HasTwoAxes) {
  EXPECT_EQ(*parse_mesh("data=2,model=3", 6), (Mesh{.data = 2, .model = 3}));
  EXPECT_EQ(*parse_mesh("model=3,data=2", 6), (Mesh{.data = 2, .model = 3}));
  EXPECT_EQ(*parse_mesh("model=4", 4), (Mesh{.data = 1, .model = 4}));
}

TEST(ParseMesh, IsOneAxisOfAllWorkers) {
  EXPECT_EQ(*parse_mesh("", 3), (Mesh{.data = 3}));
  EXPECT_EQ(*parse_mesh("data=4", 4), (Mesh{.data = 4}));
}

TEST(ParseMesh, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {{"data=3", "room for 3 workers; there are 4"},
                                                       {"data", "no axis"},
                                                       {"data=0", "no axis"},
                                                       {"=4", "no axis"},
                                                       {"data=x", "no axis"},
                                                       {"data=4,", "no axis"},
                                                       {"pipe=4", "no axis \"pipe\""},
                                                       {"data=2,model=3", "room for 6 workers; there are 4"},
                                                       {"data=9", "an axis has at most 8 workers"},
                                                       {"data=2,data=2", "twice"}};
  for (const auto& [text, why] : cases) {
    const auto mesh = parse_mesh(text, 4);
    ASSERT_FALSE(mesh.ok()) << text;
    EXPECT_EQ(mesh.status().code(), StatusCode::invalid_argument);
    EXPECT_THAT(mesh.status().message(), HasSubstr(why)) << text;
  }
}

}  // namespace
}  // namespace burn::router
