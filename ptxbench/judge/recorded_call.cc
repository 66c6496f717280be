// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/recorded_call.h"

#include <fmt/format.h>

#include "ptxbench/judge/random_seed.h"

namespace weft::judge {
namespace {

// The inputs of the repetition: no call has them.
constexpr unsigned kUnseenTrial = 1000;

// Odd: shared memory then begins with another pattern than in the calls.
uint64_t odd_seed() {
  return random_seed() % 1'000'000 * 2 + 1;
}

}  // namespace

RecordedCall::RecordedCall(const CallOutcome& call, uint8_t poison, const problems::Task& task,
                           uint64_t input_seed, const Toolchain& toolchain,
                           const Settings& settings, std::string folder)
    : task_(task),
      input_seed_(input_seed),
      toolchain_(toolchain),
      settings_(settings),
      folder_(std::move(folder)),
      recording_(call.recording),
      addresses_(call.report.addresses),
      poison_(poison),
      schedule_seed_(odd_seed()) {}

Result<const Repetition*> RecordedCall::plain() {
  if (!plain_) {
    unseen_ = TRY(expect(task_, input_seed_, kUnseenTrial));
    plain_ = TRY(repeat(Tamper::Nothing));
  }
  return &*plain_;
}

Result<std::optional<Failure>> RecordedCall::check(unsigned number,
                                                   wire::Correctness& correctness) {
  const Repetition& plain = *TRY(this->plain());
  if (!plain.problem.empty()) return std::optional<Failure>();
  if (plain.report->fault) {
    const wire::FaultRecord& fault = *plain.report->fault;
    return std::optional(
        Failure{fault.kind == "time limit" ? wire::Status::Timeout : wire::Status::RuntimeError,
                described(fmt::format("{}: {} in {}", fault.kind, fault.message, fault.kernel))});
  }
  // The errors of the calls are what the envelope tells; of this only how much was compared.
  wire::Correctness compared;
  std::optional<Failure> failure =
      TRY(check_tensors(task_, unseen_, plain.bytes, poison_, number, compared));
  correctness.elements_compared += compared.elements_compared;
  if (failure) failure->evidence = described(failure->evidence);
  return failure;
}

Result<double> RecordedCall::effect_of(Tamper tamper) {
  const Repetition& plain = *TRY(this->plain());
  const Repetition changed = TRY(repeat(tamper));
  if (changed.bytes.empty()) return 1.0;
  const size_t inputs = unseen_.inputs.size();
  uint64_t elements = 0, differing = 0;
  for (size_t i = inputs; i < plain.bytes.size(); ++i) {
    const std::string &a = plain.bytes[i], &b = changed.bytes[i];
    const size_t element = problems::byte_size(task_.definition.outputs[i - inputs].dtype);
    for (size_t at = 0; at < a.size(); at += element) {
      ++elements;
      differing += a.compare(at, element, b, at, element) != 0;
    }
  }
  return elements == 0 ? 0.0 : static_cast<double>(differing) / static_cast<double>(elements);
}

Result<Repetition> RecordedCall::repeat(Tamper tamper) const {
  RepetitionRequest request{.recording = recording_,
                            .addresses = addresses_,
                            .sizes = {},
                            .inputs = &unseen_.inputs,
                            .poison = poison_,
                            .schedule_seed = schedule_seed_,
                            .tamper = tamper,
                            .folder = folder_,
                            .emulation = settings_.emulation,
                            .limits = settings_.run_limits,
                            .cancel = settings_.cancel};
  Orders orders;
  add_tensors(orders, task_);
  for (const TensorOrder& tensor : orders.tensors) request.sizes.push_back(tensor.bytes);
  return judge::repeat(request, toolchain_);
}

std::string RecordedCall::described(const std::string& evidence) const {
  return fmt::format(
      "the launches of the first call, repeated without the host code that made them (other "
      "inputs, schedule seed {}): {}",
      schedule_seed_, evidence);
}

}  // namespace weft::judge
