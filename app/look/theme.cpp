#include "app/look/theme.h"

#include <QApplication>
#include <QFile>
#include <QFontDatabase>
#include <QIconEngine>
#include <QPainter>
#include <QPalette>
#include <QPixmap>
#include <QRegularExpression>
#include <QStyle>
#include <QStyleFactory>
#include <QSvgRenderer>
#include <QVariant>
#include <QWidget>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/figure/series_style.h"
#include "app/render/render.h"

// The macro must be outside any namespace.
static void initialise_resources() { Q_INIT_RESOURCE(assets); }

namespace attnscope {

namespace {

const WindowColours kDark = {
    .theme = Theme::dark,
    .window = QColor(0x0f1216),
    .panel = QColor(0x171b21),
    .raised = QColor(0x212730),
    .sunken = QColor(0x11151a),
    .border = QColor(0x2b323c),
    .text = QColor(0xe8ebf0),
    .muted = QColor(0x96a1b1),
    .accent = QColor(0x4cc2c4),
    .on_accent = QColor(0x07191a),
    .selected = QColor(0x1d3339),
    .warning = QColor(0xe8b45a),
    .error = QColor(0xff8a80),
    .ready = QColor(0x86c99a),
};

const WindowColours kLight = {
    .theme = Theme::light,
    .window = QColor(0xe9ecf0),
    .panel = QColor(0xf7f8fa),
    .raised = QColor(0xffffff),
    .sunken = QColor(0xffffff),
    .border = QColor(0xd5dae2),
    .text = QColor(0x1a2029),
    .muted = QColor(0x5a6472),
    .accent = QColor(0x0b7478),
    .on_accent = QColor(0xffffff),
    .selected = QColor(0xd9edee),
    .warning = QColor(0x8a5a00),
    .error = QColor(0xb3261e),
    .ready = QColor(0x2b6b3f),
};

// Stronger contrast for presentations: texts and borders are as far from the background as
// possible.
WindowColours contrasted(WindowColours colours) {
  const bool dark = colours.theme == Theme::dark;
  colours.window = colours.panel = colours.sunken = dark ? QColor(Qt::black) : QColor(0xffffff);
  colours.raised = dark ? QColor(0x1c2128) : QColor(0xf0f2f5);
  colours.border = dark ? QColor(0x7d8794) : QColor(0x6b7480);
  colours.text = dark ? QColor(0xffffff) : QColor(Qt::black);
  colours.muted = dark ? QColor(0xd0d7e0) : QColor(0x2f363f);
  return colours;
}

const WindowColours kDarkContrast = contrasted(kDark);
const WindowColours kLightContrast = contrasted(kLight);

/// The style sheet with its sizes in points multiplied by `scale`.
QString scaled_points(QString sheet, double scale) {
  static const QRegularExpression points("([0-9.]+)pt");
  qsizetype from = 0;
  for (QRegularExpressionMatch match = points.match(sheet, from); match.hasMatch();
       match = points.match(sheet, from)) {
    const QString size = QString::number(match.captured(1).toDouble() * scale) + "pt";
    sheet.replace(match.capturedStart(), match.capturedLength(), size);
    from = match.capturedStart() + size.size();
  }
  return sheet;
}

QString first_family(std::initializer_list<const char*> wanted,
                     QFontDatabase::SystemFont otherwise) {
  const QStringList known = QFontDatabase::families();
  for (const char* family : wanted) {
    if (known.contains(QLatin1String(family))) return QLatin1String(family);
  }
  return QFontDatabase::systemFont(otherwise).family();
}

QString style_sheet(const WindowColours& colours) {
  QFile file(":/style/window.qss");
  if (!file.open(QIODevice::ReadOnly)) return {};
  QString sheet = QString::fromUtf8(file.readAll());
  const std::pair<const char*, QColor> names[] = {
      {"@window", colours.window},       {"@panel", colours.panel},
      {"@raised", colours.raised},       {"@sunken", colours.sunken},
      {"@border", colours.border},       {"@text", colours.text},
      {"@muted", colours.muted},         {"@accent", colours.accent},
      {"@on_accent", colours.on_accent}, {"@selected", colours.selected},
      {"@warning", colours.warning},     {"@error", colours.error},
  };
  for (const auto& [name, colour] : names)
    sheet.replace(QLatin1String(name) + ";", colour.name() + ";");
  sheet.replace("@theme", colours.theme == Theme::dark ? "dark" : "light");
  return sheet;
}

/// An icon that is drawn on first use of each size.
class TintedIcon final : public QIconEngine {
 public:
  TintedIcon(QString name, const QColor& colour) : name_(std::move(name)), colour_(colour) {}

