#pragma once

// The only header that brings in protobuf; included by importer/*.cpp alone, converters do without.
#include <onnx_ml.pb.h>
