import Capabilities
import CoreTesting
import HostKit
import JSON
import Registry
import Settings
import Testing

@testable import CommandLineFrontend

@Suite("Help for settings")
struct SettingsHelpTests {
    private struct Weather: Feature {
        static let units = Setting("units", "Units of measure", default: "metric", flag: "units")
        static let places = Setting("places", "Places to watch", default: [String](), risk: .sends).joiningLayers()
        static let manifest = Manifest(
            id: "weather", summary: "The weather", version: "1.0",
            settings: [units.declaration, places.declaration],
            variables: ["MARTLET_WEATHER_KEY": "The key of the service"])
        init(_ settings: FeatureSettings) {}
        func register(in registry: inout RegistryBuilder) {}
    }

    private func host(_ settings: String = "{}") throws -> TestHost {
        try TestHost(
            [
                BuiltInFeature(essential: HostFeature.self), BuiltInFeature(essential: CommandLineFeature.self),
                BuiltInFeature(Weather.self),
            ], settings: settings)
    }

    private func help(_ words: String..., in host: TestHost) async throws -> String {
        try #require(
            try await host.perform("help", ["command": .array((["settings"] + words).map { .string($0) })]).string)
    }

    @Test("The list has every setting with its default") func list() async throws {
        let test = try host()
        let text = try await help(in: test)
        for setting in test.host.catalogue.declarations { #expect(text.contains(setting.name)) }
        #expect(text.contains("Units of measure [default: metric]"))
    }

    @Test("The list below a key has only the settings below it") func group() async throws {
        let text = try await help("weather", in: try host())
        #expect(text.contains("weather.units") && !text.contains("features.weather"))
    }

    @Test("One setting shows its value with where that comes from, its variable, option and trust") func one()
        async throws
    {
        let units = try await help("weather.units", in: try host(#"{"weather": {"units": "imperial"}}"#))
        for fact in [
            "Default   metric", "imperial (settings.json)", "MARTLET_WEATHER_UNITS", "--units, for every command",
        ] {
            #expect(units.contains(fact), "\(units)")
        }
        #expect(!units.contains("Trust"))
        let places = try await help("weather.places", in: try host())
        #expect(places.contains("Trust") && places.contains("each settings file adds"))
    }

    @Test("A value that a project sets without being trusted is reported as not used")
    func untrusted() {
        let page = HelpPage(program: "martlet", width: 100)
        let setting = Weather.units.declaration.key
        let text = page.setting(
            setting, Weather.units.declaration, value: "metric", origin: "built in",
            untrusted: "/p/.martlet/config.json")
        #expect(text.contains("Not used  /p/.martlet/config.json sets it, but is not trusted"))
    }

    @Test("A setting of a profile is shown at its place, without a variable and an option that it does not have")
    func profile() async throws {
        let text = try await help("profiles.lab.weather.units", in: try host())
        #expect(text.contains("martlet config set profiles.lab.weather.units <text>"))
        #expect(!text.contains("MARTLET_WEATHER_UNITS") && !text.contains("--units"))
        #expect(try await help("profiles.lab.server", in: try host()).hasPrefix("profiles.lab.server: "))
    }

    @Test(
        "Profiles, whose names the user chooses, are explained and not listed", arguments: ["profiles", "profiles.lab"])
    func profiles(key: String) async throws {
        #expect(try await help(key, in: try host()).contains("You choose the names of profiles"))
    }

    @Test("Control characters in a value are escaped")
    func controls() async throws {
        let text = try await help("weather.units", in: try host(#"{"weather": {"units": "a\u001B[31mb"}}"#))
        #expect(text.contains("31mb") && !text.contains("\u{1B}"), "\(text)")
    }

    @Test("A key that no feature declares is refused with the nearest one") func unknown() async throws {
        let error = await #expect(throws: UnknownSetting.self) { try await help("weather.unit", in: try host()) }
        #expect(error?.message.hasPrefix("weather.unit: ") == true && error?.message.contains("units") == true)
        #expect(error?.exit == .usage && error?.code == "settings.unknown")
    }

    @Test("More than one key is refused") func many() async throws {
        let error = await #expect(throws: ArgumentsFailure.self) {
            try await help("weather.units", "weather.places", in: try host())
        }
        #expect(error?.message == "unexpected argument 'weather.places'")
    }

    @Test("The manual page has the variables that are not settings, files, examples and exit codes") func manual()
        async throws
    {
        let page = try #require(try await host().perform("docs.man").string)
        for section in ["EXAMPLES", "FILES", "ENVIRONMENT", "EXIT STATUS"] {
            #expect(page.contains(".SH \(section)\n"))
        }
        #expect(page.contains("MARTLET_WEATHER_KEY\nThe key of the service\n") && page.contains("MARTLET_HOME"))
    }
}
