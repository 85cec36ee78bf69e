import Capabilities
import Cryptography
import HTTPServer
import HTTPTesting
import HostKit
import HostTesting
import JSON
import KamiwazaTesting
import Settings
import Testing

@testable import Auth

@Suite("Certificate authority of one server", .timeLimit(.minutes(10)))
struct AuthorityTests {
    private func withServer(_ body: (KamiwazaServer, inout TestWorkbench, _ file: String) async throws -> Void)
        async throws
    {
        var setup = KamiwazaSetup()
        setup.tls = try TLSServerContext(identity: TestCertificates.shared().good)
        try await KamiwazaServer.run(setup) { server in
            try await TestWorkbench.withAuth { bench in
                let file = try bench.write(TestCertificates.shared().authority.chainPEM, to: "lab-ca.pem")
                try await body(server, &bench, file)
            }
        }
    }

    @Test("The authority is saved with the server and removed on request")
    func add() async throws {
        try await withServer { server, bench, file in
            let add: JSONObject = ["name": "lab", "address": .string(server.origin)]
            #expect(try await bench.failure("auth.server.add", add)?.code == "auth.certificate-unknown")
            bench.options.settings = ["auth.cacert=\(file)"]
            let added = try await bench.perform("auth.server.add", add)
            #expect(added["cacert"]?.string == file)
            #expect(try bench.readSettings()["profiles"]?["lab"]?["auth"]?["cacert"]?.string == file)
            bench.options.settings = []
            #expect(try await bench.perform("auth.server.check").exit == .done)
            #expect(try await bench.perform("auth.server.list").json[0]?["cacert"]?.string == file)
            let forgotten = try await bench.perform("auth.server.set", ["name": "lab", "no-cacert": true])
            #expect(forgotten["cacert"] == nil)
            #expect(try await bench.failure("auth.server.check")?.code == "auth.certificate-unknown")
            bench.options.settings = ["auth.cacert=\(file)"]
            #expect(try await bench.perform("auth.server.set", ["name": "lab"])["cacert"]?.string == file)
            bench.options.settings = []
            #expect(try await bench.perform("auth.server.check").exit == .done)
        }
    }

    @Test("Another server that gets the name does not inherit the authority")
    func other() async throws {
        try await withServer { server, bench, file in
            bench.options.settings = ["auth.cacert=\(file)"]
            try await bench.perform("auth.server.add", ["name": "lab", "address": .string(server.origin)])
            bench.options.settings = []
            // Adding the same server again keeps its authority.
            try await bench.perform("auth.server.add", ["name": "lab", "address": .string(server.origin)])
            #expect(try bench.readSettings()["profiles"]?["lab"]?["auth"]?["cacert"]?.string == file)
            try await KamiwazaServer.run { plain in
                try await bench.perform("auth.server.add", ["name": "lab", "address": .string(plain.origin)])
                #expect(try bench.readSettings()["profiles"]?["lab"]?["auth"]?["cacert"] == nil)
            }
        }
    }

    @Test(
        "An unreadable file or one without a certificate is rejected before any request",
        arguments: [("gone.pem", "no such file"), ("empty.pem", "BEGIN CERTIFICATE"), ("key.pem", "BEGIN CERTIFICATE")])
    func badFile(name: String, words: String) async throws {
        try await withServer { server, bench, _ in
            _ = try bench.write("", to: "empty.pem")
            _ = try bench.write("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", to: "key.pem")
            bench.options.settings = ["auth.cacert=\(name)"]
            let failure = try await bench.failure(
                "auth.server.add", ["name": "lab", "address": .string(server.origin)])
            #expect(failure?.code == "auth.authority" && failure?.exit == .usage)
            #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
            #expect(failure?.message.contains("cannot use \(bench.folder)/\(name) as a certificate authority") == true)
            #expect(server.requests.isEmpty)
            #expect(try bench.readSettings() == [:])
        }
    }

    @Test("Changing the authority requires exactly one option")
    func usage() async throws {
        try await withServer { server, bench, file in
            bench.options.settings = ["auth.cacert=\(file)"]
            try await bench.perform("auth.server.add", ["name": "lab", "address": .string(server.origin)])
            let both = try await bench.failure("auth.server.set", ["name": "lab", "no-cacert": true])
            bench.options.settings = []
            let neither = try await bench.failure("auth.server.set", ["name": "lab"])
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
