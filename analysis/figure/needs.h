// Requirements of a figure, stated in its recipe and used by the gallery, the dialogs, the panels
// and the command line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/model/subject.h"
#include "core/parameters/enum_names.h"

namespace attnscope {

/// Requirement of a figure on each subject.
enum class SubjectNeed {
  maps,   ///< a run whose attention maps were recorded
  run,    ///< a run on an input
  model,  ///< a weight file: the figure runs the model itself, or counts its costs
  none    ///< the figure shows no subjects
};
inline constexpr EnumName<SubjectNeed> subject_need_names[] = {{SubjectNeed::maps, "maps"},
                                                               {SubjectNeed::run, "run"},
                                                               {SubjectNeed::model, "model"},
                                                               {SubjectNeed::none, "none"}};

enum class InputNeed {
  any,
  image,  ///< an image whose patches are the tokens
  text
};
inline constexpr EnumName<InputNeed> input_need_names[] = {
    {InputNeed::any, "any"}, {InputNeed::image, "image"}, {InputNeed::text, "text"}};

struct FigureNeeds {
  SubjectNeed subject = SubjectNeed::maps;
  std::size_t least = 1;  ///< minimum number of subjects
  std::size_t most = 0;   ///< maximum number of subjects; 0: no limit
  InputNeed input = InputNeed::any;
  /// Required prefix of the name of a mechanism at any layer; any if empty.
  std::string_view mechanism = {};
  bool readout = false;  ///< requires a model with a head that reads features
  bool vectors = false;  ///< queries, keys and values are shown if recorded
  bool tokens = true;    ///< tokens are recorded; false for figures of maps only
  /// The figure is the same for every input of the model's size: a model of images needs none.
  bool any_input_serves = false;
  /// Further requirement on each subject, described by `missing`; none if null.
  bool (*shows)(const Subject& subject) = nullptr;
  std::string_view missing = {};  ///< message if no subject fits; empty for the default message
  std::string_view setting = {};  ///< required setting without a default, "dataset"; none if empty
  std::string_view unset = {};    ///< message if that setting is missing
};

/// True if the subjects must have run on an input.
[[nodiscard]] inline bool wants_runs(const FigureNeeds& needs) {
  return needs.subject == SubjectNeed::maps || needs.subject == SubjectNeed::run;
}

/// True if the subject has its model; traces have none.
[[nodiscard]] bool has_weights(const Subject& subject);
/// True if the subject has its model, and the model a head.
[[nodiscard]] bool gives_answers(const Subject& subject);

/// True if the figure can show this subject.
[[nodiscard]] bool can_show(const FigureNeeds& needs, const Subject& subject);

/// True if a mechanism at any of the subject's layers has a name that begins with `family`.
[[nodiscard]] bool attends_by(const Subject& subject, std::string_view family);

/// Message for missing subjects: "needs two models that have run on an input".
[[nodiscard]] std::string missing_in_words(const FigureNeeds& needs);

/// Requirements of a figure made of two others.
[[nodiscard]] FigureNeeds joined(const FigureNeeds& a, const FigureNeeds& b);

}  // namespace attnscope
