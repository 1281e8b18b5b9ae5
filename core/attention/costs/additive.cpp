#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/attention/costs/features.h"
#include "core/error.h"

namespace attnscope::costs {

namespace {

/// One importance per token and head: a product over `inputs` numbers, scaled, and its exp.
OperationCount importances(const char* name, const AttentionShape& shape, CostConvention convention,
                           Count inputs) {
  const Count rows = Count(shape.heads) * shape.queries;
  OperationCount count = accumulated(name, rows * inputs);
  if (convention != CostConvention::adder) {
    count.multiplications = (rows * inputs + rows).value();  // scaling by 1/√d
  }
  if (convention == CostConvention::complete) {
    count.additions = (rows * inputs + 2 * rows).value();  // the maximum, the difference
    count.exponentials = rows.value();
    count = moving(count, convention,
                   Count(shape.queries) * shape.heads * shape.head_width + inputs + rows);
  }
  return count;
}

}  // namespace

OperationCounts additive(const AttentionShape& shape, CostConvention convention, AdditiveKind kind,
                         std::int64_t window) {
  check(shape);
  check_shared("additive", shape);
  if (window < 0) {
    throw Error(ErrorKind::usage, "a mechanism's parameter is out of range")
        .about("window")
        .expected("0 (all tokens) or more")
        .found(std::to_string(window));
  }
  const Count n = shape.queries, h = shape.heads, d = shape.head_width, width = h * d, rows = h * n;
  const bool papers = convention == CostConvention::ecoformer;
  const bool complete = convention == CostConvention::complete;
  const bool causal = kind == AdditiveKind::causal;
  const bool windowed = causal && window > 0 && window < shape.queries;

  OperationCounts counts;
  const auto append_global = [&](const char* importance, const char* global) {
    // Bidirectional logits see the whole concatenated vector, causal ones their own head.
    counts.push_back(importances(importance, shape, convention, causal ? d : width));
    OperationCount sums = accumulated(global, n * width);
    const Count divided = causal ? n * width : width;
    if (papers) sums.multiplications = (n * width + divided).value();
    if (papers || complete) sums.additions = (n * width + rows).value();
    if (windowed) {
      // Tokens that leave the window are subtracted (Eq. 15).
      sums.additions = (Count(sums.additions) + n * width +
                        (convention == CostConvention::adder ? Count(0) : rows))
                           .value();
    }
    if (complete) {
      sums.divisions = divided.value();
      sums = moving(sums, convention, (windowed ? 3 : 2) * n * width + rows);
    }
    counts.push_back(sums);
  };
  const auto append_product = [&](const char* name) {
    if (convention == CostConvention::adder) return;
    counts.push_back(moving(component(name, n * width, 0), convention, 3 * n * width));
  };

  append_global("query importances", "global query");
  append_product("query-key product");
  append_global("key importances", "global key");
  append_product(causal ? "key-value product" : "key-query product");
  return counts;
}

}  // namespace attnscope::costs
