import Capabilities
import CoreTesting
import FileKit
import Glibc
import HTTPCore
import HostTesting
import JSON
import KamiwazaTesting
import Testing

@testable import Auth

@Suite("Signing in with a browser", .timeLimit(.minutes(10)))
struct BrowserTests {
    /// curl as the browser: it follows redirects and posts the part after the last `#` as the receiver's page would.
    private static let browser = """
        #!/bin/sh
        echo "$1" >>"$LOG"
        end=$(curl -sS --max-time 30 -o /dev/null -L -w '%{url_effective}' "$1")
        case "$end" in *"#"*)
            place=${end%%#*}; origin=$(printf %s "$place" | cut -d/ -f1-3); query=${place#*\\?}
            curl -sS --max-time 30 -o /dev/null -H "Origin: $origin" -d "$query&${end#*#}" "${place%%\\?*}" ;;
        esac

        """

    private func withBrowser(
        _ change: (inout KamiwazaSetup) -> Void,
        _ body: (KamiwazaServer, inout TestWorkbench, ScriptedPerson) async throws -> Void
    ) async throws {
        try await Lab.run(change) { server, bench in
            let path = try bench.write(Self.browser, to: "browser")
            #expect(unsafe chmod(path, 0o700) == 0)
            bench.environment = [
                "BROWSER": path, "LOG": "\(bench.folder)/log", "PATH": "/usr/local/bin:/usr/bin:/bin",
            ]
            let ada = ScriptedPerson(otherwise: .declines)
            bench.person = ada
            server.forgetRequests()
            try await body(server, &bench, ada)
        }
    }

    @Test("OpenID with a code is used when the server's configuration is found")
    func openID() async throws {
        for place in [KamiwazaSetup.OpenIDPlace.realm, .api] {
            try await withBrowser({ $0.openID = place }) { server, bench, _ in
                let done = try await bench.perform("auth.login", ["server": "lab", "provider": "Google"])
                #expect(done["user"] == "ada" && done["credential"] == "session")
                #expect(done.notices.contains("Open this address in your browser to sign in"))
                #expect(done.notices.contains("Your browser should open it now"))
                #expect(server.count(.post, Self.token) == 1)
                let asked = try #require(server.requests.first { $0.path.hasSuffix("/openid-connect/auth") })
                #expect(asked.queryNames.contains("code_challenge") && asked.queryNames.contains("kc_idp_hint"))
                #expect(try await bench.perform("auth.whoami")["user"] == "ada")
                let opened = String(decoding: try Files.read("\(bench.folder)/log", limit: 9999), as: UTF8.self)
                #expect(!opened.contains("access_token") && !opened.contains("code="))
                bench.time?.advance(by: .seconds(400))
                #expect(try await bench.perform("auth.whoami")["user"] == "ada")
                #expect(server.count(.post, "/api/auth/refresh") == 1)
            }
        }
    }

    @Test("The sign-in runs again without offline tokens when the realm refuses them after the sign-in")
    func withoutOfflineTokens() async throws {
        try await withBrowser({ $0.refusesOfflineTokens = true }) { server, bench, _ in
            let done = try await bench.perform("auth.login", ["server": "lab", "browser": true])
            #expect(done["user"] == "ada" && done.notices.contains("the server does not issue offline tokens"))
            #expect(server.count(.post, Self.token) == 2)
            #expect(try await bench.perform("auth.whoami")["user"] == "ada")
        }
    }

    @Test("The platform's own page is used when the realm's addresses do not use TLS")
    func unprotected() async throws {
        try await withBrowser({ ($0.openID, $0.browserReturn) = (.api, .query) }) { server, bench, _ in
            let places = [
                "/api/.well-known/openid-configuration", "/realms/kamiwaza/.well-known/openid-configuration",
            ]
            for place in places {
                let issuer = server.origin + place.dropLast("/.well-known/openid-configuration".count)
                server.fail(
                    place,
                    with: .status(
                        .ok,
                        [
                            "issuer": .string(issuer), "authorization_endpoint": "http://keycloak.lab.example/auth",
                            "token_endpoint": "http://keycloak.lab.example/token",
                        ]))
            }
            let done = try await bench.perform("auth.login", ["server": "lab", "provider": "google"])
            #expect(done["user"] == "ada" && done["credential"] == "session")
            #expect(server.count(.post, Self.token) == 0)
        }
    }

