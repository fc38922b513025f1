// A driver of CUDA without a GPU: device memory is the host's, streams are queues, and what is due is done in an order
// that changes from run to run. Everything that events do not order happens in the order that hurts, sooner or later.
// Kernels and modules are not to be had, and graphs do nothing but take their time. It is a libcuda.so.1 of its own,
// found where the real one would be.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include <cuda.h>

namespace {

constexpr std::size_t kMemoryBytes = std::size_t{256} << 20;

struct Recorded {  // what an event stands for, from a call of cuEventRecord on
  bool is_done = false;
  float time = 0;  // of its stream, then
};

struct Work {
  std::function<void()> body;
  std::shared_ptr<Recorded> after, done;  // either may be null
  float ms = 0;
};

struct Stream {
  std::deque<Work> works;
  float time = 0;  // ms that its works took
};

struct Simulation {
  std::mutex mutex;
  std::map<CUstream, Stream> streams;
  std::map<CUevent, std::shared_ptr<Recorded>> events;
  std::map<CUdeviceptr, std::size_t> blocks;
  std::map<CUgraphExec, float> graphs;  // the ms that each takes
  std::size_t used = 0;
  std::uintptr_t last_handle = 0;
  bool is_held = false;  // does only what a thread waits for
  std::mt19937_64 random{std::getenv("BURN_SIMULATION_SEED")
                             ? std::strtoull(std::getenv("BURN_SIMULATION_SEED"), nullptr, 10)
                             : std::random_device{}()};

  std::uint64_t below(std::uint64_t bound) {
    return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(random);
  }

  // One piece of work of a stream, if it has one that need not wait.
  bool advance(Stream& stream) {
    auto& works = stream.works;
    if (works.empty() || (works.front().after && !works.front().after->is_done)) return false;
    if (works.front().body) works.front().body();
    stream.time += works.front().ms;
    if (works.front().done) *works.front().done = {true, stream.time};
    works.pop_front();
    return true;
  }
  // Simulates progress of the device: with a chance of 1 in 3, executes up to 7 pieces of work of a random stream.
  void advance_randomly() {
    if (is_held || streams.empty() || below(3) != 0) return;
    auto it = streams.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(below(streams.size())));
    for (auto pieces = below(8); pieces > 0 && advance(it->second);) --pieces;
  }
  void advance_until(const std::function<bool()>& is_so) {
    while (!is_so()) {
      bool any = false;
      for (auto& [handle, stream] : streams) any |= advance(stream);
      if (!any) std::abort();  // waits for an event that is not recorded: a driver would hang
    }
  }
  void finish() {
    advance_until([&] {
      return std::all_of(streams.begin(), streams.end(), [](const auto& entry) { return entry.second.works.empty(); });
    });
  }
};

// Never destroyed: threads may use it until the process ends.
Simulation& simulation() {
  static auto* const it = new Simulation;
  return *it;
}

template <typename Body>
CUresult locked(const Body& body) {
  const std::lock_guard lock(simulation().mutex);
  simulation().advance_randomly();
  return body(simulation());
}

CUresult enqueue(CUstream stream, std::function<void()> body) {
  return locked([&](Simulation& it) {
    it.streams[stream].works.push_back({std::move(body), nullptr, nullptr});
    return CUDA_SUCCESS;
  });
}

