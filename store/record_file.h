// The tensors of a record as they lie in a file of safetensors: their order, what stands before them, and the writing
// of a file, for which those that are elsewhere are read one after the other.
#pragma once

#include <filesystem>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "store/record.h"

namespace burn::store {

// A tensor that is here, or one that is to be read. What it points to outlives it.
struct RecordEntry {
  std::string_view name;
  ir::TensorType type;
  const TensorData* data = nullptr;
  const Record::Source* source = nullptr;
};

// In the order of the file: the largest elements first, so that every tensor is aligned for its type where the data
// start aligned.
std::vector<RecordEntry> entries_of(const Record::Tensors& tensors, const std::vector<Record::Source>& sources = {});

// What stands before the tensors.
std::string header_of(const std::vector<RecordEntry>& entries, const Record::Metadata& metadata);

// Has at most Record::kStagingBytes in memory of what is elsewhere, or one tensor or piece that is larger. Errors
// (thrown): those of NewFile and wait_for(); INTERNAL for what comes in another type than its entry says.
void write_record(const std::filesystem::path& path, const std::vector<RecordEntry>& entries,
                  const Record::Metadata& metadata);

// Errors (thrown): what went wrong, with the tensor's name and the time of day.
TensorData wait_for(std::string_view name, std::future<TensorData> data);

}  // namespace burn::store
