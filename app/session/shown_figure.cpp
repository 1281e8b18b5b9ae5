#include "app/session/shown_figure.h"

#include <map>
#include <set>

#include "analysis/figure/figure_command.h"
#include "app/session/session.h"

namespace attnscope {

std::string of_layers(std::int64_t known, std::int64_t all) {
  return " (" + std::to_string(known) + " of " + std::to_string(all) + " layers)";
}

FigureRequest request_of(const Session& session) {
  FigureRequest request;
  std::map<std::string, std::string> options;
  std::string architecture;
  std::set<std::size_t> classes;
  for (const OpenSubject& open : session.subjects()) {
    if (!open.subject.trace) continue;
    classes.insert(open.subject.trace->logits.values().size());
    request.subjects.push_back(open.subject);
    if (open.layers_so_far) {
      request.subjects.back().label +=
          of_layers(*open.layers_so_far, std::ssize(open.subject.trace->layers));
    }
    // Changed maps have no command line, so a remark replaces the file name.
    const std::string source = open.ran_with.any() ? open.subject.label + " (set in the window)"
                                                   : subject_source(open.subject);
    request.sources.push_back(source.empty() ? open.file.string() : source);
    options.insert(open.options.overrides.begin(), open.options.overrides.end());
    if (!open.options.description.empty()) architecture = open.options.description.string();
  }
  // A model with another number of classes refuses the names.
  if (classes.size() > 1) options.erase("labels");
  for (const auto& [name, value] : options) {
    request.further_arguments.insert(request.further_arguments.end(),
                                     {"--option", name + "=" + value});
  }
  if (!architecture.empty()) {
    request.further_arguments.insert(request.further_arguments.end(),
                                     {"--architecture", architecture});
  }
  return request;
}

FigureRequest request_of_selected(const Session& session, bool (*shows)(const Trace&)) {
  const FigureRequest all = request_of(session);
  const std::shared_ptr<const Trace> selected = session.trace(session.selection().subject);
  FigureRequest one;
  for (std::size_t i = 0; i < all.subjects.size(); ++i) {
    const Trace& trace = *all.subjects[i].trace;
    if (!shows(trace) || (!one.subjects.empty() && &trace != selected.get())) continue;
    one.subjects = {all.subjects[i]};
    one.sources = {all.sources[i]};
  }
  return one;
}

void set_matrix(const MatrixChoice& matrix, ParameterValues& settings) {
  settings["of"] = std::string(name_of(matrix_kind_names, matrix.of));
  settings["centred"] = matrix.centred;
  settings["added"] = std::string(name_of(added_names, matrix.added));
}

void set_threshold(const RankThreshold& threshold, ParameterValues& settings) {
  settings["threshold"] = threshold.level;
  settings["share"] = std::string(name_of(rank_share_names, threshold.of));
}

}  // namespace attnscope
