public import Capabilities

/// The colours of the tokens.
public struct Theme: Sendable, Hashable {
    let colors: [ThemeToken: HSLColor]
    /// Whether it is meant for a light background.
    public let isLight: Bool
    /// Whether the terminal's own sixteen colours replace those of the theme, whatever the terminal supports.
    let usesTerminalColors: Bool

    /// A theme; tokens without a colour are drawn in the terminal's own.
    public init(_ colors: [ThemeToken: HSLColor], isLight: Bool = false) {
        self.init(colors, isLight: isLight, usesTerminalColors: false)
    }

    private init(_ colors: [ThemeToken: HSLColor], isLight: Bool, usesTerminalColors: Bool) {
        self.colors = colors
        self.isLight = isLight
        self.usesTerminalColors = usesTerminalColors
    }

    /// The palette's colour for `token`.
    public subscript(token: ThemeToken) -> HSLColor? { colors[token] }

    /// The colour of text in `token`, legible on the terminal's own background.
    ///
    /// A token too similar to the background is drawn as its `-foreground` partner, or without one half as close to it.
    public func textColor(_ token: ThemeToken) -> HSLColor? {
        guard let color = colors[token], !isLegible(color) else { return colors[token] }
        let partner = token == .background ? .foreground : ThemeToken(rawValue: token.rawValue + "-foreground")
        if let partner, let text = colors[partner], isLegible(text) { return text }
        return HSLColor(
            color.hue, color.saturation, isLight ? 45 - (100 - color.lightness) / 2 : 50 + color.lightness / 2)
    }

    private func isLegible(_ color: HSLColor) -> Bool { isLight ? color.lightness <= 45 : color.lightness >= 45 }

    /// The default palette, for a dark background.
    public static let dark = Theme(given.merging(darkHues) { $1 })

    /// The same for a light background.
    public static let light = Theme(
        [
            .background: HSLColor(0, 0, 100), .foreground: HSLColor(0, 0, 20),
            .muted: HSLColor(0, 12, 92), .mutedForeground: HSLColor(0, 4, 38),
            .popover: HSLColor(0, 0, 100), .popoverForeground: HSLColor(0, 0, 12),
            .card: HSLColor(0, 0, 100), .cardForeground: HSLColor(0, 0, 18),
            .border: HSLColor(0, 0, 90), .input: HSLColor(0, 0, 88),
            .primary: HSLColor(220, 30, 20), .primaryForeground: HSLColor(220, 13, 94),
            .secondary: HSLColor(220, 3, 85), .secondaryForeground: HSLColor(220, 3, 22),
            .accent: HSLColor(0, 0, 88), .accentForeground: HSLColor(0, 0, 25),
            .destructive: HSLColor(8, 89, 36), .destructiveForeground: HSLColor(0, 0, 100),
            .ring: HSLColor(220, 30, 20),
            .chart1: HSLColor(220, 30, 20), .chart2: HSLColor(220, 3, 75), .chart3: HSLColor(0, 0, 85),
            .chart4: HSLColor(220, 3, 72), .chart5: HSLColor(220, 16, 24),
            .error: HSLColor(2, 80, 36), .warning: HSLColor(34, 100, 24), .added: HSLColor(135, 75, 22),
            .removed: HSLColor(2, 80, 36), .keyword: HSLColor(285, 60, 36),
            .string: HSLColor(130, 70, 22), .number: HSLColor(25, 90, 28), .comment: HSLColor(0, 0, 38),
            .code: HSLColor(200, 90, 26), .link: HSLColor(215, 90, 36), .heading: HSLColor(220, 60, 28),
        ], isLight: true)

