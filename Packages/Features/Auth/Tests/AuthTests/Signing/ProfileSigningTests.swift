import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import HTTPServer
import HostTesting
import JSON
import KamiwazaTesting
import Testing

@testable import Auth

@Suite("Signing with a profile's session", .timeLimit(.minutes(10)))
struct ProfileSigningTests {
    @Test("The session is sent to its server, and to other ports of its host only with TLS")
    func places() async throws {
        try await Lab.signedIn { server, bench in
            let token = "Bearer \(try #require(try await bench.session()?["access_token"]?.string))"
            let port = try #require(server.origin.split(separator: ":").last)
            try await bench.open { bench in
                for url in ["\(server.api)/x", "\(server.origin)/", "https://127.0.0.1:9443/v1", "https://127.0.0.1/"] {
                    let headers = try await bench.signed(url, for: "lab")
                    #expect(headers == ["Authorization": token], "\(url)")
                }
                for url in [
                    "http://127.0.0.1:1/", "http://localhost:\(port)/", "https://localhost:\(port)/",
                    "http://127.0.0.1.evil.example:\(port)/", "http://127.0.0.2:\(port)/", "https://evil.example/",
                    "http://127.0.0.1:\(port)@evil.example/",
                ] {
                    do {
                        let headers = try await bench.signed(url, for: "lab")
                        Issue.record("\(url) got \(headers.keys)")
                    } catch let error as AuthError {
                        #expect(error.code == "auth.wrong-destination" && error.exit == .denied)
                        #expect(error.message.contains("it is only for 127.0.0.1:\(port)"))
                    } catch {
                        #expect(error is HTTPError, "\(error)")
                    }
                }
            }
        }
    }

    @Test("The session is not sent after a redirect to another host")
    func redirect() async throws {
        try await SmallServer.run(["/stolen": .json(["username": "mallory"] as JSON)]) { thief in
            try await Lab.signedIn { server, bench in
                // The other server differs only by its port, which makes it another origin like another host.
                server.fail("/api/auth/users/me", with: .redirect(to: "\(thief.origin)/stolen"))
                let failure = try await bench.failure("auth.whoami")
                #expect(failure?.code == "kamiwaza.redirected" && failure?.exit == .failed)
                #expect(failure?.message.contains("redirects to \(thief.origin)") == true)
                #expect(thief.requests.isEmpty)
                try await bench.open { bench in
                    let client = HTTPClient(.standalone)
                    let signer = RequestSigner(try bench.authenticator, for: ServerID("lab"))
                    let request = HTTPRequest(.get, try HTTPURL("\(server.api)/auth/users/me"))
                    _ = try await client.send(request, signedBy: signer)
                    await client.close()
                }
                #expect(thief.requests.allSatisfy { $0.headers["Authorization"] == nil })
            }
        }
    }

    @Test("KAMIWAZA_API_KEY is used instead, for exactly its own address")
    func environmentKey() async throws {
        try await Lab.signedIn { server, bench in
            let made = try await bench.perform("auth.pat.create", ["name": "ci"])
            let key = try #require(made["token"]?.string)
            let session = try #require(try await bench.session()?["access_token"]?.string)
            server.forgetRequests()
            bench.environment["KAMIWAZA_API_KEY"] = key
            // Without an address the key's server is unknown, so the key is not sent, and a notice says so.
            let whoami = try await bench.perform("auth.whoami")
            #expect(
                whoami.notices.contains("KAMIWAZA_BASE_URL does not name its server")
                    && whoami.output.notices.count == 1)
            #expect(server.requests.last?.credential == .accessToken)
            bench.environment["KAMIWAZA_BASE_URL"] = "http://127.0.0.1:1/api"
            _ = try await bench.perform("auth.whoami")
            #expect(server.requests.last?.credential == .accessToken)
            bench.environment["KAMIWAZA_BASE_URL"] = server.api
            _ = try await bench.perform("auth.whoami")
            #expect(server.requests.last?.credential == .personalToken)
            let status = try await bench.perform("auth.status", ["server": "lab"])
            #expect(status.json[0]?["credential"] == "environment" && status.exit == .done)
            try await bench.open { bench in
                let headers = try await bench.signed("\(server.api)/x", for: "kamiwaza")
                #expect(headers == ["Authorization": "Bearer \(key)"])
                await #expect(throws: AuthError.self) {
                    _ = try await bench.signed("http://127.0.0.1:1/", for: "kamiwaza")
                }
                await #expect(throws: AuthError.self) { _ = try await bench.signed("http://127.0.0.1:1/", for: "lab") }
            }
            let out = try await bench.perform("auth.logout")
            #expect(out.notices.contains("KAMIWAZA_API_KEY is still set in the environment"))
            #expect(try await bench.perform("auth.whoami")["user"] == "ada")

            server.revokePersonalTokens()
            server.forgetRequests()
            let revoked = try await bench.failure("auth.whoami")
            #expect(revoked?.code == "kamiwaza.sign-in-again" && revoked?.exit == .denied)
            #expect(server.requests.count == 1)
            #expect(session != key)
        }
    }

    @Test("A platform request without a session fails unsent; other servers get an unsigned request")
    func unsigned() async throws {
        try await Lab.run { server, bench in
            server.forgetRequests()
            try await bench.open { bench in
                let error = await #expect(throws: AuthError.self) {
                    try await bench.signed("\(server.api)/x", for: "lab")
                }
                #expect(error == .noToken("lab") && error?.exit == .denied)
                #expect(error?.message.contains("martlet auth login lab") == true)
                let head = RequestHead(method: "GET", url: "\(server.api)/x")
                let isRenewed = try await bench.authenticator.renew(head, for: ServerID("lab"))
                #expect(!isRenewed && server.requests.isEmpty)
            }
        }
        try await TestWorkbench.withAuth { bench in
            bench.settings = "{profiles: {local: {server: 'http://127.0.0.1:1/v1', kind: 'openai'}}}"
            try await bench.open { bench in
                let headers = try await bench.signed("http://127.0.0.1:1/v1/x", for: "local")
                #expect(headers == [:])
            }
            let status = try await bench.perform("auth.status", ["server": "local"])
            #expect(status.json[0]?["state"] == "no-key" && status.exit == .done)
        }
    }
}
