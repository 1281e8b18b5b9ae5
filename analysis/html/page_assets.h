// The style, the scripts and the body of pages, from assets/html, embedded when the build is
// configured.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

/// A file of assets/html, or several in a row.
struct PageAsset {
  std::string_view text;
  std::string_view sha256;  ///< hexadecimal digits of the text's SHA-256
};

/// The style of all pages, light and dark.
[[nodiscard]] const PageAsset& page_style();
/// The script of a page that shows traces: all scripts in the order of their files' names.
[[nodiscard]] const PageAsset& trace_script();
/// The script of a page without data: only the button that chooses light or dark.
[[nodiscard]] const PageAsset& theme_script();
/// The body of a page that shows traces, with {{names}} for texts (filled_in).
[[nodiscard]] const PageAsset& trace_body();

/// The source of an inline style or script for a Content-Security-Policy: 'sha256-…'.
[[nodiscard]] std::string policy_source(const PageAsset& asset);

}  // namespace attnscope
