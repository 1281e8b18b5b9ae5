#include "app/canvas/lens.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <array>
#if __has_include(<backends/imgui_impl_opengl3.h>)
#include <backends/imgui_impl_opengl3.h>
#else
#include <imgui_impl_opengl3.h>  // conda-forge, Nix
#endif
#include <cctype>
#include <cmath>
#include <imgui.h>
#include <optional>
#include <span>
#include <vector>

#include "app/canvas/lens_controls.h"
#include "app/look/font_file.h"

namespace attnscope {

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

constexpr double field_width = 200, line = 25.5, name_line = 16, header = 30, padding = 6;
constexpr int fields = 5;

bool is_narrow(double width) { return width < field_width + 2 * padding; }

/// Makes a context current, and restores the former one at the end.
class CurrentContext {
 public:
  explicit CurrentContext(ImGuiContext* context) : before_(ImGui::GetCurrentContext()) {
    ImGui::SetCurrentContext(context);
  }
  ~CurrentContext() { ImGui::SetCurrentContext(before_); }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  ImGuiContext* before_;
};

int button_of(Qt::MouseButton button) {
  return button == Qt::LeftButton     ? 0
         : button == Qt::RightButton  ? 1
         : button == Qt::MiddleButton ? 2
                                      : -1;
}

// Dear ImGui takes input as events since 1.87; before, its fields are written.
#if IMGUI_VERSION_NUM >= 18700

constexpr ImGuiKey keypad_enter = ImGuiKey_KeypadEnter;
#if IMGUI_VERSION_NUM >= 18900
constexpr ImGuiKey control_modifier = ImGuiMod_Ctrl, shift_modifier = ImGuiMod_Shift;
#else
constexpr ImGuiKey control_modifier = ImGuiKey_ModCtrl, shift_modifier = ImGuiKey_ModShift;
#endif

void enable_keys(ImGuiIO&) {}

void put_mouse(ImGuiIO& io, ImVec2 position, const std::array<bool, 3>& down) {
  io.AddMousePosEvent(position.x, position.y);
  for (int i = 0; i < 3; ++i) io.AddMouseButtonEvent(i, down[static_cast<std::size_t>(i)]);
}

void put_wheel(ImGuiIO& io, float steps) { io.AddMouseWheelEvent(0, steps); }

void put_modifiers(ImGuiIO& io, bool control, bool shift) {
  io.AddKeyEvent(control_modifier, control);
  io.AddKeyEvent(shift_modifier, shift);
}

void put_key(ImGuiIO& io, ImGuiKey key, bool down) { io.AddKeyEvent(key, down); }

#else

constexpr ImGuiKey keypad_enter = ImGuiKey_KeyPadEnter;

void enable_keys(ImGuiIO& io) {
  for (ImGuiKey key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
}

void put_mouse(ImGuiIO& io, ImVec2 position, const std::array<bool, 3>& down) {
  io.MousePos = position;
  std::ranges::copy(down, io.MouseDown);
}

void put_wheel(ImGuiIO& io, float steps) { io.MouseWheel += steps; }

void put_modifiers(ImGuiIO& io, bool control, bool shift) {
  io.KeyCtrl = control;
  io.KeyShift = shift;
}

void put_key(ImGuiIO& io, ImGuiKey key, bool down) { io.KeysDown[key] = down; }

#endif

/// The key of Dear ImGui for a key of Qt that text fields and lists react to.
std::optional<ImGuiKey> imgui_key(int key) {
  switch (key) {
    case Qt::Key_Tab:
      return ImGuiKey_Tab;
    case Qt::Key_Left:
      return ImGuiKey_LeftArrow;
    case Qt::Key_Right:
      return ImGuiKey_RightArrow;
    case Qt::Key_Home:
      return ImGuiKey_Home;
    case Qt::Key_End:
      return ImGuiKey_End;
    case Qt::Key_Delete:
      return ImGuiKey_Delete;
    case Qt::Key_Backspace:
      return ImGuiKey_Backspace;
    case Qt::Key_Return:
      return ImGuiKey_Enter;
    case Qt::Key_Enter:
      return keypad_enter;
    case Qt::Key_Escape:
      return ImGuiKey_Escape;
    case Qt::Key_A:
      return ImGuiKey_A;
    case Qt::Key_C:
      return ImGuiKey_C;
    case Qt::Key_V:
      return ImGuiKey_V;
    case Qt::Key_X:
      return ImGuiKey_X;
    default:
      return std::nullopt;
  }
}

}  // namespace

Lens::Lens() : context_(nullptr) {
  ImGuiContext* before = ImGui::GetCurrentContext();
  context_ = ImGui::CreateContext();
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_NoMouseCursorChange;
  enable_keys(io);
  ImGui::SetCurrentContext(before);
  clock_.start();
}

Lens::~Lens() {
  const CurrentContext current(context_);
  if (backend_ready_) ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(context_);
}

int Lens::columns_in(double width) {
  return std::clamp(static_cast<int>((width - padding) / (field_width + padding)), 1, 4);
}

QSizeF Lens::tall_size() { return {field_width + 3 * padding, header + fields * line + padding}; }

QSizeF Lens::wide_size(double width) {
  const double field = line + (is_narrow(width) ? name_line : 0);
  return {width,
          header + std::ceil(static_cast<double>(fields) / columns_in(width)) * field + padding};
}

void Lens::load_font(const QFont& font, double pixel_ratio) {
  ImGuiIO& io = ImGui::GetIO();
  io.Fonts->Clear();
  const auto pixels = static_cast<float>(std::round(12 * pixel_ratio));
  ImFontConfig config;
  config.OversampleH = 1;  // the FreeType builder hints to whole pixels
  config.PixelSnapH = true;
  face_ = font_file(font);
  if (face_.isEmpty()) {
    config.SizePixels = pixels;
    io.Fonts->AddFontDefault(&config);
  } else {
    config.FontDataOwnedByAtlas = false;
    io.Fonts->AddFontFromMemoryTTF(face_.data(), static_cast<int>(face_.size()), pixels * 1.18F,
                                   &config);
  }
#ifndef IMGUI_HAS_TEXTURES  // since 1.92, the texture follows the fonts
  // The next frame makes everything anew. Old versions would not make the texture alone.
  if (backend_ready_) ImGui_ImplOpenGL3_DestroyDeviceObjects();
#endif
}

bool Lens::holds(QPointF position) const {
  return place_.contains(position) || popup_open_ || item_held_;
}

bool Lens::mouse(const QMouseEvent& event) {
  position_ = event.position();
  const int button = button_of(event.button());
  const bool down = event.type() != QEvent::MouseButtonRelease;
  const bool mine = holds(position_) || (!down && button >= 0 && buttons_[button]);
  if (button >= 0 && (mine || !down)) {
    if (down) {
      pressed_[button] = true;
      double_clicked_ = event.type() == QEvent::MouseButtonDblClick;
    }
    buttons_[button] = down;
  }
  wake();
  return mine;
}

bool Lens::moved(QPointF position) {
  const bool before = holds(position_);
  position_ = position;
  const bool now = holds(position_) || buttons_[0];
  if (before || now) wake();
  return now;
}

bool Lens::wheel(const QWheelEvent& event) {
  if (!holds(event.position())) return false;
  const CurrentContext current(context_);
  put_wheel(ImGui::GetIO(), static_cast<float>(event.angleDelta().y()) / 120.0F);
  wake();
  return true;
}

bool Lens::key(const QKeyEvent& event, bool down) {
  if (!typing_ && !popup_open_) return false;
  const CurrentContext current(context_);
  ImGuiIO& io = ImGui::GetIO();
  const bool control = event.modifiers().testFlag(Qt::ControlModifier);
  put_modifiers(io, control, event.modifiers().testFlag(Qt::ShiftModifier));
  if (const auto key = imgui_key(event.key())) put_key(io, *key, down);
  if (down && !control) {
    for (const QChar letter : event.text()) {
      if (letter.isPrint()) io.AddInputCharacterUTF16(letter.unicode());
    }
  }
  wake();
  return true;
}

void Lens::left() {
  position_ = {-1e6, -1e6};
  wake();
}

QRectF Lens::control(const std::string& name) const {
  const auto found = controls_.find(name);
  return found == controls_.end() ? QRectF() : found->second;
}

void Lens::noted(const std::string& name) {
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  controls_[name] =
      QRectF(QPointF(low.x, low.y) / pixel_ratio_, QPointF(high.x, high.y) / pixel_ratio_);
}

void Lens::draw_focus(const Input& input) const {
  QRectF place;
  for (const auto& [name, rect] : controls_) {
    if (name == input.focused || name.starts_with(input.focused + "/")) place = place.united(rect);
  }
  if (place.isEmpty()) return;
  const auto ratio = static_cast<float>(input.pixel_ratio);
  const QRectF ring = place.adjusted(-2, -2, 2, 2);
  lens::outline(
      *ImGui::GetForegroundDrawList(),
      {static_cast<float>(ring.left()) * ratio, static_cast<float>(ring.top()) * ratio},
      {static_cast<float>(ring.right()) * ratio, static_cast<float>(ring.bottom()) * ratio},
      lens::to_packed(input.colours->accent), 5 * ratio, 2 * ratio);
}

ViewSettings Lens::draw(const Input& input) {
  const CurrentContext current(context_);
  ViewSettings view = input.view;
  const auto ratio = static_cast<float>(input.pixel_ratio);
  if (!style_ready_ || pixel_ratio_ != input.pixel_ratio || style_theme_ != input.colours->theme) {
    if (pixel_ratio_ != input.pixel_ratio) load_font(input.font, input.pixel_ratio);
    pixel_ratio_ = input.pixel_ratio;
    style_theme_ = input.colours->theme;
    style_ready_ = true;
    lens::set_style(*input.colours, ratio);
  }
  if (!backend_ready_) {
    ImGui_ImplOpenGL3_Init("#version 330 core");
    backend_ready_ = true;
  }
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(input.widget.width()) * ratio,
                    static_cast<float>(input.widget.height()) * ratio};
  io.DisplayFramebufferScale = {1, 1};  // all lengths here are device pixels
  io.DeltaTime = std::clamp(static_cast<float>(clock_.nsecsElapsed()) * 1e-9F, 1e-4F, 0.1F);
  clock_.restart();
  // Qt recognises double clicks by the user's settings. Dear ImGui would see one in two slow
  // clicks, because its clock stands between frames.
  io.MouseDoubleClickTime = double_clicked_ ? 0.5F : 0;
  put_mouse(io,
            {static_cast<float>(position_.x()) * ratio, static_cast<float>(position_.y()) * ratio},
            {buttons_[0] || pressed_[0], buttons_[1] || pressed_[1], buttons_[2] || pressed_[2]});
  std::ranges::fill(pressed_, false);
  place_ = input.place;
  narrow_ = is_narrow(place_.width());
  controls_.clear();

  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  ImGui::SetNextWindowPos(
      {static_cast<float>(place_.left()) * ratio, static_cast<float>(place_.top()) * ratio});
  ImGui::SetNextWindowSize(
      {static_cast<float>(place_.width()) * ratio, static_cast<float>(place_.height()) * ratio});
  constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav;
  ImGui::Begin("lens", nullptr, flags);
  const float small = 20 * ratio;
  const ImVec2 top = ImGui::GetCursorPos();
  ImGui::SetCursorPosY(top.y + (small - ImGui::GetTextLineHeight()) / 2);
  ImGui::TextUnformatted("Lens");
  ImGui::SameLine();
  const float button = ImGui::GetWindowWidth() - top.x - small + 2 * ratio;
  for (const char* hint : {"R resets, L closes it", "R resets"}) {
    if (ImGui::GetCursorPosX() + ImGui::CalcTextSize(hint).x > button - 8 * ratio) continue;
    ImGui::TextDisabled("%s", hint);
    break;
  }
  ImGui::SetCursorPos({button, top.y});
  close_wanted_ =
      lens::sign_button("close", lens::Sign::chevron_down, false, *input.colours, small);
  noted("close");
  if (input.place.height() > 40) {
    const int columns = input.side == LensSide::right ? 1 : columns_in(place_.width());
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(5 * ratio, 2.5F * ratio));
    ImGui::SetCursorPosY(top.y + small + 2 * ratio);
    if (ImGui::BeginTable("fields", columns, ImGuiTableFlags_SizingStretchSame)) {
      contents(input, view);
      ImGui::EndTable();
    }
    ImGui::PopStyleVar();
  }
  ImGui::End();
  if (!input.focused.empty()) draw_focus(input);
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  popup_open_ = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
  item_held_ = ImGui::IsAnyItemActive();
  typing_ = io.WantTextInput;
  if (frames_wanted_ > 0) --frames_wanted_;
  return view;
}

