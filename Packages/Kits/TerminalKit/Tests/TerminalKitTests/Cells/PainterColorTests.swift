import Capabilities
import Glibc
import Testing

@testable import TerminalKit

private typealias RGB = (red: Int, green: Int, blue: Int)

/// The contrast of two colours by WCAG 2, computed apart from the product.
private func contrast(_ one: RGB, _ other: RGB) -> Double {
    func luminance(_ color: RGB) -> Double {
        zip([0.2126, 0.7152, 0.0722], [color.red, color.green, color.blue]).reduce(0) { sum, part in
            let share = Double(part.1) / 255
            return sum + part.0 * (share <= 0.03928 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4))
        }
    }
    let values = [luminance(one), luminance(other)].sorted()
    return (values[1] + 0.05) / (values[0] + 0.05)
}

/// The sixteen colours of a terminal, the eight darker ones first.
private struct Palette {
    let name: String
    let colors: [Int]

    func color(_ parameter: Int) -> RGB {
        let value = colors[parameter >= 90 ? parameter - 82 : parameter - 30]
        return (value >> 16, value >> 8 & 0xFF, value & 0xFF)
    }

    static let all = [
        Palette(
            name: "xterm",
            colors: [
                0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5,
                0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
            ]),
        Palette(
            name: "Linux",
            colors: [
                0x000000, 0xAA0000, 0x00AA00, 0xAA5500, 0x0000AA, 0xAA00AA, 0x00AAAA, 0xAAAAAA,
                0x555555, 0xFF5555, 0x55FF55, 0xFFFF55, 0x5555FF, 0xFF55FF, 0x55FFFF, 0xFFFFFF,
            ]),
    ]
}

@Suite struct PainterColorTests {
    private static let themes: [(String, Theme)] = [
        ("dark", .dark), ("light", .light), ("high contrast dark", .highContrastDark),
        ("high contrast light", .highContrastLight),
    ]

    /// How a terminal draws text in that style, read from the frame.
    private func look(_ style: Style, _ level: ColorLevel, _ theme: Theme) -> Rendition {
        var cells = CellBuffer(columns: 3, rows: 1)
        cells.write(StyledText("x", style), row: 0, column: 0)
        var painter = Painter(level: level, theme: theme)
        var screen = PaintedScreen(columns: 3, rows: 1)
        screen.show(painter.frame(showing: cells, caret: nil).bytes)
        #expect(screen.faults == [])
        return screen.cells[0][0].look
    }

    private func color(_ color: Rendition.Color) -> RGB? {
        switch color {
        case .terminalDefault, .named: return nil
        case .rgb(let red, let green, let blue): return (red, green, blue)
        case .indexed(let number):
            if number >= 232 { return (8 + 10 * (number - 232), 8 + 10 * (number - 232), 8 + 10 * (number - 232)) }
            let levels = [0, 95, 135, 175, 215, 255]
            let index = number - 16
            return (levels[index / 36], levels[index / 6 % 6], levels[index % 6])
        }
    }

    @Test(
        "41: Text in every token has a contrast of 4.5 on every surface that is drawn, and on the page of its theme",
        arguments: [ColorLevel.ansi256, .truecolor], 0..<themes.count)
    func contrasts(level: ColorLevel, number: Int) throws {
        let (name, theme) = Self.themes[number]
        for surface in [nil] + ThemeToken.allCases {
            for token in [nil] + ThemeToken.allCases {
                let look = look(Style(token, background: surface), level, theme)
                if token == nil && surface == nil {
                    #expect(look == .plain)
                    continue
                }
                let text = try #require(color(look.foreground), "\(name): \(token as Any) on \(surface as Any)")
                let ground = try surface == nil ? #require(theme[.background]).rgb : #require(color(look.background))
                let ratio = contrast(text, ground)
                #expect(ratio >= 4.5, "\(name): \(token as Any) on \(surface as Any) has \(ratio)")
            }
        }
    }

    @Test(
        "41: In sixteen colours, text on a surface that is drawn has a contrast of 4.5, else both colours are the terminal's own"
    )
    func sixteen() {
        for theme in [Theme.dark, .light, .terminal] {
            for surface in ThemeToken.allCases {
                for token in [nil] + ThemeToken.allCases {
                    let look = look(Style(token, background: surface), .ansi16, theme)
                    guard case .named(let ground) = look.background else {
                        #expect(look.background == .terminalDefault)
                        continue
                    }
                    guard case .named(let text) = look.foreground else {
                        Issue.record("\(token as Any) on \(surface) takes the terminal's own colour of text")
                        continue
                    }
                    for palette in Palette.all {
                        let ratio = contrast(palette.color(text), palette.color(ground))
                        // Few use this brown, on which no colour of the Linux console has more.
                        let isBrown = palette.name == "Linux" && ground == 33
                        #expect(ratio >= (isBrown ? 3.7 : 4.5), "\(text) on \(ground) of \(palette.name) has \(ratio)")
                    }
                }
            }
        }
    }

