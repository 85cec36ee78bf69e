import Cryptography
import FileKit
import HTTPTesting
import JSON
import KamiwazaTesting
import Testing

@Suite("Auth in a project that is not trusted", .timeLimit(.minutes(5)))
struct AuthProjectTests {
    @Test("A project, trusted or not, cannot send a session to another server")
    func server() async throws {
        try await KamiwazaServer.run { thief in
            try await AuthHome.with { home in
                try await home.signIn()
                try write("{profiles: {lab: {server: '\(thief.api)'}}}", to: "\(home.path)/work/.martlet/config.json")
                let untrusted = try await home.shell("cd work && $M auth whoami --json")
                #expect(untrusted.code == 0 && thief.requests.isEmpty)
                #expect(try untrusted.output.json()["server"]?.string == home.server.api)
                #expect(untrusted.errors.contains("is not trusted"))

                #expect(try await home.shell("cd work && $M config trust .").code == 0)
                let trusted = try await home.shell("cd work && $M auth whoami")
                #expect(trusted.code == 3 && trusted.errors.contains("not signed in"), "\(trusted.errors)")
                #expect(thief.requests.allSatisfy { $0.credential == .none })
                #expect(try await home.martlet("auth whoami").code == 0)
            }
        }
    }

    @Test("A project cannot add a server, an authority, a certificate or a client name, or choose the secret store")
    func additions() async throws {
        try await AuthHome.with { home in
            let project = "\(home.path)/work/.martlet/config.json"
            for (text, key) in [
                ("{profiles: {evil: {server: 'https://evil.example'}}}", "profiles.evil.server"),
                ("{auth: {cacert: '/etc/passwd'}}", "auth.cacert"),
                ("{auth: {certificate: '/etc/passwd'}}", "auth.certificate"),
                ("{auth: {'certificate-key': '/etc/passwd'}}", "auth.certificate-key"),
                ("{auth: {client: 'evil.example'}}", "auth.client"),
                ("{auth: {'keep-unlocked': '8999h'}}", "auth.keep-unlocked"),
                ("{auth: {vault: 'desktop'}}", "auth.vault"),
            ] {
                try write(text, to: project)
                let shown = try await home.shell("cd work && $M config show \(key) --all --json")
                #expect(shown.code == 0, "\(shown.errors)")
                for value in ["example", "passwd", "8999h", "desktop"] {
                    #expect(!shown.output.contains("\(value)\""), "\(shown.output)")
                }
                let list = try await home.shell("cd work && $M auth server list --json")
                #expect(list.code == 0 && list.output == "[]\n", "\(list.output)")
                #expect(list.errors.contains("config trust"), "\(key): \(list.errors)")
            }
        }
    }

    @Test("A project sets authorities only after its settings were read and trusted")
    func authority() async throws {
        let certificates = try TestCertificates.shared()
        try await AuthHome.with({ $0.tls = try TLSServerContext(identity: certificates.good) }) { home in
            try write(certificates.authority.chainPEM, to: "\(home.path)/work/ca.pem")
            try write("{auth: {cacert: '\(home.path)/work/ca.pem'}}", to: "\(home.path)/work/.martlet/config.json")
            let add = "cd work && $M auth server add lab \(home.server.origin)"
            let untrusted = try await home.shell(add)
            #expect(untrusted.code == 3 && home.server.requests.isEmpty)
            #expect(try await home.shell("cd work && $M config trust .").code == 0)
            let trusted = try await home.shell(add)
            #expect(trusted.code == 0, "\(trusted.errors)")
        }
    }
}

@Suite("User-supplied authorities", .timeLimit(.minutes(5)))
struct AuthAuthorityTests {
    @Test("An option, a setting or SSL_CERT_FILE makes servers of these authorities trusted")
    func sources() async throws {
        let certificates = try TestCertificates.shared()
        for (identity, isTheirs) in [(certificates.good, true), (certificates.unknownIssuer, false)] {
            try await AuthHome.with({ $0.tls = try TLSServerContext(identity: identity) }) { home in
                try write(certificates.authority.chainPEM, to: "\(home.path)/ca.pem")
                let verify = "auth trust verify \(home.server.origin)"
                let none = try await home.martlet(verify)
                #expect(none.code == 3)
                let runs = [
                    try await home.martlet("\(verify) --cacert ca.pem"),
                    try await home.martlet("\(verify) --cacert=\(home.path)/ca.pem"),
                    try await home.martlet(verify, adding: ["SSL_CERT_FILE": "\(home.path)/ca.pem"]),
                    try await home.martlet("\(verify) --set auth.cacert=\(home.path)/ca.pem"),
                ]
                for run in runs {
                    #expect(run.code == (isTheirs ? 0 : 3), "\(run.errors)")
                    #expect(run.output.contains(isTheirs ? "system" : "unknown"))
                }
                #expect(home.server.requests.isEmpty)
                let login = try await home.martlet("auth server add lab \(home.server.origin) --cacert ca.pem")
                #expect(login.code == (isTheirs ? 0 : 3))
                #expect(home.server.requests.isEmpty != isTheirs)
            }
        }
    }

    @Test("An unreadable authority file is named, and nothing is sent", arguments: ["absent.pem", "empty.pem", "."])
    func unreadable(file: String) async throws {
        let certificates = try TestCertificates.shared()
        try await AuthHome.with({ $0.tls = try TLSServerContext(identity: certificates.good) }) { home in
            try write("", to: "\(home.path)/empty.pem")
            let run = try await home.martlet("auth server add lab \(home.server.origin) --cacert \(file)")
            #expect(run.code != 0 && run.code != 3 && run.errors.contains(file), "\(run.code) \(run.errors)")
            #expect(home.server.requests.isEmpty)
        }
    }
}
