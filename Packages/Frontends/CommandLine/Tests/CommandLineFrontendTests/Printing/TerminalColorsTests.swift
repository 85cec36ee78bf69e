import Capabilities
import CoreTesting
import HostKit
import Registry
import Settings
import TerminalKit
import Testing

@testable import CommandLineFrontend

@Suite("TerminalColors")
struct TerminalColorsTests {
    @Test("The colours are those of the chosen theme, or those for the background")
    func choice() {
        for background in [TerminalBackground.dark, .light, nil] {
            #expect(ThemeChoice.light.theme(on: background) == .light)
            #expect(ThemeChoice.dark.theme(on: background) == .dark)
            #expect(ThemeChoice.none.theme(on: background) == .plain)
        }
        #expect(ThemeChoice.auto.theme(on: .light) == .light)
        #expect(ThemeChoice.auto.theme(on: .dark) == .dark)
        #expect(ThemeChoice.auto.theme(on: nil) == .terminal)
        #expect(ThemeChoice.highContrast.theme(on: .light) == .highContrastLight)
        #expect(ThemeChoice.highContrast.theme(on: nil) == .highContrastDark)
    }

    @Test("The theme is declared as a setting")
    func setting() throws {
        let host = try TestHost([
            BuiltInFeature(essential: HostFeature.self), BuiltInFeature(essential: CommandLineFeature.self),
            BuiltInFeature(essential: TerminalFeature.self),
        ])
        #expect(host.composition.problems.isEmpty)
        #expect(
            TerminalFeature.theme.declaration.schema == .choice(["auto", "light", "dark", "high-contrast", "none"]))
    }
}
