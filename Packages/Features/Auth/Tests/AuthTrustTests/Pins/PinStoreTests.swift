import AuthTrust
import Capabilities
import Cryptography
import HTTPTesting
import StorageKit
import Testing

@Suite("Pin store")
struct PinStoreTests {
    @Test("All facts of a certificate are stored, also across openings")
    func kept() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            let pins = [
                Pin.of(all.good, host: "::1", port: 8443, how: .fingerprint), .of(all.expired, port: 443),
                .of(all.selfSigned, port: 80), .of(all.wrongName, host: "lab.example", port: 443),
            ]
            for pin in pins { try await bench.pins.keep(pin) }
            let database = Bench.database(bench.folder)
            let read = try await PinStore(database: database).all()
            await database.close()
            #expect(Set(read) == Set(pins) && read.count == pins.count)
            #expect(read.map { "\($0.server)" } == ["127.0.0.1:80", "127.0.0.1:443", "[::1]:8443", "lab.example:443"])
        }
    }

    @Test("A second pin of a server replaces the first and counts as a withdrawal")
    func replaced() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            #expect(try bench.pins.withdrawals() == 0)
            try await bench.pin(all.selfSigned, port: 443)
            try await bench.pin(all.selfSigned, port: 444)
            #expect(try bench.pins.withdrawals() == 0)
            try await bench.pin(all.otherSelfSigned, port: 443)
            #expect(try bench.pins.withdrawals() == 1)
            let kept = try await bench.pins.all().map(\.certificate.fingerprint)
            #expect(kept == [all.otherSelfSigned, all.selfSigned].map(\.certificate.fingerprint))
        }
    }

    @Test("The servers with a pin are offered while typing")
    func offered() async throws {
        let all = try TestCertificates.shared()
        try await Bench.run { bench in
            try await bench.pin(all.selfSigned, port: 443)
            #expect(bench.pins.offered().map { "\($0.server)" } == ["127.0.0.1:443"])
        }
    }

    @Test("Removing reports whether there was a pin")
    func removed() async throws {
        let all = try TestCertificates.shared()
        let server = ServerAddress(host: "127.0.0.1", port: 443)
        try await Bench.run { bench in
            try await bench.pin(all.selfSigned, port: 443)
            let outcomes = [try await bench.pins.remove(server), try await bench.pins.remove(server)]
            #expect(outcomes == [true, false])
            #expect(try bench.pins.withdrawals() == 1)
            #expect(try bench.pins.pin(of: server) == nil)
        }
    }

    @Test("Host names match in any case")
    func lowerCase() throws {
        let all = try TestCertificates.shared()
        #expect(
            PresentedCertificate.of(all.good, host: "Lab.EXAMPLE").server
                == ServerAddress(host: "lab.example", port: 443))
    }

    @Test("Certificate names may contain any text")
    func nastyNames() async throws {
        let all = try TestCertificates.shared()
        var shown = PresentedCertificate.of(all.good, host: "lab'; DROP TABLE pins; --", port: 443)
        shown.names = ["a\"b", "c,d", "\u{1B}[2J", "ü", ""]
        shown.subject = "CN='x'\n\u{0}"
        let pin = Pin(
            server: shown.server, certificate: PinnedCertificate(shown), acceptedAt: Bench.now, how: .asked)
        try await Bench.run { bench in
            try await bench.pins.keep(pin)
            #expect(try await bench.pins.all() == [pin])
        }
    }
}
