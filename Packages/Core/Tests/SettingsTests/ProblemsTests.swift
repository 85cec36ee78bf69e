import Capabilities
import JSON
import Settings
import Testing

@Suite("SettingsProblem")
struct ProblemsTests {
    @Test(
        "A problem has file, line, column and key",
        arguments: [
            ("{\n  chat: {modle: 'x'},\n}", "user.json:2:10: chat.modle: no such setting; did you mean 'chat.model'?"),
            ("{caht: {}}", "user.json:1:2: caht: no such setting; did you mean 'chat'?"),
            (
                "{\n\n  zebra: 1}",
                "user.json:3:3: zebra: no such setting; known here: chat, features, files, profile, profiles"
            ),
            ("{chat: {limits: {x: 1}}}", "user.json:1:18: chat.limits.x: no such setting; known here: patience"),
            (
                "{features: {caht: false}}",
                "user.json:1:13: features.caht: no such setting; did you mean 'features.chat'?"
            ),
            (
                "{chat: {'max-rounds': '12'}}",
                "user.json:1:23: chat.max-rounds: needs a whole number, not a string"
            ),
            (
                "{chat: {units: 'metrik'}}",
                "user.json:1:16: chat.units: needs one of metric, imperial, not 'metrik'; did you mean 'metric'?"
            ),
            (
                "{chat: {limits: {patience: 'soon'}}}",
                "user.json:1:28: chat.limits.patience: needs a duration such as 250ms, 30s or 1m30s, not 'soon'"
            ),
            ("{chat: {\n// a list\nstop: ['a', 2]}}", "user.json:3:13: chat.stop.1: needs text, not an integer"),
            ("{chat: {headers: {a: 'b', c: 1}}}", "user.json:1:30: chat.headers.c: needs text, not an integer"),
            ("{chat: 'large'}", "user.json:1:8: chat: needs an object with settings, not a string"),
            ("{chat: {limits: 5}}", "user.json:1:17: chat.limits: needs an object with settings, not an integer"),
            ("{chat: {model: {name: 'x'}}}", "user.json:1:16: chat.model: needs text, not an object"),
            ("{profiles: {work: 1}}", "user.json:1:19: profiles.work: needs an object with settings, not an integer"),
            ("{features: {chat: 'yes'}}", "user.json:1:19: features.chat: needs true or false, not a string"),
        ])
    func places(text: String, expected: String) throws {
        #expect(try problems(user: text) == [expected])
    }

    @Test("All problems are reported at once, in the order of the layers and of the file")
    func everything() throws {
        let settings = try Sources(
            system: "{zebra: 1}", user: "{\n chat: {modle: 1, 'max-rounds': true},\n profile: 5,\n}",
            project: "{chat: []}", environment: ["MARTLET_CHAT_MAX_ROUNDS": "many"]
        ).merged()
        #expect(
            settings.problems.map(\.description) == [
                "$MARTLET_CHAT_MAX_ROUNDS: needs a whole number, not 'many'",
                "system.json:1:2: zebra: no such setting; known here: chat, features, files, profile, profiles",
                "user.json:2:9: chat.modle: no such setting; did you mean 'chat.model'?",
                "user.json:2:33: chat.max-rounds: needs a whole number, not a boolean",
                "user.json:3:11: profile: needs text, not an integer",
                "project.json:1:8: chat: needs an object with settings, not an array",
            ])
        let failure = SettingsFailure(settings.problems)
        #expect(failure.code == "settings.invalid")
        #expect(failure.exit == .usage)
        #expect(failure.message.split(separator: "\n").count == 6)
    }

    @Test("A missing member is reported at the object that lacks it")
    func missingMember() throws {
        var catalogue = SettingsCatalogue(features: [])
        let server = Schema.record([.init("url", "Where it is", .url)])
        catalogue.add(
            [
                .init(
                    key: ["server"], summary: "A server", schema: server, defaultValue: ["url": "http://a"], risk: .none
                )
            ],
            of: "chat")
        let layer = try SettingsLayer(origin: .user(file: "user.json"), text: Array("{chat: {server: {}}}".utf8))
        let settings = Settings(merging: [layer], overrides: [], catalogue: catalogue) { _, _ in true }
        #expect(settings.problems.map(\.description) == ["user.json:1:17: chat.server.url: is missing"])
    }

    @Test("A problem does not hide valid settings")
    func rest() throws {
        let settings = try Sources(user: "{oops: 1, chat: {model: 'large', x: 1}}").merged()
        #expect(settings.problems.count == 2)
        #expect(settings.view(for: "chat")[Demo.model] == "large")
    }

    @Test("Columns are counted in characters, also in a line of a megabyte")
    func longLine() throws {
        let name = String(repeating: "ü", count: 1_000_000)
        let found = try problems(user: "{chat: {model: '\(name)'}, oops: 1}")
        #expect(
            found == [
                "user.json:1:1000021: oops: no such setting; known here: chat, features, files, profile, profiles"
            ])
    }

    @Test("Quoted values are cut to a readable length")
    func longValue() throws {
        let found = try problems(user: "{chat: {units: '\(String(repeating: "x", count: 1_000_000))'}}")
        #expect(found.count == 1)
        #expect(found.allSatisfy { $0.count < 300 })
    }
}
