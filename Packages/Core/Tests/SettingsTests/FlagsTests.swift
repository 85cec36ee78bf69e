import Capabilities
import JSON
import Settings
import Testing

@Suite("SettingsFlags")
struct FlagsTests {
    @Test(
        "Flags are read as key and value",
        arguments: [
            ("chat.model=large", ["chat": ["model": "large"]]), ("chat.model=a=b", ["chat": ["model": "a=b"]]),
            ("chat.model=", ["chat": ["model": ""]]), ("chat.max-rounds=3", ["chat": ["max-rounds": 3]]),
            ("chat.limits.patience=1m", ["chat": ["limits": ["patience": "1m"]]]),
            ("profile=work", ["profile": "work"]),
            ("profiles.work.chat.model=x", ["profiles": ["work": ["chat": ["model": "x"]]]]),
        ] as [(String, JSONObject)])
    func good(flag: String, expected: JSONObject) throws {
        let layer = try SettingsFlags.layer(flag, catalogue: Demo.catalogue)
        #expect(layer.value == expected)
        #expect(layer.origin == .flag)
    }

    @Test(
        "An invalid flag is reported with what is wrong",
        arguments: [
            ("chat.model", "--set needs key=value, such as --set profile=work, not 'chat.model'"),
            ("", "--set needs key=value, such as --set profile=work, not ''"),
            ("=large", "--set needs key=value, such as --set profile=work, not '=large'"),
            ("chat.modle=x", "chat.modle: no such setting; did you mean 'chat.model'?"),
            ("caht.model=x", "caht.model: no such setting; did you mean 'chat'?"),
            ("zebra=x", "zebra: no such setting; known here: chat, features, files, profile, profiles"),
            (
                "chat=x",
                "chat: is a group of settings, not one setting; it has allow, command, endpoint, headers, limits, "
                    + "max-rounds, model, note, rules, stop, units"
            ),
            ("chat.model.name=x", "chat.model.name: is not a setting: chat.model has no parts"),
            (
                "chat..model=x",
                "chat..model: no such setting; known here: allow, command, endpoint, headers, limits, "
                    + "max-rounds, model, note, rules, stop, units"
            ),
            ("profiles=x", "profiles: is a group of settings, not one setting; you choose the names of its members"),
            (
                "profiles.work.chat.modle=x",
                "profiles.work.chat.modle: no such setting; did you mean 'profiles.work.chat.model'?"
            ),
            ("chat.max-rounds=x", "chat.max-rounds: needs a whole number, not 'x'"),
            ("chat.units=", "chat.units: needs one of metric, imperial, not ''"),
        ])
    func bad(flag: String, message: String) {
        let problem = #expect(throws: SettingsProblem.self) { try SettingsFlags.layer(flag, catalogue: Demo.catalogue) }
        #expect(problem?.description == "command line: " + message)
        #expect(problem?.origin == .flag)
    }

    @Test("Of a setting given twice, the last value counts")
    func twice() throws {
        let settings = try Sources(flags: ["chat.model=a", "chat.model=b"]).merged()
        #expect(settings.view(for: "chat")[Demo.model] == "b")
    }
}
