#include "analysis/energy/accounting.h"

#include <algorithm>

#include "analysis/energy/layers.h"
#include "core/attention/costs/build.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// Counts the operations of one network, part by part.
class Accountant {
 public:
  Accountant(const Network& architecture, const AccountingOptions& options)
      : architecture_(architecture),
        options_(options),
        layers_(options.convention, architecture.rms_norms) {}

  NetworkCost count() {
    std::int64_t layer = 0;
    for (const Stage& stage : architecture_.stages) {
      embed(stage);
      for (std::int64_t i = 0; i < stage.layers; ++i, ++layer) {
        count_layer(stage, layer, layer_kind(architecture_, options_, stage, i, layer));
      }
      if (stage.closing_norm) {
        outside("closing norm").components = {
            {layers_.norm("normalisation", stage.tokens, stage.width),
             ComponentGroup::normalisation}};
      }
    }
    finish(architecture_.stages.back());
    return std::move(cost_);
  }

 private:
  PartCost& outside(std::string name) {
    cost_.parts.push_back({.name = std::move(name), .components = {}});
    return cost_.parts.back();
  }

  void embed(const Stage& stage) {
    const StageEmbedding& embedding = stage.embedding;
    if (embedding.kind == StageEmbedding::Kind::none && stage.position_convolution_taps == 0)
      return;
    PartCost& part = outside("embedding");
    const auto add = [&](OperationCount count, ComponentGroup group = ComponentGroup::embedding) {
      part.components.push_back({std::move(count), group});
    };
    for (const StemConvolution& stem : embedding.stem) {
      add(layers_.convolution("stem", stem.outputs, stem.kernel_taps, stem.input_channels,
                              stem.width));
      if (stem.norm) {
        add(layers_.norm("normalisation", stem.outputs, stem.width), ComponentGroup::normalisation);
      }
      add(layers_.activation("activation", stem.outputs, stem.width, embedding.stem_activation));
    }
    if (embedding.kind == StageEmbedding::Kind::convolution) {
      add(layers_.convolution("patch embedding", embedding.outputs, embedding.kernel_taps,
                              embedding.input_channels, stage.width));
    }
    if (embedding.kind == StageEmbedding::Kind::sound) {
      add(layers_.convolution("sound embedding", embedding.first_outputs, embedding.kernel_taps,
                              embedding.input_channels, stage.width));
      add(layers_.activation("activation", embedding.first_outputs, stage.width,
                             architecture_.activation));
      add(layers_.convolution("sound embedding", embedding.outputs, embedding.kernel_taps,
                              stage.width, stage.width));
      add(layers_.activation("activation", embedding.outputs, stage.width,
                             architecture_.activation));
    }
    if (embedding.scaled) {
      add(layers_.scaling("embedding scale", (Count(stage.tokens) * stage.width).value(), 1));
    }
    if (embedding.kind == StageEmbedding::Kind::merging) {
      const std::int64_t inputs = (Count(embedding.kernel_taps) * embedding.input_channels).value();
      add(layers_.norm("normalisation", embedding.outputs, inputs), ComponentGroup::normalisation);
      add(layers_.linear("patch merging", embedding.outputs, inputs, stage.width, false,
                         Arithmetic::multiplicative));
    }
    if (embedding.positions > 0 || embedding.fixed_positions) {
      add(layers_.sum("position embedding", stage.tokens, stage.width));
    }
    if (embedding.types > 0) add(layers_.sum("type embedding", stage.tokens, stage.width));
    if (embedding.norm) {
      add(layers_.norm("normalisation", stage.tokens, stage.width), ComponentGroup::normalisation);
    }
    if (stage.position_convolution_taps > 0) {
      add(layers_.convolution("position convolution", stage.tokens, stage.position_convolution_taps,
                              1, stage.width));
    }
  }

