#include "backends/backend.h"

namespace concord {

std::string_view to_string(Precision precision) {
  switch (precision) {
    case Precision::model:
      return "model";
    case Precision::f32:
      return "f32";
    case Precision::tf32:
      return "tf32";
    case Precision::bf16:
      return "bf16";
    case Precision::f16:
      return "f16";
    case Precision::int8:
      return "int8";
  }
  return "?";
}

}  // namespace concord
