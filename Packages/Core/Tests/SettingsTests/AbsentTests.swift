import Capabilities
import JSON
import Settings
import Testing

@Suite("Settings of a feature that is not in the build")
struct AbsentTests {
    private static let catalogue: SettingsCatalogue = {
        var catalogue = SettingsCatalogue(features: ["chat"])
        catalogue.add([Demo.model.declaration], of: "chat")
        catalogue.addAbsent("gateway", "is not in this build; build it")
        catalogue.closeWithProfiles()
        return catalogue
    }()

    private func merged(_ user: String, _ variables: [String: String] = [:]) throws -> Settings {
        let read = SettingsVariables(environment: variables, catalogue: Self.catalogue)
        return Settings(
            merging: [try SettingsLayer(origin: .user(file: "user.json"), text: Array(user.utf8))],
            overrides: read.layers, catalogue: Self.catalogue, problems: read.problems, unknownVariables: read.unknown
        ) { _, _ in true }
    }

    @Test("Such settings are ignored and reported, also in a profile, and the rest counts")
    func ignored() throws {
        let settings = try merged(
            """
            {chat: {model: 'large'}, gateway: {port: 1, wrong: {}},
             profiles: {lab: {gateway: {port: 2}, chat: {model: 'tiny'}}}, features: {gateway: false}}
            """)
        #expect(settings.problems == [])
        #expect(settings.ignored.map(\.key) == [["gateway"], ["profiles", "lab", "gateway"]])
        #expect(settings.ignored.allSatisfy { $0.feature == "gateway" && $0.origin == .user(file: "user.json") })
        #expect(settings.view(for: "chat")[Demo.model] == "large")
        #expect(!settings.isOn("gateway"))
    }

    @Test("Settings of a feature that no build has are problems")
    func unknown() throws {
        let settings = try merged("{gatewai: {}, weather: {tone: 'formal'}, features: {weather: true}}")
        #expect(settings.ignored == [])
        #expect(settings.problems.map(\.key) == [["gatewai"], ["weather"], ["features", "weather"]])
    }

    @Test("Variables of such settings are not unknown, and using the key explains what is missing")
    func named() throws {
        #expect(
            try merged("{}", ["MARTLET_GATEWAY_PORT": "1", "MARTLET_GATEWAI_PORT": "1"]).unknownVariables == [
                "MARTLET_GATEWAI_PORT"
            ])
        let flag = #expect(throws: SettingsProblem.self) {
            try SettingsFlags.layer("gateway.port=1", catalogue: Self.catalogue)
        }
        #expect(flag?.message == "belongs to the feature gateway, which is not in this build; build it")
        #expect(
            Self.catalogue.unknown(["profiles", "lab", "gateway", "port"]).hasPrefix("belongs to the feature gateway"))
        #expect(Self.catalogue.declaration(of: ["features", "gateway"])?.schema == .boolean)
    }

    @Test("Suggestions contain only known names") func nearest() {
        #expect(SettingsVariables.nearest(to: "MARTLET_CHAT_MODLE", Self.catalogue) == "MARTLET_CHAT_MODEL")
        #expect(SettingsVariables.nearest(to: "MARTLET_QUITE_ANOTHER", Self.catalogue) == nil)
    }
}
