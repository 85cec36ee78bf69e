import FileKit
import HTTPCore
import JSON
import ProcessKit
import Testing

@Suite("A gateway with its own certificate", .timeLimit(.minutes(5)))
struct GatewayTrustTests {
    @Test("The certificate is trusted by its fingerprint, and another one is refused")
    func pinned() async throws {
        try await GatewayHome.with("{gateway: {tls: 'own'}, auth: {'keep-unlocked': '0s'}}") { home in
            var port = 0
            try await home.serve { gateway in
                port = gateway.port
                #expect(gateway.address == "https://127.0.0.1:\(port)")
                // Commands in the same home know it.
                #expect(try await home.martlet("gateway", "status").code == 0)
                // To other commands it is unknown.
                let unknown = try await home.martlet("auth", "server", "add", "gw", gateway.address)
                #expect(unknown.code == 3)
                let fingerprint = try #require(gateway.state["fingerprint"]?.string)
                let wrong = try await home.martlet(
                    "auth", "trust", "add", gateway.address, "--fingerprint", String(fingerprint.reversed()))
                #expect(wrong.code == 3)
                let pinned = try await home.martlet(
                    "auth", "trust", "add", gateway.address, "--fingerprint", fingerprint)
                #expect(pinned.code == 0, "\(pinned.errors)")
                let known = try await home.martlet("auth", "server", "add", "gw", gateway.address)
                #expect(known.code == 0, "\(known.errors)")
                #expect(try await home.martlet("gateway", "status", gateway.address).code == 0)
                #expect(try await home.martlet("gateway", "stop").code == 0)
            }
            // It is the same after a restart, and another one if its file was removed.
            try await home.serve(port: port) { _ in
                let known = try await home.martlet("auth", "server", "check", "gw")
                #expect(known.code == 0, "\(known.errors)")
                #expect(try await home.martlet("gateway", "stop").code == 0)
            }
            try Files.remove("\(home.path)/martlet/data/gateway.pem")
            try await home.serve(port: port) { _ in
                let changed = try await home.martlet("auth", "server", "check", "gw", "--json")
                #expect(changed.code == 3)
                #expect(changed.errors.contains("changed"))
            }
        }
    }
}
