#include <QLabel>
#include <QTextDocumentFragment>
#include <QVariantMap>
#include <algorithm>

#include "app/panels/lessons/experiments/experiment.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

// One declaration per experiment; each is defined in its own file.
ExperimentEntry ranks_experiment();
ExperimentEntry variance_experiment();
ExperimentEntry identity_experiment();
ExperimentEntry playground_experiment();
ExperimentEntry importance_experiment();
ExperimentEntry hash_experiment();
ExperimentEntry cost_experiment();
ExperimentEntry matrix_experiment();
ExperimentEntry truncation_experiment();
ExperimentEntry null_models_experiment();
ExperimentEntry truncated_maps_experiment();
ExperimentEntry replaced_head_experiment();
ExperimentEntry known_maps_experiment();
ExperimentEntry random_tokens_experiment();
ExperimentEntry equal_rows_experiment();
ExperimentEntry ellipse_experiment();

namespace {

constexpr const char* kReadings = "readings";  // dynamic property of experiments

}  // namespace

std::span<const ExperimentEntry> experiments() {
  // One line per entry.
  static const ExperimentEntry list[] = {
      ranks_experiment(),       variance_experiment(),       identity_experiment(),
      playground_experiment(),  importance_experiment(),     hash_experiment(),
      cost_experiment(),        matrix_experiment(),         truncation_experiment(),
      null_models_experiment(), truncated_maps_experiment(), replaced_head_experiment(),
      known_maps_experiment(),  random_tokens_experiment(),  equal_rows_experiment(),
      ellipse_experiment(),
  };
  // clang-format on
  return list;
}

QWidget* make_experiment(const std::string& name, const ExperimentContext& context) {
  const auto entry = std::ranges::find(experiments(), name, &ExperimentEntry::name);
  if (entry == experiments().end()) {
    throw unknown_name("experiment", name, name_list(experiments(), &ExperimentEntry::name));
  }
  for (const auto& [key, value] : context.settings) {
    if (std::ranges::find(entry->settings, key) == entry->settings.end()) {
      throw unknown_name("setting of " + name, key, name_list(entry->settings));
    }
  }
  return entry->make(context);
}

void publish_reading(QWidget& experiment, const QString& name, const QString& value) {
  QVariantMap readings = experiment.property(kReadings).toMap();
  readings[name] = value;
  experiment.setProperty(kReadings, readings);
}

QString reading_of(const QWidget& experiment, const QString& name) {
  return experiment.property(kReadings).toMap().value(name).toString();
}

QString shown_numbers(const QWidget& experiment) {
  QStringList lines;
  for (const QLabel* label : experiment.findChildren<QLabel*>()) {
    if (label->textFormat() != Qt::RichText || label->isHidden()) continue;
    // Cells of a table and its rows would become lines alike.
    QString html = label->text();
    html.replace("</td><td", "</td>\t<td");
    for (QString row : html.split("</tr>")) {
      QStringList cells;
      for (const QString& cell : row.split('\t')) {
        const QString text = QTextDocumentFragment::fromHtml(cell).toPlainText();
        cells << text.simplified();
      }
      if (const QString line = cells.join('\t'); !line.trimmed().isEmpty()) lines << line;
    }
  }
  return lines.join('\n');
}

}  // namespace attnscope
