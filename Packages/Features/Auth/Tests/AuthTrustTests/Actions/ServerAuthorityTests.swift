import AuthTrust
import Capabilities
import CoreTesting
import HTTPTesting
import Testing

@Suite("Authority in a profile", .timeLimit(.minutes(10)))
struct ServerAuthorityTests {
    @Test(
        "The authority applies only to the profile's server, even when the profile is the default",
        arguments: [false, true])
    func alone(isInUse: Bool) async throws {
        let good = try TestCertificates.shared().good
        try await Servers.run(good) { own in
            try await Servers.run(good) { other in
                try await TemporaryDirectory.run { folder in
                    let file = try TestCertificates.shared().authority.write(into: folder, as: "authority").chain
                    let lab = "{server: 'https://127.0.0.1:\(own.port)', auth: {cacert: '\(file)'}}"
                    let settings = "{profiles: {lab: \(lab)}\(isInUse ? ", profile: 'lab'" : "")}"
                    try await TrustSession.run(settings: settings) { trusting in
                        let greeting = try await trusting.get(own.port)
                        #expect(greeting == "hi")
                        let refused = await #expect(throws: TrustError.self) { try await trusting.get(other.port) }
                        #expect(refused?.code == "auth.certificate-unknown")
                        let isUntouched = try await other.sawNothing()
                        #expect(isUntouched)
                    }
                    // Without the authority, its own server is refused as well.
                    let bare = "{profiles: {lab: {server: 'https://127.0.0.1:\(own.port)'}}}"
                    let refused = try await TrustSession.run(settings: bare) { trusting in
                        await #expect(throws: TrustError.self) { try await trusting.get(own.port) }
                    }
                    #expect(refused?.code == "auth.certificate-unknown")
                }
            }
        }
    }
}
