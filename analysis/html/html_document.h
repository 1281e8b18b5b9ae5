// A self-contained page of HTML: everything inside one file, and no network. Its style, scripts and
// body are those of assets/html, embedded when the build is configured.
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

/// Sources of a page's pictures.
enum class PagePictures {
  inside,      ///< data URIs only
  beside_page  ///< also files in the folder of the page
};

struct HtmlDocument {
  std::string title;  ///< plain text
  std::string body;   ///< markup; texts in it are escaped (html_escaped)
  /// JSON of the element "data", which the script reads (json_in_script); none if empty.
  std::string data = {};
  PagePictures pictures = PagePictures::inside;
};

/// The page with the style of all pages and `script`. Its Content-Security-Policy allows no
/// connection, frame, font or form, and no style or script but these two, by their SHA-256: a
/// script that a name of a model smuggled in would not run.
[[nodiscard]] std::string html_of(const HtmlDocument& document, const PageAsset& script);

}  // namespace attnscope
