// SPDX-License-Identifier: Apache-2.0

// Answers of API calls. Runtime and driver number their errors alike, so one type serves both;
// codes that only the runtime knows are translated at the driver's edge.
#pragma once

namespace weft::cudart {

// The codes that this library returns itself; error_list.def names them all.
enum class Status : int {
  Success = 0,
  InvalidValue = 1,
  MemoryAllocation = 2,
  InitializationError = 3,
  InvalidConfiguration = 9,
  InvalidPitchValue = 12,
  InvalidSymbol = 13,
  InvalidDevicePointer = 17,
  InvalidChannelDescriptor = 20,
  InvalidMemcpyDirection = 21,
  InvalidFilterSetting = 26,
  InvalidNormSetting = 27,
  MissingConfiguration = 52,
  InvalidDeviceFunction = 98,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidKernelImage = 200,
  InvalidContext = 201,
  NoKernelImageForDevice = 209,
  UnsupportedLimit = 215,
  PeerAccessUnsupported = 217,
  InvalidPtx = 218,
  FileNotFound = 301,
  InvalidResourceHandle = 400,
  IllegalState = 401,
  SymbolNotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  PeerAccessNotEnabled = 705,
  Assert = 710,
  HostMemoryAlreadyRegistered = 712,
  HostMemoryNotRegistered = 713,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  LaunchFailure = 719,
  CooperativeLaunchTooLarge = 720,
  NotSupported = 801,
  StreamCaptureUnsupported = 900,
  StreamCaptureInvalidated = 901,
  StreamCaptureMerge = 902,
  StreamCaptureUnmatched = 903,
  StreamCaptureUnjoined = 904,
  StreamCaptureIsolation = 905,
  StreamCaptureImplicit = 906,
  CapturedEvent = 907,
  GraphExecUpdateFailure = 910,
  InvalidClusterSize = 912,
  Unknown = 999,
};

// Returns from the enclosing function, which returns a Status, unless the call succeeded.
#define EXPECT_SUCCESS(...)                                            \
  do {                                                                 \
    if (const ::weft::cudart::Status expected_success = (__VA_ARGS__); \
        expected_success != ::weft::cudart::Status::Success)           \
      return expected_success;                                         \
  } while (false)

// "cudaErrorInvalidValue"; nullptr for an unknown code.
const char* runtime_error_name(int code);
// "CUDA_ERROR_INVALID_VALUE"; nullptr for a code the driver does not know.
const char* driver_error_name(int code);
// "invalid argument"; nullptr for an unknown code.
const char* error_text(int code);

}  // namespace weft::cudart