  void count_layer(const Stage& stage, std::int64_t layer, const CountedLayer& kind) {
    PartCost part{.name = "layer " + std::to_string(layer), .layer = layer, .components = {}};
    const auto add = [&](OperationCount count, ComponentGroup group) {
      part.components.push_back({std::move(count), group});
    };
    add(layers_.norm("normalisation", stage.tokens, stage.width), ComponentGroup::normalisation);

    AttentionShape shape = shape_of(stage);
    const std::int64_t asking = shape.queries;
    const auto add_scaling = [&](ComponentGroup group) {
      if (!architecture_.layer_scales) return;
      add(layers_.scaling("layer scale", asking, stage.width), group);
    };
    shape.keys = keys_of(stage, kind);
    // Padding tokens of windows are projected too.
    const bool filled = kind.windowed && stage.window_count > 0;
    const std::int64_t in_windows = (Count(stage.window_count) * stage.window_tokens).value();
    if (kind.reduced) {
      const std::int64_t area = stage.reduction * stage.reduction;
      add(layers_.convolution("spatial reduction", shape.keys, area, stage.width, stage.width),
          ComponentGroup::attention);
      if (stage.reduction_norm) {
        add(layers_.norm("spatial reduction", shape.keys, stage.width), ComponentGroup::attention);
      }
    }
    const MechanismCost cost(kind.mechanism);
    // Every adder layer is followed by a LayerNorm, which scales its large outputs.
    std::vector<OperationCount> projections, adder_norms;
    for (const Projection& projection : layer_projections(stage, cost, shape)) {
      const std::int64_t rows = filled ? in_windows : projection.of_keys ? shape.keys : asking;
      projections.push_back(layers_.linear(projection.component, rows, projection.inputs,
                                           projection.outputs, has_bias(architecture_, projection),
                                           kind.arithmetic));
      if (kind.arithmetic == Arithmetic::adder) {
        adder_norms.push_back(layers_.norm("normalisation", rows, projection.outputs));
      }
    }
    for (const OperationCount& count : projections) {
      if (count.component != "output projection") add(count, ComponentGroup::attention);
    }
    prepare_queries_and_keys(stage, shape, part);
    for (OperationCount count : core(cost, shape, kind, stage)) {
      add(std::move(count), ComponentGroup::attention);
    }
    for (const OperationCount& count : projections) {
      if (count.component == "output projection") add(count, ComponentGroup::attention);
    }
    add_scaling(ComponentGroup::attention);
    add(layers_.sum("attention residual", asking, stage.width), ComponentGroup::attention);
    if (kind.has_mlp) {
      count_mlp(stage, asking, kind, part);
      add_scaling(ComponentGroup::feed_forward);
      add(layers_.sum("FFN residual", asking, stage.width), ComponentGroup::feed_forward);
    }
    if (kind.arithmetic == Arithmetic::adder) {
      // LayerNorms after the output of the heads (Adder, Eq. 9) and after both layers of the MLP.
      adder_norms.push_back(
          layers_.norm("normalisation", asking, (Count(shape.heads) * shape.value_width).value()));
      if (kind.has_mlp) {
        adder_norms.push_back(layers_.norm("normalisation", asking, stage.mlp_width));
        adder_norms.push_back(layers_.norm("normalisation", asking, stage.width));
      }
    }
    for (OperationCount& norm : adder_norms) add(std::move(norm), ComponentGroup::normalisation);
    cost_.parts.push_back(std::move(part));
  }

  /// Adds the norms of single queries and keys and their rotary positions.
  void prepare_queries_and_keys(const Stage& stage, const AttentionShape& shape,
                                PartCost& part) const {
    const auto add = [&](OperationCount count) {
      part.components.push_back({std::move(count), ComponentGroup::attention});
    };
    for (const bool keys : {false, true}) {
      const Count heads = keys ? stage.heads_of_keys() : shape.heads;
      const Count tokens = keys ? shape.keys : shape.queries;
      if (stage.query_norm > 0) {
        const bool of_head = stage.query_norm == shape.head_width;
        const Count width = of_head ? shape.head_width : heads * shape.head_width;
        add(layers_.norm("norms of queries and keys", (of_head ? tokens * heads : tokens).value(),
                         width.value()));
      }
      if (stage.rotated > 0) {
        add(layers_.rotation(((tokens - stage.unrotated_tokens) * heads).value(), stage.rotated));
      }
    }
  }

