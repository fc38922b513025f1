#include "client/capture/state.h"

namespace burn::client {

CaptureState::CaptureState(std::shared_ptr<DeviceState> device) : device_(std::move(device)) {}

void CaptureState::value(Value& value) { values_.push_back(&value); }
void CaptureState::host(CaptureHost& host) { hosts_.push_back(&host); }
void CaptureState::word(std::uint64_t word) { words_.push_back(word); }
void CaptureState::keep(std::shared_ptr<const void> object) { kept_.push_back(std::move(object)); }

void CaptureState::clear() {
  values_.clear();
  hosts_.clear();
  words_.clear();
  kept_.clear();
}

}  // namespace burn::client
