#include "core/attention/costs/features.h"

#include "core/attention/costs/build.h"
#include "core/error.h"

namespace attnscope::costs {

OperationCount random_features(std::string name, const AttentionShape& shape, std::int64_t tokens,
                               CostConvention convention, std::int64_t features, FeatureKind kind) {
  const Count rows = Count(shape.heads) * tokens, c = shape.head_width, f = features;
  switch (convention) {
    case CostConvention::adder:
      return accumulated(std::move(name), rows * f * c);
    case CostConvention::ecoformer:
      return accumulated(std::move(name), rows * f * c + 2 * rows * c + 2 * rows * f);
    case CostConvention::complete:
      break;
  }
  const Count traffic = rows * (c + f) + Count(shape.heads) * f * c;
  if (kind == FeatureKind::relu) {
    // Operations: x·d^(-1/4), ω·x, max(ω·x, 0), + ε.
    return moving(component(std::move(name), rows * (c + f * c), rows * (f * c + 2 * f)),
                  convention, traffic);
  }
  // Operations: x·d^(-1/4), ω·x, ‖x‖²/2, exp of the difference, times 1/√F.
  OperationCount count =
      component(std::move(name), rows * (c + f * c + c + 1 + f), rows * (f * c + c + f));
  count.exponentials = (rows * f).value();
  return moving(count, convention, traffic);
}

void check_shared(const char* mechanism, const AttentionShape& shape) {
  if (shape.keys == shape.queries) return;
  throw Error(ErrorKind::usage, "queries and keys share their codes, so both need the same tokens")
      .about(mechanism)
      .expected(std::to_string(shape.queries) + " keys")
      .found(std::to_string(shape.keys))
      .remedy("where spatial reduction takes keys away, --set native=false counts all of them");
}

void check_positive(const char* parameter, std::int64_t value) {
  if (value > 0) return;
  throw Error(ErrorKind::usage, "a mechanism's parameter is out of range")
      .about(parameter)
      .expected("1 or more")
      .found(std::to_string(value));
}

}  // namespace attnscope::costs
