// Named tensors and a few words about them, as they lie in a file: what modules and optimizers are saved as.
//
// A value: copies share the tensors' bytes. The file format is safetensors, which other frameworks read and write.
//
// A record may be there while numbers of a device are still coming (insert_reads): the first look at it, or at a copy,
// waits for all of them. into_record() of a module and to_record() of an optimizer wait themselves, so that a record
// that cannot be read does not take the place of one that could.
//
// It may also hold tensors that have not been asked for yet (insert_sources), as a checkpoint of a large model does:
// save() asks for them one after the other and writes each as it comes, so the whole is never in memory.
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

  // Adds a tensor, or replaces the one of that name. Errors: the name "__metadata__", which the format keeps for
  // itself.
  void insert(std::string name, TensorData data);
  // Adds tensors that are being read; does not wait. What goes wrong with one of them is thrown by each function that
  // looks at the record: every time, with the tensor's name and when it went wrong.
  using Read = std::pair<std::string, std::future<TensorData>>;
  void insert_reads(std::vector<Read> reads);
  // Adds tensors that `read` asks for, when they are wanted. It may be called by any thread, and more than once. save()
  // keeps none of them: it has at most kStagingBytes of them in memory at a time, or one that is larger. Each other
  // look at the record reads all. Errors: as above.
  struct Source {
    std::string name;
    ir::TensorType type;  // of what it gives
    std::function<std::future<TensorData>()> read;
  };
  void insert_sources(std::vector<Source> sources);
  static constexpr std::size_t kStagingBytes = std::size_t{64} << 20;
  // Until all of them are there. Errors: as above.
  void wait() const { (void)tensors(); }
  bool remove(std::string_view name);

  bool contains(std::string_view name) const { return tensors().contains(name); }
  const TensorData* find(std::string_view name) const;  // nullptr when there is none
  // Errors: NOT_FOUND, saying which names there are.
  const TensorData& get(std::string_view name) const;

  std::size_t size() const { return tensors().size(); }
  bool empty() const { return tensors().empty(); }
  std::vector<std::string> names() const;  // sorted
  Tensors::const_iterator begin() const { return tensors().begin(); }
  Tensors::const_iterator end() const { return tensors().end(); }

  Metadata& metadata() { return metadata_; }
  const Metadata& metadata() const { return metadata_; }

  // Writes a file that is complete or not there at all (see store::write_file).
  void save(const std::filesystem::path& path) const;
  // Reads a file into one block that the tensors share; nothing in it is trusted.
  // Errors: NOT_FOUND, UNAVAILABLE; INVALID_ARGUMENT saying in one sentence what is wrong with the file, with its
  // numbers.
  static Record load(const std::filesystem::path& path);

  SharedBytes to_bytes() const;
  // The tensors share `bytes`. `source` stands in front of error messages.
  static Record from_bytes(const SharedBytes& bytes, std::string_view source = "record");

 private:
  class Awaited;

  const Tensors& tensors() const;  // all of them
  Tensors& own_tensors();          // the same, which no copy has a part in

  Tensors tensors_;
  Metadata metadata_;
  std::shared_ptr<Awaited> awaited_;  // instead of tensors_, while there are reads; shared by copies
};

}  // namespace burn
