#include "analysis/figure/recipes/head_figures.h"

#include <algorithm>
#include <cmath>

#include "analysis/figure/caption.h"
#include "analysis/figure/subject_spectra.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

std::vector<std::string> measure_words() {
  std::vector<std::string> names;
  for (const HeadMeasure& measure : head_measures()) names.emplace_back(measure.name);
  return names;
}

/// Sets the unit of the distances, which all tables must share.
void take_unit(HeadFigureData& data, const HeadTable& table, const Subject& subject) {
  if (table.distance_unit.empty() || table.distance_unit == data.distance_unit) return;
  const bool asked = std::ranges::any_of(data.measures, [](const HeadMeasure* measure) {
    return measure->value == &HeadRow::distance;
  });
  if (!asked) return;
  if (!data.distance_unit.empty()) {
    throw Error(ErrorKind::usage, "distances in different units cannot share an axis")
        .about(subject.label)
        .expected(data.distance_unit)
        .found(table.distance_unit)
        .remedy("leave distance out: --set measures=normalised_entropy,sink");
  }
  data.distance_unit = table.distance_unit;
}

}  // namespace

std::vector<ParameterDescription> head_settings() {
  return {setting::names("measures", measure_words(),
                         {"normalised_entropy", "sink", "equivalent_rank", "distance"},
                         "a panel each; those that no head has are left out"),
          setting::number("sink", HeadOptions{}.sink, {0, 1},
                          "ε: a key that takes a larger share of the attention is a sink"),
          setting::number("mass", HeadOptions{}.mass, {0, 1},
                          "share of the class row that the counted strongest patches hold"),
          threshold_setting(),
          share_setting(),
          inputs_setting(),
          of_setting_of_heads(),
          centred_setting(),
          added_setting()};
}

HeadValues HeadFigureData::values(std::size_t group, const HeadMeasure& measure) const {
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<double, double>> sums;
  for (const HeadTable& table : tables[group]) {
    for (const HeadRow& row : table.rows) {
      const double value = row.*measure.value;
      if (std::isnan(value)) continue;
      auto& [sum, count] = sums[{row.layer, row.head}];
      sum += value;
      ++count;
    }
  }
  HeadValues means;
  for (const auto& [place, sum] : sums) means[place] = sum.first / sum.second;
  return means;
}

std::string HeadFigureData::caption(const FigureRequest& request) const {
  std::string text;
  for (const HeadMeasure* measure : measures) {
    text += title_of(*measure, distance_unit, options.analysed) + ": " +
            formula_of(*measure, options.analysed) + ". ";
  }
  const auto shows = [this](auto... members) {
    return std::ranges::any_of(
        measures, [&](const HeadMeasure* measure) { return ((measure->value == members) || ...); });
  };
  text += "a: the maps' rows divided by their sums";
  text += identity_removed ? ", without the I of the identity mapping. " : ". ";
  if (shows(&HeadRow::equivalent_rank, &HeadRow::rank_without_sinks)) {
    text += to_string(options.threshold) + ". ";
  }
  if (shows(&HeadRow::sink_share, &HeadRow::rank_without_sinks)) {
    text += "ε = " + rounded_text(options.sink) + ". ";
  }
  if (shows(&HeadRow::mass_patches)) {
    text += "Mass: " + rounded_text(100 * options.mass) + " %. ";
  }
  const bool averaged = std::ranges::any_of(
      groups, [](const SubjectGroup& group) { return group.subjects.size() > 1; });
  if (averaged) text += "Means over the inputs. ";
  if (!unknown.empty()) {
    text += "Not known of these heads: ";
    for (std::size_t i = 0; i < unknown.size(); ++i) text += (i > 0 ? ", " : "") + unknown[i];
    text += ". ";
  }
  return text + "Heads of " + subjects_in_words(request) + ". " + made_with();
}

HeadFigureData head_figure_data(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  HeadFigureData data;
  data.options.threshold = threshold_of(read);
  data.options.sink = read.number("sink");
  data.options.mass = read.number("mass");
  data.options.analysed = analysed_by(read);
  data.groups = subject_groups(request, averages_inputs(read));
  for (const std::string& name : read.names("measures")) {
    data.measures.push_back(&head_measure(name));
  }
  const auto count = static_cast<double>(request.subjects.size());
  double done = 0;
  for (const SubjectGroup& group : data.groups) {
    std::vector<HeadTable>& tables = data.tables.emplace_back();
    for (const std::size_t index : group.subjects) {
      const Subject& subject = request.subjects[index];
      tables.push_back(
          head_table(subject, data.options, progress.part(done / count, (done + 1) / count)));
      ++done;
      take_unit(data, tables.back(), subject);
      for (const HeadRow& row : tables.back().rows) {
        data.identity_removed = data.identity_removed || row.identity_removed;
      }
    }
  }
  std::erase_if(data.measures, [&data](const HeadMeasure* measure) {
    for (std::size_t group = 0; group < data.groups.size(); ++group) {
      if (!data.values(group, *measure).empty()) return false;
    }
    data.unknown.emplace_back(measure->title);
    return true;
  });
  if (data.measures.empty()) {
    throw Error(ErrorKind::usage, "no head has any of these measures")
        .about("measures")
        .found(read.written("measures"))
        .remedy("attnscope heads says which are known");
  }
  return data;
}

std::pair<std::int64_t, std::int64_t> extents_of(const HeadFigureData& data) {
  std::int64_t layers = 0, heads = 0;
  for (const auto& tables : data.tables) {
    for (const HeadTable& table : tables) {
      for (const HeadRow& row : table.rows) {
        layers = std::max(layers, row.layer + 1);
        heads = std::max(heads, row.head + 1);
      }
    }
  }
  return {layers, heads};
}

}  // namespace attnscope
