import CoreTesting
import Cryptography
import FileKit
import Glibc
import HTTPCore
import HTTPTesting
import Testing

@testable import HTTPServer

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

    @Test("One server listens over IPv4, IPv6, a Unix socket and TLS at once")
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
            // The server removes its socket when it ends.
            #expect(!Files.exists("\(folder)/socket"))
        }
    }

    @Test("A server keeps serving after a client without TLS, a silent client and one that leaves in the handshake")
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

    @Test("A server replaces the socket of a dead server, but no other file and no live server's socket")
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

    @Test("A socket is accessible only to its owner, and the process's file mask does not change meanwhile")
    func mask() async throws {
        func mask() throws -> String? {
            let status = String(decoding: try Files.read("/proc/self/status", limit: 1 << 16), as: UTF8.self)
            return status.split(separator: "\n").first { $0.hasPrefix("Umask:") }.map(String.init)
        }
        let before = try #require(try mask())
        try await TemporaryDirectory.run { folder in
            let address = try #require(SocketAddress(path: "\(folder)/socket"))
            var during: String?
            let (made, file) = try SocketFile.make("\(folder)/socket") { () throws(ServerError) in
                do { during = try mask() } catch { Issue.record(error) }
                return try Listener.listen(address, "the socket")
            }
            defer { close(made) }
            var info = stat()
            #expect(unsafe stat(file.path, &info) == 0 && info.st_mode & 0o777 == 0o600)
            #expect(during == before)
        }
    }

    @Test("A server that starts while another one creates its socket is refused and leaves that socket alone")
    func amidst() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/socket"
            let address = try #require(SocketAddress(path: path))
            var refusal: ServerError?
            let (socket, file) = try SocketFile.make(path) { () throws(ServerError) in
                do throws(ServerError) {
                    let (socket, _) = try SocketFile.make(path) { () throws(ServerError) in
                        try Listener.listen(address, path)
                    }
                    close(socket)
                } catch {
                    refusal = error
                }
                return try Listener.listen(address, path)
            }
            #expect(refusal?.message.contains("that listens there") == true)
            file.remove()
            close(socket)
        }
    }

    @Test("Exactly one of several servers that start at one path at once gets it")
    func race() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/socket"
            for _ in 0..<20 {
                // A dead server's socket, so that each of the servers wants to remove it.
                let left = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
                let address = try #require(SocketAddress(path: path))
                #expect(unsafe address.withPointer { unsafe bind(left, $0, $1) } == 0)
                close(left)
                let made = await withTaskGroup(of: (Int32, SocketFile)?.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            do {
                                return try SocketFile.make(path) { () throws(ServerError) in
                                    try Listener.listen(address, path)
                                }
                            } catch {
                                return nil
                            }
                        }
                    }
                    return await group.reduce(into: [(Int32, SocketFile)]()) { all, one in
                        if let one { all.append(one) }
                    }
                }
                #expect(made.count == 1)
                for (socket, file) in made {
                    file.remove()
                    close(socket)
                }
                #expect(!Files.exists(path))
            }
        }
    }

    @Test("An address in use is an error with advice")
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