    @Test("41: What is selected or destructive is seen at every level, in every theme", arguments: ColorLevel.allCases)
    func selections(level: ColorLevel) {
        for theme in Self.themes.map(\.1) + [.terminal, .plain] {
            for surface in [ThemeToken.accent, .primary, .secondary, .destructive, .ring] {
                for token in [nil, .error, .mutedForeground] as [ThemeToken?] {
                    let chosen = look(Style(token, background: surface), level, theme)
                    let other = look(Style(token), level, theme)
                    #expect(chosen != other && (chosen.reverse || chosen.background != .terminalDefault))
                }
            }
        }
    }

    @Test("41: Exchanged colours are seen on what is selected, at every level", arguments: ColorLevel.allCases)
    func reversed(level: ColorLevel) {
        for theme in Self.themes.map(\.1) + [.terminal, .plain] {
            for surface in [ThemeToken.accent, .destructive, .card] {
                let plain = look(Style(background: surface), level, theme)
                #expect(look(Style(background: surface, reverse: true), level, theme) != plain)
            }
        }
    }

    @Test("41: Without colours, attributes stay", arguments: [Theme.dark, .light, .terminal, .plain])
    func none(theme: Theme) {
        let style = Style(
            .error, bold: true, dim: true, italic: true, underline: true, strikethrough: true, reverse: true)
        var wanted = Rendition.plain
        (wanted.bold, wanted.dim, wanted.italic) = (true, true, true)
        (wanted.underline, wanted.strikethrough, wanted.reverse) = (true, true, true)
        #expect(look(style, .none, theme) == wanted)
    }

    @Test(
        "41: A screen is drawn in the colours of each level and theme",
        arguments: [
            (ColorLevel.none, "dark", "\u{1B}[1mTitle \u{1B}[mok \u{1B}[7mfailed\u{1B}[17Gdelete\u{1B}[m"),
            (.ansi16, "dark", "\u{1B}[1;34mTitle \u{1B}[mok \u{1B}[7;31mfailed\u{1B}[17G\u{1B}[0;97;41mdelete\u{1B}[m"),
            (
                .ansi256, "dark",
                "\u{1B}[1;38;5;146mTitle \u{1B}[0;38;5;250mok \u{1B}[38;5;203;48;5;235m"
                    + "failed\u{1B}[17G\u{1B}[38;5;231;48;5;160mdelete\u{1B}[m"
            ),
            (
                .truecolor, "dark",
                "\u{1B}[1;38;2;173;194;235mTitle \u{1B}[0;38;2;191;191;191mok \u{1B}[38;2;247;114;110;48;2;38;38;38m"
                    + "failed\u{1B}[17G\u{1B}[38;2;255;255;255;48;2;227;42;13mdelete\u{1B}[m"
            ),
            (
                .ansi16, "light",
                "\u{1B}[1;34mTitle \u{1B}[mok \u{1B}[7;31m"
                    + "failed\u{1B}[17G\u{1B}[0;97;41mdelete\u{1B}[m"
            ),
            (
                .ansi256, "light",
                "\u{1B}[1;38;5;23mTitle \u{1B}[0;38;5;238mok \u{1B}[38;5;124;48;5;254m"
                    + "failed\u{1B}[17G\u{1B}[38;5;231;48;5;124mdelete\u{1B}[m"
            ),
            (
                .truecolor, "light",
                "\u{1B}[1;38;2;29;57;114mTitle \u{1B}[0;38;2;64;64;64mok \u{1B}[38;2;165;23;18;48;2;224;224;224m"
                    + "failed\u{1B}[17G\u{1B}[38;2;255;255;255;48;2;174;32;10mdelete\u{1B}[m"
            ),
            (
                .truecolor, "terminal",
                "\u{1B}[1;34mTitle \u{1B}[mok \u{1B}[7;31m"
                    + "failed\u{1B}[17G\u{1B}[0;97;41mdelete\u{1B}[m"
            ),
        ])
    func golden(level: ColorLevel, name: String, expected: String) throws {
        let theme = try #require(["dark": Theme.dark, "light": .light, "terminal": .terminal][name])
        var line = StyledText("Title", Style(.heading, bold: true))
        line.append(" ok ", Style(.accent))
        line.append("failed", Style(.error, background: .accent))
        line.append(" ")
        line.append("delete", Style(background: .destructive))
        var cells = CellBuffer(columns: 40, rows: 1)
        cells.write(line, row: 0, column: 0)
        var painter = Painter(level: level, theme: theme)
        let frame = String(decoding: painter.frame(showing: cells, caret: nil).bytes, as: UTF8.self)
        let text = try #require(frame.firstRange(of: "\u{1B}[2J").map { String(frame[$0.upperBound...]) })
        #expect(text == expected)
    }
}
