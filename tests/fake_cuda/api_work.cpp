// Streams, events, launches.

#include <chrono>
#include <string>

#include "tests/fake_cuda/entry.h"

namespace fake_cuda {
namespace {

CUresult not_capturing(State& state, const Stream& stream, const char* what) {
  if (stream.capture == nullptr) return CUDA_SUCCESS;
  return state.refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                      std::string(what) + " while the stream captures");
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuStreamCreate(CUstream* handle, unsigned) {
  FAKE_CUDA_ENTER("cuStreamCreate");
  int device = 0;
  if (const CUresult result = current_device(state, device); result != CUDA_SUCCESS) return result;
  auto stream = std::make_unique<Stream>();
  stream->id = state.next_stream++;
  *handle = reinterpret_cast<CUstream>(stream.get());
  state.streams[*handle] = std::move(stream);
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuStreamDestroy(CUstream handle) {
  FAKE_CUDA_ENTER("cuStreamDestroy");
  Stream* stream = find(state, state.streams, handle, "stream");
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture != nullptr) {
    state.refuse(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "a stream ends before its capture");
  }
  run_all();
  for (const auto& [key, event] : state.events) {
    if (event->stream == stream) event->stream = nullptr;
  }
  state.streams.erase(handle);
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuStreamSynchronize(CUstream handle) {
  FAKE_CUDA_ENTER("cuStreamSynchronize");
  Stream* stream = find(state, state.streams, handle, "stream");
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult result = not_capturing(state, *stream, "a synchronisation");
      result != CUDA_SUCCESS) {
    return result;
  }
  return drain(*stream);
}

FAKE_CUDA_EXPORT CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode) {
  FAKE_CUDA_ENTER("cuStreamBeginCapture");
  Stream* stream = find(state, state.streams, handle, "stream");
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult result = not_capturing(state, *stream, "a capture"); result != CUDA_SUCCESS) {
    return result;
  }
  stream->capture = std::make_shared<GraphState>();
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  FAKE_CUDA_ENTER("cuStreamEndCapture");
  Stream* stream = find(state, state.streams, handle, "stream");
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture == nullptr) {
    return state.refuse(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the stream captures nothing");
  }
  *graph = reinterpret_cast<CUgraph>(stream->capture.get());
  state.graphs[*graph] = std::move(stream->capture);
  stream->capture = nullptr;
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuEventCreate(CUevent* handle, unsigned flags) {
  FAKE_CUDA_ENTER("cuEventCreate");
  auto event = std::make_unique<Event>();
  event->timed = (flags & CU_EVENT_DISABLE_TIMING) == 0;
  *handle = reinterpret_cast<CUevent>(event.get());
  state.events[*handle] = std::move(event);
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuEventDestroy(CUevent handle) {
  FAKE_CUDA_ENTER("cuEventDestroy");
  Event* event = find(state, state.events, handle, "event");
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (event->done < event->recorded) run_all();  // the queue points to it
  state.events.erase(handle);
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuEventRecord(CUevent handle, CUstream stream_handle) {
  FAKE_CUDA_ENTER("cuEventRecord");
  Event* event = find(state, state.events, handle, "event");
  Stream* stream = find(state, state.streams, stream_handle, "stream");
  if (event == nullptr || stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult result = not_capturing(state, *stream, "an event that others wait for");
      result != CUDA_SUCCESS) {
    return result;
  }
  event->stream = stream;
  const CUresult result = enqueue(*stream, {RecordOp{event, ++event->recorded}, {}}, "an event");
  event->clock = stream->clock;
  return result;
}

FAKE_CUDA_EXPORT CUresult cuEventSynchronize(CUevent handle) {
  FAKE_CUDA_ENTER("cuEventSynchronize");
  Event* event = find(state, state.events, handle, "event");
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (event->stream == nullptr) return CUDA_SUCCESS;  // never recorded
  return drain(*event->stream, event);
}

static CUresult elapsed(float* milliseconds, CUevent from_handle, CUevent to_handle) {
  FAKE_CUDA_ENTER("cuEventElapsedTime");
  const Event* from = find(state, state.events, from_handle, "event");
  const Event* to = find(state, state.events, to_handle, "event");
  if (from == nullptr || to == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!from->timed || !to->timed || from->recorded == 0 || to->recorded == 0) {
    return state.refuse(CUDA_ERROR_INVALID_HANDLE, "the time of an event that has none");
  }
  if (from->done < from->recorded || to->done < to->recorded) {
    return state.refuse(CUDA_ERROR_NOT_READY, "the time of an event that nobody waited for");
  }
  *milliseconds = std::chrono::duration<float, std::milli>(to->when - from->when).count();
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
  return elapsed(milliseconds, from, to);
}
#ifdef cuEventElapsedTime
#undef cuEventElapsedTime
FAKE_CUDA_EXPORT CUresult cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
  return elapsed(milliseconds, from, to);
}
#endif

FAKE_CUDA_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                         unsigned grid_z, unsigned block_x, unsigned block_y,
                                         unsigned block_z, unsigned, CUstream stream, void** params,
                                         void** extra) {
  FAKE_CUDA_ENTER("cuLaunchKernel");
  Stream* found = find(state, state.streams, stream, "stream");
  if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Op op;
  const CUresult result = make_launch(function, {grid_x, grid_y, grid_z},
                                      {block_x, block_y, block_z}, params, extra, op);
  return result != CUDA_SUCCESS ? result : enqueue(*found, std::move(op), "a launch");
}

FAKE_CUDA_EXPORT CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  FAKE_CUDA_ENTER("cuLaunchHostFunc");
  Stream* found = find(state, state.streams, stream, "stream");
  if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return enqueue(*found, {HostOp{function, data}, {}}, "a function of the host");
}

}  // namespace fake_cuda