  [[nodiscard]] QIconEngine* clone() const override { return new TintedIcon(name_, colour_); }

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
    const double scale = painter->device()->devicePixelRatio();
    painter->drawPixmap(rect, pixmap(rect.size() * scale, mode, state));
  }

  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State) override {
    const bool faded = mode == QIcon::Disabled;
    QPixmap& drawn = drawn_[{size.width(), size.height(), faded}];
    if (!drawn.isNull()) return drawn;
    drawn = QPixmap(size);
    drawn.fill(Qt::transparent);
    QPainter painter(&drawn);
    painter.setOpacity(faded ? 0.4 : 1);
    QSvgRenderer renderer(":/icons/" + name_ + ".svg");
    renderer.setAspectRatioMode(Qt::KeepAspectRatio);
    renderer.render(&painter);
    painter.setOpacity(1);
    painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
    painter.fillRect(drawn.rect(), colour_);
    return drawn;
  }

 private:
  QString name_;
  QColor colour_;
  std::map<std::tuple<int, int, bool>, QPixmap> drawn_;  ///< key: width, height, faded
};

}  // namespace

const WindowColours& colours_of(Theme theme) { return theme == Theme::dark ? kDark : kLight; }

const WindowColours& colours_of(const QWidget& widget) {
  const QColor ground = widget.palette().color(QPalette::Window);
  if (ground == kDarkContrast.panel) return kDarkContrast;
  if (ground == kLightContrast.panel) return kLightContrast;
  return ground.lightness() < 128 ? kDark : kLight;
}

double text_scale_of(const QFont& font) {
  return font.pointSizeF() > 0 ? font.pointSizeF() / usual_font_pt : 1;
}

void load_assets() { initialise_resources(); }

void apply_theme(QApplication& application, const Look& look) {
  const bool dark = look.theme == Theme::dark;
  const WindowColours& colours =
      look.high_contrast ? (dark ? kDarkContrast : kLightContrast) : colours_of(look.theme);
  load_assets();
  // The style is set only once, because setting it polishes all widgets again.
  constexpr const char* kHasStyle = "attnscope_has_style";
  if (!application.property(kHasStyle).toBool()) {
    application.setStyle(QStyleFactory::create("Fusion"));
    application.setProperty(kHasStyle, true);
  }

  QPalette palette;
  palette.setColor(QPalette::Window, colours.panel);
  palette.setColor(QPalette::WindowText, colours.text);
  palette.setColor(QPalette::Base, colours.sunken);
  palette.setColor(QPalette::AlternateBase, colours.panel);
  palette.setColor(QPalette::Text, colours.text);
  palette.setColor(QPalette::PlaceholderText, colours.muted);
  palette.setColor(QPalette::Button, colours.raised);
  palette.setColor(QPalette::ButtonText, colours.text);
  palette.setColor(QPalette::ToolTipBase, colours.raised);
  palette.setColor(QPalette::ToolTipText, colours.text);
  palette.setColor(QPalette::Highlight, colours.accent);
  palette.setColor(QPalette::HighlightedText, colours.on_accent);
  palette.setColor(QPalette::Link, colours.accent);
  palette.setColor(QPalette::Mid, colours.border);
  palette.setColor(QPalette::Disabled, QPalette::WindowText, colours.muted);
  palette.setColor(QPalette::Disabled, QPalette::Text, colours.muted);
  palette.setColor(QPalette::Disabled, QPalette::ButtonText, colours.muted);
  if (application.palette() != palette) application.setPalette(palette);

  QFont font(first_family({"Inter", "Noto Sans", "Cantarell"}, QFontDatabase::GeneralFont));
  font.setPointSizeF(usual_font_pt * look.text_scale);
  if (application.font() != font) application.setFont(font);
  const QString sheet = scaled_points(style_sheet(colours), look.text_scale);
  if (application.styleSheet() != sheet) application.setStyleSheet(sheet);
}

QColor subject_colour(std::int64_t index, Theme theme) {
  return ink(subject_colour(static_cast<std::size_t>(index)),
             theme == Theme::dark ? FigureTheme::dark : FigureTheme::light);
}

QFont number_font(const QFont& base) {
  // The family is looked up only once, because listing all families takes as long as drawing a
  // table.
  static const QString family =
      first_family({"JetBrains Mono", "DejaVu Sans Mono"}, QFontDatabase::FixedFont);
  QFont font = base;
  font.setFamily(family);
  font.setPointSizeF(base.pointSizeF() - 0.5);
  return font;
}

QIcon tinted_icon(const QString& name, const QColor& colour) {
  return QIcon(new TintedIcon(name, colour));
}

void set_role(QWidget* widget, const char* role) {
  if (widget->property("role") == role) return;
  widget->setProperty("role", role);
  // Qt evaluates a style sheet's property selectors only when it polishes a widget.
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
}

}  // namespace attnscope
