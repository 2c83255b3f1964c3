#pragma once

// What tests may ask of the software driver beyond CUDA; found with dlsym.

extern "C" {

// The n-th call of `function` from now on (1: the next) does nothing and returns `result`, once.
// Or, for what the driver does in Vulkan ("allocating memory": vulkan.cpp names it), fails with it.
void fakeCudaFail(const char* function, int nth, int result);

// How often `function` has been called; of all functions for null.
int fakeCudaCalls(const char* function);

// The last complaint, empty if there was none since the last call. Valid until the next call.
const char* fakeCudaComplaint();

// Host memory behind a device address with at least `bytes` from there; null if there is none.
void* fakeCudaHost(unsigned long long address, unsigned long long bytes);

// Bytes of device and pinned memory in use.
unsigned long long fakeCudaBytes();
}
