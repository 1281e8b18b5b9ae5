// The menu "Without this head": replacements of a head's map while the model runs.
#pragma once

#include <cstdint>

#include "app/session/subject_id.h"

class QMenu;

namespace attnscope {

class Session;

/// Adds the menu for a head of a subject that has a model; adds nothing for a trace.
void add_ablation_menu(QMenu& menu, Session& session, SubjectId subject, std::int64_t layer,
                       std::int64_t head);

}  // namespace attnscope
