// What a figure is drawn from: said once, in its recipe; the gallery, the dialogs, the panels and
// the command line ask there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/model/subject.h"
#include "core/parameters/enum_names.h"

namespace attnscope {

/// What must be there of a subject.
enum class SubjectNeed {
  maps,   ///< a run whose attention maps were recorded
  run,    ///< a run on an input
  model,  ///< its weight file: the figure runs it itself, or counts what it costs
  none    ///< the figure shows no subjects
};
inline constexpr EnumName<SubjectNeed> subject_need_names[] = {{SubjectNeed::maps, "maps"},
                                                               {SubjectNeed::run, "run"},
                                                               {SubjectNeed::model, "model"},
                                                               {SubjectNeed::none, "none"}};

enum class InputNeed {
  any,
  image,  ///< one whose patches are the tokens
  text
};
inline constexpr EnumName<InputNeed> input_need_names[] = {
    {InputNeed::any, "any"}, {InputNeed::image, "image"}, {InputNeed::text, "text"}};

struct FigureNeeds {
  SubjectNeed subject = SubjectNeed::maps;
  std::size_t least = 1;  ///< how many subjects
  std::size_t most = 0;   ///< any number if 0
  InputNeed input = InputNeed::any;
  std::string_view mechanism = {};  ///< at some layer one whose name begins so; any if empty
  bool readout = false;             ///< a model with a head that reads features
  bool vectors = false;             ///< queries, keys and values are shown where they were recorded
  bool tokens = true;               ///< what becomes of tokens is shown; not of maps alone
  std::string_view missing = {};    ///< in words, if no subject is as it must be; else as usual
  std::string_view setting = {};    ///< one that has no default, "dataset"; none if empty
  std::string_view unset = {};      ///< in words, if that setting is not set
};

/// Whether its subjects must have run on an input.
[[nodiscard]] inline bool wants_runs(const FigureNeeds& needs) {
  return needs.subject == SubjectNeed::maps || needs.subject == SubjectNeed::run;
}

/// Whether the figure can show this subject.
[[nodiscard]] bool can_show(const FigureNeeds& needs, const Subject& subject);

/// The mechanisms whose names begin with `family`, at any of the subject's layers.
[[nodiscard]] bool attends_by(const Subject& subject, std::string_view family);

/// "needs two models that have run on an input".
[[nodiscard]] std::string missing_in_words(const FigureNeeds& needs);

/// What both together need.
[[nodiscard]] FigureNeeds joined(const FigureNeeds& a, const FigureNeeds& b);

}  // namespace attnscope
