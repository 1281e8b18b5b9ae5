#include "analysis/analysed/what.h"

namespace attnscope {

SpectrumOf spectrum_of_named(std::string_view name) {
  return value_of(spectrum_of_names, name, "matrix to analyse");
}

namespace {

bool holds_tokens(SpectrumOf of) {
  return of == SpectrumOf::tokens || of == SpectrumOf::token_updates;
}

std::string in_words(SpectrumOf of) {
  switch (of) {
    case SpectrumOf::map:
      return "attention maps";
    case SpectrumOf::scores:
      return "scores before bias, mask and cap";
    case SpectrumOf::log_map:
      return "logarithms ln A of the attention maps";
    case SpectrumOf::seen_by_values:
      return "attention maps as the values see them, A P";
    case SpectrumOf::value_weighted:
      return "value-weighted attention maps a_ij |v_j|";
    case SpectrumOf::norm_weighted:
      return "norm-weighted attention maps a_ij |v_j W_O|";
    case SpectrumOf::head_output:
      return "head outputs A V";
    case SpectrumOf::output:
      return "concatenated head outputs A V, before W_O";
    case SpectrumOf::values:
      return "values V";
    case SpectrumOf::tokens:
      return "tokens after each layer";
    case SpectrumOf::token_updates:
      return "what each layer adds to the tokens";
  }
  return {};
}

}  // namespace

std::string in_words(Added added) {
  switch (added) {
    case Added::none:
      return {};
    case Added::residual:
      return "with the residual stream, x + A V W_O";
    case Added::without_convolution:
      return "without the convolution's Toeplitz map";
    case Added::convolution:
      return "the convolution's Toeplitz map only";
  }
  return {};
}

std::string in_words(const Analysed& analysed) {
  const std::string added = in_words(analysed.added);
  return in_words(analysed.of) + (added.empty() ? "" : ", " + added) +
         (analysed.centred ? ", without the mean row" : "");
}

std::string short_words(const Analysed& analysed) {
  std::string words(name_of(spectrum_of_names, analysed.of));
  if (analysed.added != Added::none)
    words += ", " + std::string(name_of(added_names, analysed.added));
  return words + (analysed.centred ? ", centred" : "");
}

Extent rows_of(SpectrumOf of) {
  if (of == SpectrumOf::values) return Extent::keys;
  return holds_tokens(of) ? Extent::tokens : Extent::queries;
}

Extent columns_of(SpectrumOf of) {
  const bool of_outputs = of == SpectrumOf::head_output || of == SpectrumOf::output;
  const bool of_channels = of_outputs || of == SpectrumOf::values || holds_tokens(of);
  return of_channels ? Extent::channels : Extent::keys;
}

bool has_rows_of_weights(const Analysed& analysed) {
  const SpectrumOf of = analysed.of;
  return !analysed.centred && (of == SpectrumOf::map || of == SpectrumOf::value_weighted ||
                               of == SpectrumOf::norm_weighted);
}

bool takes_identity(SpectrumOf of) {
  return of != SpectrumOf::scores && of != SpectrumOf::log_map && of != SpectrumOf::values &&
         !holds_tokens(of);
}

bool goes_with(Added added, SpectrumOf of) {
  if (added == Added::none) return true;
  const bool of_outputs = of == SpectrumOf::head_output || of == SpectrumOf::output;
  return added == Added::residual ? of_outputs : of == SpectrumOf::map;
}

bool is_of_layer(SpectrumOf of) { return of == SpectrumOf::output || holds_tokens(of); }

}  // namespace attnscope