  void count_mlp(const Stage& stage, std::int64_t asking, const CountedLayer& kind,
                 PartCost& part) const {
    const auto add = [&](OperationCount count, ComponentGroup group) {
      part.components.push_back({std::move(count), group});
    };
    if (stage.mlp_norm) {
      add(layers_.norm("normalisation", asking, stage.width), ComponentGroup::normalisation);
    }
    // `read`: number of MLPs whose weights are read.
    const auto add_linear = [&](const char* name, std::int64_t rows, std::int64_t inputs,
                                std::int64_t outputs, std::int64_t read) {
      OperationCount count =
          layers_.linear(name, rows, inputs, outputs, architecture_.linear_biases, kind.arithmetic);
      const OperationCount others = costs::moving(costs::component(name, 0, 0), options_.convention,
                                                  (Count(read) - 1) * inputs * outputs);
      accumulate(count, others);
      add(std::move(count), ComponentGroup::feed_forward);
    };
    const auto add_mlp = [&](std::int64_t rows, std::int64_t hidden, std::int64_t read) {
      add_linear("FFN in", rows, stage.width, hidden, read);
      if (stage.mlp_convolution_taps > 0) {
        add(layers_.convolution("FFN convolution", rows, stage.mlp_convolution_taps, 1, hidden),
            ComponentGroup::feed_forward);
      }
      add(layers_.activation("activation", rows, hidden, architecture_.activation),
          ComponentGroup::feed_forward);
      if (stage.gated_mlp) {
        add_linear("FFN gate", rows, stage.width, hidden, read);
        add(layers_.product("gate", rows, hidden), ComponentGroup::feed_forward);
      }
      add_linear("FFN out", rows, hidden, stage.width, read);
    };
    if (stage.experts == 0) {
      add_mlp(asking, stage.mlp_width, 1);
      return;
    }
    for (OperationCount& count :
         layers_.routing(asking, stage.width, stage.experts, stage.active_experts,
                         architecture_.router_biases)) {
      add(std::move(count), ComponentGroup::feed_forward);
    }
    // At most as many experts are read as tokens choose.
    const std::int64_t choices = (Count(asking) * stage.active_experts).value();
    add_mlp(choices, stage.mlp_width, std::min(choices, stage.experts));
    if (stage.shared_width > 0) add_mlp(asking, stage.shared_width, 1);
    if (architecture_.shared_gate) {
      add(layers_.linear("gate", asking, stage.width, 1, false, kind.arithmetic),
          ComponentGroup::feed_forward);
      add(layers_.activation("gate", asking, 1, Activation::silu), ComponentGroup::feed_forward);
      add(layers_.product("gate", asking, stage.width), ComponentGroup::feed_forward);
    }
  }

  /// Operations of the attention core, summed over its windows.
  std::vector<OperationCount> core(const MechanismCost& cost, AttentionShape shape,
                                   const CountedLayer& kind, const Stage& stage) const {
    std::int64_t windows = 1;
    const bool fits = stage.tokens <= stage.window_tokens && stage.window_biases == 0;
    if (kind.windowed && (!fits || stage.window_count > 0)) {
      windows = stage.window_count > 0
                    ? stage.window_count
                    : (stage.tokens + stage.window_tokens - 1) / stage.window_tokens;
      shape.queries = shape.keys = stage.window_tokens;
    }
    std::vector<OperationCount> counts = cost.counts(shape, options_.convention);
    const Count rows = Count(shape.heads) * shape.queries;
    if (!architecture_.scaled_scores && options_.convention == CostConvention::complete) {
      for (OperationCount& count : counts) {
        if (count.component != "softmax") continue;
        count.multiplications -= (rows * shape.keys).value();
      }
    }
    if (cost.entry().terms) {
      const bool of_windows = kind.windowed && stage.window_biases > 0;
      if (of_windows || (stage.position_buckets > 0 && !kind.crosses)) {
        counts.push_back(layers_.sum("position bias", rows.value(), shape.keys));
      }
      if (const std::int64_t offsets = offsets_of(stage, kind); offsets > 0) {
        // A query meets n of the 2n − 1 offsets.
        counts.push_back(layers_.decomposed_positions(rows.value(), shape.head_width,
                                                      offsets / 2 + 1, shape.keys));
      }
    }
    for (OperationCount& count : counts) count = repeated(count, windows);
    return counts;
  }

