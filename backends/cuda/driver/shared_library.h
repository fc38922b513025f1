// A library of CUDA, found when the program runs: nothing of CUDA is linked, so that the same binaries start without
// it. To open one more is a table: its files, its functions, and what is said of those that are not there.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace burn::backends::cuda {

struct LibraryFunction {
  const char* name;
  void (*keep)(void* function);  // where its callers look for it
};

// A function of this name in a table of functions, to be kept at `place`, which has static storage.
#define BURN_LIBRARY_FUNCTION(name, place)                                            \
  LibraryFunction {                                                                   \
    name, [](void* function) { place = reinterpret_cast<decltype(place)>(function); } \
  }

struct LibraryTable {
  std::string_view title;  // "cuFFT"
  std::string_view file;   // "libcufft": what errors call it
  // Names of its file, the first that is there is taken. A library that wants others of its own release names them
  // before itself.
  std::vector<std::vector<const char*>> releases;
  std::vector<LibraryFunction> functions;  // of any file of a release; all are needed
  std::string_view missing;                // no release is there; what the loader says of the last one follows
  std::string_view lacking;                // a function is not there; its name follows
  int (*version)() = nullptr;              // needs the functions
  int oldest = 0;                          // that is supported
  std::string (*written)(int version) = nullptr;
};

// How libraries count their versions: 91002 and 12004 are "9.10.2" and "12.0.4".
std::string version_by_ten_thousands(int version);
std::string version_by_thousands(int version);

// Thread-safe. What it has opened stays open.
class SharedLibrary {
 public:
  explicit SharedLibrary(LibraryTable table) : table_(std::move(table)) {}

  // Opens it at the first call. Errors: FAILED_PRECONDITION with what is missing: the library, a function of it, or a
  // newer version.
  const Status& load();

  // A function that not all versions have; null where it is not there, or the library is not.
  void* find(const char* name);

  std::string_view title() const { return table_.title; }
  // Require: load() said yes.
  int version() const { return table_.version(); }
  std::string version_text() const { return table_.written(version()); }

 private:
  Status open_a_release();
  Status open();

  LibraryTable table_;
  std::vector<void*> files_;  // of the release that was found
  std::once_flag once_;
  Status loaded_;
};

}  // namespace burn::backends::cuda
