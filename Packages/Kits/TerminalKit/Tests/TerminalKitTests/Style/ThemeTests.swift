import Capabilities
import Glibc
import Testing

@testable import TerminalKit

@Suite struct ThemeTests {
    @Test("The dark theme gives every token a colour", arguments: ThemeToken.allCases)
    func complete(token: ThemeToken) {
        #expect(Theme.dark[token] != nil)
    }

    @Test("Text in any token is legible on black", arguments: ThemeToken.allCases)
    func legible(token: ThemeToken) throws {
        #expect(try #require(Theme.dark.textColor(token)).lightness >= 45)
    }

    @Test(
        "Dark tokens are drawn as their partner, or lightened",
        arguments: [
            (ThemeToken.accent, HSLColor(0, 0, 75)), (.muted, HSLColor(0, 12, 65)), (.background, HSLColor(0, 0, 73)),
            (.border, HSLColor(0, 0, 52)), (.chart2, HSLColor(220, 3, 62)), (.primaryForeground, HSLColor(220, 13, 63)),
            (.ring, HSLColor(220, 13, 86)), (.destructive, HSLColor(8, 89, 47)),
        ])
    func partners(token: ThemeToken, color: HSLColor) {
        #expect(Theme.dark.textColor(token) == color)
    }

    @Test(
        "A colour has its value at every level",
        arguments: [
            (HSLColor(0, 0, 0), [0, 0, 0], 16, 90), (HSLColor(0, 0, 100), [255, 255, 255], 231, 39),
            (HSLColor(0, 100, 50), [255, 0, 0], 196, 31), (HSLColor(120, 100, 50), [0, 255, 0], 46, 32),
            (HSLColor(240, 100, 50), [0, 0, 255], 21, 34), (HSLColor(60, 100, 50), [255, 255, 0], 226, 33),
            (HSLColor(0, 0, 50), [128, 128, 128], 244, 90), (HSLColor(220, 13, 86), [215, 218, 224], 253, 39),
        ])
    func values(color: HSLColor, rgb: [Int], xterm: Int, ansi: Int) {
        let (red, green, blue) = color.rgb
        #expect([red, green, blue] == rgb)
        #expect(color.xterm256 == xterm)
        #expect(color.ansi16() == ansi)
    }

    @Test("A token outside the theme has the terminal's own colour")
    func missing() {
        #expect(StyledText("x", Style(.ring)).rendered(level: .truecolor, theme: Theme([:])) == "x")
    }
}

/// The contrast of two colours by WCAG 2.
private func contrast(_ one: (red: Int, green: Int, blue: Int), _ other: (red: Int, green: Int, blue: Int)) -> Double {
    func part(_ value: Int) -> Double {
        let share = Double(value) / 255
        return share <= 0.03928 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
    }
    func luminance(_ color: (red: Int, green: Int, blue: Int)) -> Double {
        0.2126 * part(color.red) + 0.7152 * part(color.green) + 0.0722 * part(color.blue)
    }
    let (left, right) = (luminance(one), luminance(other))
    return (max(left, right) + 0.05) / (min(left, right) + 0.05)
}

/// The colour with that number in xterm's table.
private func xterm(_ number: Int) -> (red: Int, green: Int, blue: Int) {
    if number >= 232 { return (8 + 10 * (number - 232), 8 + 10 * (number - 232), 8 + 10 * (number - 232)) }
    let levels = [0, 95, 135, 175, 215, 255]
    let index = number - 16
    return (levels[index / 36], levels[index / 6 % 6], levels[index % 6])
}

@Suite struct ContrastTests {
    /// The tokens beside the given palette.
    private static let own: [ThemeToken] = [
        .error, .warning, .added, .removed, .keyword, .string, .number, .comment, .code, .link, .heading,
    ]

    @Test("Text in any token has a contrast of 4.5 on the background of its theme", arguments: ThemeToken.allCases)
    func text(token: ThemeToken) throws {
        for theme in [Theme.dark, .light] {
            let background = try #require(theme[.background]).rgb
            #expect(contrast(try #require(theme.textColor(token)).rgb, background) >= 4.5)
        }
    }

    @Test("Text in any token has a contrast of 7 if high contrast was requested", arguments: ThemeToken.allCases)
    func highContrast(token: ThemeToken) throws {
        for theme in [Theme.highContrastDark, .highContrastLight] {
            let background = try #require(theme[.background]).rgb
            let color = try #require(theme.textColor(token))
            #expect(contrast(color.rgb, background) >= 7)
            #expect(contrast(xterm(color.xterm256), background) >= 7)
        }
    }

    @Test(
        "Text colours are legible in 256 colours too, and on backgrounds that are nearly black or white",
        arguments: own)
    func hues(token: ThemeToken) throws {
        for (theme, background) in [(Theme.dark, (30, 30, 30)), (.light, (240, 240, 240))] {
            let color = try #require(theme.textColor(token))
            #expect(contrast(color.rgb, background) >= 4.5)
            #expect(contrast(xterm(color.xterm256), background) >= 4.5)
        }
    }

    @Test("What is destructive is red in 256 colours too, not orange")
    func red() {
        for (theme, number) in [(Theme.dark, 203), (.light, 124), (.highContrastDark, 210), (.highContrastLight, 88)] {
            #expect(theme.textColor(.destructive, level: .ansi256)?.xterm256 == number)
        }
    }

    @Test("Additions, deletions and errors differ by hue, not only by brightness")
    func hued() throws {
        for theme in [Theme.dark, .light, .highContrastDark, .highContrastLight] {
            for token in [ThemeToken.added, .removed, .error, .keyword, .string] {
                #expect(try #require(theme[token]).saturation >= 40)
            }
            #expect(try #require(theme[.added]).hue != (try #require(theme[.removed]).hue))
        }
    }

    @Test("In sixteen colours, body text has the terminal's own colour, and is never yellow on light")
    func sixteenOnLight() {
        func code(_ token: ThemeToken) -> String {
            StyledText("x", Style(token)).rendered(level: .ansi16, theme: .light)
        }
        for token in [ThemeToken.foreground, .cardForeground, .primary, .ring] {
            #expect(code(token) == "\u{1B}[39mx\u{1B}[0m")
        }
        #expect(ThemeToken.allCases.allSatisfy { !code($0).contains("[33m") })
        #expect(code(.error) == "\u{1B}[31mx\u{1B}[0m")
    }

    @Test("A terminal with an unknown background uses its own sixteen colours")
    func ownColors() {
        for level in [ColorLevel.ansi16, .ansi256, .truecolor] {
            #expect(StyledText("x", Style(.error)).rendered(level: level, theme: .terminal) == "\u{1B}[31mx\u{1B}[0m")
            #expect(
                StyledText("x", Style(.cardForeground)).rendered(level: level, theme: .terminal)
                    == "\u{1B}[39mx\u{1B}[0m")
        }
    }
}
