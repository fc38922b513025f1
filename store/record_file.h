// Writes the tensors of a record to a safetensors file: their order, the header, and the reads of tensors that are not
// in memory, one after the other.
#pragma once

#include <filesystem>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "store/record.h"

namespace burn::store {

// A tensor that is in memory (`data`), or one that is to be read (`source`). Requires: the pointed-to objects outlive
// it.
struct RecordEntry {
  std::string_view name;
  ir::TensorType type;
  const TensorData* data = nullptr;
  const Record::Source* source = nullptr;
};

// The entries in the order of the file: the largest element sizes first, so that every tensor is aligned for its type
// if the start of the data is.
std::vector<RecordEntry> entries_of(const Record::Tensors& tensors, const std::vector<Record::Source>& sources = {});

// The bytes of the file before the tensors.
std::string header_of(const std::vector<RecordEntry>& entries, const Record::Metadata& metadata);

// Of tensors that are read, has at most Record::kStagingBytes in memory at a time, or one larger tensor or piece.
// Errors (thrown): those of AtomicFileWriter and wait_for(); INTERNAL if a read returns another type than its entry's.
void write_record(const std::filesystem::path& path, const std::vector<RecordEntry>& entries,
                  const Record::Metadata& metadata);

// Waits for a read. Errors (thrown): its failure, with the tensor's name and the time of day.
TensorData wait_for(std::string_view name, std::future<TensorData> data);

}  // namespace burn::store
