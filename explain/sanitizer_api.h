#pragma once

#include <cuda.h>
#include <dlfcn.h>
#include <sanitizer.h>

#include <stdexcept>
#include <string>

namespace fathom::explain {

// clang-format off
#define FATHOM_FOR_EACH_CALL(X) \
  X(sanitizerAddPatchesFromFile) X(sanitizerAlloc) X(sanitizerEnableCallback) \
  X(sanitizerEnableDomain) \
  X(sanitizerGetFunctionPcAndSize) X(sanitizerGetResultString) X(sanitizerMemcpyDeviceToHost) \
  X(sanitizerMemcpyHostToDeviceAsync) X(sanitizerPatchInstructions) X(sanitizerPatchModule) \
  X(sanitizerSetLaunchCallbackData) X(sanitizerStreamSynchronize) X(sanitizerSubscribe) \
  X(sanitizerUnpatchModule)
// clang-format on

/// Compute Sanitizer's functions, from the user's toolkit.
struct Api {
#define FATHOM_DECLARE(name) decltype(&::name) name = nullptr;
  FATHOM_FOR_EACH_CALL(FATHOM_DECLARE)
  /// The first that is missing, or null.
  const char* load(const char* file) {
    void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return dlerror();
#define FATHOM_LOAD(name)                                         \
  name = reinterpret_cast<decltype(name)>(dlsym(library, #name)); \
  if (name == nullptr) return "it has no " #name;
    FATHOM_FOR_EACH_CALL(FATHOM_LOAD)
    return nullptr;
  }
};
inline Api api;

/// Throws where a call of the API failed.
inline void check(SanitizerResult result, const char* call) {
  if (result == SANITIZER_SUCCESS) return;
  const char* words = "";
  api.sanitizerGetResultString(result, &words);
  throw std::runtime_error(std::string(call) + " failed (" + (words == nullptr ? "?" : words) +
                           ")");
}
#define CHECK(call, ...) check(api.call(__VA_ARGS__), #call)

}  // namespace fathom::explain
