// Names of enumerators that are used only in recipes.
#pragma once

#include "core/architecture/model_spec.h"
#include "core/parameters/enum_names.h"

namespace attnscope {

enum class ImageReadout { class_token, mean };
inline constexpr EnumName<ImageReadout> image_readout_names[] = {
    {ImageReadout::class_token, "class"}, {ImageReadout::mean, "mean"}};
inline constexpr EnumName<LayerForm> layer_form_names[] = {{LayerForm::transformer, "transformer"},
                                                           {LayerForm::fastformer, "fastformer"}};
inline constexpr EnumName<Arithmetic> arithmetic_names[] = {
    {Arithmetic::multiplicative, "multiplicative"}, {Arithmetic::adder, "adder"}};

}  // namespace attnscope
