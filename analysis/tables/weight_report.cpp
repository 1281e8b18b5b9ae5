#include <nlohmann/json.hpp>
#include <string>

#include "analysis/tables/reports.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

Report weight_values_report(const WeightSpectrum& head) {
  const std::vector<double>& values = head.singular_values;
  return {{{.name = "index",
            .value = [](std::size_t row) { return static_cast<std::int64_t>(row) + 1; }},
           {.name = "singular_value", .value = [&values](std::size_t row) { return values[row]; }}},
          values.size()};
}

/// A row per head or per layer.
Report weight_products_report(const std::vector<WeightSpectrum>& spectra,
                              const WeightRequest& request) {
  using Product = WeightSpectrum;
  const bool of_heads = request.of == WeightAnalysis::qk || request.of == WeightAnalysis::ov;
  const auto greatest = [](const Product& one) { return one.singular_values.front(); };
  const auto least = [](const Product& one) { return one.singular_values.back(); };
  std::vector<ColumnOf<Product>> columns = {
      {{.name = "layer", .title = "layer", .width = 5}, &Product::layer}};
  if (of_heads) append(columns, {{{.name = "head", .title = "head", .width = 5}, &Product::head}});
  append(
      columns,
      {{json_only("singular_values"),
        [](const Product& one) { return json_cell(one.singular_values); }},
       {csv_only("singular_values"),
        [](const Product& one) { return table_cell(weight_values_report(one)); }},
       {{.title = "σ1", .width = 8, .decimals = 3}, greatest},
       {{.title = of_heads ? "σd" : "last σ", .width = 8, .decimals = 3}, least},
       {{.name = "equivalent_rank",
         .title = "rank, " + to_string(request.threshold),
         .decimals = 0},
        &Product::equivalent_rank},
       {{.name = "effective_rank", .title = "effective", .decimals = 1}, &Product::effective_rank},
       {{.name = "stable_rank", .title = "stable", .decimals = 1}, &Product::stable_rank},
       {{.name = "copying",
         .title = "copying",
         .formula = "Σλ / Σ|λ| of the eigenvalues: 1 copies, −1 writes the opposite",
         .decimals = 3,
         .if_known = true},
        &Product::copying},
       {{.name = "symmetry",
         .title = "symmetry",
         .formula = "‖(W + Wᵀ)/2‖² / ‖W‖²: 1 symmetric, 1/2 random, 0 antisymmetric",
         .decimals = 3,
         .if_known = true},
        &Product::symmetry},
       {{.name = "directionality",
         .title = "direction",
         .formula = "(C − R) / (C + R): excess of column and row norms over mean + 2 deviations",
         .decimals = 3,
         .if_known = true},
        &Product::directionality}});
  return report_on(spectra, std::move(columns));
}

Report compositions_report(const std::vector<HeadComposition>& pairs) {
  using Pair = HeadComposition;
  return report_on(
      pairs, {{{.name = "from_layer", .title = "from\nlayer", .width = 5}, &Pair::from_layer},
              {{.name = "from_head", .title = "from\nhead", .width = 6}, &Pair::from_head},
              {{.name = "to_layer", .title = "to\nlayer", .width = 8}, &Pair::to_layer},
              {{.name = "to_head", .title = "to\nhead", .width = 6}, &Pair::to_head},
              {{.name = "composition", .title = "composition", .decimals = 4}, &Pair::value},
              {{.name = "baseline",
                .title = "random",
                .formula = "1/√D, the root mean square for a random rotation between the heads",
                .decimals = 4},
               &Pair::baseline},
              {{.name = "above_baseline",
                .title = "difference",
                .formula = "composition − random",
                .decimals = 4},
               &Pair::above_baseline}});
}

