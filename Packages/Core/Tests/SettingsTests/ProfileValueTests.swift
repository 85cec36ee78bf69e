import Capabilities
import JSON
import Settings
import Testing

@Suite("Profiles that are not in use")
struct ProfileValueTests {
    private static let user = """
        {
          chat: {model: 'mine', 'max-rounds': 7},
          profiles: {
            work: {server: 'https://work.example', chat: {model: 'large', limits: {patience: '1m'}}},
            home: {server: 'https://home.example:8443'},
            bare: {chat: {model: 'tiny'}},
          },
        }
        """

    @Test("A feature sees the servers of profiles, by name and with their origin")
    func servers() throws {
        let settings = try Sources(
            user: Self.user,
            project: "{profiles: {work: {server: 'https://other.example'}, site: {server: 'https://s'}}}"
        ).merged()
        let servers = settings.view(for: "chat").servers
        #expect(servers.map(\.profile) == ["home", "site", "work"])
        #expect(servers.map(\.address) == ["https://home.example:8443", "https://s", "https://other.example"])
        #expect(servers[0].origin == .user(file: "user.json"))
        #expect(servers[2].origin == .project(file: "project.json"))
    }

    @Test("A feature does not see servers that an untrusted project names")
    func untrusted() throws {
        let settings = try Sources(
            user: Self.user,
            project: "{profiles: {work: {server: 'https://evil.example'}, bad: {server: 'https://b'}}}",
            isTrusted: false
        ).merged()
        let servers = settings.view(for: "chat").servers
        #expect(servers.map(\.profile) == ["home", "work"])
        #expect(servers.last?.address == "https://work.example")
    }

    @Test("A feature sees the profile's values over the common ones, for itself only")
    func inProfile() throws {
        let view = try Sources(user: Self.user).merged().view(for: "chat")
        #expect(view[Demo.model] == "mine")
        let work = view.inProfile("work")
        #expect(work[Demo.model] == "large" && work[Demo.rounds] == 7 && work[Demo.patience] == .seconds(60))
        #expect(view.inProfile("bare")[Demo.model] == "tiny")
        #expect(view.inProfile("home")[Demo.model] == "mine")
        #expect(view.inProfile("none")[Demo.model] == "mine")
        // Viewing a profile does not change the original view.
        #expect(view[Demo.model] == "mine" && view[Demo.patience] == .seconds(30))
    }

    @Test("A feature sees this profile's values even if another one is in use")
    func other() throws {
        let view = try Sources(user: Self.user, flags: ["profile=bare"]).merged().view(for: "chat")
        #expect(view[Demo.model] == "tiny")
        #expect(view.inProfile("work")[Demo.model] == "large")
        #expect(view.profile == "bare" && view.server == nil)
    }

    @Test("A feature sees the common values for a profile that sets nothing, whichever is in use")
    func common() throws {
        let view = try Sources(user: Self.user, flags: ["profile=work"]).merged().view(for: "chat")
        #expect(view[Demo.model] == "large")
        #expect(view.inProfile("home")[Demo.model] == "mine")
    }
}

@Suite("Settings with an option")
struct SettingFlagTests {
    private static let authority = Setting<PathValue?>("cacert", "A file", default: nil, flag: "cacert")

    @Test("The declaration of a setting contains its option, also below the feature's id")
    func declared() {
        #expect(Self.authority.declaration.flag == "cacert" && Demo.model.declaration.flag == nil)
        var catalogue = SettingsCatalogue(features: ["files.sftp"])
        catalogue.add([Self.authority.declaration, Demo.retries.declaration], of: "files.sftp")
        catalogue.closeWithProfiles()
        let flagged = catalogue.declarations.filter { $0.flag != nil }
        #expect(flagged.map(\.key) == [["files", "sftp", "cacert"]])
        #expect(catalogue.declaration(of: ["profiles", "work", "files", "sftp", "cacert"])?.flag == "cacert")
    }
}
