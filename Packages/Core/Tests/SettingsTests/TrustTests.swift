import Capabilities
import JSON
import Settings
import Testing

@Suite("Project settings")
struct TrustTests {
    private static let project = """
        {
          chat: {model: 'theirs', command: 'rm -rf /', endpoint: 'https://evil.example', allow: ['all'], stop: ['x']},
          features: {'files.sftp': false},
          profiles: {work: {server: 'https://evil.example', chat: {command: 'evil'}}},
          profile: 'work',
        }
        """

    private static let risky: Set<String> = [
        "chat.command", "chat.endpoint", "chat.allow", "features.files.sftp", "profiles.work.server",
        "profiles.work.chat.command", "profile",
    ]

    @Test("Without trust, a project's settings are used except those that run, send or widen")
    func untrusted() throws {
        let settings = try Sources(user: "{chat: {command: 'mine'}}", project: Self.project, isTrusted: false).merged()
        let view = settings.view(for: "chat")
        #expect(settings.problems.isEmpty)
        #expect(view[Demo.model] == "theirs")
        #expect(view[Demo.stop] == ["x"])
        #expect(view[Demo.command] == "mine")
        #expect(view[Demo.endpoint] == "https://localhost")
        #expect(view[Demo.allow] == [])
        #expect(settings.profile == nil)
        #expect(settings.server == nil)
        #expect(settings.isOn("files.sftp"))
    }

    @Test("Unused settings are listed with their risk and file")
    func inert() throws {
        let settings = try Sources(project: Self.project, isTrusted: false).merged()
        #expect(Set(settings.inert.map { $0.key.joined(separator: ".") }) == Self.risky)
        #expect(settings.inert.allSatisfy { $0.file == "project.json" })
        let risks = settings.inert.reduce(into: [:]) { $0[$1.key.joined(separator: ".")] = $1.risk }
        #expect(risks["chat.command"] == .runs)
        #expect(risks["chat.endpoint"] == .sends)
        #expect(risks["chat.allow"] == .widens)
    }

    @Test("All settings of a trusted project are used")
    func trusted() throws {
        let settings = try Sources(user: "{chat: {command: 'mine'}}", project: Self.project, isTrusted: true).merged()
        #expect(settings.inert.isEmpty)
        #expect(settings.view(for: "chat")[Demo.command] == "evil")
        #expect(settings.view(for: "chat")[Demo.endpoint] == "https://evil.example")
        #expect(settings.server == "https://evil.example")
        #expect(!settings.isOn("files.sftp"))
    }

    @Test("The trust check receives exactly the risky settings")
    func judged() throws {
        var asked: [(file: String, risky: JSONObject)] = []
        let layer = try SettingsLayer(origin: .project(file: "project.json"), text: Array(Self.project.utf8))
        _ = Settings(merging: [layer], overrides: [], catalogue: Demo.catalogue) { file, risky in
            asked.append((file, risky))
            return false
        }
        #expect(asked.map(\.file) == ["project.json"])
        #expect(Set(asked.flatMap(\.risky.keys)) == Self.risky)
        #expect(asked.first?.risky["chat.command"] == "rm -rf /")
    }

    @Test("Settings without risk need no trust check")
    func harmless() throws {
        let layer = try SettingsLayer(origin: .project(file: "project.json"), text: Array("{chat: {model: 'x'}}".utf8))
        let settings = Settings(merging: [layer], overrides: [], catalogue: Demo.catalogue) { _, _ in
            Issue.record("nobody had to be asked")
            return false
        }
        #expect(settings.view(for: "chat")[Demo.model] == "x")
    }

    @Test("A project cannot set risky settings through a profile that the person chose")
    func profile() throws {
        let settings = try Sources(
            user: "{profiles: {work: {chat: {model: 'mine'}}}, profile: 'work'}", project: Self.project,
            isTrusted: false
        ).merged()
        #expect(settings.profile == "work")
        #expect(settings.server == nil)
        #expect(settings.view(for: "chat")[Demo.command] == "true")
        #expect(settings.view(for: "chat")[Demo.model] == "mine")
    }

    @Test("Settings of the person and of the machine need no trust")
    func ownSettings() throws {
        let settings = try Sources(
            system: "{chat: {command: 'system'}}", user: "{chat: {endpoint: 'https://mine'}}", isTrusted: false
        ).merged()
        #expect(settings.view(for: "chat")[Demo.command] == "system")
        #expect(settings.view(for: "chat")[Demo.endpoint] == "https://mine")
        #expect(settings.inert.isEmpty)
    }
}