// Fields of the open lens, in order: how they show the view, and how clicks change it.

void Lens::field(const char* title, float ratio) {
  ImGui::TableNextColumn();
  if (!narrow_) ImGui::AlignTextToFramePadding();
  ImGui::TextDisabled("%s", title);
  if (narrow_) {
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() - 4 * ratio);
  } else {
    ImGui::SameLine(58 * ratio);
  }
}

void Lens::range_list(const Input& input, ViewSettings& view, bool wanted) {
  if (wanted || ImGui::IsItemClicked(ImGuiMouseButton_Right)) {
    range_choices_ = input.range_choices();
    ImGui::OpenPopup("ranges");
  }
  if (!ImGui::BeginPopup("ranges")) return;
  const bool by_hand = view.range_minimum.has_value() || view.range_maximum.has_value();
  const auto automatic = [&](const char* title, const char* name, bool chosen) {
    const bool clicked = ImGui::Selectable(title, chosen && !by_hand);
    if (clicked) {
      view.range_minimum.reset();
      view.range_maximum.reset();
    }
    noted(std::string("range/") + name);
    return clicked;
  };
  const auto scope = [&](const char* title, const char* name, RangeScope of) {
    if (automatic(title, name, view.range_scope == of)) view.range_scope = of;
  };
  scope("each model its own", "model", RangeScope::model);
  scope("one for all models", "shared", RangeScope::all_models);
  scope("each map its own", "each", RangeScope::map);
  ImGui::Separator();
  static constexpr std::array shares = {"95th percentile", "99th percentile", "99.5th percentile",
                                        "99.9th percentile", "greatest value"};
  static constexpr std::array names = {"95", "99", "99.5", "99.9", "100"};
  static_assert(shares.size() == std::size(range_shares) && names.size() == shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (automatic(shares[i], names[i], view.range_share == range_shares[i])) {
      view.range_share = range_shares[i];
    }
  }
  ImGui::Separator();
  for (const AtlasLink::RangeChoice& choice : range_choices_) {
    if (ImGui::Selectable(choice.title)) {
      view.range_minimum = choice.minimum;
      view.range_maximum = choice.maximum;
    }
    noted(std::string("range/") + choice.title);
  }
  ImGui::EndPopup();
}

