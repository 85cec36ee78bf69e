import AuthTrust
import Capabilities
import CoreTesting
import Cryptography
import FileKit
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

@Suite("Trust outcomes", .timeLimit(.minutes(5)))
struct OutcomeTests {
    typealias Choice = @Sendable (TestCertificates) -> Identity

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let shown: Choice
        var host = "127.0.0.1"
        var pinned: Choice?
        /// Nil if the server is accepted.
        var code: String?
        /// Words of the error, in addition to the certificate's details, or of the notice about an accepted
        /// certificate.
        var words: [String] = []
    }

    private static let unknown = "auth.certificate-unknown"
    private static let changed = "auth.certificate-changed"

    static let rows: [Row] = [
        Row(testDescription: "a good certificate", shown: { $0.good }),
        Row(testDescription: "a good one by name", shown: { $0.good }, host: "localhost"),
        Row(testDescription: "a chain with its intermediate", shown: { $0.viaIntermediate }),
        Row(testDescription: "a good one where another is pinned", shown: { $0.good }, pinned: { $0.selfSigned }),
        Row(testDescription: "a name that only the alternative names have", shown: { $0.nameOnly }, host: "localhost"),
        Row(
            testDescription: "the same by its address", shown: { $0.nameOnly }, code: unknown,
            words: ["it was issued for another name", "names    localhost"]),
        Row(
            testDescription: "a missing intermediate", shown: { $0.missingIntermediate }, code: unknown,
            words: ["it was issued by an authority this system does not know"]),
        Row(
            testDescription: "an expired intermediate", shown: { $0.viaExpiredIntermediate }, code: unknown,
            words: ["it has expired"]),
        Row(
            testDescription: "an unknown issuer", shown: { $0.unknownIssuer }, code: unknown,
            words: ["it was issued by an authority this system does not know", "Unknown Authority"]),
        Row(
            testDescription: "a self-signed one", shown: { $0.selfSigned }, code: unknown,
            words: ["it is self-signed"]),
        Row(testDescription: "the self-signed one that is pinned", shown: { $0.selfSigned }, pinned: { $0.selfSigned }),
        Row(
            testDescription: "another self-signed one than is pinned", shown: { $0.otherSelfSigned },
            pinned: { $0.selfSigned }, code: changed,
            words: [
                "has CHANGED", "trusted since 2026-01-02", "presented now:", "problems of the new certificate:",
                "    it is self-signed",
            ]),
        Row(testDescription: "an expired one", shown: { $0.expired }, code: unknown, words: ["it has expired"]),
        Row(
            testDescription: "an expired one that is pinned", shown: { $0.expired }, pinned: { $0.expired },
            words: ["is trusted although it has expired"]),
        Row(
            testDescription: "an expired one where another is pinned", shown: { $0.expired },
            pinned: { $0.selfSigned }, code: changed, words: ["    it expired on "]),
        Row(
            testDescription: "one that is not valid yet", shown: { $0.notYetValid }, code: unknown,
            words: ["it is not valid yet"]),
        Row(
            testDescription: "one that is not valid yet, pinned", shown: { $0.notYetValid },
            pinned: { $0.notYetValid }, words: ["is trusted although it is not valid yet"]),
        Row(
            testDescription: "one for another host", shown: { $0.wrongName }, code: unknown,
            words: ["it was issued for another name", "names    elsewhere.example"]),
        Row(
            testDescription: "one for another host, pinned", shown: { $0.wrongName }, pinned: { $0.wrongName },
            words: ["is trusted although it was issued for another name"]),
        Row(
            testDescription: "two defects at once", shown: { $0.expiredSelfSigned }, code: unknown,
            words: ["it is self-signed", ", and ", "it has expired", "  it expired on "]),
        Row(
            testDescription: "two defects at once, pinned", shown: { $0.expiredSelfSigned },
            pinned: { $0.expiredSelfSigned }, words: ["is trusted although it has expired"]),
    ]

    @Test("Without a terminal a request succeeds, or fails with all facts for users and programs", arguments: rows)
    func headless(_ row: Row) async throws {
        let all = try TestCertificates.shared()
        let identity = row.shown(all)
        try await Bench.run { bench in
            try await Servers.run(identity) { server in
                if let pinned = row.pinned {
                    try await bench.pin(pinned(all), host: row.host, port: server.port)
                }
                guard let code = row.code else {
                    let answer = try await bench.asAction { try await bench.get(server.port, host: row.host) }
                    #expect(answer.text == "hi")
                    #expect(bench.notices.map { $0.contains(row.words.first ?? "?") } == row.words.map { _ in true })
                    return
                }
                let problem = try #require(
                    await failure { try await bench.asAction { _ = try await bench.get(server.port, host: row.host) } })
                #expect(problem.code == code && problem.exit == .denied)
                #expect(bench.notices.isEmpty)
                let fingerprint = Fingerprint.text(identity.certificate.fingerprint)
                let address = "\(row.host):\(server.port)"
                let command = "martlet auth trust add \(address) --fingerprint \(fingerprint)"
                let facts = [address, identity.certificate.subject, identity.certificate.issuer, fingerprint, command]
                for words in row.words + facts { #expect(problem.message.contains(words), "\(problem.message)") }
                #expect(problem.details["server"]?.string == address)
                #expect(problem.details["fingerprint"]?.string == fingerprint)
                #expect(problem.details["command"]?.string == command)
                #expect(problem.details["defects"]?.array?.isEmpty == false)
                let trusted = row.pinned.map { Fingerprint.text($0(all).certificate.fingerprint) }
                #expect(problem.details["trusted"]?.string == trusted)
                if let trusted { #expect(problem.message.shows(trusted)) }
                let sawNothing = try await server.sawNothing()
                #expect(sawNothing)
            }
        }
    }

    @Test("The user is asked exactly when the certificate is refused, after seeing the facts", arguments: rows)
    func asked(_ row: Row) async throws {
        let all = try TestCertificates.shared()
        let identity = row.shown(all)
        let person = ScriptedPerson(says: true)
        try await Bench.run { bench in
            try await Servers.run(identity) { server in
                if let pinned = row.pinned {
                    try await bench.pin(pinned(all), host: row.host, port: server.port)
                }
                let answer = try await bench.asAction(by: person) { try await bench.get(server.port, host: row.host) }
                #expect(answer.text == "hi" && server.record.requests.count == 1)
                guard row.code != nil else { return #expect(person.questions.isEmpty) }
                let address = "\(row.host):\(server.port)"
                #expect(person.questions.map(\.id) == ["auth.trust"])
                #expect(person.questions.first?.prompt == "Trust this certificate for \(address) from now on?")
                let explanation = try #require(bench.notices.first)
                for words in row.words { #expect(explanation.contains(words), "\(explanation)") }
                #expect(explanation.shows(Fingerprint.text(identity.certificate.fingerprint)))
                #expect(!explanation.contains("--fingerprint"))
                let pin = try #require(
                    try bench.pins.pin(of: ServerAddress(host: row.host, port: server.port)))
                #expect(pin == .of(identity, host: row.host, port: server.port))
                #expect(pin.certificate.encoded == identity.certificate.encoded && pin.how == .asked)
            }
        }
    }

    @Test("After a no, nothing is sent or stored")
    func declined() async throws {
        let all = try TestCertificates.shared()
        for (pinned, code) in [(nil, Self.unknown), (all.otherSelfSigned, Self.changed)] {
            try await Bench.run { bench in
                try await Servers.run(all.selfSigned) { server in
                    if let pinned { try await bench.pin(pinned, port: server.port) }
                    let problem = await failure {
                        try await bench.asAction(by: ScriptedPerson(says: false)) {
                            _ = try await bench.get(server.port)
                        }
                    }
                    #expect(problem?.code == code && problem?.exit == .denied)
                    #expect(problem?.message.contains("you did not trust the certificate of ") == true)
                    let sawNothing = try await server.sawNothing()
                    #expect(sawNothing)
                    let kept = try await bench.pins.all()
                    #expect(kept.map(\.certificate.fingerprint) == [pinned?.certificate.fingerprint].compactMap(\.self))
                }
            }
        }
    }

    @Test("A name only in the common name does not count")
    func commonName() async throws {
        let all = try TestCertificates.shared()
        var draft = CertificateDraft(
            commonName: "localhost", notBefore: all.good.certificate.notBefore, notAfter: all.good.certificate.notAfter)
        draft.names = ["elsewhere.example"]
        let identity = try draft.signed(by: all.authority)
        try await Bench.run { bench in
            try await Servers.run(identity) { server in
                let problem = await failure { _ = try await bench.get(server.port, host: "localhost") }
                #expect(problem?.details["defects"] == ["it was issued for another name"])
                let sawNothing = try await server.sawNothing()
                #expect(sawNothing)
            }
        }
    }

    @Test("A pin for another port or host does not count")
    func otherServer() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            try await Servers.run(all.selfSigned) { server in
                try await bench.pin(all.selfSigned, port: server.port == 1 ? 2 : server.port - 1)
                try await bench.pin(all.selfSigned, host: "localhost", port: server.port)
                let problem = await failure { _ = try await bench.get(server.port) }
                #expect(problem?.code == Self.unknown)
                let sawNothing = try await server.sawNothing()
                #expect(sawNothing)
                #expect(try await bench.get(server.port, host: "localhost").text == "hi")
                #expect(try await bench.get(server.port, host: "LOCALHOST").text == "hi")
            }
        }
    }

    @Test("An IPv6 server is shown with brackets, and its pin is found again")
    func sixth() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            try await Servers.run(all.good, at: .loopback6) { server in
                let answer = try await bench.get(server.port, host: "[::1]")
                #expect(answer.text == "hi")
            }
            try await Servers.run(all.selfSigned, at: .loopback6) { server in
                let problem = await failure { _ = try await bench.get(server.port, host: "[::1]") }
                #expect(problem?.details["server"]?.string == "[::1]:\(server.port)")
                #expect(problem?.message.contains("auth trust add '[::1]:\(server.port)' --fingerprint") == true)
                let sawNothing = try await server.sawNothing()
                #expect(sawNothing)
                try await bench.pin(all.selfSigned, host: "::1", port: server.port)
                #expect(try await bench.get(server.port, host: "[::1]").text == "hi")
            }
        }
    }

    @Test("A short RSA key is a defect, which a pin covers without a warning")
    func weakKey() async throws {
        let all = try TestCertificates.shared()
        try await OpenSSLServer.run(all.weakKey, ["-cipher", "DEFAULT:@SECLEVEL=0"]) { port in
            try await Bench.run { bench in
                let problem = await failure { _ = try await bench.get(port) }
                #expect(problem?.code == Self.unknown && problem?.exit == .denied)
                #expect(problem?.message.contains("its key of 1024 bits is too short") == true)
                try await bench.pin(all.weakKey, port: port)
                let answer = try await bench.asAction { try await bench.get(port) }
                #expect(answer.status == .ok && bench.notices.isEmpty)
            }
        }
    }
}

extension String {
    /// Whether it contains a fingerprint, which may be broken over lines.
    fileprivate func shows(_ fingerprint: String) -> Bool { filter { !$0.isWhitespace }.contains(fingerprint) }
}
