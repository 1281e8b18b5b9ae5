// Figure of the shares of attention and feed-forward layers in operations and energy (EcoFormer,
// Fig. 2).
#include <array>
#include <cmath>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipes/energy_networks.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

Texts shared_networks() { return {"pvtv2-b0", "pvtv2-b1", "pvtv2-b2", "pvtv2-b3", "pvtv2-b4"}; }

double operations(const OperationCount& count, const EnergyConstants&) {
  return static_cast<double>(count.multiplications) + static_cast<double>(count.additions);
}

Panel share_panel(const std::vector<CountedNetwork>& networks, const char* title, bool labelled,
                  double (*measure)(const OperationCount&, const EnergyConstants&),
                  std::vector<double>& attention_shares) {
  Panel panel;
  panel.title = title;
  Bars attention, forward;
  if (labelled) {
    attention.label = "attention";
    forward.label = "FFN";
  }
  attention.keys = {{"component", "attention"}};
  forward.keys = {{"component", "FFN"}};
  attention.colour = subject_colour(0);
  forward.colour = {240, 200, 60, 255};
  for (std::size_t i = 0; i < networks.size(); ++i) {
    const EnergyConstants& constants = networks[i].subject.constants;
    const double a = measure(networks[i].cost.total_of(ComponentGroup::attention), constants);
    const double f = measure(networks[i].cost.total_of(ComponentGroup::feed_forward), constants);
    const double share = a + f > 0 ? 100 * a / (a + f) : 0;
    const auto x = static_cast<double>(i);
    attention.x.push_back(x);
    attention.heights.push_back(share);
    forward.x.push_back(x);
    forward.heights.push_back(100 - share);
    attention_shares.push_back(share);
  }
  panel.marks.emplace_back(std::move(attention));
  panel.marks.emplace_back(std::move(forward));
  for (std::size_t i = 0; i < networks.size(); ++i) {
    panel.marks.emplace_back(TextMark{.x = static_cast<double>(i),
                                      .y = 104,
                                      .text = std::to_string(std::lround(attention_shares[i]))});
  }
  panel.y.minimum = 0;
  panel.y.maximum = 108;
  panel.y.ticks = {{0, "0"}, {25, "25"}, {50, "50"}, {75, "75"}, {100, "100"}};
  return panel;
}

Figure make_energy_share(const FigureRequest& request, const Progress&) {
  std::vector<CountedNetwork> networks = counted_networks(request, shared_networks());
  for (CountedNetwork& network : networks) {
    // The family's name is omitted: it would not fit five times below an axis.
    if (network.label.starts_with("PVTv2-")) network.label.erase(0, 6);
    if (network.short_label.starts_with("PVTv2-")) network.short_label.erase(0, 6);
  }
  Figure figure;
  figure.panels.push_back(share_panel(networks, "operations", true, operations,
                                      figure.numbers["attention_share_of_operations"]));
  figure.panels.push_back(share_panel(networks, "energy", false, operations_energy_pj,
                                      figure.numbers["attention_share_of_energy"]));
  constexpr double y_axis_mm = 12;
  double ticks_mm = 0;
  for (Panel& panel : figure.panels) {
    ticks_mm = add_network_ticks(panel.x, networks, request.width_mm / 2 - y_axis_mm);
  }
  figure.panels[1].column = 1;
  figure.panels[0].y.label = "share (%)";
  figure.panels[0].legend = LegendPosition::below;
  figure.title = "Attention against FFN";
  figure.height_mm = 0.5 * request.width_mm + legend_mm(figure, request.width_mm) + 5 + ticks_mm;
  figure.caption =
      "Shares of attention layers (projections included) and feed-forward layers in the two "
      "together; numbers are the attention's, in percent: " +
      networks_in_words(networks) + ". " + made_with();
  return figure;
}

}  // namespace

FigureRecipe energy_share_recipe() {
  return {.name = "energy-share",
          .title = "Attention against FFN",
          .source = "EcoFormer, Fig. 2",
          .question = FigureQuestion::cost,
          .has_panel = true,
          .settings = {networks_setting(), network_mechanisms_setting(), tokens_setting(),
                       parameters_setting(), convention_setting(CostConvention::ecoformer),
                       constants_setting()},
          .needs = network_needs,
          .make = make_energy_share};
}

}  // namespace attnscope
