#include "session/tensor_table.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/plain_host_block.h"

namespace burn::session {
namespace {

const ir::TensorType kType{ir::DType::f32, {2}};

SessionTensor number() { return {kType, {}, ir::Constant{.dtype = ir::DType::f32, .real = 1}}; }
SessionTensor upload() {
  auto block = value_or_throw(plain_host_block(kType.num_bytes()));
  return {
      kType, {}, std::make_shared<serving::StagedUpload>(std::make_shared<serving::SessionSignal>(), std::move(block))};
}

TEST(TensorTable, KnowsWithoutLookingUpThatNewIdsAreFree) {
  TensorTable table;
  EXPECT_FALSE(table.may_contain_from(0));
  table.add(7, number());
  EXPECT_TRUE(table.may_contain_from(3));
  EXPECT_TRUE(table.may_contain_from(7));
  EXPECT_FALSE(table.may_contain_from(8));
  table.rename(table.find(7), 12);
  EXPECT_FALSE(table.contains(7));
  EXPECT_TRUE(table.contains(12));
  EXPECT_TRUE(table.may_contain_from(12));
}

TEST(TensorTable, KnowsWhetherAnyUploadIsOnItsWay) {
  TensorTable table;
  table.add(1, number());
  EXPECT_FALSE(table.awaits_uploads());
  table.add(2, upload());
  table.add(3, upload());
  table.set_content(table.find(2)->second, ir::Constant{});
  EXPECT_TRUE(table.awaits_uploads());
  table.rename(table.find(3), 4);
  EXPECT_TRUE(table.awaits_uploads());
  table.erase(table.find(4));
  EXPECT_FALSE(table.awaits_uploads());
  table.add(5, upload());
  table.clear();
  EXPECT_FALSE(table.awaits_uploads());
}

}  // namespace
}  // namespace burn::session
