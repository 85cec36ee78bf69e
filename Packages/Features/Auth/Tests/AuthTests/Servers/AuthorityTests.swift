import Capabilities
import Cryptography
import HTTPServer
import HTTPTesting
import JSON
import KamiwazaTesting
import Settings
import Testing

@testable import Auth

@Suite("Certificate authority of one server", .timeLimit(.minutes(10)))
struct AuthorityTests {
    private func withServer(_ body: (KamiwazaServer, inout Desk, _ file: String) async throws -> Void) async throws {
        var setup = KamiwazaSetup()
        setup.tls = try TLSServerContext(identity: TestCertificates.shared().good)
        try await KamiwazaServer.run(setup) { server in
            try await Desk.run { desk in
                let file = try desk.write(TestCertificates.shared().authority.chainPEM, to: "lab-ca.pem")
                try await body(server, &desk, file)
            }
        }
    }

    @Test("The authority is saved with the server and removed on request")
    func add() async throws {
        try await withServer { server, desk, file in
            let add: JSONObject = ["name": "lab", "address": .string(server.origin)]
            #expect(await desk.failure("auth.server.add", add)?.code == "auth.certificate-unknown")
            desk.flags = "{auth: {cacert: '\(file)'}}"
            let added = try await desk.run("auth.server.add", add)
            #expect(added["cacert"]?.string == file)
            #expect(try desk.kept()["profiles"]?["lab"]?["auth"]?["cacert"]?.string == file)
            desk.flags = "{}"
            #expect(try await desk.run("auth.server.check").exit == .done)
            #expect(try await desk.run("auth.server.list").json[0]?["cacert"]?.string == file)
            let forgotten = try await desk.run("auth.server.set", ["name": "lab", "no-cacert": true])
            #expect(forgotten["cacert"] == nil)
            #expect(await desk.failure("auth.server.check")?.code == "auth.certificate-unknown")
            desk.flags = "{auth: {cacert: '\(file)'}}"
            #expect(try await desk.run("auth.server.set", ["name": "lab"])["cacert"]?.string == file)
            desk.flags = "{}"
            #expect(try await desk.run("auth.server.check").exit == .done)
        }
    }

    @Test("Another server that gets the name does not inherit the authority")
    func other() async throws {
        try await withServer { server, desk, file in
            desk.flags = "{auth: {cacert: '\(file)'}}"
            try await desk.run("auth.server.add", ["name": "lab", "address": .string(server.origin)])
            desk.flags = "{}"
            // The same server again keeps it.
            try await desk.run("auth.server.add", ["name": "lab", "address": .string(server.origin)])
            #expect(try desk.kept()["profiles"]?["lab"]?["auth"]?["cacert"]?.string == file)
            try await KamiwazaServer.run { plain in
                try await desk.run("auth.server.add", ["name": "lab", "address": .string(plain.origin)])
                #expect(try desk.kept()["profiles"]?["lab"]?["auth"]?["cacert"] == nil)
            }
        }
    }

    @Test(
        "An unreadable file or one without a certificate is rejected before any request",
        arguments: [("gone.pem", "no such file"), ("empty.pem", "BEGIN CERTIFICATE"), ("key.pem", "BEGIN CERTIFICATE")])
    func badFile(name: String, words: String) async throws {
        try await withServer { server, desk, _ in
            _ = try desk.write("", to: "empty.pem")
            _ = try desk.write("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", to: "key.pem")
            desk.flags = "{auth: {cacert: '\(name)'}}"
            let failure = await desk.failure("auth.server.add", ["name": "lab", "address": .string(server.origin)])
            #expect(failure?.code == "auth.authority" && failure?.exit == .usage)
            #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
            #expect(failure?.message.contains("cannot use \(desk.folder)/\(name) as a certificate authority") == true)
            #expect(server.requests.isEmpty)
            #expect(try desk.kept() == [:])
        }
    }

    @Test("Changing the authority requires exactly one option")
    func usage() async throws {
        try await withServer { server, desk, file in
            desk.flags = "{auth: {cacert: '\(file)'}}"
            try await desk.run("auth.server.add", ["name": "lab", "address": .string(server.origin)])
            let both = await desk.failure("auth.server.set", ["name": "lab", "no-cacert": true])
            desk.flags = "{}"
            let neither = await desk.failure("auth.server.set", ["name": "lab"])
            #expect([both, neither].allSatisfy { $0?.exit == .usage && $0?.message.contains("--no-cacert") == true })
        }
    }

    @Test("A project that is not trusted cannot choose an authority", arguments: [false, true])
    func project(isTrusted: Bool) throws {
        var catalogue = SettingsCatalogue(features: ["auth"])
        catalogue.add(AuthSettings.declarations, of: "auth")
        catalogue.closeWithProfiles()
        let user = "{profile: 'lab', profiles: {lab: {server: 'https://lab.example'}}}"
        let project = "{profiles: {lab: {auth: {cacert: '/tmp/theirs.pem'}}}}"
        let settings = Settings(
            merging: [
                try SettingsLayer(origin: .user(file: "user"), text: Array(user.utf8)),
                try SettingsLayer(origin: .project(file: "project"), text: Array(project.utf8)),
            ], overrides: [], catalogue: catalogue
        ) { _, _ in isTrusted }
        let credentials = AuthSettings.credentials(settings.view(for: "auth"), [:])
        #expect(
            credentials.serverAuthorities
                == (isTrusted ? ["lab.example:443": .systemAnd(file: "/tmp/theirs.pem")] : [:]))
        #expect(credentials.authorities == .system)
    }
}
