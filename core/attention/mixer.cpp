// MLP-Mixer's mixing of tokens (Tolstikhin et al. 2021, Eq. 1): per channel an MLP from N tokens
// through hidden units to N tokens. Because of its GELU it is not a product of weights with values,
// so it is counted but not run.
#include "core/attention/costs/costs.h"
#include "core/attention/costs/count.h"
#include "core/attention/mechanism.h"

namespace attnscope {

namespace {

std::int64_t hidden(const AttentionShape& shape, const TypedValues& values) {
  return (Count(values.whole("expansion")) * shape.queries).value();
}

}  // namespace

MechanismEntry mixer_entry() {
  using Values = const TypedValues&;
  using Extents = const AttentionShape&;
  return {.name = "mixer",
          .title = "MLP-Mixer",
          .source = "Tolstikhin et al. 2021",
          .formula = "an MLP over the tokens of each channel",
          .rank = "–",
          .complexity = {"N²D", "ND + N²", "Tolstikhin et al. 2021"},
          .parameters = {setting::whole("expansion", 4, {1, 1e9},
                                        "hidden tokens of the MLP for each token")},
          .tensors = {{"W1", "[hidden, N], the inner layer",
                       [](Extents s, Values v) {
                         return std::optional(Shape{hidden(s, v), s.queries});
                       }},
                      {"b1", "[hidden], its bias",
                       [](Extents s, Values v) { return std::optional(Shape{hidden(s, v)}); }},
                      {"W2", "[N, hidden], the outer layer",
                       [](Extents s, Values v) {
                         return std::optional(Shape{s.queries, hidden(s, v)});
                       }},
                      {"b2", "[N], its bias",
                       [](Extents s, Values) { return std::optional(Shape{s.queries}); }}},
          .counts =
              [](Extents shape, CostConvention convention, Values values) {
                return costs::mixer(shape, convention, values.whole("expansion"));
              },
          .projections = [](std::int64_t, Extents, Values) { return std::vector<Projection>{}; }};
}

}  // namespace attnscope