Report matrices_report(const std::vector<MatrixSpectrum>& matrices, const WeightRequest& request) {
  using Whole = MatrixSpectrum;
  const auto greatest = [](const Whole& one) { return one.singular_values.front(); };
  const auto shape = [](const Whole& one) {
    return std::to_string(one.inputs) + " × " + std::to_string(one.outputs);
  };
  std::vector<ColumnOf<Whole>> columns = {
      {{.name = "layer", .title = "layer", .width = 5}, &Whole::layer},
      {{.name = "matrix", .title = "matrix", .left = true},
       [](const Whole& one) { return std::string(name_of(layer_matrix_names, one.matrix)); }},
      {{.name = "inputs"}, &Whole::inputs},
      {{.name = "outputs"}, &Whole::outputs},
      {{.title = "in × out"}, shape},
      {json_only("singular_values"),
       [](const Whole& one) { return json_cell(one.singular_values); }}};
  if (request.minus) {
    append(columns, {{{.name = "relative_norm",
                       .title = "relative",
                       .formula = "‖W − W′‖ / ‖W′‖, with W′ of the subtracted model",
                       .decimals = 4},
                      &Whole::relative_norm}});
  }
  append(columns,
         {{{.name = "norm", .title = "‖W‖", .decimals = 2}, &Whole::norm},
          {{.name = "largest_singular_value", .title = "σ1", .decimals = 2}, greatest},
          {{.name = "equivalent_rank",
            .title = "rank",
            .formula = rank_in_words(request.threshold),
            .decimals = 0},
           &Whole::equivalent_rank},
          {{.name = "stable_rank", .title = "stable", .decimals = 1}, &Whole::stable_rank},
          {{.name = "noise_edge"}, &Whole::noise_edge},
          {{.name = "above_noise",
            .title = "> noise",
            .formula = "number of σ above s (√in + √out), s the deviation of the entries",
            .decimals = 0},
           &Whole::above_noise},
          {{.name = "tail_exponent",
            .title = "α",
            .formula = "exponent of the tail of σ², 1 + n / Σ ln(σ² / x_min); – below " +
                       std::to_string(least_tail_values) + " values",
            .decimals = 2},
           [](const Whole& one) { return one.tail.exponent; }},
          {{.name = "tail_exponent_error"}, [](const Whole& one) { return one.tail.error; }},
          {{.name = "tail_distance",
            .title = "KS",
            .formula = "Kolmogorov–Smirnov distance of that tail, the least of all x_min",
            .decimals = 3},
           [](const Whole& one) { return one.tail.distance; }},
          {{.name = "tail_minimum"}, [](const Whole& one) { return one.tail.minimum; }},
          {{.name = "tail_values", .title = "tail", .formula = "n, the number of σ in the tail"},
           [](const Whole& one) { return if_any(one.tail.values); }}});
  return report_on(matrices, std::move(columns));
}

std::string composition_in_words(WeightAnalysis of) {
  if (of == WeightAnalysis::q_composition) {
    return "Q-composition ‖W_OV W_QK‖ / (‖W_OV‖ ‖W_QK‖)";
  }
  if (of == WeightAnalysis::k_composition) {
    return "K-composition ‖W_OV W_QKᵀ‖ / (‖W_OV‖ ‖W_QK‖)";
  }
  return "V-composition ‖W_OV W_OV′‖ / (‖W_OV‖ ‖W_OV′‖)";
}

}  // namespace

Report weights_report(const WeightRows& rows, const WeightRequest& request) {
  if (const auto* const products = std::get_if<std::vector<WeightSpectrum>>(&rows)) {
    return weight_products_report(*products, request);
  }
  if (const auto* const pairs = std::get_if<std::vector<HeadComposition>>(&rows)) {
    return compositions_report(*pairs);
  }
  return matrices_report(std::get<std::vector<MatrixSpectrum>>(rows), request);
}

std::string weights_in_words(const std::string& model, const ModelSpec& spec,
                             const WeightRequest& request, const std::string& minus) {
  const bool latent = spec.layer.attention.latent_width > 0;
  const std::string qk = latent ? "W_UQ W_UKᵀ" : "W_Q W_Kᵀ", ov = latent ? "W_UV W_O" : "W_V W_O";
  const std::string rest = latent ? ", without its rotated channels" : "";
  switch (request.of) {
    case WeightAnalysis::qk:
      return model + ": W_QK = " + qk + " of each head" + rest + ", rank at most d\n";
    case WeightAnalysis::ov:
      return model + ": W_OV = " + ov + " of each head, rank at most d\n";
    case WeightAnalysis::qk_layer:
      return model + ": Σ W_QK = Σ " + qk + " over the heads of each layer" + rest + "\n";
    case WeightAnalysis::ov_layer:
      return model + ": Σ W_OV = Σ " + ov + " over the heads of each layer\n";
    case WeightAnalysis::q_composition:
    case WeightAnalysis::k_composition:
    case WeightAnalysis::v_composition:
      return model + ": " + composition_in_words(request.of) + " of each head and a later one\n";
    case WeightAnalysis::matrices:
      break;
  }
  return model + (request.minus ? " − " + minus + ": differences of the" : ": the") +
         " weight matrices W of y = x W + b\n";
}

const char* name_of_weight_rows(WeightAnalysis of) {
  if (is_composition(of)) return "pairs";
  if (of == WeightAnalysis::matrices) return "matrices";
  return of == WeightAnalysis::qk || of == WeightAnalysis::ov ? "heads" : "layers";
}

}  // namespace attnscope
