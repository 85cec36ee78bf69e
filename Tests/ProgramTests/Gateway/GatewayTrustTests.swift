import FileKit
import HTTPCore
import JSON
import ProcessKit
import Testing

@Suite("A gateway with a certificate of its own", .timeLimit(.minutes(5)))
struct GatewayTrustTests {
    @Test("is trusted by its fingerprint, and refused when it shows another")
    func pinned() async throws {
        try await GatewayHome.with("{gateway: {tls: 'own'}, auth: {'keep-unlocked': '0s'}}") { home in
            var port = 0
            try await home.serve { gateway in
                port = gateway.port
                #expect(gateway.address == "https://127.0.0.1:\(port)")
                // The commands of the same home know it.
                #expect(try await home.martlet("gateway", "status").code == 0)
                // Everybody else has never seen it.
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
            // After a new start it is the same, and with its file gone it is another.
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
