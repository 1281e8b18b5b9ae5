// Asks for what a subject is to be called, in the window and in figures.
#pragma once

#include "app/session/subject_id.h"

class QWidget;

namespace attnscope {

class Session;

/// An empty answer gives its own name back.
void ask_for_name(QWidget* parent, Session& session, SubjectId subject);

}  // namespace attnscope
