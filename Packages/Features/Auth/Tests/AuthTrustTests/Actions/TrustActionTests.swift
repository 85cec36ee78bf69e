import AuthTrust
import Capabilities
import CoreTesting
import Cryptography
import FileKit
import HTTPTesting
import HostTesting
import JSON
import Registry
import StorageKit
import Testing

@testable import Auth

@Suite("Trust actions", .timeLimit(.minutes(5)))
struct TrustActionTests {
    @Test("The command in the error makes the next request succeed")
    func exactCommand() async throws {
        let all = try TestCertificates.shared()
        try await TrustSession.run { trusting in
            try await Servers.run(all.selfSigned) { server in
                let problem = try #require(await failure { _ = try await trusting.get(server.port) })
                #expect(problem.exit == .denied)
                let command = try #require(problem.message.split(separator: "\n").last?.drop { $0 == " " })
                #expect(problem.details["command"]?.string == String(command))
                let added = try await trusting.type(String(command))
                #expect(added["by"]?.string == "pinned" && added["state"]?.string == "trusted")
                #expect(server.record.requests.isEmpty)
                #expect(try await trusting.get(server.port) == "hi")
                let list = try await trusting.perform("auth.trust.list")
                #expect(list[0]?["server"]?.string == "127.0.0.1:\(server.port)")
                #expect(list[0]?["how"]?.string == "fingerprint" && list.array?.count == 1)
            }
        }
    }

    @Test("A different fingerprint trusts nothing")
    func otherFingerprint() async throws {
        let all = try TestCertificates.shared()
        let fingerprint = Fingerprint.text(all.otherSelfSigned.certificate.fingerprint)
        try await TrustSession.run { trusting in
            try await Servers.run(all.selfSigned) { server in
                let problem = await failure {
                    try await trusting.type(
                        "martlet auth trust add 127.0.0.1:\(server.port) --fingerprint \(fingerprint)")
                }
                #expect(problem?.code == "auth.certificate-other" && problem?.exit == .denied)
                #expect(problem?.message.contains(fingerprint) == true)
                #expect(try await trusting.perform("auth.trust.list") == [])
                let sawNothing = try await server.sawNothing()
                #expect(sawNothing)
            }
        }
    }

    @Test(
        "Invalid arguments are rejected before any request",
        arguments: [
            ("127.0.0.1", "00:11", "auth.fingerprint-malformed", ExitCode.usage),
            ("http://127.0.0.1", nil, "auth.certificate-none", .failed),
            ("ftp://127.0.0.1", nil, "http.invalid-url", .usage), ("", nil, "usage.arguments", .usage),
        ] as [(String, String?, String, ExitCode)])
    func refused(host: String, fingerprint: String?, code: String, exit: ExitCode) async throws {
        try await TrustSession.run { trusting in
            var arguments: JSONObject = ["host": .string(host)]
            if let fingerprint { arguments.append("fingerprint", .string(fingerprint)) }
            let problem = await failure { try await trusting.perform("auth.trust.add", arguments) }
            #expect(problem?.code == code && problem?.exit == exit, "\(problem?.message ?? "")")
        }
    }

    @Test("Without a fingerprint and a terminal, the error contains the command with the fingerprint")
    func headless() async throws {
        let all = try TestCertificates.shared()
        try await TrustSession.run { trusting in
            try await Servers.run(all.selfSigned) { server in
                let problem = await failure {
                    try await trusting.perform("auth.trust.add", ["host": .string("127.0.0.1:\(server.port)")])
                }
                #expect(problem?.code == "auth.certificate-unknown")
                #expect(problem?.details["command"]?.string?.contains("--fingerprint") == true)
                let sawNothing = try await server.sawNothing()
                #expect(sawNothing)
            }
        }
    }

    @Test("A server that the system trusts gets no pin")
    func good() async throws {
        let all = try TestCertificates.shared()
        try await TrustSession.run { trusting in
            try await Servers.run(all.good) { server in
                let address = "https://127.0.0.1:\(server.port)/some/where"
                let added = try await trusting.perform("auth.trust.add", ["host": .string(address)])
                #expect(added["by"]?.string == "system")
                #expect(trusting.session.output.notices.count == 1)
                #expect(try await trusting.perform("auth.trust.list") == [])
                let sawNothing = try await server.sawNothing()
                #expect(sawNothing)
            }
        }
    }