    /// White and strong hues on a dark background, for more contrast.
    public static let highContrastDark = Theme(
        given.merging(darkHues) { $1 }.merging([
            .foreground: HSLColor(0, 0, 100), .mutedForeground: HSLColor(0, 0, 88),
            .popoverForeground: HSLColor(0, 0, 100), .cardForeground: HSLColor(0, 0, 100),
            .border: HSLColor(0, 0, 80), .input: HSLColor(0, 0, 80), .primary: HSLColor(220, 13, 96),
            .primaryForeground: HSLColor(0, 0, 90), .secondaryForeground: HSLColor(0, 0, 96),
            .accentForeground: HSLColor(0, 0, 96), .destructive: HSLColor(8, 100, 74), .ring: HSLColor(220, 13, 96),
            .chart1: HSLColor(220, 13, 96), .chart2: HSLColor(220, 3, 84), .chart3: HSLColor(0, 0, 84),
            .chart4: HSLColor(220, 3, 88), .chart5: HSLColor(220, 16, 96),
            .error: HSLColor(2, 100, 78), .warning: HSLColor(48, 100, 70), .added: HSLColor(135, 85, 72),
            .removed: HSLColor(2, 100, 80), .keyword: HSLColor(285, 100, 84),
            .string: HSLColor(120, 80, 76), .number: HSLColor(35, 100, 75), .comment: HSLColor(0, 0, 84),
            .code: HSLColor(195, 100, 80), .link: HSLColor(210, 100, 82), .heading: HSLColor(220, 100, 88),
        ]) { $1 })

    /// Black and deep hues on a light background, for more contrast.
    public static let highContrastLight = Theme(
        light.colors.merging([
            .foreground: HSLColor(0, 0, 0), .mutedForeground: HSLColor(0, 0, 24), .popoverForeground: HSLColor(0, 0, 0),
            .cardForeground: HSLColor(0, 0, 0), .border: HSLColor(0, 0, 30), .input: HSLColor(0, 0, 30),
            .primary: HSLColor(220, 30, 10), .primaryForeground: HSLColor(0, 0, 16), .ring: HSLColor(220, 30, 10),
            .secondaryForeground: HSLColor(0, 0, 10), .accentForeground: HSLColor(0, 0, 10),
            .destructive: HSLColor(8, 100, 24), .destructiveForeground: HSLColor(0, 0, 10),
            .chart1: HSLColor(220, 30, 10), .chart2: HSLColor(220, 3, 25), .chart3: HSLColor(0, 0, 25),
            .chart4: HSLColor(220, 3, 22), .chart5: HSLColor(220, 16, 14),
            .error: HSLColor(2, 100, 24), .warning: HSLColor(34, 100, 16), .added: HSLColor(135, 100, 13),
            .removed: HSLColor(2, 100, 24), .keyword: HSLColor(285, 100, 24),
            .string: HSLColor(130, 100, 13), .number: HSLColor(25, 100, 18), .comment: HSLColor(0, 0, 26),
            .code: HSLColor(200, 100, 17), .link: HSLColor(215, 100, 24), .heading: HSLColor(220, 100, 20),
        ]) { $1 }, isLight: true)

    /// The terminal's own sixteen colours, chosen by its user for the background; for unknown backgrounds.
    public static let terminal = Theme(dark.colors, isLight: false, usesTerminalColors: true)

    /// No colours; bold and underlined text stays.
    public static let plain = Theme([:])

    private static let given: [ThemeToken: HSLColor] = [
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
    ]

    /// Light enough for the backgrounds of dark terminals, which are rarely black.
    private static let darkHues: [ThemeToken: HSLColor] = [
        .error: HSLColor(2, 90, 70), .warning: HSLColor(40, 90, 62), .added: HSLColor(135, 55, 60),
        .removed: HSLColor(2, 90, 72), .keyword: HSLColor(285, 60, 76),
        .string: HSLColor(110, 40, 64), .number: HSLColor(30, 75, 66), .comment: HSLColor(0, 0, 62),
        .code: HSLColor(195, 60, 70), .link: HSLColor(210, 85, 72), .heading: HSLColor(220, 60, 80),
    ]
}

