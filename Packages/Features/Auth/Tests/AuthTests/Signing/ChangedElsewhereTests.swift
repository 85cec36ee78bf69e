import Capabilities
import HostTesting
import JSON
import KamiwazaTesting
import Testing

@testable import Auth

@Suite("Changes by another process", .timeLimit(.minutes(10)))
struct ChangedElsewhereTests {
    private func bearer(_ token: JSON?) -> [String: String] {
        ["Authorization": "Bearer \(token?.string ?? "")"]
    }

    @Test("A sign-out is noticed at the next request", arguments: [false, true])
    func logout(remember: Bool) async throws {
        try await Lab.signedIn(remember: remember) { server, bench in
            let token = try await bench.session()?["access_token"]
            try await bench.open { gateway in
                #expect(try await gateway.signed("\(server.api)/x", for: "lab") == bearer(token))
                try await bench.perform("auth.logout")
                let error = await #expect(throws: AuthError.self) {
                    try await gateway.signed("\(server.api)/x", for: "lab")
                }
                #expect(error == .noToken("lab"))
            }
        }
    }

    @Test("A sign-in as another user is noticed at the next request")
    func login() async throws {
        try await Lab.signedIn({ $0.accounts.append(.init("bob", password: "other horse")) }) { server, bench in
            let ada = try await bench.session()?["access_token"]
            try await bench.open { gateway in
                #expect(try await gateway.signed("\(server.api)/x", for: "lab") == bearer(ada))
                try await bench.perform("auth.login", ["user": "bob", "password": "other horse"])
                let bob = try await bench.session()?["access_token"]
                #expect(try await gateway.signed("\(server.api)/x", for: "lab") == bearer(bob))
                #expect(ada != bob)
            }
        }
    }

    @Test("A removed server is noticed at the next request", arguments: [false, true])
    func removal(remember: Bool) async throws {
        try await Lab.signedIn(remember: remember) { server, bench in
            try await bench.open { gateway in
                _ = try await gateway.signed("\(server.api)/x", for: "lab")
                try await bench.perform("auth.server.remove", ["name": "lab"], isAgreed: true)
                await #expect(throws: AuthError.self) { try await gateway.signed("\(server.api)/x", for: "lab") }
            }
        }
    }

    @Test("Storing another secret does not affect the session")
    func otherSecret() async throws {
        try await Lab.signedIn { server, bench in
            let token = try await bench.session()?["access_token"]
            try await bench.open { gateway in
                #expect(try await gateway.signed("\(server.api)/x", for: "lab") == bearer(token))
                try await bench.perform("auth.secret.set", ["name": "openai", "value": "some-key-of-mine"])
                #expect(try await gateway.signed("\(server.api)/x", for: "lab") == bearer(token))
            }
        }
    }
}
