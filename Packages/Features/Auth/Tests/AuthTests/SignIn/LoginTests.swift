import Capabilities
import CoreTesting
import HTTPCore
import HTTPServer
import HostTesting
import JSON
import KamiwazaTesting
import Testing

@testable import Auth

@Suite("Signing in", .timeLimit(.minutes(10)))
struct LoginTests {
    @Test("A password sign-in stores a session and shows the user")
    func password() async throws {
        try await Lab.run { server, bench in
            let done = try await bench.signIn()
            #expect(done["user"] == "ada" && done["credential"] == "session" && done["name"] == "lab")
            #expect(done["expires"] != nil)
            #expect(server.count(.post, "/api/auth/token") == 1)
            #expect(server.count(.post, "/api/auth/pats") == 0)
            let me = try await bench.perform("auth.whoami")
            #expect(me["user"] == "ada" && me["email"] == "ada@lab.example" && me["server"]?.string == server.api)
            #expect(me["roles"] == ["user"])
            let status = try await bench.perform("auth.status", ["server": "lab"])
            #expect(status.json[0]?["state"] == "signed-in" && status.json[0]?["credential"] == "session")
            #expect(status.json[0]?["user"] == "ada" && status.exit == .done)
        }
    }

    @Test("A failed sign-in names the cause and stores nothing")
    func refusals() async throws {
        var locked = KamiwazaSetup.Account("locked", password: Lab.password)
        locked.isLocked = true
        var disabled = KamiwazaSetup.Account("disabled", password: Lab.password)
        disabled.isDisabled = true
        try await Lab.run({ $0.accounts += [locked, disabled] }) { _, bench in
            for (user, password, code, words) in [
                ("ada", "wrong horse", "kamiwaza.wrong-password", "the user name or password is wrong"),
                ("nobody", Lab.password, "kamiwaza.wrong-password", "the user name or password is wrong"),
                ("disabled", Lab.password, "kamiwaza.wrong-password", "or this account may not sign in"),
                ("locked", Lab.password, "kamiwaza.locked", "the account is locked"),
            ] {
                let failure = try await bench.failure(
                    "auth.login", ["server": "lab", "user": .string(user), "password": .string(password)])
                #expect(failure?.code == code && failure?.exit == .denied, "\(user)")
                #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
                #expect(failure?.report.text().contains(password) == false)
            }
            let kept = try await bench.session()
            let status = try await bench.perform("auth.status", ["server": "lab"])
            #expect(kept == nil && status.exit == .denied && status.json[0]?["state"] == "signed-out")
        }
    }