extension Theme {
    /// Finds the theme that the user has chosen. A terminal may have to be asked for its background, which is only done
    /// to draw in colours.
    public struct Choice: Sendable {
        // A task local that is itself a closure has no type at run time when it is optimised, and crashes.
        private let find: @Sendable () -> Theme
        private let findKnown: @Sendable () -> Theme
        private let findOn: @Sendable (TerminalBackground) -> Theme

        /// - Parameters:
        ///   - find: may ask the terminal, so it is called only to draw in colours.
        ///   - findKnown: the same without asking, for work that asks by itself.
        ///   - findOn: the same for a background that the terminal has reported.
        public init(
            _ find: @escaping @Sendable () -> Theme, known findKnown: @escaping @Sendable () -> Theme,
            on findOn: @escaping @Sendable (TerminalBackground) -> Theme
        ) {
            self.find = find
            self.findKnown = findKnown
            self.findOn = findOn
        }

        /// The theme that the user has chosen. May ask the terminal for its background.
        public func callAsFunction() -> Theme { find() }

        /// The theme that the user has chosen, as far as the background is known without asking the terminal.
        public var known: Theme { findKnown() }

        /// The theme that the user has chosen, on that background.
        public func callAsFunction(on background: TerminalBackground) -> Theme { findOn(background) }
    }

    /// The choice for the current work; nil if no frontend has set one.
    @TaskLocal public static var chosen: Choice?
}

/// A colour as hue in degrees, saturation and lightness in percent.
public struct HSLColor: Sendable, Hashable {
    /// 0 is red, 120 green, 240 blue.
    public var hue: Int
    /// 0 is grey, 100 the pure colour.
    public var saturation: Int
    /// 0 is black, 100 white.
    public var lightness: Int

    /// A colour; values outside their ranges are clamped.
    public init(_ hue: Int, _ saturation: Int, _ lightness: Int) {
        self.hue = ((hue % 360) + 360) % 360
        self.saturation = min(100, max(0, saturation))
        self.lightness = min(100, max(0, lightness))
    }
}

extension HSLColor {
    /// The components of a 24-bit colour, each up to 255.
    var rgb: (red: Int, green: Int, blue: Int) {
        let light = Double(lightness) / 100
        let amount = Double(saturation) / 100 * min(light, 1 - light)
        func part(_ offset: Double) -> Int {
            let turn = (offset + Double(hue) / 30).truncatingRemainder(dividingBy: 12)
            return Int(((light - amount * max(-1, min(turn - 3, 9 - turn, 1))) * 255).rounded())
        }
        return (part(0), part(8), part(4))
    }

    /// The nearest of xterm's 6×6×6 cube and 24 greys.
    var xterm256: Int {
        let (red, green, blue) = rgb
        let levels = [0, 95, 135, 175, 215, 255]
        func nearest(_ value: Int) -> Int {
            levels.indices.min { abs(levels[$0] - value) < abs(levels[$1] - value) } ?? 0
        }
        func distance(_ other: (Int, Int, Int)) -> Int {
            let (r, g, b) = (red - other.0, green - other.1, blue - other.2)
            return r * r + g * g + b * b
        }
        let cube = (nearest(red), nearest(green), nearest(blue))
        let step = min(23, max(0, ((red + green + blue) / 3 - 3) / 10))
        let grey = 8 + 10 * step
        let isGreyNearer = distance((grey, grey, grey)) < distance((levels[cube.0], levels[cube.1], levels[cube.2]))
        return isGreyNearer ? 232 + step : 16 + 36 * cube.0 + 6 * cube.1 + cube.2
    }

    /// The SGR parameter of a colour that the user's own terminal theme keeps legible.
    func ansi16(isLight: Bool = false) -> Int {
        guard isHue else { return (isLight ? lightness <= 30 : lightness >= 70) ? 39 : 90 }
        return switch hue {
        // Few terminals have a yellow that is legible on white.
        case 30..<90: isLight ? 35 : 33
        case 90..<150: 32
        case 150..<210: 36
        case 210..<270: 34
        case 270..<330: 35
        default: 31
        }
    }
}
