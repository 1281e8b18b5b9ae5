// Figure of operations, energy and parameters of networks as a table; in LaTeX with booktabs.
#include <algorithm>
#include <array>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipes/energy_networks.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/table.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

Texts table_networks() {
  return {"deit-base",  "deit-base mechanism=adder arithmetic=adder",
          "deit-small", "deit-small mechanism=adder arithmetic=adder",
          "deit-tiny",  "deit-tiny mechanism=adder arithmetic=adder"};
}

Table operations_table_of(const std::vector<CountedNetwork>& networks, int digits, bool traffic) {
  constexpr double kBillion = 1e9, kMillion = 1e6;
  Table table;
  table.header = {"Network", "Attention", "Mul (B)", "Add (B)", "Energy (mJ)", "Params (M)"};
  if (traffic) table.header.emplace_back("Traffic (MB)");
  for (const CountedNetwork& network : networks) {
    const EnergySubject& subject = network.subject;
    const OperationCount total = network.cost.total();
    double parameters = 0;
    for (const ParameterCount& count : count_parameters(subject.architecture, subject.options)) {
      parameters += static_cast<double>(count.parameters);
    }
    const bool adder = subject.options.arithmetic == Arithmetic::adder;
    std::vector<std::string> row = {
        subject.architecture.title,
        to_string(subject.options.mechanism) + (adder ? ", adder layers" : ""),
        fixed_text(static_cast<double>(total.multiplications) / kBillion, digits),
        fixed_text(static_cast<double>(total.additions) / kBillion, digits),
        fixed_text(operations_energy_pj(total, subject.constants) / kBillion, digits),
        fixed_text(parameters / kMillion, digits)};
    if (traffic) {
      row.push_back(fixed_text(static_cast<double>(total.bytes_moved) / 4 *
                                   static_cast<double>(subject.constants.bytes_per_value) /
                                   kMillion,
                               digits));
    }
    // The name of a network appears only in the first of its rows.
    if (!table.rows.empty()) {
      std::string above;
      for (const auto& earlier : table.rows) above = earlier[0].empty() ? above : earlier[0];
      if (above == row[0]) row[0].clear();
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Figure make_operations_table(const FigureRequest& request, const Progress&) {
  const Settings read(request);
  const std::vector<CountedNetwork> networks = counted_networks(request, table_networks());
  Figure figure;
  make_table_figure(
      figure,
      operations_table_of(networks, static_cast<int>(read.whole("digits")), read.flag("traffic")),
      request.width_mm);
  for (const CountedNetwork& network : networks) {
    const OperationCount total = network.cost.total();
    figure.numbers["multiplications/" + network.label] = {
        static_cast<double>(total.multiplications)};
    figure.numbers["additions/" + network.label] = {static_cast<double>(total.additions)};
    figure.numbers["energy_pj/" + network.label] = {
        operations_energy_pj(total, network.subject.constants)};
  }
  figure.title = "Operations and energy";
  figure.caption =
      "Operations and energy of one input: " + networks_in_words(networks) + ". " + made_with();
  return figure;
}

}  // namespace

FigureRecipe operations_table_recipe() {
  return {.name = "operations-table",
          .title = "Operations and energy",
          .source = "Adder, Tables 1 and 2",
          .question = FigureQuestion::cost,
          .has_panel = true,
          .settings = {networks_setting(), network_mechanisms_setting(), tokens_setting(),
                       parameters_setting(), convention_setting(), constants_setting(),
                       setting::whole("digits", 2, {0, 6}, "after the point"),
                       setting::flag("traffic", false,
                                     "a column of memory traffic (complete accounting only)")},
          .needs = network_needs,
          .make = make_operations_table};
}

}  // namespace attnscope
