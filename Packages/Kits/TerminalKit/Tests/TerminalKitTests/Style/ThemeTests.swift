import Testing

@testable import TerminalKit

@Suite struct ThemeTests {
    @Test("the dark theme gives every token a colour", arguments: ThemeToken.allCases)
    func complete(token: ThemeToken) {
        #expect(Theme.dark[token] != nil)
    }

    @Test("text in any token is legible on black", arguments: ThemeToken.allCases)
    func legible(token: ThemeToken) throws {
        #expect(try #require(Theme.dark.textColor(token)).lightness >= 45)
    }

    @Test(
        "dark tokens are drawn as their partner, or lifted",
        arguments: [
            (ThemeToken.accent, HSLColor(0, 0, 75)), (.muted, HSLColor(0, 12, 65)), (.background, HSLColor(0, 0, 73)),
            (.border, HSLColor(0, 0, 52)), (.chart2, HSLColor(220, 3, 62)), (.primaryForeground, HSLColor(220, 13, 63)),
            (.ring, HSLColor(220, 13, 86)), (.destructive, HSLColor(8, 89, 47)),
        ])
    func partners(token: ThemeToken, color: HSLColor) {
        #expect(Theme.dark.textColor(token) == color)
    }

    @Test(
        "a colour has its value at every level",
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
        #expect(color.ansi16 == ansi)
    }

    @Test("a token outside the theme has the terminal's own colour")
    func missing() {
        #expect(StyledText("x", Style(.ring)).rendered(level: .truecolor, theme: Theme([:])) == "x")
    }
}
