// DAFT-conv with one nonzero bias per head (DAFT, appendix C, Eq. 11 at inference).
#include "core/attention/daft_window.h"

namespace attnscope {

MechanismEntry daft_one_hot_entry() {
  MechanismEntry entry = daft_window_entry();
  entry.name = "daft-one-hot";
  entry.title = "DAFT-one-hot";
  entry.source = "DAFT, appendix C";
  entry.formula = "the same with one bias of each head";
  entry.rank = "N";
  entry.complexity = {"NsD + ND²", "ND", "DAFT, appendix C"};
  entry.counts = [](const AttentionShape& shape, CostConvention convention,
                    const TypedValues& values) {
    costs::DaftConvOptions options = daft_cost_options(values);
    options.kernel = 1;  // one bias per head is an index: a window of one token
    return costs::daft_conv(shape, convention, options);
  };
  entry.make = [](const TypedValues& values) {
    return make_daft_window("daft-one-hot", DaftWindowKind::one_hot, values);
  };
  return entry;
}

}  // namespace attnscope
