#include "backends/cpu/element.h"

#include <string>

#include "graph/error.h"

namespace concord::cpu {

std::optional<Element> element_of(DataType dtype) {
  switch (dtype) {
    case DataType::f32:
      return Element::f32;
    case DataType::f16:
      return Element::f16;
    case DataType::bf16:
      return Element::bf16;
    case DataType::f64:
      return Element::f64;
    case DataType::i8:
      return Element::i8;
    case DataType::i16:
      return Element::i16;
    case DataType::i32:
      return Element::i32;
    case DataType::i64:
      return Element::i64;
    case DataType::u8:
      return Element::u8;
    case DataType::u16:
      return Element::u16;
    case DataType::u32:
      return Element::u32;
    case DataType::u64:
      return Element::u64;
    case DataType::boolean:
      return Element::boolean;
    default:
      return std::nullopt;
  }
}

Element element(DataType dtype) {
  if (const auto result = element_of(dtype)) return *result;
  throw Error(ErrorKind::unsupported,
              "no kernel of the cpu backend has the type " + std::string(to_string(dtype)));
}

}  // namespace concord::cpu
