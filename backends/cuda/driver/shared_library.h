// A CUDA library that is loaded at run time: nothing of CUDA is linked, so that the same binaries start without it.
// Each library is described by a table: its files, its functions, and the errors for missing ones.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace burn::backends::cuda {

struct LibraryFunction {
  const char* name;
  void (*keep)(void* function);  // stores it where its callers read it
};

// The entry for a function of this name, stored at `place`, which has static storage.
#define BURN_LIBRARY_FUNCTION(name, place)                                            \
  LibraryFunction {                                                                   \
    name, [](void* function) { place = reinterpret_cast<decltype(place)>(function); } \
  }

struct LibraryTable {
  std::string_view title;  // "cuFFT"
  std::string_view file;   // "libcufft", as in error messages
  // Names of its file by release; the first one that exists is used. Libraries that must come from the same release are
  // listed before the file itself.
  std::vector<std::vector<const char*>> releases;
  std::vector<LibraryFunction> functions;  // from any file of the release; all are required
  std::string_view missing;    // error if no release is found, followed by the loader's message for the last one
  std::string_view lacking;    // error if a function is missing, followed by its name
  int (*version)() = nullptr;  // called after the functions are loaded
  int oldest = 0;              // oldest supported version
  std::string (*written)(int version) = nullptr;
};

// Version texts for two encodings: 91002 and 12004 are "9.10.2" and "12.0.4".
std::string version_by_ten_thousands(int version);
std::string version_by_thousands(int version);

// Thread-safe. Libraries are never closed.
class SharedLibrary {
 public:
  explicit SharedLibrary(LibraryTable table) : table_(std::move(table)) {}

  // Opens the library at the first call. Errors: FAILED_PRECONDITION with what is missing: the library, a function of
  // it, or a newer version.
  const Status& load();

  // A function that only some versions have; null if it, or the library, is missing.
  void* find(const char* name);

  std::string_view title() const { return table_.title; }
  // Require: load() succeeded.
  int version() const { return table_.version(); }
  std::string version_text() const { return table_.written(version()); }

 private:
  Status open_a_release();
  Status open();

  LibraryTable table_;
  std::vector<void*> files_;  // handles of the release that was found
  std::once_flag once_;
  Status loaded_;
};

}  // namespace burn::backends::cuda
