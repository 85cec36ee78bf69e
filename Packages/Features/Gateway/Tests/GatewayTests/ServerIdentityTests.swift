import Capabilities
import CoreTesting
import Cryptography
import FileKit
import HTTPTesting
import Registry
import Settings
import Synchronization
import Testing

@testable import Gateway

@Suite("The gateway's certificate")
struct ServerIdentityTests {
    private func identity(_ folder: String, _ settings: String, days: Int64 = 0) throws -> Identity? {
        let test = try TestHost([MemoryVault.self, GatewayFeature.self], settings: settings, folder: folder)
        let surroundings = Surroundings(
            environment: [:], locations: test.host.locations, clock: ContinuousClock(),
            now: { Timestamp(microseconds: 1_800_000_000_000_000 + days * 86_400_000_000) })
        let own = GatewaySettings(reading: test.host.settings.view(for: "gateway"))
        return try ServerIdentity(settings: own, surroundings: surroundings).load()
    }

    @Test("Without TLS there is no certificate")
    func none() async throws {
        try await TemporaryDirectory.run { folder in
            let none = try identity(folder, "{}")
            #expect(none == nil)
        }
    }

    @Test("The gateway's own certificate stays the same until it expires, in a file that only its owner can read")
    func own() async throws {
        try await TemporaryDirectory.run { folder in
            let settings = "{gateway: {tls: 'own', hosts: ['lab.local'], address: '10.0.0.7'}}"
            let first = try #require(try identity(folder, settings))
            for host in ["localhost", "127.0.0.1", "lab.local", "10.0.0.7"] {
                #expect(first.certificate.matches(host: host), "\(host)")
            }
            #expect(try Files.info("\(folder)/data/gateway.pem").mode == 0o600)
            #expect(try identity(folder, settings, days: 1800)?.certificate == first.certificate)
            let later = try #require(try identity(folder, settings, days: 1900))
            #expect(later.certificate != first.certificate)
            #expect(try identity(folder, settings, days: 1900)?.certificate == later.certificate)
        }
    }

    @Test("A damaged own certificate is an error, since a new one would look like an attack to clients")
    func damaged() async throws {
        try await TemporaryDirectory.run { folder in
            try write("-----BEGIN CERTIFICATE-----\nrubbish\n", to: "\(folder)/data/gateway.pem")
            #expect(throws: CryptographyError.self) { try identity(folder, "{gateway: {tls: 'own'}}") }
        }
    }

    @Test("A given certificate is read from its files; the key may be in the same file")
    func given() async throws {
        try await TemporaryDirectory.run { folder in
            let good = try TestCertificates.shared().good
            let files = try good.write(into: folder, as: "good")
            let two = "{gateway: {tls: 'given', certificate: '\(files.chain)', 'certificate-key': '\(files.key)'}}"
            #expect(try identity(folder, two)?.certificate == good.certificate)
            try write(try read(files.chain) + read(files.key), to: "\(folder)/both.pem")
            // Relative to the folder in which the command runs.
            #expect(
                try identity(folder, "{gateway: {tls: 'given', certificate: 'both.pem'}}")?.certificate
                    == good.certificate)
            let missing = #expect(throws: ServingError.self) { try identity(folder, "{gateway: {tls: 'given'}}") }
            #expect(missing?.message.contains("gateway.certificate") == true)
            #expect(throws: FileError.self) { try identity(folder, "{gateway: {tls: 'given', certificate: 'no.pem'}}") }
        }
    }
}
