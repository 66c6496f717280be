// SPDX-License-Identifier: Apache-2.0

// Gated delta net: a head keeps a state S (values x keys) and for each token
//
//   S = g S;  u = beta (v - S k);  S = S + u k';  output = scale S q
//   g = exp(-exp(A_log) softplus(a + dt_bias)), beta = sigmoid(b)
//
// Several value heads share a query and key head. A head of a sequence is a piece of parallel work;
// its tokens follow each other, which no reference can avoid without the algebra under test.
#include <cmath>
#include <type_traits>

#include "base/parallel.h"
#include "ptxbench/problems/family.h"

namespace weft::problems {
namespace {

// One sequence: tokens first ... first + count - 1, and the state it starts from.
struct Run {
  int64_t first, count, state;
};

// The tensors by what they are, whatever their place in a family's list.
struct Net {
  const Tensor &q, &k, &v, &state, &a_log, &a, &dt_bias, &b;
  double scale;
  int64_t key_heads, heads, dim;
};

template <typename Real>
Real softplus(Real x) {
  return x > 20 ? x : std::log1p(std::exp(x));
}

// S k, S q and the outer product of one token, exactly.
template <typename Real>
struct ExactSteps {
  Real dot(const Real* row, const std::vector<Real>& with) const {
    Real sum = 0;
    for (size_t j = 0; j < with.size(); ++j) sum += row[j] * with[j];
    return sum;
  }
  Real factor(Real value) const { return value; }
};

// The same with operands of a precision class: the state is kept in float32, what is multiplied is
// rounded, as where tensor cores do it.
struct ModelSteps {
  const Model& model;

