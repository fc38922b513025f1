// Records when every kernel and every copy ran on a GPU, with CUPTI, the profiling library of the CUDA toolkit. The
// CUDA driver loads this library into a process that has CUDA_INJECTION64_PATH=.../libburn_kernel_times.so set. When
// the process ends, the file BURN_KERNEL_TIMES.PID has one line for each: device, stream, begin and end in ns, name.
// bench/kernel_times.py reads it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include <cupti.h>
#include <dlfcn.h>
#include <unistd.h>

namespace {

constexpr std::size_t kBufferBytes = std::size_t{8} << 20;

struct Entry {
  std::uint64_t begin, end;
  std::uint32_t device, stream;
  const char* name;  // owned by CUPTI, never freed
};

// Functions of libcupti.so, which is loaded on demand, so that this library can be built without it.
struct Cupti {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;

  bool load() {
    void* library = nullptr;
    for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so", "/usr/local/cuda/lib64/libcupti.so",
                             "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"}) {
      if (!library) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    const auto find = [&](auto& function, const char* name) {
      function =
          library ? reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name)) : nullptr;
      return function != nullptr;
    };
    return find(register_callbacks, "cuptiActivityRegisterCallbacks") && find(enable, "cuptiActivityEnable") &&
           find(next_record, "cuptiActivityGetNextRecord") && find(flush_all, "cuptiActivityFlushAll");
  }
};

// Never destroyed: CUPTI's thread may return buffers until the process has ended.
struct Recorder {
  Cupti cupti;
  std::mutex mutex;
  std::vector<Entry> entries;
};

Recorder& recorder() {
  static auto& made = *new Recorder;
  return made;
}

void give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer ? kBufferBytes : 0;
  *max_records = 0;  // as many as fit in the buffer
}

void add(const CUpti_Activity* record) {
  auto& entries = recorder().entries;
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
      entries.push_back({kernel->start, kernel->end, kernel->deviceId, kernel->streamId, kernel->name});
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
      entries.push_back({copy->start, copy->end, copy->deviceId, copy->streamId, "memcpy"});
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto* set = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      entries.push_back({set->start, set->end, set->deviceId, set->streamId, "memset"});
      break;
    }
    default:
      break;
  }
}

void take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  auto& all = recorder();
  {
    const std::lock_guard lock{all.mutex};
    CUpti_Activity* record = nullptr;
    while (valid > 0 && all.cupti.next_record(buffer, valid, &record) == CUPTI_SUCCESS) add(record);
  }
  std::free(buffer);
}

void write_all() {
  auto& all = recorder();
  if (all.cupti.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != CUPTI_SUCCESS)
    std::fprintf(stderr, "burn_kernel_times: CUPTI could not give its last records\n");
  const char* named = std::getenv("BURN_KERNEL_TIMES");  // NOLINT(concurrency-mt-unsafe): the process ends
  const auto path = std::string(named ? named : "kernel-times") + "." + std::to_string(::getpid());
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) {
    std::perror(path.c_str());
    return;
  }
  const std::lock_guard lock{all.mutex};
  for (const auto& e : all.entries) {
    std::fprintf(file, "%u %u %llu %llu %s\n", e.device, e.stream, static_cast<unsigned long long>(e.begin),
                 static_cast<unsigned long long>(e.end), e.name ? e.name : "?");
  }
  if (std::fclose(file) != 0) std::perror(path.c_str());
}

}  // namespace

// The CUDA driver prescribes the name and the type.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  auto& all = recorder();
  bool ok = all.cupti.load() && all.cupti.register_callbacks(give_buffer, take_buffer) == CUPTI_SUCCESS;
  for (const auto kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET}) {
    ok = ok && all.cupti.enable(kind) == CUPTI_SUCCESS;
  }
  if (!ok) {
    std::fprintf(stderr, "burn_kernel_times: CUPTI cannot be used here\n");
    return 0;
  }
  if (std::atexit(write_all) != 0) std::fprintf(stderr, "burn_kernel_times: nothing will be written\n");
  return 1;
}
