// Dialogs about one open model: its name, its options, its tensors.
#pragma once

#include "app/session/subject_id.h"

class QWidget;

namespace attnscope {

class Session;

/// Asks for the model's name in the window and in figures. An empty answer restores its own name.
void ask_for_name(QWidget* parent, Session& session, SubjectId subject);

/// Asks for the options to read and run its file with; the file is reloaded if they change.
void ask_for_options(QWidget* parent, Session& session, SubjectId subject);

/// Asks for the roles of its file's tensors in the window's only role editor. True if the editor is
/// open; otherwise the error is reported with Session::failed.
bool ask_for_roles(QWidget* parent, Session& session, SubjectId subject);

}  // namespace attnscope
