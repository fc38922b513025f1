// The runs as JSON for the page.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "train/dashboard/run_board.h"

namespace burn::train::dashboard {

// [{"id":0,"name":"run","state":"running","metrics":[...],...}]: the table of runs, without curves.
std::string runs_json(const std::vector<std::unique_ptr<BoardRun>>& runs);

// Tracks which parts of the curves a page has received already.
class CurveCursor {
 public:
  explicit CurveCursor(std::vector<std::size_t> runs) : runs_(std::move(runs)) {}

  // What has changed since the last call: a JSON list of parts of curves; an empty text if nothing has. A part replaces
  // the page's points of the curve from the index "from" on:
  //   {"run":0,"metric":"Loss","split":"train","kind":"steps","from":0,"step":[..],"mean":[..],"min":[..],"max":[..]}
  // If the curve has values that are not finite, "bad":[..] is their number in each point.
  std::string changes(const std::vector<std::unique_ptr<BoardRun>>& runs);

 private:
  struct Seen {
    std::int64_t generation = -1, points = 0;
    std::size_t size = 0;
  };
  using Key = std::tuple<std::size_t, std::size_t, int, bool>;  // run, metric, split, by epoch

  std::vector<std::size_t> runs_;
  std::map<Key, Seen> seen_;
  std::map<std::size_t, std::string> run_ids_;
};

}  // namespace burn::train::dashboard