void Lens::range_field(const Input& input, ViewSettings& view, float ratio, bool list_wanted) {
  const double full = input.full.maximum - input.full.minimum;
  auto minimum = static_cast<float>(input.range.minimum);
  auto maximum = static_cast<float>(input.range.maximum);
  const bool by_hand = view.range_minimum.has_value() || view.range_maximum.has_value();
  const float button = (narrow_ ? 34 : 42) * ratio, spacing = 4 * ratio;
  const float each = (ImGui::GetContentRegionAvail().x - button - 2 * spacing) / 2;
  const auto speed = static_cast<float>(std::max(1e-9, full / 400));
  // The histogram of values behind the fields, in the accent colour within the range.
  const ImVec2 low = ImGui::GetCursorScreenPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float width = 2 * each + spacing, height = ImGui::GetFrameHeight();
  const auto parts = static_cast<float>(std::max<std::size_t>(1, input.histogram.size()));
  for (std::size_t i = 0; i < input.histogram.size(); ++i) {
    const auto at = static_cast<float>(i);
    const double value = input.full.minimum + full * (static_cast<double>(i) + 0.5) / parts;
    const bool inside = value >= input.range.minimum && value <= input.range.maximum;
    const float top = low.y + height * (1 - input.histogram[i]);
    list.AddRectFilled(
        {low.x + width * at / parts, top}, {low.x + width * (at + 1) / parts, low.y + height},
        lens::to_packed(inside ? input.colours->accent : input.colours->muted, 0.3F));
  }
  ImGui::PushStyleColor(ImGuiCol_FrameBg, ImVec4(0, 0, 0, 0));
  ImGui::SetNextItemWidth(each);
  if (ImGui::DragFloat("##minimum", &minimum, speed, 0, 0, "%.3g")) {
    view.range_minimum = std::min(minimum, maximum);
  }
  noted("range/minimum");
  ImGui::SameLine(0, spacing);
  ImGui::SetNextItemWidth(each);
  if (ImGui::DragFloat("##maximum", &maximum, speed, 0, 0, "%.3g")) {
    view.range_maximum = std::max(minimum, maximum);
  }
  noted("range/maximum");
  ImGui::PopStyleColor();
  ImGui::SameLine(0, spacing);
  // One button switches the range: per map to per model, automatic to full, manual to automatic.
  const bool own = view.range_scope == RangeScope::map && !by_hand;
  if (ImGui::Button(by_hand ? "auto##range" : own ? "each##range" : "full##range", {button, 0})) {
    if (by_hand) {
      view.range_minimum.reset();
      view.range_maximum.reset();
    } else if (own) {
      view.range_scope = RangeScope::model;
    } else if (full > 0) {
      view.range_minimum = input.full.minimum;
      view.range_maximum = input.full.maximum;
    }
  }
  noted("range/auto");
  range_list(input, view, list_wanted);
}

