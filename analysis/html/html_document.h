// A self-contained page of HTML: everything inside one file, and no network.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/html/page_assets.h"

namespace attnscope {

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
