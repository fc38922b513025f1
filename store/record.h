// Named tensors with metadata, as stored in a file. Modules and optimizers are saved as records.
//
// A value: copies share the tensors' bytes. The file format is safetensors, which other frameworks read and write.
//
// A record may hold tensors whose reads from a device are still under way (insert_reads): the first access to it, or to
// a copy, waits for all of them. into_record() of a module and to_record() of an optimizer wait themselves, so that a
// record that cannot be read does not replace one that can.
//
// It may also hold tensors whose reads have not been requested yet (insert_sources), for a checkpoint of a large model:
// save() requests them one after the other, and writes each when it arrives, so they are never all in memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "client/tensor/data.h"

namespace burn {

class Record {
 public:
  using Tensors = std::map<std::string, TensorData, std::less<>>;
  using Metadata = std::map<std::string, std::string>;

  // Adds a tensor, or replaces the one of that name. Errors: the name "__metadata__", which the format reserves.
  void insert(std::string name, TensorData data);
  // Adds tensors that are being read; does not wait. If a read fails, each later access to the record throws its error,
  // with the tensor's name and the time of the failure.
  using Read = std::pair<std::string, std::future<TensorData>>;
  void insert_reads(std::vector<Read> reads);
  // Adds tensors that are read when needed, by `read`, which any thread may call, more than once. save() has at most
  // kStagingBytes of them in memory at a time, or one larger tensor, and keeps none. Every other access to the record
  // reads all of them. Errors: as above.
  struct Source {
    std::string name;
    ir::TensorType type;  // of the result of `read`
    std::function<std::future<TensorData>()> read;
  };
  void insert_sources(std::vector<Source> sources);
  static constexpr std::size_t kStagingBytes = std::size_t{64} << 20;
  // Waits until all tensors have been read. Errors: as above.
  void wait() const { (void)tensors(); }
  bool remove(std::string_view name);

  bool contains(std::string_view name) const { return tensors().contains(name); }
  const TensorData* find(std::string_view name) const;  // nullptr if there is none
  // Errors: NOT_FOUND, listing names that exist.
  const TensorData& get(std::string_view name) const;

  std::size_t size() const { return tensors().size(); }
  bool empty() const { return tensors().empty(); }
  std::vector<std::string> names() const;  // sorted
  Tensors::const_iterator begin() const { return tensors().begin(); }
  Tensors::const_iterator end() const { return tensors().end(); }

  Metadata& metadata() { return metadata_; }
  const Metadata& metadata() const { return metadata_; }

  // Writes the file atomically (see store::write_file).
  void save(const std::filesystem::path& path) const;
  // Reads a file into one block that the tensors share. The file is not trusted. Errors: NOT_FOUND, UNAVAILABLE;
  // INVALID_ARGUMENT saying in one sentence what is wrong with the file, with its numbers.
  static Record load(const std::filesystem::path& path);

  SharedBytes to_bytes() const;
  // The tensors share `bytes`. `source` is the prefix of error messages.
  static Record from_bytes(const SharedBytes& bytes, std::string_view source = "record");

 private:
  class PendingTensors;

  const Tensors& tensors() const;  // waits for all of them
  Tensors& mutable_tensors();      // the same, for changes; not shared with copies

  Tensors tensors_;
  Metadata metadata_;
  std::shared_ptr<PendingTensors> pending_;  // replaces tensors_ if there are reads or sources; shared by copies
};

}  // namespace burn
