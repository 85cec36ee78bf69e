import Capabilities
import JSON
import Settings
import Testing

@Suite("Settings layers")
struct LayersTests {
    /// The layers from the weakest to the strongest, each as the origin of its value.
    static let origins: [SettingsOrigin] = [
        .builtIn, .system(file: "system.json"), .user(file: "user.json"), .project(file: "project.json"),
        .profile("work"), .environment(variable: "MARTLET_CHAT_MODEL"), .flag,
    ]

    /// Sources that set the model in every layer up to the given one, each to the layer's number.
    private func sources(upTo strongest: Int) -> Sources {
        func text(_ layer: Int) -> String? { layer <= strongest ? "{chat: {model: '\(layer)'}}" : nil }
        var sources = Sources(system: text(1), user: text(2), project: text(3))
        if strongest >= 4 {
            sources.user = "{chat: {model: '2'}, profile: 'work', profiles: {work: {chat: {model: '4'}}}}"
        }
        if strongest >= 5 { sources.environment = ["MARTLET_CHAT_MODEL": "5"] }
        if strongest >= 6 { sources.flags = ["chat.model=6"] }
        return sources
    }

    @Test("A stronger layer wins, and each value has its origin", arguments: origins.indices)
    func strength(layer: Int) throws {
        let settings = try sources(upTo: layer).merged()
        #expect(settings.problems.isEmpty)
        #expect(settings.view(for: "chat")[Demo.model] == (layer == 0 ? "small" : String(layer)))
        #expect(settings[["chat", "model"]]?.origin ?? .builtIn == Self.origins[layer])
    }

    @Test("What each layer gives a setting is known, the weakest first", arguments: origins.indices)
    func each(layer: Int) throws {
        let settings = try sources(upTo: layer).merged()
        let given = settings.layers(of: ["chat", "model"])
        // The default is no layer.
        #expect(given.map(\.origin) == Array(Self.origins[1...].prefix(layer)))
        #expect(given.map(\.value) == (0..<layer).map { .string(String($0 + 1)) })
    }

    @Test("Of a list that grows with each layer, each layer has only its part, and what is not used is no layer")
    func parts() throws {
        let settings = try Sources(
            user: "{chat: {rules: ['a']}}", project: "{chat: {rules: ['b'], allow: ['x'], model: 3}}",
            isTrusted: false
        ).merged()
        #expect(settings.layers(of: ["chat", "rules"]).map(\.value) == [["a"], ["b"]])
        #expect(settings.layers(of: ["chat", "allow"]).isEmpty && settings.layers(of: ["chat", "model"]).isEmpty)
    }

    @Test("A layer leaves alone what a stronger one does not name")
    func untouched() throws {
        let settings = try Sources(
            user: "{chat: {model: 'large', units: 'imperial'}}", project: "{chat: {model: 'tiny'}}"
        )
        .merged()
        #expect(settings.view(for: "chat")[Demo.model] == "tiny")
        #expect(settings.view(for: "chat")[Demo.units] == .imperial)
        #expect(settings[["chat", "units"]]?.origin == .user(file: "user.json"))
    }

    @Test("Layers of every origin add members to a map")
    func maps() throws {
        let settings = try Sources(
            system: "{chat: {headers: {a: 's', b: 's', c: 's', d: 's', e: 's'}}}",
            user: "{chat: {headers: {b: 'u'}}, profile: 'work', profiles: {work: {chat: {headers: {c: 'p'}}}}}",
            environment: ["MARTLET_CHAT_HEADERS": "{d: 'e'}"], flags: ["chat.headers={e: 'f', g: 'f'}"]
        ).merged()
        #expect(
            settings.view(for: "chat")[Demo.headers] == ["a": "s", "b": "u", "c": "p", "d": "e", "e": "f", "g": "f"])
        #expect(settings[["chat", "headers"]]?.origin == .flag)
    }

    @Test("A layer replaces a list as a whole")
    func lists() throws {
        let settings = try Sources(user: "{chat: {stop: ['a', 'b']}}", project: "{chat: {stop: ['c']}}").merged()
        #expect(settings.view(for: "chat")[Demo.stop] == ["c"])
        let emptied = try Sources(user: "{chat: {stop: ['a']}}", flags: ["chat.stop=[]"]).merged()
        #expect(emptied.view(for: "chat")[Demo.stop] == [])
    }

    @Test("A list that joins layers grows with each layer")
    func joined() throws {
        let settings = try Sources(
            user: "{chat: {rules: ['deny a', 'allow b']}}", project: "{chat: {rules: ['allow a', 'allow b']}}",
            flags: ["chat.rules=[]"]
        ).merged()
        #expect(settings.view(for: "chat")[Demo.rules] == ["deny a", "allow b", "allow a"])
        let unread = try Sources(user: "{chat: {rules: ['deny a']}}", project: "{chat: {rules: 3}}").merged()
        #expect(unread.view(for: "chat")[Demo.rules] == ["deny a"])
    }

    @Test("A layer removes an optional value with null")
    func null() throws {
        let settings = try Sources(user: "{chat: {note: 'hi'}}", project: "{chat: {note: null}}").merged()
        #expect(settings.view(for: "chat")[Demo.note] == nil)
        #expect(settings[["chat", "note"]]?.origin == .project(file: "project.json"))
    }

    @Test("A value that does not fit is skipped, so that a weaker one stays")
    func unfit() throws {
        let settings = try Sources(user: "{chat: {'max-rounds': 3}}", project: "{chat: {'max-rounds': 'x'}}").merged()
        #expect(settings.view(for: "chat")[Demo.rounds] == 3)
        #expect(settings.problems.count == 1)
    }

    @Test("Each origin has words and possibly a file")
    func words() {
        #expect(
            Self.origins.map(\.words) == [
                "built in", "system.json", "user.json", "project.json", "profile work", "$MARTLET_CHAT_MODEL",
                "command line",
            ])
        #expect(Self.origins.map(\.file) == [nil, "system.json", "user.json", "project.json", nil, nil, nil])
    }

    @Test("Every key that is set somewhere is listed")
    func keys() throws {
        let settings = try Sources(user: "{chat: {model: 'a', limits: {patience: '1s'}}}").merged()
        #expect(Set(settings.keys) == [["chat", "model"], ["chat", "limits", "patience"]])
    }

    @Test("Earlier problems come before those of the merge")
    func earlierProblems() throws {
        let earlier = SettingsProblem(origin: .user(file: "user.json"), message: "cannot be read")
        let layer = try SettingsLayer(origin: .project(file: "project.json"), text: Array("{oops: 1}".utf8))
        let settings = Settings(
            merging: [layer], overrides: [], catalogue: Demo.catalogue, problems: [earlier],
            unknownVariables: ["MARTLET_X"]
        ) { _, _ in true }
        #expect(settings.problems.first == earlier)
        #expect(settings.problems.count == 2)
        #expect(settings.unknownVariables == ["MARTLET_X"])
    }
}