    @Test("Verifying shows the state, and the server gets no request")
    func verify() async throws {
        let all = try TestCertificates.shared()
        let rows = [
            (all.good, nil, "system", "trusted"), (all.selfSigned, nil, "unknown", "refused"),
            (all.selfSigned, all.selfSigned, "pinned", "trusted"),
            (all.selfSigned, all.otherSelfSigned, "changed", "refused"),
        ]
        for (shown, pinned, word, state) in rows {
            try await TrustSession.run { trusting in
                try await Servers.run(shown) { server in
                    let database = Bench.database(trusting.session.host.locations.data)
                    if let pinned {
                        try await PinStore(database: database).keep(.of(pinned, port: server.port))
                        await database.close()
                    }
                    let row = try await trusting.perform(
                        "auth.trust.verify", ["host": .string("127.0.0.1:\(server.port)")])
                    #expect(row["by"]?.string == word && row["state"]?.string == state)
                    #expect(row["fingerprint"]?.string == Fingerprint.text(shown.certificate.fingerprint))
                    let trusted = word == "changed" ? pinned.map { Fingerprint.text($0.certificate.fingerprint) } : nil
                    #expect(row["trusted_fingerprint"]?.string == trusted)
                    // The notice contains the command to type.
                    let command = "martlet auth trust add 127.0.0.1:\(server.port) --fingerprint "
                    let told = trusting.session.output.notices.joined().contains(command)
                    #expect(told == (state == "refused"), "\(trusting.session.output.notices)")
                    let sawNothing = try await server.sawNothing()
                    #expect(sawNothing)
                }
            }
        }
    }

    @Test("The exit code of verifying shows whether the certificate is trusted")
    func verifyExit() throws {
        let all = try TestCertificates.shared()
        let shown = PresentedCertificate.of(all.good)
        #expect(VerifiedServer(shown, .trustedBySystem).exit == .done)
        #expect(VerifiedServer(shown, .pinned(warnings: [.expired])).exit == .done)
        #expect(VerifiedServer(shown, .unknown).exit == .denied)
        #expect(VerifiedServer(shown, .changed(from: .of(all.expired, port: 1))).exit == .denied)
    }

    @Test("Removing a pin withdraws trust at once, and an unknown server is an error")
    func remove() async throws {
        let all = try TestCertificates.shared()
        try await TrustSession.run { trusting in
            try await Servers.run(all.selfSigned) { server in
                let address = "127.0.0.1:\(server.port)"
                let fingerprint = Fingerprint.text(all.selfSigned.certificate.fingerprint)
                try await trusting.type("martlet auth trust add \(address) --fingerprint \(fingerprint)")
                #expect(try await trusting.get(server.port) == "hi")
                let shown = try await trusting.perform("auth.trust.show", ["host": .string("https://\(address)/")])
                #expect(shown["fingerprint"]?.string == fingerprint && shown["certificate"]?.string != nil)
                let removed = try await trusting.perform("auth.trust.remove", ["host": .string(address)])
                #expect(removed["server"]?.string == address)
                let refused = await failure { _ = try await trusting.get(server.port) }
                #expect(refused?.code == "auth.certificate-unknown")
                for action in ["auth.trust.remove", "auth.trust.show"] {
                    let problem = await failure { try await trusting.perform(action, ["host": .string(address)]) }
                    #expect(problem?.code == "auth.pin-unknown")
                }
                #expect(server.record.requests.count == 1)
            }
        }
    }

    @Test("A server without TLS has no certificate")
    func plain() async throws {
        try await TrustSession.run { trusting in
            try await ScriptedServer.run { connection in
                try connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            } during: { server in
                let problem = await failure {
                    try await trusting.perform("auth.trust.verify", ["host": .string("127.0.0.1:\(server.port)")])
                }
                #expect(problem?.code == "http.tls")
            }
        }
    }

