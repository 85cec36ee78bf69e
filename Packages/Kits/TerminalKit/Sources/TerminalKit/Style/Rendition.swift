import Capabilities

/// A style as one terminal draws it: its colours at the level of the terminal, in one theme.
struct Rendition: Sendable, Hashable {
    /// A colour as the terminal is told about it.
    enum Color: Sendable, Hashable {
        /// The terminal's own colour of text, or of the surface.
        case terminalDefault
        /// One of the terminal's own sixteen colours, by the parameter for text: 30–37, 90–97.
        case named(Int)
        case indexed(Int)
        case rgb(Int, Int, Int)
    }

    var foreground = Color.terminalDefault
    var background = Color.terminalDefault
    var bold = false
    var dim = false
    var italic = false
    var underline = false
    var reverse = false
    var strikethrough = false
    var link: LinkTarget?

    /// What a terminal draws without any sequence.
    static let plain = Rendition()

    private init() {}

    /// A style at the level of a terminal. Without colours, the attributes stay, and a surface that stands out is drawn
    /// by exchanged colours.
    init(_ style: Style, level: ColorLevel, theme: Theme) {
        (bold, dim, italic) = (style.bold, style.dim, style.italic)
        (underline, reverse, strikethrough) = (style.underline, style.reverse, style.strikethrough)
        link = style.link
        let level = theme.usesTerminalColors ? min(level, .ansi16) : level
        let surface = style.background.flatMap { token in theme[token].map { (token, $0) } }
        if let (token, color) = surface, level > .ansi16 {
            background = Self.color(color, level)
            foreground =
                theme.textColor(style.token ?? .foreground, on: token, level: level)
                .map { Self.color($0, level) } ?? .terminalDefault
            return
        }
        if let color = style.token.flatMap({ theme.textColor($0, level: level) }) {
            switch level {
            case .none: break
            case .ansi16: foreground = .named(color.ansi16(isLight: theme.isLight))
            case .ansi256, .truecolor: foreground = Self.color(color, level)
            }
        }
        guard let token = style.background, token.standsOut else { return }
        if let (_, color) = surface, level == .ansi16, color.isHue {
            let hue = color.ansi16()
            (background, foreground) = (.named(hue), .named(Self.text(onNamed: hue)))
        } else {
            // Exchanged colours on exchanged colours are the plain ones.
            reverse.toggle()
        }
    }

    private static func color(_ color: HSLColor, _ level: ColorLevel) -> Color {
        if level == .ansi256 { return .indexed(color.xterm256) }
        let (red, green, blue) = color.rgb
        return .rgb(red, green, blue)
    }

    /// White on red, blue and magenta, black on the lighter ones. This is legible with the colours of xterm and of the
    /// Linux console.
    private static func text(onNamed hue: Int) -> Int { [31, 34, 35].contains(hue) ? 97 : 30 }

    /// Whether a space in it looks different from an erased cell.
    var showsOnSpaces: Bool { background != .terminalDefault || reverse || underline || strikethrough || link != nil }

    /// The colour of text as the terminal has it, where a theme says so by its parameter 39.
    var withoutNamedDefault: Rendition {
        guard foreground == .named(39) else { return self }
        var result = self
        result.foreground = .terminalDefault
        return result
    }
}

// MARK: Select graphic rendition

extension Rendition {
    /// The parameters after a reset.
    var parameters: String {
        var output: [UInt8] = []
        addChange(from: .plain, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Adds the sequence that changes the look of another rendition to this one, the shorter of a change and of a reset
    /// with all parameters; nothing if they look the same. Colours have semicolons, since not every terminal reads
    /// colons.
    func addSequence(from other: Rendition, to output: inout [UInt8]) {
        var wanted = self
        wanted.link = other.link
        if wanted == other { return }
        output += FrameSequence.start
        wanted.link = nil
        if wanted != .plain {
            let start = output.count
            addChange(from: other, to: &output)
            let change = output.count - start
            var blank = Rendition.plain
            blank.link = other.link
            if other != blank {
                output.append(0x30)
                addChange(from: .plain, to: &output, isFirst: false)
                let fresh = output.count - start - change
                if fresh < change {
                    output.removeSubrange(start..<start + change)
                } else {
                    output.removeLast(fresh)
                }
            }
        }
        output.append(0x6D)
    }

    private func addChange(from other: Rendition, to output: inout [UInt8], isFirst: Bool = true) {
        var isFirst = isFirst
        func add(_ parameter: Int, _ output: inout [UInt8]) {
            if !isFirst { output.append(0x3B) }
            isFirst = false
            output.append(decimal: parameter)
        }
        if other.bold && !bold || other.dim && !dim {
            add(22, &output)
            if bold { add(1, &output) }
            if dim { add(2, &output) }
        } else {
            if bold && !other.bold { add(1, &output) }
            if dim && !other.dim { add(2, &output) }
        }
        if italic != other.italic { add(italic ? 3 : 23, &output) }
        if underline != other.underline { add(underline ? 4 : 24, &output) }
        if reverse != other.reverse { add(reverse ? 7 : 27, &output) }
        if strikethrough != other.strikethrough { add(strikethrough ? 9 : 29, &output) }
        for (color, last, surface) in [
            (foreground, other.foreground, 0), (background, other.background, 10),
        ] where color != last {
            switch color {
            case .terminalDefault: add(39 + surface, &output)
            case .named(let number): add(number + surface, &output)
            case .indexed(let number):
                add(38 + surface, &output)
                add(5, &output)
                add(number, &output)
            case .rgb(let red, let green, let blue):
                add(38 + surface, &output)
                add(2, &output)
                add(red, &output)
                add(green, &output)
                add(blue, &output)
            }
        }
    }
}

extension ThemeToken {
    /// Whether a surface of it shows what is chosen or what is wrong, and so has to be seen without colours too.
    fileprivate var standsOut: Bool {
        switch self {
        case .background, .muted, .popover, .card, .border, .input: false
        default: true
        }
    }
}

extension [UInt8] {
    /// Adds a number that is not negative, in digits.
    mutating func append(decimal number: Int) {
        if number >= 10 { append(decimal: number / 10) }
        append(UInt8(truncatingIfNeeded: 0x30 + number % 10))
    }
}