void* at(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace

extern "C" {

// For the tests.
void burn_hold_simulation(bool is_held) {
  const std::lock_guard lock(simulation().mutex);
  simulation().is_held = is_held;
}

std::size_t burn_simulated_streams() {
  const std::lock_guard lock(simulation().mutex);
  return simulation().streams.size();
}

// Enqueues work that takes `ms`.
void burn_spend(CUstream stream, float ms) {
  locked([&](Simulation& it) {
    it.streams[stream].works.push_back({nullptr, nullptr, nullptr, ms});
    return CUDA_SUCCESS;
  });
}

CUgraphExec burn_make_graph(float ms) {
  const std::lock_guard lock(simulation().mutex);
  auto* const graph = reinterpret_cast<CUgraphExec>(++simulation().last_handle);
  simulation().graphs[graph] = ms;
  return graph;
}

std::size_t burn_simulated_graphs() {
  const std::lock_guard lock(simulation().mutex);
  return simulation().graphs.size();
}

CUresult cuGetErrorName(CUresult, const char** text) {
  *text = "SIMULATED";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "an error of the simulated driver";
  return CUDA_SUCCESS;
}
CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::strncpy(name, "simulated", static_cast<std::size_t>(size));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  *bytes = kMemoryBytes;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(&simulation());
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(&simulation());
  return CUDA_SUCCESS;
}

CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  return locked([&](Simulation& it) {
    *free = kMemoryBytes - it.used;
    *total = kMemoryBytes;
    return CUDA_SUCCESS;
  });
}
CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  return locked([&](Simulation& it) {
    if (bytes > kMemoryBytes - it.used) return CUDA_ERROR_OUT_OF_MEMORY;
    *address = reinterpret_cast<CUdeviceptr>(std::malloc(bytes));
    it.blocks[*address] = bytes;
    it.used += bytes;
    return CUDA_SUCCESS;
  });
}
CUresult cuMemFree(CUdeviceptr address) {
  return locked([&](Simulation& it) {
    const auto found = it.blocks.find(address);
    if (found == it.blocks.end()) return CUDA_ERROR_INVALID_VALUE;
    it.finish();
    it.used -= found->second;
    it.blocks.erase(found);
    std::free(at(address));
    return CUDA_SUCCESS;
  });
}
CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  *memory = std::malloc(bytes);
  return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFreeHost(void* memory) {
  std::free(memory);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return enqueue(stream, [=] { std::memcpy(at(to), from, bytes); });
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return enqueue(stream, [=] { std::memcpy(to, at(from), bytes); });
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return enqueue(stream, [=] { std::memcpy(at(to), at(from), bytes); });
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream) {
  return enqueue(stream, [=] { std::memset(at(to), value, bytes); });
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned, int) {
  return locked([&](Simulation& it) {
    *stream = reinterpret_cast<CUstream>(++it.last_handle);
    it.streams[*stream];
    return CUDA_SUCCESS;
  });
}
CUresult cuStreamDestroy(CUstream stream) {
  return locked([&](Simulation& it) {
    it.finish();
    it.streams.erase(stream);
    return CUDA_SUCCESS;
  });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return locked([&](Simulation& it) {
    it.advance_until([&] { return it.streams[stream].works.empty(); });
    return CUDA_SUCCESS;
  });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return locked([&](Simulation& it) {
    it.streams[stream].works.push_back({nullptr, it.events[event], nullptr});
    return CUDA_SUCCESS;
  });
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  return locked([&](Simulation& it) {
    *event = reinterpret_cast<CUevent>(++it.last_handle);
    it.events[*event];
    return CUDA_SUCCESS;
  });
}
CUresult cuEventDestroy(CUevent event) {
  return locked([&](Simulation& it) { return it.events.erase(event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return locked([&](Simulation& it) {
    it.events[event] = std::make_shared<Recorded>();
    it.streams[stream].works.push_back({nullptr, nullptr, it.events[event]});
    return CUDA_SUCCESS;
  });
}
CUresult cuEventQuery(CUevent event) {
  return locked([&](Simulation& it) {
    const auto& recorded = it.events[event];
    return !recorded || recorded->is_done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}
CUresult cuEventElapsedTime(float* ms, CUevent begin, CUevent end) {
  return locked([&](Simulation& it) {
    const auto &from = it.events[begin], &to = it.events[end];
    if (!from || !to) return CUDA_ERROR_INVALID_HANDLE;
    if (!from->is_done || !to->is_done) return CUDA_ERROR_NOT_READY;
    *ms = to->time - from->time;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamBeginCapture(CUstream, CUstreamCaptureMode) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuStreamEndCapture(CUstream, CUgraph*) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuModuleLoadData(CUmodule*, const void*) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuModuleUnload(CUmodule) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuModuleGetFunction(CUfunction*, CUmodule, const char*) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void**, void**) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec*, CUgraph, unsigned long long) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuGraphExecDestroy(CUgraphExec graph) {
  return locked([&](Simulation& it) { return it.graphs.erase(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}
CUresult cuGraphDestroy(CUgraph) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  return locked([&](Simulation& it) {
    const auto found = it.graphs.find(graph);
    if (found == it.graphs.end()) return CUDA_ERROR_INVALID_HANDLE;
    it.streams[stream].works.push_back({nullptr, nullptr, nullptr, found->second});
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
