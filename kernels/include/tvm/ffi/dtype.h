// SPDX-License-Identifier: Apache-2.0

// Comparison and printing of DLPack types and devices, for checks and messages of candidates.
#pragma once

#include <dlpack/dlpack.h>

#include <ostream>

inline bool operator==(const DLDataType& a, const DLDataType& b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
inline bool operator!=(const DLDataType& a, const DLDataType& b) {
  return !(a == b);
}

inline bool operator==(const DLDevice& a, const DLDevice& b) {
  return a.device_type == b.device_type && a.device_id == b.device_id;
}
inline bool operator!=(const DLDevice& a, const DLDevice& b) {
  return !(a == b);
}

inline std::ostream& operator<<(std::ostream& out, const DLDataType& type) {
  switch (type.code) {
    case kDLInt:
      out << "int";
      break;
    case kDLUInt:
      out << "uint";
      break;
    case kDLFloat:
      out << "float";
      break;
    case kDLBfloat:
      out << "bfloat";
      break;
    case kDLBool:
      out << "bool";
      break;
    default:
      out << "type" << static_cast<int>(type.code) << "_";
      break;
  }
  out << static_cast<int>(type.bits);
  if (type.lanes != 1) out << "x" << type.lanes;
  return out;
}