    @Test("Missing values are asked for, again after a mistake, and the last user name is offered")
    func asking() async throws {
        try await Lab.run({ $0.providers = [] }) { server, bench in
            let ada = ScriptedPerson(
                [
                    "auth.login.user": ["ada"], "auth.login.password": ["wrong horse", .string(Lab.password)],
                    "auth.login.remember": [false],
                ], otherwise: .declines)
            bench.person = ada
            let done = try await bench.perform("auth.login", ["server": "lab"])
            #expect(done["user"] == "ada" && done.notices.contains("password is wrong"))
            let asked = ada.asked.filter { $0.hasPrefix("auth.login") }
            #expect(
                asked == [
                    "auth.login.user", "auth.login.password", "auth.login.user", "auth.login.password",
                    "auth.login.remember",
                ])
            #expect(server.count(.post, "/api/auth/token") == 2)

            let again = ScriptedPerson(["auth.login.password": [.string(Lab.password)]], otherwise: .declines)
            bench.person = again
            #expect(try await bench.perform("auth.login", ["server": "lab"])["user"] == "ada")
            #expect(again.asked.first == "auth.login.user")

            let stubborn = ScriptedPerson(
                ["auth.login.password": ["one-wrong", "two-wrong", "three-wrong", "four-wrong"]], otherwise: .declines)
            bench.person = stubborn
            #expect(try await bench.failure("auth.login", ["server": "lab"])?.code == "kamiwaza.wrong-password")
            #expect(stubborn.asked.count { $0 == "auth.login.password" } == 3)
        }
    }

    @Test("Providers are offered by their display names")
    func providers() async throws {
        try await Lab.run { _, bench in
            let ada = ScriptedPerson(
                [
                    "auth.login.method": ["User name and password"], "auth.login.user": ["ada"],
                    "auth.login.password": [.string(Lab.password)],
                ], otherwise: .declines)
            bench.person = ada
            let login = try await bench.perform("auth.login", ["server": "lab"])
            #expect(login["user"] == "ada")
            #expect(ada.options.joined().contains("Google") && !ada.options.joined().contains("Retired directory"))
            for name in ["old", "Retired directory", "gogle"] {
                let failure = try await bench.failure("auth.login", ["server": "lab", "provider": .string(name)])
                #expect(failure?.code == "auth.provider-unknown" && failure?.exit == .usage)
                #expect(failure?.message.contains("known: Google") == true)
            }
        }
    }

    @Test(
        "Without a terminal, the error names the missing value",
        arguments: [[:], ["user": "ada"], ["browser": true], ["device": true]] as [JSONObject])
    func headless(arguments: JSONObject) async throws {
        try await Lab.run { server, bench in
            server.forgetRequests()
            let failure = try await bench.failure("auth.login", arguments)
            #expect(failure?.code == "interaction.unanswered" && failure?.exit == .unanswered)
            if arguments["browser"] != nil || arguments["device"] != nil {
                // No answer to these questions could be provided in advance.
                #expect(failure?.message.contains("provide an answer") == false)
                #expect(failure?.message.contains("martlet auth login lab --token-stdin") == true)
            }
            #expect(server.count(.post, "/api/auth/token") == 0)
        }
    }

    @Test("Signing in to an address adds the server once")
    func address() async throws {
        try await TestWorkbench.withAuth { bench in
            try await KamiwazaServer.run { server in
                let first = try await bench.signIn(to: server.origin)
                let name = try #require(first["name"]?.string)
                #expect(name.hasPrefix("127-0-0-1-") && first.notices.contains("was added as '\(name)'"))
                let second = try await bench.signIn(to: server.origin)
                #expect(second["name"]?.string == name && second.notices.isEmpty)
                let servers = try await bench.perform("auth.server.list")
                #expect(servers.json.array?.count == 1)
                let unknown = try await bench.failure("auth.login", ["server": "elsewhere"])
                #expect(unknown?.code == "auth.profile-unknown" && unknown?.exit == .usage)
            }
        }
    }

    @Test("Signing in to an address does not reuse the name of another server")
    func freeName() async throws {
        try await KamiwazaServer.run { server in
            try await TestWorkbench.withAuth { bench in
                let port = try #require(server.origin.split(separator: ":").last)
                let taken = "127-0-0-1-\(port)"
                try bench.write(settings: "{profiles: {'\(taken)': {server: 'https://other.example'}}}")
                #expect(try await bench.signIn(to: server.origin)["name"]?.string == "\(taken)-2")
                #expect(try bench.readSettings()["profiles"]?[taken]?["server"] == "https://other.example")
                #expect(try await bench.signIn(to: server.origin)["name"]?.string == "\(taken)-2")
            }
        }
    }

    @Test("Signing in replaces a session that cannot be read")
    func unreadable() async throws {
        try await Lab.signedIn { server, bench in
            for text in ["nonsense", "{}", #"{"version": 99}"#, #"{"version": 1, "origin": "x"}"#] {
                try await bench.perform("auth.secret.set", ["name": "server.lab.session", "value": .string(text)])
                let failure = try await bench.failure("auth.whoami")
                #expect(failure?.code == "auth.session-unreadable", "\(failure?.code ?? "")")
                #expect(failure?.message.contains("sign in again") == true, "\(failure?.message ?? "")")
                #expect(try await bench.signIn()["user"] == "ada")
                #expect(try await bench.perform("auth.whoami")["user"] == "ada")
            }
            try await bench.perform("auth.secret.set", ["name": "server.lab.session", "value": "nonsense"])
            #expect(try await bench.perform("auth.logout").exit == .done)
            #expect(try await bench.perform("auth.status").json[0]?["state"] == "signed-out")
        }
    }

    @Test("A token is stored only when the server accepts it")
    func token() async throws {
        try await Lab.signedIn(remember: false) { server, bench in
            let made = try await bench.perform("auth.pat.create", ["name": "for a script"])
            let token = try #require(made["token"]?.string)
            try await bench.perform("auth.logout")

            let bad = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJub2JvZHkifQ.c2lnbmF0dXJl"
            let refused = try await bench.failure("auth.login", ["server": "lab", "token": .string(bad)])
            #expect(refused?.code == "auth.token-refused" && refused?.exit == .denied)
            #expect(refused?.report.text().contains(bad) == false)
            #expect(try await bench.session() == nil)
            server.fail("/api/auth/users/me", with: .status(.internalServerError))
            #expect(try await bench.failure("auth.login", ["token": .string(token)])?.code == "kamiwaza.server-failed")
            #expect(try await bench.session() == nil)
            server.heal("/api/auth/users/me")

            let done = try await bench.perform("auth.login", ["token": .string(token)])
            #expect(done["user"] == "ada" && done["credential"] == "access token" && done["expires"] != nil)
            #expect(try await bench.perform("auth.whoami")["user"] == "ada")
            #expect(server.requests.last?.credential == .personalToken)
        }
    }

    @Test("A server without accounts takes a key, which is checked before it is stored")
    func key() async throws {
        let refusing: [String: HTTPAnswer] = [
            "/v1/models": .json(["error": "no"] as JSON, status: .unauthorized), "/health": .json(["ok": true] as JSON),
        ]
        for (answers, isTaken) in [(SmallServer.gateway, true), (refusing, false)] {
            try await SmallServer.run(answers) { gateway in
                try await TestWorkbench.withAuth { bench in
                    try await bench.perform("auth.server.add", ["name": "gate", "address": .string(gateway.origin)])
                    let login: JSONObject = ["server": "gate", "token": "gateway-key-123456"]
                    if isTaken {
                        #expect(try await bench.perform("auth.login", login)["credential"] == "access token")
                    } else {
                        #expect(try await bench.failure("auth.login", login)?.code == "auth.token-refused")
                    }
                    let tried = gateway.requests.last { $0.path == "/v1/models" }
                    #expect(tried?.headers["Authorization"] == "Bearer gateway-key-123456")
                    #expect(try await (bench.session(of: "gate") != nil) == isTaken)
                    let who = try await bench.failure("auth.whoami")
                    #expect(who?.code == (isTaken ? "auth.not-offered" : "auth.no-token"))
                }
            }
        }
    }
}
