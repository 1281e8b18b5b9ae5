// Figure of complexity, parameters and energy of mechanisms, with time and memory of the program's
// kernels.
#include "analysis/figure/recipes/mechanism_costs.h"

#include <algorithm>
#include <array>
#include <optional>

#include "analysis/energy/growth.h"
#include "analysis/energy/layers.h"
#include "analysis/figure/caption.h"
#include "analysis/figure/recipes/energy_networks.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/table.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr const char* kCostNotKnown = "–";

Stage stage_of(const MeasurementOptions& options) {
  Stage stage;
  stage.tokens = options.tokens.back();
  stage.width = options.width;
  stage.heads = options.heads;
  return stage;
}

/// The mechanism without parameters that only affect accounting; empty if the program cannot run
/// it.
std::optional<MechanismChoice> runnable(const MechanismChoice& counted) {
  const MechanismEntry& entry = find_counted_mechanism(counted.name);
  if (entry.make == nullptr) return std::nullopt;
  MechanismChoice choice = counted;
  for (const ParameterDescription& accounting : entry.accounting) {
    choice.parameters.erase(accounting.name);
  }
  return choice;
}

/// A measured value with three significant digits.
std::string measured_text(double value) {
  return fixed_text(value, value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3);
}

/// The exponent with its standard error in the last digit, "2.0(3)"; a dash if the times do not
/// follow a power of N.
std::string growth_text(const MeasuredKernel& kernel) {
  constexpr double kMostError = 0.5;
  const std::optional<MeasuredExponent> exponent = measured_exponent(kernel);
  if (!exponent || exponent->standard_error > kMostError) return kCostNotKnown;
  return fixed_text(exponent->value, 1) + "(" + fixed_text(10 * exponent->standard_error, 0) + ")";
}

std::int64_t stage_parameters(const Stage& stage, const MechanismChoice& mechanism) {
  const MechanismCost cost(mechanism);
  std::int64_t sum = cost.own_parameters(shape_of(stage));
  for (const Projection& projection : cost.projections(stage.width, shape_of(stage))) {
    sum += projection.inputs * projection.outputs + projection.outputs;
  }
  return sum;
}

std::string words_on(const Measurement& measurement) {
  std::string problems;
  bool any = false;
  for (const MeasuredKernel& kernel : measurement.kernels) {
    any |= !kernel.runs.empty();
    if (!kernel.problem.empty())
      problems += " " + kernel.mechanism.name + ": " + kernel.problem + ".";
  }
  if (!any) return "Nothing was measured." + problems + " ";
  return "Measured: forward of the attention core in float32 on " +
         (measurement.processor.empty() ? "this machine" : measurement.processor) + ", " +
         std::to_string(measurement.threads) +
         " threads; time is that of the fastest run, memory the most the program held beyond its "
         "inputs, p fitted from N = " +
         std::to_string(measurement.options.tokens.front()) + " to " +
         std::to_string(measurement.options.tokens.back()) +
         ", with its standard error in the last digit in brackets, if that is at most 0.5." +
         problems + " ";
}

Figure make_mechanism_costs(const FigureRequest& request, const Progress& progress) {
  const MechanismCostsRequest wanted = mechanism_costs_request(request);
  Measurement measurement;
  measurement.options = wanted.measured;
  if (Settings(request).flag("measure")) measurement = measure_kernels(wanted.measured, progress);
  return mechanism_costs_figure(wanted, measurement, request.width_mm);
}

}  // namespace

MechanismCostsRequest mechanism_costs_request(const FigureRequest& request) {
  // Smaller numbers of tokens are not informative about the growth of time.
  constexpr std::int64_t kLeastTokens = 64;
  const Settings read(request);
  MechanismCostsRequest wanted;
  wanted.measured.width = read.whole("width");
  wanted.measured.heads = read.whole("heads");
  const std::int64_t tokens = read.whole("tokens");
  for (const std::int64_t part : {8, 4, 2}) {
    if (tokens / part >= kLeastTokens) wanted.measured.tokens.push_back(tokens / part);
  }
  wanted.measured.tokens.push_back(tokens);
  wanted.convention = read.choice("convention", cost_convention_names);
  wanted.constants = find_energy_constants(read.text("constants"));
  wanted.counted = chosen_mechanisms(read, mechanisms_for_growth(wanted.measured.width));
  for (const MechanismChoice& choice : wanted.counted) {
    if (auto runs = runnable(choice)) wanted.measured.mechanisms.push_back(std::move(*runs));
  }
  return wanted;
}

