#include "client/tensor/pending_reads.h"

#include <chrono>
#include <utility>

namespace burn {

void PendingReads::poll() {
  while (!pending_.empty() && pending_.front().data.wait_for(std::chrono::seconds{0}) == std::future_status::ready) {
    hand_over_first();
  }
}

void PendingReads::finish() {
  while (!pending_.empty()) hand_over_first();
}

void PendingReads::hand_over_first() {
  auto first = std::move(pending_.front());
  pending_.pop_front();
  first.reader(first.data.get());
}

}  // namespace burn
