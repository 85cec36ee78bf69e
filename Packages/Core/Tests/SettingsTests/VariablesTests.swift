import Capabilities
import JSON
import Settings
import Testing

@Suite("SettingsVariables")
struct VariablesTests {
    private func read(_ environment: [String: String], reserved: Set<String> = []) -> SettingsVariables {
        SettingsVariables(environment: environment, catalogue: Demo.catalogue, reserved: reserved)
    }

    @Test(
        "A variable is the key in capitals, with an underscore for every dot and hyphen",
        arguments: [
            (["chat", "model"], "MARTLET_CHAT_MODEL"), (["chat", "max-rounds"], "MARTLET_CHAT_MAX_ROUNDS"),
            (["chat", "limits", "patience"], "MARTLET_CHAT_LIMITS_PATIENCE"), (["profile"], "MARTLET_PROFILE"),
            (["features", "files.sftp"], "MARTLET_FEATURES_FILES_SFTP"),
        ])
    func names(key: [String], variable: String) {
        #expect(SettingsVariables.name(of: key) == variable)
        #expect(read([variable: "1"]).unknown.isEmpty)
    }

    @Test(
        "Variables are read as words of the setting's kind",
        arguments: [
            ("MARTLET_CHAT_MODEL", "12", ["chat": ["model": "12"]]),
            ("MARTLET_CHAT_MAX_ROUNDS", "12", ["chat": ["max-rounds": 12]]),
            ("MARTLET_CHAT_LIMITS_PATIENCE", "5s", ["chat": ["limits": ["patience": "5s"]]]),
            ("MARTLET_CHAT_STOP", "a,b", ["chat": ["stop": ["a", "b"]]]),
            ("MARTLET_CHAT_HEADERS", "{a: 'b'}", ["chat": ["headers": ["a": "b"]]]),
            ("MARTLET_CHAT_NOTE", "", ["chat": ["note": ""]]),
            ("MARTLET_FEATURES_FILES_SFTP", "off", ["features": ["files.sftp": false]]),
        ] as [(String, String, JSONObject)])
    func values(variable: String, word: String, expected: JSONObject) {
        let variables = read([variable: word])
        #expect(variables.layers.map(\.value) == [expected])
        #expect(variables.layers.map(\.origin) == [.environment(variable: variable)])
        #expect(variables.problems.isEmpty)
    }

    @Test("Unknown variables are listed, and the rest is used")
    func unknown() {
        let variables = read([
            "MARTLET_CHAT_MODLE": "x", "MARTLET_ZEBRA": "x", "MARTLET_": "x", "MARTLET_CHAT_MODEL": "large",
            "PATH": "/bin",
            "martlet_chat_units": "x",
        ])
        #expect(variables.unknown == ["MARTLET_", "MARTLET_CHAT_MODLE", "MARTLET_ZEBRA"])
        #expect(variables.layers.count == 1)
        #expect(variables.problems.isEmpty)
    }

    @Test("Reserved variables are left alone")
    func reserved() {
        let variables = read(
            ["MARTLET_HOME": "/x", "MARTLET_CHAT_MODEL": "y"], reserved: ["MARTLET_HOME", "MARTLET_CHAT_MODEL"])
        #expect(variables.unknown.isEmpty)
        #expect(variables.layers.isEmpty)
    }

    @Test("All variables that do not fit are problems with the variable's name")
    func problems() {
        let variables = read([
            "MARTLET_CHAT_MAX_ROUNDS": "x", "MARTLET_CHAT_UNITS": "metrik", "MARTLET_CHAT_HEADERS": "{a: 1}",
        ])
        #expect(
            variables.problems.map(\.description) == [
                "$MARTLET_CHAT_HEADERS: a: needs text, not an integer",
                "$MARTLET_CHAT_MAX_ROUNDS: needs a whole number, not 'x'",
                "$MARTLET_CHAT_UNITS: needs one of metric, imperial, not 'metrik'; did you mean 'metric'?",
            ])
        #expect(variables.layers.isEmpty)
    }
}
