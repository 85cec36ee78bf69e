import Capabilities
import JSON
import Settings
import Testing

@Suite("Profiles")
struct ProfileTests {
    private static let user = """
        {
          profiles: {
            work: {server: 'https://work.example', chat: {model: 'large', 'max-rounds': 5}, files: {sftp: {retries: 9}}},
            home: {chat: {model: 'tiny'}},
          },
        }
        """

    @Test("Profiles change nothing until one is chosen")
    func unused() throws {
        let settings = try Sources(user: Self.user).merged()
        #expect(settings.profile == nil)
        #expect(settings.server == nil)
        #expect(settings.profiles == ["home", "work"])
        #expect(settings.view(for: "chat")[Demo.model] == "small")
    }

    @Test(
        "A profile is chosen by a file, a variable or a flag, and the strongest counts",
        arguments: [
            (Sources(user: user, project: "{profile: 'home'}"), "home"),
            (Sources(user: user, environment: ["MARTLET_PROFILE": "work"]), "work"),
            (Sources(user: user, project: "{profile: 'home'}", environment: ["MARTLET_PROFILE": "work"]), "work"),
            (Sources(user: user, environment: ["MARTLET_PROFILE": "work"], flags: ["profile=home"]), "home"),
        ])
    func chosen(sources: Sources, expected: String) throws {
        let settings = try sources.merged()
        #expect(settings.problems.isEmpty)
        #expect(settings.profile == expected)
        #expect(settings.view(for: "chat")[Demo.model] == (expected == "work" ? "large" : "tiny"))
        #expect(settings[["chat", "model"]]?.origin == .profile(expected))
    }

    @Test("A profile sets values of every feature, and the server")
    func parts() throws {
        let settings = try Sources(user: Self.user, flags: ["profile=work"]).merged()
        #expect(settings.view(for: "chat")[Demo.rounds] == 5)
        #expect(settings.view(for: "files.sftp")[Demo.retries] == 9)
        #expect(settings.server == "https://work.example")
        #expect(settings.view(for: "chat").server == "https://work.example")
        #expect(settings.view(for: "chat").profile == "work")
    }

    @Test("A profile takes precedence over files, but not over the environment and flags")
    func position() throws {
        let settings = try Sources(
            user: Self.user, project: "{chat: {model: 'project', 'max-rounds': 1}, files: {sftp: {retries: 1}}}",
            environment: ["MARTLET_CHAT_MAX_ROUNDS": "7"], flags: ["profile=work", "files.sftp.retries=8"]
        ).merged()
        #expect(settings.view(for: "chat")[Demo.model] == "large")
        #expect(settings.view(for: "chat")[Demo.rounds] == 7)
        #expect(settings.view(for: "files.sftp")[Demo.retries] == 8)
    }

    @Test("A profile may be spread over files, and later files win")
    func spread() throws {
        let settings = try Sources(
            user: Self.user, project: "{profiles: {work: {chat: {model: 'project'}}}}", flags: ["profile=work"]
        ).merged()
        #expect(settings.view(for: "chat")[Demo.model] == "project")
        #expect(settings.view(for: "chat")[Demo.rounds] == 5)
    }

    @Test("An unknown profile is an error that names the nearest one and those that exist")
    func unknown() throws {
        let settings = try Sources(user: Self.user, flags: ["profile=wrok"]).merged()
        #expect(settings.profile == nil)
        #expect(
            settings.problems.map(\.description)
                == ["command line: profile: there is no profile 'wrok'; did you mean 'work'?; known: home, work"])
        #expect(settings.view(for: "chat")[Demo.model] == "small")
    }

    @Test("Choosing a profile fails with an explanation if none is set up")
    func none() throws {
        let settings = try Sources(environment: ["MARTLET_PROFILE": "work"]).merged()
        #expect(
            settings.problems.map(\.description)
                == [
                    "$MARTLET_PROFILE: profile: there is no profile 'work'; none is set up yet; "
                        + "'martlet config set profiles.work.server URL' sets one up"
                ])
    }

    @Test("Profiles are checked like the settings they change, whether or not they are used")
    func checked() throws {
        let text = """
            {profiles: {work: {
              chat: {modle: 'x', 'max-rounds': 'many'},
              sever: 'https://x',
              profile: 'home',
            }}}
            """
        #expect(
            try problems(user: text) == [
                "user.json:2:10: profiles.work.chat.modle: no such setting; did you mean 'profiles.work.chat.model'?",
                "user.json:2:36: profiles.work.chat.max-rounds: needs a whole number, not a string",
                "user.json:3:3: profiles.work.sever: no such setting; did you mean 'profiles.work.server'?",
                "user.json:4:3: profiles.work.profile: no such setting; known here: chat, files, kind, server",
            ])
    }

    @Test("An empty profile exists")
    func empty() throws {
        let settings = try Sources(user: "{profiles: {bare: {}}, profile: 'bare'}").merged()
        #expect(settings.problems.isEmpty)
        #expect(settings.profile == "bare")
    }

    @Test("A profile of an untrusted project exists, but its risky settings are not used")
    func untrusted() throws {
        let settings = try Sources(
            project: "{profiles: {work: {server: 'https://evil.example'}}}", flags: ["profile=work"], isTrusted: false
        ).merged()
        #expect(settings.problems.isEmpty)
        #expect(settings.profile == "work")
        #expect(settings.server == nil)
    }
}
