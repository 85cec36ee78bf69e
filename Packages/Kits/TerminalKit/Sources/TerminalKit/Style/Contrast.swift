import Capabilities
import Glibc

extension Theme {
    /// The colour of text in `token` on the terminal's own background, legible at that level too: 256 colours are
    /// coarser than those of the theme.
    func textColor(_ token: ThemeToken, level: ColorLevel) -> HSLColor? {
        guard let color = textColor(token), let page = colors[.background] else { return textColor(token) }
        return color.legible(on: page, level: level)
    }

    /// The colour of text on a surface that is drawn too, legible there: the token's own colour, or the one that it has
    /// on the page, or that of the surface's `-foreground` partner, or one that is as much lighter or darker as needed.
    ///
    /// Nil if the theme has no colour for the surface.
    func textColor(_ token: ThemeToken, on surface: ThemeToken, level: ColorLevel) -> HSLColor? {
        guard let ground = colors[surface] else { return nil }
        let partner = surface == .background ? .foreground : ThemeToken(rawValue: surface.rawValue + "-foreground")
        let candidates = [colors[token], textColor(token), partner.flatMap { colors[$0] }].compactMap { $0 }
        return candidates.first { $0.isLegible(on: ground, level: level) }
            ?? (candidates.first ?? ground).legible(on: ground, level: level)
    }
}

extension HSLColor {
    func isLegible(on ground: HSLColor, level: ColorLevel) -> Bool {
        Contrast.ratio(shown(at: level), ground.shown(at: level)) >= Contrast.legible
    }

    /// The colour itself, or one that is as much lighter or darker as it needs to be legible. Where colours are coarse, one
    /// that keeps its hue is preferred: a lighter red would become orange.
    func legible(on ground: HSLColor, level: ColorLevel) -> HSLColor {
        if isLegible(on: ground, level: level) { return self }
        let isDark = Contrast.luminance(ground.shown(at: level)) < Contrast.middle
        var nearest: HSLColor?
        for step in stride(from: 4, through: 100, by: 4) {
            let color = HSLColor(hue, saturation, isDark ? max(lightness, step) : min(lightness, 100 - step))
            guard color.isLegible(on: ground, level: level) else { continue }
            if color.keepsHue(at: level) { return color }
            nearest = nearest ?? color
        }
        // Black or white has at least 4.58 on any colour.
        return nearest ?? HSLColor(0, 0, isDark ? 100 : 0)
    }

    /// Whether a terminal of that level draws it in about the same hue. Greys have none.
    private func keepsHue(at level: ColorLevel) -> Bool {
        guard isHue, level == .ansi256 else { return true }
        guard let shown = Contrast.hue(shown(at: level)) else { return false }
        let distance = abs(Double(hue) - shown)
        return min(distance, 360 - distance) <= 12
    }
}

/// The contrast of two colours by WCAG 2.
enum Contrast {
    typealias Color = (red: Int, green: Int, blue: Int)

    /// "The visual presentation of text and images of text has a contrast ratio of at least 4.5:1" (1.4.3).
    static let legible = 4.5

    /// The luminance on which black and white have the same contrast.
    static let middle = 0.179

    static func ratio(_ one: Color, _ other: Color) -> Double {
        let (left, right) = (luminance(one), luminance(other))
        return (max(left, right) + 0.05) / (min(left, right) + 0.05)
    }

    static func luminance(_ color: Color) -> Double {
        0.2126 * part(color.red) + 0.7152 * part(color.green) + 0.0722 * part(color.blue)
    }

    /// The hue in degrees; nil for a grey.
    static func hue(_ color: Color) -> Double? {
        let (red, green, blue) = (Double(color.red), Double(color.green), Double(color.blue))
        let most = max(red, green, blue), range = most - min(red, green, blue)
        guard range > 0 else { return nil }
        let turn =
            if most == red { (green - blue) / range } else if most == green { (blue - red) / range + 2 } else {
                (red - green) / range + 4
            }
        return turn < 0 ? 60 * turn + 360 : 60 * turn
    }

    private static func part(_ value: Int) -> Double {
        let share = Double(value) / 255
        return share <= 0.03928 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
    }
}

extension HSLColor {
    /// Whether it is more than a shade of grey.
    var isHue: Bool { saturation >= 40 }

    /// The components as a terminal of that level draws them.
    func shown(at level: ColorLevel) -> Contrast.Color {
        guard level == .ansi256 else { return rgb }
        let number = xterm256
        if number >= 232 {
            let grey = 8 + 10 * (number - 232)
            return (grey, grey, grey)
        }
        let levels = [0, 95, 135, 175, 215, 255]
        return (levels[(number - 16) / 36], levels[(number - 16) / 6 % 6], levels[(number - 16) % 6])
    }
}