    @Test("Authorities come from the setting, then SSL_CERT_FILE, then the system")
    func authorities() async throws {
        let all = try TestCertificates.shared()
        try await TemporaryDirectory.run { folder in
            let file = try all.authority.write(into: folder, as: "other").chain
            let rows: [(settings: String?, environment: [String: String], isTrusted: Bool)] = [
                (nil, [:], true), ("{}", ["SSL_CERT_FILE": file], true), ("{}", [:], false),
                ("{}", ["SSL_CERT_FILE": ""], false),
            ]
            for row in rows {
                try await TrustSession.run(settings: row.settings, environment: row.environment) { trusting in
                    try await Servers.run(all.good) { server in
                        guard row.isTrusted else {
                            let problem = await failure { _ = try await trusting.get(server.port) }
                            #expect(problem?.code == "auth.certificate-unknown")
                            return
                        }
                        #expect(try await trusting.get(server.port) == "hi")
                        let verified = try await trusting.perform(
                            "auth.trust.verify", ["host": .string("127.0.0.1:\(server.port)")])
                        #expect(verified["by"]?.string == "system")
                    }
                    #expect(!Files.exists(trusting.session.host.locations.data + "/auth.db") || !row.isTrusted)
                }
            }
        }
    }

    @Test("A client certificate in a profile is sent only to that server", arguments: ["lab", "other", ""])
    func certificateOfProfile(inUse: String) async throws {
        let all = try TestCertificates.shared()
        let tls = try ScriptedTLS(all.good, clientAuthorities: [all.authority.certificate])
        try await TemporaryDirectory.run { folder in
            let authority = try all.authority.write(into: folder, as: "ca").chain
            let own = try all.client.write(into: folder, as: "own")
            let files = "certificate: '\(own.chain)', 'certificate-key': '\(own.key)'"
            try await ScriptedServer.run(tls: tls, Servers.greeting) { lab in
                try await ScriptedServer.run(tls: tls, Servers.greeting) { other in
                    let profiles = """
                        lab: {server: 'https://127.0.0.1:\(lab.port)', auth: {\(files)}},
                        other: {server: 'https://127.0.0.1:\(other.port)'}
                        """
                    let profile = inUse.isEmpty ? "" : "profile: '\(inUse)', "
                    let settings = "{auth: {cacert: '\(authority)'}, \(profile)profiles: {\(profiles)}}"
                    try await TrustSession.run(settings: settings) { trusting in
                        let text = try await trusting.get(lab.port)
                        #expect(text == "hi")
                        let problem = await failure { _ = try await trusting.get(other.port) }
                        #expect(problem?.exit == .unreachable && other.record.requests.isEmpty)
                    }
                }
            }
        }
    }

    @Test("A client certificate in the settings is sent to a server that asks for it")
    func ownCertificate() async throws {
        let all = try TestCertificates.shared()
        let tls = try ScriptedTLS(all.good, clientAuthorities: [all.authority.certificate])
        try await TemporaryDirectory.run { folder in
            let authority = try all.authority.write(into: folder, as: "ca").chain
            let own = try all.client.write(into: folder, as: "own")
            let both = "\(folder)/both.pem"
            try Files.writeAtomically(Array(all.client.chainPEM.utf8) + all.client.keyPEM(), to: both, mode: 0o600)
            let rows = [
                ("certificate: '\(own.chain)', 'certificate-key': '\(own.key)'", true),
                ("certificate: '\(both)'", true), ("vault: 'file'", false),
            ]
            for (settings, isLetIn) in rows {
                try await TrustSession.run(settings: "{auth: {cacert: '\(authority)', \(settings)}}") { trusting in
                    try await ScriptedServer.run(tls: tls, Servers.greeting) { server in
                        guard isLetIn else {
                            let problem = await failure { _ = try await trusting.get(server.port) }
                            #expect(problem?.exit == .unreachable)
                            #expect(server.record.requests.isEmpty)
                            return
                        }
                        let text = try await trusting.get(server.port)
                        #expect(text == "hi")
                    }
                }
            }
        }
    }
}