  float dot(const float* row, const std::vector<float>& with) const {
    const auto count = static_cast<int64_t>(with.size());
    const std::vector<float> left = rounded({row, with.size()}, model.operands);
    float sum = 0;
    model_product(model.order, 1, 1, count, {left.data(), count, 1}, {with.data(), 1, count}, &sum);
    return sum;
  }
  float factor(float value) const {
    // fp8 shares a scale with others, which one number alone does not show.
    return rounded({&value, 1}, model.operands == Operands::Fp8 ? Operands::Bf16 : model.operands)
        .front();
  }
};

// The head's state before is in `s` and after it too; outputs go to out, one row a token.
template <typename Real, typename Steps>
void tokens(const Net& net, const Run& run, int64_t head, const Steps& steps, std::vector<Real>& s,
            std::vector<float>& out) {
  const int64_t d = net.dim, key_head = head / (net.heads / net.key_heads);
  const Real decay = std::exp(elements<Real>(net.a_log, head, 1)[0]);
  const Real bias = elements<Real>(net.dt_bias, head, 1)[0];
  for (int64_t t = run.first; t < run.first + run.count; ++t) {
    const std::vector<Real> q = elements<Real>(net.q, (t * net.key_heads + key_head) * d, d);
    const std::vector<Real> k = elements<Real>(net.k, (t * net.key_heads + key_head) * d, d);
    const std::vector<Real> v = elements<Real>(net.v, (t * net.heads + head) * d, d);
    const Real a = elements<Real>(net.a, t * net.heads + head, 1)[0];
    const Real b = elements<Real>(net.b, t * net.heads + head, 1)[0];
    const Real g = std::exp(-decay * softplus(a + bias));
    const Real beta = 1 / (1 + std::exp(-b));
    for (int64_t i = 0; i < d; ++i) {
      Real* row = &s[i * d];
      for (int64_t j = 0; j < d; ++j) row[j] *= g;
      const Real update = steps.factor(beta * (v[i] - steps.dot(row, k)));
      for (int64_t j = 0; j < d; ++j) row[j] += update * k[j];
      out[(t * net.heads + head) * d + i] =
          static_cast<float>(static_cast<Real>(net.scale) * steps.dot(row, q));
    }
  }
}

// `states` null where the family returns none of its own.
template <typename Real>
void all_heads(const Net& net, const std::vector<Run>& runs, std::vector<float>& out,
               std::vector<float>* states, const Model* model) {
  const int64_t size = net.dim * net.dim;
  const auto pieces = static_cast<int64_t>(runs.size()) * net.heads;
  each_in_parallel(pieces, [&](int64_t piece) {
    const int64_t sequence = piece / net.heads, head = piece % net.heads;
    const Run& run = runs[sequence];
    std::vector<Real> s = elements<Real>(net.state, (run.state * net.heads + head) * size, size);
    if constexpr (std::is_same_v<Real, float>) {
      if (model != nullptr) tokens(net, run, head, ModelSteps{*model}, s, out);
    }
    if (model == nullptr) tokens(net, run, head, ExactSteps<Real>{}, s, out);
    if (states == nullptr) return;
    for (int64_t i = 0; i < size; ++i)
      (*states)[(sequence * net.heads + head) * size + i] = static_cast<float>(s[i]);
  });
}

Expected run_net(const Task& task, const Net& net, const std::vector<Run>& runs, bool states,
                 const Arithmetic& how) {
  Expected out;
  for (const TensorSpec& spec : task.definition.outputs)
    out.emplace_back(static_cast<size_t>(element_count(task.shape(spec))));
  std::vector<float>* target = states ? &out[1] : nullptr;
  if (how.sums == Sums::Float64)
    all_heads<double>(net, runs, out[0], target, nullptr);
  else
    all_heads<float>(net, runs, out[0], target, how.model);
  return out;
}

double scalar(const Tensor& tensor) {
  return elements<double>(tensor, 0, 1).front();
}

}  // namespace

// q, k, v, state, A_log, a, dt_bias, b, scale
Expected gdn_decode(const Task& task, const std::vector<Tensor>& in, const Arithmetic& how) {
  const Net net{in[0], in[1], in[2],         in[3],          in[4],          in[5],
                in[6], in[7], scalar(in[8]), in[1].shape[2], in[2].shape[2], in[0].shape[3]};
  std::vector<Run> runs;
  for (int64_t s = 0; s < in[0].shape[0]; ++s) runs.push_back({s, 1, s});
  return run_net(task, net, runs, true, how);
}

// q, k, v, initial_state, initial_state_indices, A_log, a, dt_bias, b, scale. The pool of states
// comes back as it was: the tokens are proposals that are not accepted yet.
Expected gdn_mtp(const Task& task, const std::vector<Tensor>& in, const Arithmetic& how) {
  const Net net{in[0], in[1], in[2],         in[3],          in[5],          in[6],
                in[7], in[8], scalar(in[9]), in[1].shape[2], in[2].shape[2], in[0].shape[3]};
  const std::vector<double> pool = elements<double>(in[4], 0, in[4].count());
  const int64_t count = in[0].shape[1];
  std::vector<Run> runs;
  for (int64_t s = 0; s < in[0].shape[0]; ++s)
    runs.push_back({s * count, count, static_cast<int64_t>(pool[s])});
  Expected out = run_net(task, net, runs, false, how);
  out[1] = to_float(in[3]);
  return out;
}

// q, k, v, state, A_log, a, dt_bias, b, cu_seqlens, scale
Expected gdn_prefill(const Task& task, const std::vector<Tensor>& in, const Arithmetic& how) {
  const Net net{in[0], in[1], in[2],         in[3],          in[4],          in[5],
                in[6], in[7], scalar(in[9]), in[1].shape[1], in[2].shape[1], in[0].shape[2]};
  const std::vector<double> offsets = elements<double>(in[8], 0, in[8].count());
  std::vector<Run> runs;
  for (int64_t s = 0; s + 1 < in[8].count(); ++s) {
    const auto first = static_cast<int64_t>(offsets[s]);
    runs.push_back({first, static_cast<int64_t>(offsets[s + 1]) - first, s});
  }
  return run_net(task, net, runs, true, how);
}

}  // namespace weft::problems
