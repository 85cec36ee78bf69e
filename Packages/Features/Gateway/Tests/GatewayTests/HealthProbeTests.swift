import Capabilities
import CoreTesting
import Cryptography
import HTTPTesting
import JSON
import ProcessKit
import Registry
import Settings
import Testing

@testable import Gateway

@Suite("Health check of a gateway", .timeLimit(.minutes(5)), PersonTrait())
struct HealthProbeTests {
    private func status(of address: String) async throws -> JSON {
        try await TestHost([MemoryVault.self, GatewayFeature.self])
            .perform("gateway.status", ["address": .string(address)])
    }

    private func answer(_ body: String, status: Int = 200) async throws -> JSON {
        try await ScriptedServer.run({ connection in
            try connection.receiveRequest()
            try connection.send(
                "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }) { server in try await self.status(of: "127.0.0.1:\(server.port)") }
    }

    @Test("The health check shows what the gateway reports")
    func well() async throws {
        let ours = try await answer(
            #"{"status":"healthy","ok":true,"version":"1.2","active_sessions":3,"uptime_seconds":90}"#)
        #expect(ours["state"] == "ok")
        #expect(ours["version"] == "1.2")
        #expect(ours["sessions"] == 3)
        #expect(ours["uptime"] == "1m30s")
        #expect(ours["latency"] != nil)
        // The public gateway, and one that reports only this.
        #expect(try await answer(#"{"status":"healthy","claude_version":"2"}"#)["state"] == "ok")
        #expect(try await answer(#"{"ok":true}"#)["state"] == "ok")
    }

    @Test("The health check says what is wrong and how to fix it")
    func unwell() async throws {
        let sick = try await answer(#"{"status":"unhealthy","error":"no \u001b[31mdisk"}"#)
        #expect(sick["state"] == "degraded")
        #expect(sick["reason"] == #"no \u{1B}[31mdisk"#)
        #expect(try await answer("<html>", status: 200)["state"] == "down")
        let other = try await answer("{}", status: 500)
        #expect(other["state"] == "down")
        #expect(other["mend"]?.string?.contains("gateway.port") == true)
        let nobody = try await status(of: "127.0.0.1:1")
        #expect(nobody["state"] == "down")
        #expect(nobody["mend"] == "nothing listens there; start it on that machine with 'martlet gateway serve'")
        #expect(try await status(of: "unix:/nonexistent/socket")["state"] == "down")
    }

    @Test("A server with another certificate than the gateway's is not asked")
    func otherCertificate() async throws {
        let certificates = try TestCertificates.shared()
        try await OpenSSLServer.run(certificates.selfSigned) { port in
            let services = try TestHost([MemoryVault.self, GatewayFeature.self])
            let probe = HealthProbe(
                services: GatewayServices(
                    settings: GatewaySettings(reading: services.host.settings.view(for: "gateway")),
                    surroundings: services.host.surroundings, whole: nil, turns: Holdings(),
                    serving: ServingGateway()))
            var state = InstanceState(
                process: .own, started: Timestamp(microseconds: 0),
                addresses: ["https://127.0.0.1:\(port)"],
                fingerprint: Hexadecimal.encode(certificates.otherSelfSigned.certificate.fingerprint))
            #expect(await probe.look(at: state).reason?.contains("certificate") == true)
            // With the right certificate it gets a response, which is an error on this server.
            state.fingerprint = Hexadecimal.encode(certificates.selfSigned.certificate.fingerprint)
            #expect(await probe.look(at: state).reason?.contains("the certificate is not the one") != true)
        }
    }
}
