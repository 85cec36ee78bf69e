import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import HostTesting
import JSON
import KamiwazaTesting
import Testing

@testable import Auth

@Suite("Expired token", .timeLimit(.minutes(10)))
struct RenewalTests {
    /// Sends `count` signed requests at once and returns the result of each.
    private func send(_ count: Int, _ bench: TestSession, _ url: String) async throws -> [Result<Int, any Error>] {
        let client = HTTPClient(.standalone)
        let signer = RequestSigner(try bench.authenticator, for: ServerID("lab"))
        let request = HTTPRequest(.get, try HTTPURL(url))
        let results = await withTaskGroup(of: Result<Int, any Error>.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do { return .success(try await client.send(request, signedBy: signer).status.code) } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        await client.close()
        return results
    }

    @Test("Ten concurrent requests renew it once, and all ten succeed", arguments: [true, false])
    func storm(isKnownHere: Bool) async throws {
        // Only the server's time advances if the client must not know that the token has expired.
        let serverTime = MovableTime()
        try await Lab.signedIn({ if !isKnownHere { $0.now = serverTime.read } }) { server, bench in
            try await bench.open { open in
                let path = "/api/serving/deployments"
                #expect(try await send(1, open, server.origin + path).map { try $0.get() } == [200])
                bench.time?.advance(by: .seconds(isKnownHere ? 600 : 0))
                serverTime.advance(by: .seconds(600))
                server.forgetRequests()
                server.fail("/api/auth/refresh", with: .held)
                async let answers = send(10, open, server.origin + path)
                try await server.until { seen in
                    seen.contains { $0.path == "/api/auth/refresh" }
                        && (isKnownHere || seen.count { $0.credential == .spent } == 10)
                }
                server.heal("/api/auth/refresh")
                let codes = try await answers.map { try $0.get() }
                #expect(codes == Array(repeating: 200, count: 10))
                #expect(server.count(.post, "/api/auth/refresh") == 1)
                #expect(server.count(.get, path) == (isKnownHere ? 10 : 20))
            }
            // The renewed session is kept for the next command.
            server.forgetRequests()
            #expect(try await bench.perform("auth.whoami")["user"] == "ada")
            #expect(server.lines == ["GET /api/auth/users/me"])
        }
    }

    @Test("It is renewed shortly before its expiry, so that no request is refused")
    func margin() async throws {
        try await Lab.signedIn { server, bench in
            bench.time?.advance(by: .seconds(269))
            _ = try await bench.perform("auth.whoami")
            #expect(server.count(.post, "/api/auth/refresh") == 0)
            bench.time?.advance(by: .seconds(2))
            _ = try await bench.perform("auth.whoami")
            #expect(server.count(.post, "/api/auth/refresh") == 1)
            #expect(!server.requests.contains { $0.credential == .spent })
        }
    }

    @Test("A session that cannot be renewed is reported to all waiting requests and not retried")
    func ended() async throws {
        try await Lab.signedIn { server, bench in
            bench.time?.advance(by: .seconds(3600))
            try await bench.open { open in
                let results = try await send(10, open, "\(server.api)/serving/deployments")
                for result in results {
                    #expect { _ = try result.get() } throws: { error in
                        AnyFailure(error).code == "auth.sign-in-again" && AnyFailure(error).exit == .denied
                    }
                }
            }
            #expect(server.count(.post, "/api/auth/refresh") == 1)
            #expect(server.requests.allSatisfy { $0.path == "/api/auth/refresh" })
            let again = try await bench.failure("auth.whoami")
            #expect(again?.code == "auth.sign-in-again" && again?.message.contains("sign in again") == true)
            let place = server.origin.dropFirst("http://".count)
            #expect(again?.message.contains("the session at \(place) has ended") == true)
            #expect(again?.message.hasSuffix("martlet auth login lab") == true)
            #expect(server.count(.post, "/api/auth/refresh") == 1)
            #expect(try await bench.perform("auth.status", ["server": "lab"]).json[0]?["state"] == "expired")
            try await bench.signIn()
            #expect(try await bench.perform("auth.whoami")["user"] == "ada")
        }
    }

    @Test("It can still be renewed after a temporary server failure", arguments: [500, 503, 429])
    func ill(status: Int) async throws {
        try await Lab.signedIn { server, bench in
            bench.time?.advance(by: .seconds(400))
            server.fail("/api/auth/refresh", with: .status(HTTPStatus(status)))
            let failure = try await bench.failure("auth.whoami")
            #expect(failure?.code.hasPrefix("kamiwaza.") == true && failure?.exit != .denied, "\(failure?.code ?? "")")
            #expect(server.count(.post, "/api/auth/refresh") == 1)
            server.heal("/api/auth/refresh")
            let me = try await bench.perform("auth.whoami")
            #expect(me["user"] == "ada")
        }
    }

    @Test("A personal token is not renewed: its 401 requires a new sign-in")
    func personal() async throws {
        try await Lab.signedIn(remember: true) { server, bench in
            server.revokePersonalTokens()
            let failure = try await bench.failure("auth.whoami")
            #expect(failure?.code == "auth.sign-in-again" && failure?.exit == .denied)
            #expect(
                failure?.message.contains("it may have been revoked; sign in again: martlet auth login lab") == true)
            #expect(server.lines == ["GET /api/auth/users/me"])
            bench.time?.advance(by: .seconds(8_640_000 + 1))
            let expired = try await bench.failure("auth.whoami")
            #expect(expired?.message.contains("has expired; sign in again") == true, "\(expired?.message ?? "")")
        }
    }

    @Test("A server that refuses every token causes one renewal and no loop")
    func circle() async throws {
        try await Lab.signedIn { server, bench in
            server.fail("/api/auth/users/me", with: .status(.unauthorized))
            let failure = try await bench.failure("auth.whoami")
            #expect(failure?.code == "kamiwaza.sign-in-again" && failure?.exit == .denied)
            #expect(
                server.lines == ["GET /api/auth/users/me", "POST /api/auth/refresh", "GET /api/auth/users/me"])
        }
    }
}
