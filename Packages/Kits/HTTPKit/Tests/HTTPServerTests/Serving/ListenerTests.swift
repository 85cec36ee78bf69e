import Cryptography
import FileKit
import Glibc
import HTTPCore
import HTTPServer
import HTTPTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct ListenerTests {
    static let routes = [
        Route(.get, "/hello", "hello", "Says hello") { request in
            HTTPAnswer.text("hello over \(request.isSecure ? "TLS" : "plain") from \(request.peer)")
        },
        Route(.get, "/large", "large", "Five megabytes") { _ in
            HTTPAnswer.bytes([UInt8](repeating: 97, count: 5_000_000), type: "application/octet-stream")
        },
        Route(.post, "/count", "count", "Counts", .upload("Bytes")) { _, body in
            HTTPAnswer.text("\(try await body.bytes().count)")
        },
    ]

    @Test("one server listens over IPv4, IPv6, a Unix socket and TLS at once")
    func several() async throws {
        let certificates = try TestCertificates.shared()
        try await TemporaryDirectory.run { folder in
            let authority = try certificates.authority.write(into: folder, as: "authority").chain
            let context = try TLSServerContext(identity: certificates.viaIntermediate)
            try await withServer(
                Self.routes,
                { configuration in
                    configuration.addresses = [
                        .loopback(), .loopback6(), .unix("\(folder)/socket"), .loopback().secured(by: context),
                    ]
                }
            ) { server in
                #expect(server.addresses.map(\.isSecure) == [false, false, false, true])
                #expect(try await Curl.run("\(server.addresses[0])/hello") == "hello over plain from 127.0.0.1")
                #expect(try await Curl.run("-g", "\(server.addresses[1])/hello") == "hello over plain from ::1")
                #expect(
                    try await Curl.run("--unix-socket", "\(folder)/socket", "http://any.name/hello")
                        == "hello over plain from unix")
                var info = stat()
                #expect(unsafe stat("\(folder)/socket", &info) == 0 && info.st_mode & 0o777 == 0o600)
                let secure = "https://localhost:\(server.addresses[3].port ?? 0)"
                #expect(
                    try await Curl.run("--cacert", authority, "\(secure)/hello", "\(secure)/hello")
                        == "hello over TLS from 127.0.0.1hello over TLS from 127.0.0.1")
                #expect(try await Curl.bytes(["--cacert", authority, "\(secure)/large"]).count == 5_000_000)
                try Files.writeAtomically([UInt8](repeating: 1, count: 3_000_000), to: "\(folder)/upload")
                #expect(
                    try await Curl.run("--cacert", authority, "--data-binary", "@\(folder)/upload", "\(secure)/count")
                        == "3000000")
                #expect(
                    try await Curl.run("--cacert", authority, "--tlsv1.2", "--tls-max", "1.2", "\(secure)/hello")
                        .hasPrefix("hello over TLS"))
            }
            // The socket goes with its server.
            #expect(!Files.exists("\(folder)/socket"))
        }
    }

    @Test("a client without TLS, one that stops in the middle and one that goes harm nobody else")
    func brokenHandshakes() async throws {
        let context = try TLSServerContext(identity: try TestCertificates.shared().good)
        try await withServer(
            Self.routes,
            { configuration in
                configuration.addresses = [.loopback().secured(by: context)]
                configuration.limits.head = .milliseconds(300)
            }
        ) { server in
            let plain = try server.client()
            try await plain.send("GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let words = try await plain.receiveAll()
            #expect(!words.contains("HTTP/1.1 200"))
            let silent = try server.client()
            #expect(try await silent.receiveAll().isEmpty)
            try server.client().reset()
            #expect(try await Curl.run("-k", "https://localhost:\(server.port)/hello").hasPrefix("hello over TLS"))
        }
    }

    @Test("a socket that a dead server left is replaced, but no other file and no live server")
    func staleSocket() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/socket"
            let address = { (configuration: inout ServerConfiguration) in configuration.addresses = [.unix(path)] }
            try await withServer(Self.routes, address) { _ in
                await #expect(throws: ServerError.self) { try await withServer(Self.routes, address) { _ in } }
                let hello = try await Curl.run("--unix-socket", path, "http://localhost/hello")
                #expect(hello == "hello over plain from unix")
            }
            try await PythonPeer.run(
                source: """
                    import socket, sys
                    listener = socket.socket(socket.AF_UNIX)
                    listener.bind(sys.argv[1])
                    print(1)
                    """, [path]
            ) { _ in }
            #expect(Files.exists(path))
            try await withServer(Self.routes, address) { _ in
                let hello = try await Curl.run("--unix-socket", path, "http://localhost/hello")
                #expect(hello == "hello over plain from unix")
            }
            try Files.writeAtomically(Array("precious".utf8), to: path)
            await #expect(throws: ServerError.self) { try await withServer(Self.routes, address) { _ in } }
            #expect(try Files.read(path, limit: 100) == Array("precious".utf8))
        }
    }

    @Test("an address that is taken is an error with advice")
    func taken() async throws {
        try await withServer(Self.routes) { server in
            await #expect {
                try await withServer(Self.routes, { $0.addresses = [.loopback(port: UInt16(server.port))] }) { _ in }
            } throws: { error in
                (error as? ServerError)?.kind == .listen && "\(error)".contains("choose another port")
            }
        }
    }
}
