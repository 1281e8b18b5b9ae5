// How a dialog asks for a figure's setting.
#pragma once

#include <string>
#include <vector>

#include "analysis/figure/recipe.h"

namespace attnscope {

enum class SettingKind { text, choice, number, flag, file };

struct SettingControl {
  SettingKind kind = SettingKind::text;
  std::vector<std::string> choices;  ///< of a choice
  bool free = false;                 ///< a choice that takes other texts too
  double minimum = 0, maximum = 0;   ///< of a number
};

/// What the setting's form says, else what its explanation does: the words of "as-is, without or
/// both" are choices, others than single words ("all, or indices from 0") make it free; "0 to 1" is
/// the range of a number. A default of yes or no is a flag.
[[nodiscard]] SettingControl control_of(const FigureSetting& setting);

}  // namespace attnscope
