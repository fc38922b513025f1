#include "train/evaluator/prediction_reads.h"

#include "client/record/pacer.h"
#include "client/tensor/transaction.h"

namespace burn::train {

void PredictionReads::push(const std::vector<client::Value>& tensors) {
  reads_.push_back(client::read_all_async(tensors));
  take(client::Pacer::kMaxAhead);
}

void PredictionReads::finish() { take(0); }

void PredictionReads::take(std::size_t pending) {
  while (reads_.size() > pending) {
    const auto tensors = reads_.front().get();
    reads_.pop_front();
    each_(tensors);
  }
}

}  // namespace burn::train
