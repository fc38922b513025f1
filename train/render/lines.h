// The lines that a CliRenderer writes. Private to train/render.
#pragma once

#include <string>
#include <vector>

#include "train/render/renderer.h"

namespace burn::train {

// "epoch 3/10 train [=====>    ]   51 %  loss 0.1234 acc 96.1 %  4096/8000  2310 items/s  0:02 left"; omits the last
// parts if the columns do not suffice.
std::string bar_line(const Progress& progress, int columns);
// The same without the bar: "  train  50 %  4000/8000  2310 items/s  0:02 left  loss 0.1234 acc 96.1 %".
std::string progress_line(const Progress& progress);
// "epoch 3 train loss 0.1234 acc 96.1 % valid loss 0.1010 acc 96.9 %"
std::string epoch_line(const EpochSummary& summary);
std::string summary_table(const std::vector<MetricSummary>& metrics);

}  // namespace burn::train
