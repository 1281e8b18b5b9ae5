// DAFT-conv without global connectivity: tokens outside the window are not seen (DAFT, section 5.1
// and Fig. 2).
#include "core/attention/daft_window.h"

namespace attnscope {

MechanismEntry daft_local_entry() {
  MechanismEntry entry = daft_window_entry();
  entry.name = "daft-local";
  entry.title = "DAFT-local";
  entry.source = "DAFT, section 5.1";
  entry.formula = "the same only inside the window";
  entry.rank = "N";
  entry.complexity = {"NsD + ND²", "ND", "DAFT, 5.1"};
  entry.counts = [](const AttentionShape& shape, CostConvention convention,
                    const TypedValues& values) {
    auto counts = costs::daft_conv(shape, convention, daft_cost_options(values));
    // Without global connectivity there are no sums over all tokens.
    std::erase_if(counts, [](const auto& count) { return count.component == "global sums"; });
    return counts;
  };
  entry.make = [](const TypedValues& values) {
    return make_daft_window("daft-local", DaftWindowKind::local, values);
  };
  return entry;
}

}  // namespace attnscope
