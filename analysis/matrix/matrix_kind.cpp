#include "analysis/matrix/matrix_kind.h"

namespace attnscope {

MatrixKind matrix_kind_named(std::string_view name) {
  return value_of(matrix_kind_names, name, "matrix to analyse");
}

namespace {

bool holds_tokens(MatrixKind of) {
  return of == MatrixKind::tokens || of == MatrixKind::token_updates;
}

bool holds_keys(MatrixKind of) {
  return of == MatrixKind::keys || of == MatrixKind::keys_before_rotary;
}

bool holds_queries(MatrixKind of) {
  return of == MatrixKind::queries || of == MatrixKind::queries_before_rotary;
}

std::string kind_in_words(MatrixKind of) {
  switch (of) {
    case MatrixKind::map:
      return "attention maps";
    case MatrixKind::scores:
      return "scores before bias, mask and cap";
    case MatrixKind::log_map:
      return "logarithms ln A of the attention maps";
    case MatrixKind::seen_by_values:
      return "attention maps as the values see them, A P";
    case MatrixKind::value_weighted:
      return "value-weighted attention maps a_ij |v_j|";
    case MatrixKind::norm_weighted:
      return "norm-weighted attention maps a_ij |v_j W_O|";
    case MatrixKind::head_output:
      return "head outputs A V";
    case MatrixKind::output:
      return "concatenated head outputs A V, before W_O";
    case MatrixKind::values:
      return "values V";
    case MatrixKind::queries:
      return "queries Q";
    case MatrixKind::keys:
      return "keys K";
    case MatrixKind::queries_before_rotary:
      return "queries Q before rotary positions";
    case MatrixKind::keys_before_rotary:
      return "keys K before rotary positions";
    case MatrixKind::tokens:
      return "tokens after each layer";
    case MatrixKind::token_updates:
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

std::string in_words(const MatrixChoice& analysed) {
  const std::string added = in_words(analysed.added);
  return kind_in_words(analysed.of) + (added.empty() ? "" : ", " + added) +
         (analysed.centred ? ", without the mean row" : "");
}

std::string short_words(const MatrixChoice& analysed) {
  std::string words(name_of(matrix_kind_names, analysed.of));
  if (analysed.added != Added::none)
    words += ", " + std::string(name_of(added_names, analysed.added));
  return words + (analysed.centred ? ", centred" : "");
}

Extent rows_of(MatrixKind of) {
  if (of == MatrixKind::values || holds_keys(of)) return Extent::keys;
  return holds_tokens(of) ? Extent::tokens : Extent::queries;
}

Extent columns_of(MatrixKind of) {
  const bool of_outputs = of == MatrixKind::head_output || of == MatrixKind::output;
  const bool of_channels = of_outputs || of == MatrixKind::values || holds_queries(of) ||
                           holds_keys(of) || holds_tokens(of);
  return of_channels ? Extent::channels : Extent::keys;
}

bool has_rows_of_weights(const MatrixChoice& analysed) {
  const MatrixKind of = analysed.of;
  return !analysed.centred && (of == MatrixKind::map || of == MatrixKind::value_weighted ||
                               of == MatrixKind::norm_weighted);
}

bool takes_identity(MatrixKind of) {
  return of != MatrixKind::scores && of != MatrixKind::log_map && of != MatrixKind::values &&
         !holds_queries(of) && !holds_keys(of) && !holds_tokens(of);
}

bool shows_identity(const Trace& trace, const MatrixChoice& analysed) {
  return takes_identity(analysed.of) && shows_identity(trace, analysed.identity);
}

bool goes_with(Added added, MatrixKind of) {
  if (added == Added::none) return true;
  const bool of_outputs = of == MatrixKind::head_output || of == MatrixKind::output;
  return added == Added::residual ? of_outputs : of == MatrixKind::map;
}

bool is_of_layer(MatrixKind of) { return of == MatrixKind::output || holds_tokens(of); }

}  // namespace attnscope
