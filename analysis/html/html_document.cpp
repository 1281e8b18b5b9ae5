#include "analysis/html/html_document.h"

#include <charconv>

#include "analysis/html/html_text.h"

namespace attnscope {

std::string policy_source(const PageAsset& asset) {
  std::string digest;
  for (std::size_t at = 0; at + 1 < asset.sha256.size(); at += 2) {
    unsigned byte = 0;
    std::from_chars(asset.sha256.data() + at, asset.sha256.data() + at + 2, byte, 16);
    digest += static_cast<char>(byte);
  }
  return "'sha256-" + base64(digest) + "'";
}

std::string html_of(const HtmlDocument& document, const PageAsset& script) {
  const std::string pictures =
      document.pictures == PagePictures::inside ? "data:" : "data: 'self' file:";
  const std::string policy = "default-src 'none'; img-src " + pictures + "; style-src " +
                             policy_source(page_style()) + "; script-src " + policy_source(script) +
                             "; base-uri 'none'; form-action 'none'";
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy + "\">\n";
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  page += "<meta name=\"generator\" content=\"attnscope " ATTNSCOPE_VERSION "\">\n";
  page += "<title>" + html_escaped(document.title) + "</title>\n<style>";
  page += page_style().text;
  page += "</style>\n</head>\n<body>\n" + document.body;
  if (!document.data.empty()) {
    page += "<script type=\"application/json\" id=\"data\">" + document.data + "</script>\n";
  }
  page += "<script>";
  page += script.text;
  return page + "</script>\n</body>\n</html>\n";
}

}  // namespace attnscope
