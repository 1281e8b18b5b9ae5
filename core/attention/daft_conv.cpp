// DAFT-conv (DAFT, Eq. 7 to 9, Algorithm 2): biases in a window, shared by all positions and by the
// channels of a head; every token still sees every other.
#include "core/attention/daft_window.h"

namespace attnscope {

MechanismEntry daft_conv_entry() {
  MechanismEntry entry = daft_window_entry();
  entry.name = "daft-conv";
  entry.title = "DAFT-conv";
  entry.source = "DAFT, Eq. 7 to 9";
  entry.formula = "exp(K + w) by channel, w in a window and 0 outside, gated by σ(Q)";
  entry.rank = "N";
  entry.complexity = {"NsD + ND²", "ND", "DAFT, Eq. 7 to 9"};
  entry.counts = [](const AttentionShape& shape, CostConvention convention,
                    const TypedValues& values) {
    return costs::daft_conv(shape, convention, daft_cost_options(values));
  };
  entry.make = [](const TypedValues& values) {
    return make_daft_window("daft-conv", DaftWindowKind::conv, values);
  };
  return entry;
}

}  // namespace attnscope