void Lens::contents(const Input& input, ViewSettings& view) {
  const auto ratio = static_cast<float>(input.pixel_ratio);
  const WindowColours& colours = *input.colours;
  const float size = ImGui::GetFrameHeight();

  const auto segmented = [&](const char* name, std::span<const char* const> titles, int chosen) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const std::vector<float> widths =
        lens::segment_widths(titles, ImGui::GetContentRegionAvail().x);
    float left = low.x;
    for (std::size_t i = 0; i < titles.size(); ++i) {
      controls_[std::string(name) + "/" + lower(titles[i])] =
          QRectF(left / ratio, low.y / ratio, widths[i] / ratio, size / ratio);
      left += widths[i];
    }
    return lens::segments(name, titles, chosen, colours, ratio);
  };

  field("Colours", ratio);
  const float list_width = ImGui::GetContentRegionAvail().x - size - 4 * ratio;
  const auto line_drawn = [this](std::string_view map) { noted("colours/" + std::string(map)); };
  if (const auto chosen = lens::colour_map_list("colours", view.colour_map, view.reversed_colours,
                                                list_width, colours, ratio, line_drawn)) {
    view.colour_map = *chosen;
  }
  noted("colours");
  ImGui::SameLine(0, 4 * ratio);
  if (lens::sign_button("reverse", lens::Sign::swap, view.reversed_colours, colours, size)) {
    view.reversed_colours = !view.reversed_colours;
  }
  noted("reverse");
  lens::hint("reverse the colours");

  static constexpr std::array norms = {"Linear", "Log", "Symlog"};
  field("Scale", ratio);
  if (const auto chosen = segmented("scale", norms, static_cast<int>(view.norm))) {
    view.norm = static_cast<ScaleNorm>(*chosen);
  }

  field("Range", ratio);
  noted("range/list");
  const bool list_wanted = ImGui::IsItemClicked();
  lens::hint("click: range per model, shared or per map; percentile or fixed limits");
  range_field(input, view, ratio, list_wanted);

  static constexpr std::array fusions = {"Each", "Mean", "Max", "Min"};
  field("Heads", ratio);
  if (const auto chosen = segmented("heads", fusions, static_cast<int>(view.head_fusion))) {
    view.head_fusion = static_cast<HeadFusion>(*chosen);
  }

  static constexpr std::array shown_or_not = {"Shown", "Hidden"};
  field("Special", ratio);
  if (const auto chosen = segmented("class", shown_or_not, view.hide_prefix_tokens ? 1 : 0)) {
    view.hide_prefix_tokens = *chosen == 1;
  }
}

}  // namespace attnscope
