/// The colours behind the token names.
public struct Theme: Sendable, Hashable {
    private var colors: [ThemeToken: HSLColor]

    /// A theme; tokens without a colour are drawn in the terminal's own.
    public init(_ colors: [ThemeToken: HSLColor]) {
        self.colors = colors
    }

    /// The colour that the palette gives to `token`.
    public subscript(token: ThemeToken) -> HSLColor? { colors[token] }

    /// The colour of text in `token`, legible on a dark terminal whose background is not ours.
    ///
    /// A token darker than 45 % is drawn as its `-foreground` partner, or without one at 50 % plus half its lightness.
    public func textColor(_ token: ThemeToken) -> HSLColor? {
        guard let color = colors[token], color.lightness < 45 else { return colors[token] }
        let partner = token == .background ? .foreground : ThemeToken(rawValue: token.rawValue + "-foreground")
        if let partner, let text = colors[partner], text.lightness >= 45 { return text }
        return HSLColor(color.hue, color.saturation, 50 + color.lightness / 2)
    }

    /// The one palette of this workspace.
    public static let dark = Theme([
        .background: HSLColor(0, 0, 0), .foreground: HSLColor(0, 0, 73),
        .muted: HSLColor(0, 12, 15), .mutedForeground: HSLColor(0, 12, 65),
        .popover: HSLColor(0, 0, 0), .popoverForeground: HSLColor(0, 0, 83),
        .card: HSLColor(0, 0, 0), .cardForeground: HSLColor(0, 0, 78),
        .border: HSLColor(0, 0, 5), .input: HSLColor(0, 0, 8),
        .primary: HSLColor(220, 13, 86), .primaryForeground: HSLColor(220, 13, 26),
        .secondary: HSLColor(220, 3, 25), .secondaryForeground: HSLColor(220, 3, 85),
        .accent: HSLColor(0, 0, 15), .accentForeground: HSLColor(0, 0, 75),
        .destructive: HSLColor(8, 89, 47), .destructiveForeground: HSLColor(0, 0, 100),
        .ring: HSLColor(220, 13, 86),
        .chart1: HSLColor(220, 13, 86), .chart2: HSLColor(220, 3, 25), .chart3: HSLColor(0, 0, 15),
        .chart4: HSLColor(220, 3, 28), .chart5: HSLColor(220, 16, 86),
    ])
}
