#include "core/attention/token_gates.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/attention/random_parameters.h"
#include "core/attention/score_blocks.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

// A decay of e⁻¹⁰⁰⁰ is 0 in double. Sums of smaller logarithms would lose digits.
constexpr double kLeastLogarithm = -1000;

}  // namespace

void check_sequence(const AttentionInput& input, std::string_view mechanism) {
  check_shapes(input);
  if (input.queries.rows() == input.keys.rows()) return;
  throw Error(ErrorKind::usage, "a recurrence over the tokens needs as many keys as queries")
      .about(std::string(mechanism))
      .expected(std::to_string(input.queries.rows()) + " keys")
      .found(std::to_string(input.keys.rows()))
      .remedy("overlay another mechanism on layers that read other tokens");
}

std::optional<MatrixD> token_gates(const AttentionInput& input, const char* name, std::int64_t head,
                                   GateOf of) {
  if (input.parameters == nullptr) return std::nullopt;
  const auto found = input.parameters->find(std::string_view(name));
  if (found == input.parameters->end()) return std::nullopt;
  const bool alike = of == GateOf::token;
  const Shape& stored = found->second.shape();
  const std::size_t last = alike ? 1 : 2;  // the dimension of the tokens, counted from the last
  std::int64_t tokens = input.keys.rows();
  if (stored.size() >= last) tokens = std::max(tokens, stored[stored.size() - last]);
  const std::int64_t columns = alike ? 1 : input.shape().head_width;
  const Tensor* const tensor = find_parameter(input.parameters, name, input.heads,
                                              alike ? Shape{tokens} : Shape{tokens, columns});
  return of_head(*tensor, head, tokens, columns).topRows(input.keys.rows()).cast<double>();
}

MatrixD log_decays(const AttentionInput& input, std::int64_t head, GateOf of, double rate) {
  std::optional<MatrixD> gates = token_gates(input, "log_decay", head, of);
  if (!gates) return MatrixD::Constant(input.keys.rows(), 1, -rate);
  for (double& logarithm : gates->reshaped()) {
    if (logarithm > 0) {
      throw Error(ErrorKind::usage, "the logarithm of a decay is at most 0")
          .about("log_decay")
          .found(exact(logarithm));
    }
    if (logarithm < kLeastLogarithm) logarithm = kLeastLogarithm;  // NaN stays NaN
  }
  return *std::move(gates);
}

ParameterDescription rate_parameter() {
  return setting::number("rate", 0.05, {0, 100},
                         "−ln α, α the decay per token, if the layer has no log_decay");
}

std::optional<Shape> gate_per_token(const AttentionShape& shape, const TypedValues&) {
  return Shape{shape.heads, shape.keys};
}

std::optional<Shape> gate_per_channel(const AttentionShape& shape, const TypedValues&) {
  return Shape{shape.heads, shape.keys, shape.head_width};
}

}  // namespace attnscope