    @Test("The server's own page is used without OpenID, with tokens in the query or the fragment")
    func ownPage() async throws {
        for style in [KamiwazaSetup.BrowserReturn.query, .fragment] {
            try await withBrowser({ ($0.openID, $0.browserReturn) = (.nowhere, style) }) { server, bench, _ in
                let done = try await bench.perform("auth.login", ["server": "lab", "provider": "google"])
                #expect(done["user"] == "ada" && done["credential"] == "session")
                let login = try #require(
                    server.requests.last { $0.path == "/api/auth/login" && $0.queryNames.contains("provider") })
                #expect(login.queryNames == ["redirect_uri", "provider", "state"])
                #expect(try await bench.perform("auth.whoami")["user"] == "ada")
                bench.time?.advance(by: .seconds(400))
                #expect(try await bench.perform("auth.whoami")["user"] == "ada")
            }
        }
    }

    @Test("A refusal from the server ends the sign-in and stores nothing")
    func declined() async throws {
        try await withBrowser({ $0.browserUser = nil }) { _, bench, _ in
            let failure = try await bench.failure("auth.login", ["server": "lab", "browser": true])
            #expect(failure?.code == "auth.refused" && failure?.exit == .denied, "\(failure?.message ?? "")")
            let session = try await bench.session()
            #expect(session == nil)
        }
    }

    @Test("The user can choose a browser provider and stay signed in")
    func chosen() async throws {
        try await withBrowser({ _ in }) { server, bench, _ in
            bench.person = ScriptedPerson(
                ["auth.login.method": ["Google"], "auth.login.remember": [true]], otherwise: .declines)
            let done = try await bench.perform("auth.login", ["server": "lab"])
            #expect(done["credential"]?.string?.hasPrefix("access token 'martlet on") == true)
            #expect(server.count(.post, "/api/auth/pats") == 1)
            #expect(try await bench.perform("auth.logout").exit == .done)
        }
    }

    private static let token = "/realms/kamiwaza/protocol/openid-connect/token"

    @Test("Signing in on another device shows a code and waits")
    func device() async throws {
        try await Lab.run({ $0.deviceInterval = .seconds(1) }) { server, bench in
            bench.person = ScriptedPerson(otherwise: .declines)
            let waiting = bench
            server.fail(Self.token, with: .held)
            async let signedIn = waiting.perform("auth.login", ["server": "lab", "device": true])
            try await server.until { $0.contains { $0.path == Self.token } }
            let code = try #require(server.userCode)
            server.approveDevice(code)
            server.heal(Self.token)
            let done = try await signedIn
            #expect(
                done["user"] == "ada" && done.notices.contains(code) && done.notices.contains("/realms/kamiwaza/device")
            )
            #expect(try await bench.perform("auth.whoami")["user"] == "ada")
        }
    }

    @Test("Signing in on another device fails when the user declines or the server does not support it")
    func noDevice() async throws {
        try await Lab.run({ $0.deviceInterval = .seconds(1) }) { server, bench in
            bench.person = ScriptedPerson(otherwise: .declines)
            let waiting = bench
            server.fail(Self.token, with: .held)
            async let failure = waiting.failure("auth.login", ["server": "lab", "device": true])
            try await server.until { $0.contains { $0.path == Self.token } }
            server.denyDevice(try #require(server.userCode))
            server.heal(Self.token)
            let refused = try await failure
            #expect(refused?.exit == .denied && refused?.code == "auth.refused")
        }
        try await Lab.run({ $0.openID = .nowhere }) { _, bench in
            bench.person = ScriptedPerson(otherwise: .declines)
            let failure = try await bench.failure("auth.login", ["server": "lab", "device": true])
            #expect(failure?.code == "auth.not-offered" && failure?.exit == .failed)
            #expect(failure?.message.contains("on another device") == true)
        }
    }
}