  void finish(const Stage& last) {
    const bool reads = architecture_.final_norm || architecture_.pooler;
    if (!reads && architecture_.head_outputs == 0) return;
    PartCost& part = outside("head");
    if (architecture_.final_norm) {
      part.components.push_back(
          {layers_.norm("normalisation", last.tokens, last.width), ComponentGroup::normalisation});
    }
    if (architecture_.pooler) {
      part.components.push_back(
          {layers_.linear("pooler", 1, last.width, last.width, true, Arithmetic::multiplicative),
           ComponentGroup::head});
      if (options_.convention == CostConvention::complete) {
        OperationCount tanh = costs::component("pooler", 0, 0);
        tanh.exponentials = last.width;
        part.components.push_back({costs::moving(tanh, options_.convention, 2 * Count(last.width)),
                                   ComponentGroup::head});
      }
    }
    if (architecture_.pooling > 0) {
      for (OperationCount& count :
           layers_.attention_pooling(last.tokens, last.width, architecture_.pooling)) {
        part.components.push_back({std::move(count), ComponentGroup::head});
      }
    }
    if (architecture_.head_outputs == 0) return;
    const std::int64_t rows =
        (Count(architecture_.head_copies) * architecture_.head_tokens).value();
    std::int64_t inputs = last.width;
    if (architecture_.head_norm) {
      part.components.push_back(
          {layers_.norm("normalisation", rows, inputs), ComponentGroup::normalisation});
    }
    if (architecture_.scaled_head) {
      part.components.push_back(
          {layers_.scaling("head", (Count(rows) * inputs).value(), 1), ComponentGroup::head});
    }
    std::vector<std::int64_t> outputs = architecture_.head_hidden;
    outputs.push_back(architecture_.head_outputs);
    for (const std::int64_t width : outputs) {
      part.components.push_back(
          {layers_.linear("head", rows, inputs, width, architecture_.head_bias,
                          Arithmetic::multiplicative),
           ComponentGroup::head});
      inputs = width;
    }
  }

  const Network& architecture_;
  const AccountingOptions& options_;
  LayerCosts layers_;
  NetworkCost cost_;
};

}  // namespace

void accumulate(OperationCount& sum, const OperationCount& count) {
  const auto add = [](std::int64_t& to, std::int64_t more) { to = (Count(to) + more).value(); };
  add(sum.multiplications, count.multiplications);
  add(sum.additions, count.additions);
  add(sum.shifts, count.shifts);
  add(sum.divisions, count.divisions);
  add(sum.exponentials, count.exponentials);
  add(sum.bytes_moved, count.bytes_moved);
}

std::vector<ComponentCost> NetworkCost::by_component() const {
  std::vector<ComponentCost> sums;
  for (const PartCost& part : parts) {
    for (const ComponentCost& cost : part.components) {
      const auto found = std::find_if(sums.begin(), sums.end(), [&](const ComponentCost& sum) {
        return sum.group == cost.group && sum.count.component == cost.count.component;
      });
      if (found == sums.end()) {
        sums.push_back(cost);
      } else {
        accumulate(found->count, cost.count);
      }
    }
  }
  return sums;
}

OperationCount NetworkCost::total() const {
  OperationCount sum{.component = "total"};
  for (const PartCost& part : parts) {
    for (const ComponentCost& cost : part.components) accumulate(sum, cost.count);
  }
  return sum;
}

OperationCount NetworkCost::total_of(ComponentGroup group) const {
  OperationCount sum{.component = std::string(name_of(group))};
  for (const PartCost& part : parts) {
    for (const ComponentCost& cost : part.components) {
      if (cost.group == group) accumulate(sum, cost.count);
    }
  }
  return sum;
}

NetworkCost count_operations(const Network& architecture, const AccountingOptions& options) {
  check(architecture);
  return Accountant(architecture, options).count();
}

std::vector<OperationCount> count_core(const Stage& stage, const MechanismChoice& mechanism,
                                       CostConvention convention) {
  return MechanismCost(mechanism).counts(shape_of(stage), convention);
}

std::string_view name_of(ComponentGroup group) {
  switch (group) {
    case ComponentGroup::embedding:
      return "embedding";
    case ComponentGroup::attention:
      return "attention";
    case ComponentGroup::feed_forward:
      return "FFN";
    case ComponentGroup::normalisation:
      return "normalisation";
    case ComponentGroup::head:
      return "head";
  }
  return {};
}

}  // namespace attnscope
