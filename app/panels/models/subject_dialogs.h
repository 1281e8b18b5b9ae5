// What is asked of the user about one subject that is open: its name, its options, its tensors.
#pragma once

#include "app/session/subject_id.h"

class QWidget;

namespace attnscope {

class Session;

/// What it is to be called, in the window and in figures. An empty answer gives its own name back.
void ask_for_name(QWidget* parent, Session& session, SubjectId subject);

/// How its file is to be read and run; it is opened again if that is changed.
void ask_for_options(QWidget* parent, Session& session, SubjectId subject);

/// What the tensors of its file are, in the one role editor of the window. True: it is open; a file
/// that cannot be read as weights is said to be none.
bool ask_for_roles(QWidget* parent, Session& session, SubjectId subject);

}  // namespace attnscope
