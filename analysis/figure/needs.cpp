#include "analysis/figure/needs.h"

#include <algorithm>

namespace attnscope {

bool attends_by(const Subject& subject, std::string_view family) {
  if (subject.mechanism.name.starts_with(family)) return true;
  if (subject.trace == nullptr) return false;
  const auto& layers = subject.trace->layers;
  return std::any_of(layers.begin(), layers.end(), [&](const LayerTrace& layer) {
    return layer.mechanism && layer.mechanism->name.starts_with(family);
  });
}

bool has_weights(const Subject& subject) { return subject.model != nullptr; }

bool gives_answers(const Subject& subject) {
  return has_weights(subject) && subject.model->spec().readout.kind != Readout::none;
}

bool can_show(const FigureNeeds& needs, const Subject& subject) {
  const Trace* const trace = subject.trace.get();
  const bool ran = trace != nullptr;
  switch (needs.subject) {
    case SubjectNeed::maps:
      if (!ran || trace->tokens() == 0 || trace->heads() == 0) return false;
      break;
    case SubjectNeed::run:
      if (!ran) return false;
      break;
    case SubjectNeed::model:
      if (subject.model == nullptr) return false;
      break;
    case SubjectNeed::none:
      return false;
  }
  const bool over_picture = ran && trace->layout.cells().count() > 0 && trace->image();
  if (needs.input == InputNeed::image && !over_picture) return false;
  if (needs.input == InputNeed::text && !(ran && !trace->layout.texts.empty())) return false;
  if (needs.readout &&
      (subject.model == nullptr || !subject.model->spec().readout.gives_features())) {
    return false;
  }
  if (needs.shows != nullptr && !needs.shows(subject)) return false;
  return needs.mechanism.empty() || attends_by(subject, needs.mechanism);
}

std::string missing_in_words(const FigureNeeds& needs) {
  if (!needs.missing.empty()) return std::string(needs.missing);
  if (needs.subject == SubjectNeed::model) return "needs the file of a model";
  return needs.least > 1 ? "needs two models that have run on an input"
                         : "needs a model that has run on an input";
}

FigureNeeds joined(const FigureNeeds& a, const FigureNeeds& b) {
  // Each requirement of the enumeration includes those after it, so the first of the two is kept.
  FigureNeeds both = a.subject <= b.subject ? a : b;
  both.least = std::max(a.least, b.least);
  both.most = 0;  // each part chooses its subjects among all
  both.shows = nullptr;
  both.vectors = a.vectors || b.vectors;
  both.tokens = a.tokens || b.tokens;
  both.any_input_serves = a.any_input_serves && b.any_input_serves;
  if (both.setting.empty()) {
    both.setting = a.setting.empty() ? b.setting : a.setting;
    both.unset = a.setting.empty() ? b.unset : a.unset;
  }
  return both;
}

}  // namespace attnscope