Figure mechanism_costs_figure(const MechanismCostsRequest& request, const Measurement& measurement,
                              double width_mm) {
  constexpr double kMebibyte = 1024.0 * 1024.0, kMillisecond = 1e-3, kThousand = 1e3;
  const Stage stage = stage_of(request.measured);
  std::vector<double> energies;
  for (const MechanismChoice& mechanism : request.counted) {
    energies.push_back(
        attention_energy_pj(stage, mechanism, request.convention, request.constants, false));
  }
  const EnergyUnit unit = energy_unit(*std::max_element(energies.begin(), energies.end()));

  Figure figure;
  Table table;
  table.text_columns = 3;
  table.header = {"Mechanism", "Time O(·)", "Space O(·)", "Params (K)", "Core (" + unit.name + ")"};
  const bool measured_any = !measurement.kernels.empty();
  if (measured_any) {
    for (const char* name : {"Time (ms)", "Peak (MiB)", "Time ~ N^p"})
      table.header.emplace_back(name);
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < request.counted.size(); ++i) {
    const MechanismChoice& mechanism = request.counted[i];
    const Complexity& complexity = find_counted_mechanism(mechanism.name).complexity;
    const std::string name = to_string(mechanism);
    const auto parameters = static_cast<double>(stage_parameters(stage, mechanism));
    std::vector<std::string> row = {
        mechanism.name, std::string(complexity.time), std::string(complexity.space),
        fixed_text(parameters / kThousand, 1), measured_text(energies[i] / unit.pj)};
    figure.numbers["energy_pj/" + name] = {energies[i]};
    figure.numbers["parameters/" + name] = {parameters};
    // Kernels are in the order of the mechanisms that can run.
    const MeasuredKernel* kernel = nullptr;
    if (next < measurement.kernels.size() &&
        measurement.kernels[next].mechanism.name == mechanism.name) {
      kernel = &measurement.kernels[next++];
    }
    const KernelRun* run =
        kernel && kernel->problem.empty() && !kernel->runs.empty() ? &kernel->runs.back() : nullptr;
    if (measured_any) {
      row.push_back(run ? measured_text(run->seconds / kMillisecond) : kCostNotKnown);
      row.push_back(run && run->peak_bytes
                        ? measured_text(static_cast<double>(*run->peak_bytes) / kMebibyte)
                        : kCostNotKnown);
      row.push_back(run ? growth_text(*kernel) : kCostNotKnown);
    }
    table.rows.push_back(std::move(row));
    if (kernel == nullptr) continue;
    for (const KernelRun& measured : kernel->runs) {
      figure.numbers["seconds/" + name].push_back(measured.seconds);
      if (measured.peak_bytes) {
        figure.numbers["peak_bytes/" + name].push_back(static_cast<double>(*measured.peak_bytes));
      }
    }
  }
  for (const std::int64_t n : request.measured.tokens) {
    figure.numbers["tokens"].push_back(static_cast<double>(n));
  }
  make_table_figure(figure, std::move(table), width_mm);
  figure.title = "What mechanisms cost, counted and measured";
  figure.width_mm = width_mm;
  figure.caption = "Costs of one attention layer at N = " + std::to_string(stage.tokens) +
                   ", D = " + std::to_string(stage.width) + ", H = " + std::to_string(stage.heads) +
                   ". Complexities with projections, those of softmax, linear, performer and "
                   "daft-full as DAFT's "
                   "Table 1 prints them; parameters with projections; energy of the core by " +
                   std::string(name_of(request.convention)) + " accounting, " +
                   request.constants.title + ". " + words_on(measurement) + made_with();
  return figure;
}

FigureRecipe mechanism_costs_recipe() {
  return {
      .name = "mechanism-costs",
      .title = "Mechanisms: counted and measured",
      .source = "DAFT, Tables 1 to 3",
      .question = FigureQuestion::cost,
      .has_panel = true,
      .settings = {layer_mechanisms_setting(), parameters_setting(),
                   setting::whole("tokens", 1024, {1, 65'536},
                                  "N; also measured at its half, quarter and eighth, from 64 on")
                       .in("tokens"),
                   setting::whole("width", 384, {1, 8'192}, "D, channels of the layer"),
                   setting::whole("heads", 6, {1, 8'192}, "H, divides D"),
                   setting::flag("measure", true, "run the kernels here and now"),
                   convention_setting(), constants_setting()},
      .needs = network_needs,
      .make = make_mechanism_costs};
}

}  // namespace attnscope
