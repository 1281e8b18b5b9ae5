#include "analysis/figure/recipe.h"

namespace attnscope {

std::span<const FigureRecipe> figure_recipes() { return {}; }

}  // namespace attnscope
