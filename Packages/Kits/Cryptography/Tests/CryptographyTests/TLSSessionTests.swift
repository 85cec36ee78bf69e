import COpenSSL
import Capabilities
import CoreTesting
import Glibc
import Testing

@testable import Cryptography

@Suite("TLS session", .timeLimit(.minutes(5)))
struct TLSSessionTests {
    private let identity: Identity
    private let serving: TLSServerContext
    private let trusting: ClientContext

    init() throws {
        identity = try draft("lab", ["lab.local", "127.0.0.1"]).selfSigned()
        serving = try TLSServerContext(identity: identity)
        trusting = try ClientContext()
        try trusting.install(ServerVerification(host: "lab.local", port: 443) { _ in .accepted })
    }

    /// The two sides of a finished handshake.
    private struct Connection: ~Copyable {
        var client: TLSSession
        var server: TLSSession
    }

    private func connect(
        _ sockets: borrowing SocketPair, offering protocols: String = "\u{8}http/1.1"
    ) throws -> Connection {
        var client = try trusting.session(sockets.client, offering: protocols)
        var server = try TLSSession(serving, descriptor: sockets.server)
        let result = shake(&client, &server)
        try #require(result.client == .done(0) && result.server == .done(0))
        return Connection(client: client, server: server)
    }

    @Test("A megabyte is sent each way over sockets with small buffers")
    func echo() throws {
        let sockets = try SocketPair()
        var pair = try connect(sockets)
        #expect(pair.server.version == "TLSv1.3")
        #expect(pair.server.negotiatedProtocol == "http/1.1" && pair.client.negotiatedProtocol == "http/1.1")
        #expect(try pair.client.peerCertificate() == identity.certificate)
        #expect(try pair.server.peerCertificate() == nil)
        let text = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
        let there = transfer(text, from: &pair.client, to: &pair.server)
        #expect(there.received == text)
        // The socket was full several times; otherwise this test would show nothing.
        #expect(there.waits > 0)
        #expect(transfer(text, from: &pair.server, to: &pair.client).received == text)
    }

    private func transfer(
        _ text: [UInt8], from sender: inout TLSSession, to receiver: inout TLSSession
    ) -> (received: [UInt8], waits: Int) {
        var (sent, waits) = (0, 0)
        var received: [UInt8] = []
        while received.count < text.count {
            while sent < text.count {
                let progress = sender.write(text.span.extracting(sent...))
                guard case .done(let count) = progress else {
                    #expect(progress == .wantWrite)
                    waits += 1
                    break
                }
                sent += count
            }
            while true {
                let (progress, bytes) = receiver.read(upTo: 10_000)
                received += bytes
                guard case .done = progress else {
                    #expect(progress == .wantRead)
                    if progress != .wantRead { return (received, waits) }
                    break
                }
            }
        }
        return (received, waits)
    }

    @Test("An orderly end differs from a truncation, and a truncation is reported again")
    func ends() throws {
        var told = try SocketPair()
        var pair = try connect(told)
        #expect(pair.client.write([1, 2, 3].span) == .done(3))
        #expect(pair.client.shutdown() == .done(0))
        told.closeClient()
        #expect(pair.server.read(upTo: 10).1 == [1, 2, 3])
        #expect(pair.server.read(upTo: 10).0 == .closed)
        #expect(pair.server.read(upTo: 10).0 == .closed)

        var cut = try SocketPair()
        pair = try connect(cut)
        #expect(pair.client.write([1, 2, 3].span) == .done(3))
        cut.closeClient()
        #expect(pair.server.read(upTo: 10).1 == [1, 2, 3])
        #expect(pair.server.read(upTo: 10).0.failure?.kind == .truncated)
        #expect(pair.server.read(upTo: 10).0.failure?.kind == .truncated)
        #expect(pair.server.shutdown().failure?.kind == .truncated)
    }

    @Test("A side that has shut down can still read from the other")
    func halfClosed() throws {
        let sockets = try SocketPair()
        var pair = try connect(sockets)
        #expect(pair.client.shutdown() == .done(0))
        #expect(pair.server.read(upTo: 10).0 == .closed)
        #expect(pair.server.write([7].span) == .done(1))
        #expect(pair.client.read(upTo: 10).1 == [7])
        #expect(pair.server.shutdown() == .done(0))
        #expect(pair.client.read(upTo: 10).0 == .closed)
    }

    @Test("Writing to a closed peer is an error and raises no signal")
    func gone() throws {
        signal(SIGPIPE, SIG_DFL)
        var sockets = try SocketPair()
        var pair = try connect(sockets)
        sockets.closeClient()
        let progress = pair.server.write([UInt8](repeating: 0, count: 100).span)
        #expect(progress.failure?.kind == .connection)
        #expect(progress.failure?.message == "the connection failed: Broken pipe")
        #expect(pair.server.write([1].span) == progress)
    }

    @Test(
        "A peer that does not use TLS is reported as such",
        arguments: ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "SSH-2.0-x\r\n"])
    func plain(text: String) throws {
        let sockets = try SocketPair()
        var server = try TLSSession(serving, descriptor: sockets.server)
        #expect(server.handshake() == .wantRead)
        let sent = Array(text.utf8)
        #expect(unsafe send(sockets.client, sent, sent.count, 0) == sent.count)
        let error = server.handshake().failure
        #expect(error?.kind == .notTLS)
        #expect(error?.message.contains("HTTP") == text.hasPrefix("GET"))
    }

    @Test(
        "A peer that leaves during the handshake or sends garbage is an error", arguments: [0, 1, 5, 50, 200])
    func brokenHandshake(kept: Int) throws {
        // The first message of a real client, recorded.
        let recording = try SocketPair()
        var client = try trusting.session(recording.client)
        #expect(client.handshake() == .wantRead)
        var hello = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(recording.server, &hello, hello.count, 0)
        try #require(count > 200)

        var cut = try SocketPair()
        var server = try TLSSession(serving, descriptor: cut.server)
        #expect(unsafe send(cut.client, hello, kept, 0) == kept)
        cut.closeClient()
        #expect(server.handshake().failure?.kind == .truncated)

        let noisy = try SocketPair()
        server = try TLSSession(serving, descriptor: noisy.server)
        var generator = SeededGenerator(seed: UInt64(kept))
        for index in kept..<count { hello[index] = UInt8.random(in: 0...255, using: &generator) }
        #expect(unsafe send(noisy.client, hello, count, 0) == count)
        let progress = server.handshake()
        #expect(progress.failure != nil || progress == .wantRead)
    }

    @Test("A client that offers only unsupported protocols is refused, and one that offers none is accepted")
    func protocols() throws {
        let sockets = try SocketPair()
        var client = try trusting.session(sockets.client, offering: "\u{2}h2")
        var server = try TLSSession(serving, descriptor: sockets.server)
        let result = shake(&client, &server)
        #expect(result.client.failure?.kind == .handshake)
        #expect(result.server.failure?.kind == .handshake)
        let silent = try SocketPair()
        let willing = try connect(silent, offering: "")
        #expect(willing.server.negotiatedProtocol == nil)
        let both = try SocketPair()
        let chosen = try connect(both, offering: "\u{2}h2\u{8}http/1.1")
        #expect(chosen.server.negotiatedProtocol == "http/1.1")
    }

    @Test("A TLS 1.2 client is accepted, and a TLS 1.1 client is refused")
    func versions() throws {
        for (version, served) in [(TLS1_2_VERSION, true), (TLS1_1_VERSION, false)] {
            let old = try ClientContext(authorities: identity.chain, newest: version)
            let sockets = try SocketPair()
            var client = try old.session(sockets.client)
            var server = try TLSSession(serving, descriptor: sockets.server)
            let result = shake(&client, &server)
            #expect((result.server == .done(0)) == served)
            #expect((result.client == .done(0)) == served)
            if served { #expect(server.version == "TLSv1.2") }
        }
    }

    @Test("A server with client authorities accepts only clients with their certificates")
    func clientCertificates() throws {
        let authority = try draft("people", authority: true).selfSigned()
        let demanding = try TLSServerContext(identity: identity, clientAuthorities: authority.chain)
        let person = try draft("person").signed(by: authority)
        let stranger = try draft("person").selfSigned()
        for (shown, welcome) in [(person, true), (stranger, false), (nil, false)] as [(Identity?, Bool)] {
            let context = try ClientContext(authorities: identity.chain, identity: shown)
            let sockets = try SocketPair()
            var client = try context.session(sockets.client)
            var server = try TLSSession(demanding, descriptor: sockets.server)
            let result = shake(&client, &server)
            if welcome {
                #expect(result.server == .done(0))
                #expect(try server.peerCertificate() == person.certificate)
            } else {
                #expect(result.server.failure?.kind == .untrusted)
            }
        }
    }

    @Test("A key that is too short for TLS is refused when the server context is created")
    func weakServer() throws {
        let weak = try draft("lab", key: .rsa(bits: 1024)).selfSigned()
        let error = #expect(throws: CryptographyError.self) { try TLSServerContext(identity: weak) }
        #expect(error?.kind == .key)
        #expect(error?.message == "the certificate of CN=lab cannot be used for TLS: ee key too small")
    }

    @Test(
        "The openssl client verifies the chain and gets a response", arguments: ["-tls1_3", "-tls1_2"])
    func realPeer(version: String) throws {
        let root = try draft("root", authority: true).selfSigned()
        let middle = try draft("middle", authority: true).signed(by: root)
        let leaf = try draft("lab", ["127.0.0.1"], key: .rsa(bits: 2048)).signed(by: middle)
        let context = try TLSServerContext(identity: leaf)
        let listener = try Listener()
        defer { listener.close() }
        try TemporaryDirectory.runNow { directory in
            try write(root.chainPEM, to: "\(directory)/root.pem")
            let client = Tool(
                "printf 'hello\\n' | timeout 20 openssl s_client \(version) -connect 127.0.0.1:\(listener.port) "
                    + "-CAfile \(directory)/root.pem -verify_return_error -verify_ip 127.0.0.1 -alpn h2,http/1.1 "
                    + "-ign_eof 2>&1")
            let socket = try listener.accept()
            var server = try TLSSession(context, descriptor: socket)
            #expect(try wait(socket) { server.handshake() } == .done(0))
            #expect(server.negotiatedProtocol == "http/1.1")
            var received: [UInt8] = []
            while !received.contains(10) {
                var bytes: [UInt8] = []
                let progress = try wait(socket) {
                    let result = server.read(upTo: 100)
                    bytes = result.1
                    return result.0
                }
                guard case .done = progress else { break }
                received += bytes
            }
            #expect(received == Array("hello\n".utf8))
            let answer = Array("and goodbye\n".utf8)
            #expect(try wait(socket) { server.write(answer.span) } == .done(answer.count))
            #expect(try wait(socket) { server.shutdown() } == .done(0))
            // The client answers the close with its own.
            #expect(try wait(socket) { server.read(upTo: 1).0 } == .closed)
            close(socket)
            let text = client.output()
            #expect(text.contains("Verify return code: 0 (ok)"))
            #expect(text.contains("ALPN protocol: http/1.1"))
            #expect(text.contains("and goodbye\n"))
        }
    }

    /// Repeats a step whenever the socket is ready for it.
    private func wait(_ socket: Int32, _ step: () -> TLSProgress) throws -> TLSProgress {
        while true {
            let progress = step()
            var events: Int16
            switch progress {
            case .wantRead: events = Int16(POLLIN)
            case .wantWrite: events = Int16(POLLOUT)
            case .done, .closed, .failed: return progress
            }
            var entry = pollfd(fd: socket, events: events, revents: 0)
            try #require(unsafe poll(&entry, 1, 20_000) == 1, "nothing came within 20 seconds")
        }
    }
}

/// Listens on a free port of the loopback interface.
private struct Listener {
    let descriptor: Int32
    let port: Int

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let done = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        try #require(done)
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    func accept() throws -> Int32 {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        try #require(unsafe poll(&entry, 1, 20_000) == 1, "nobody connected within 20 seconds")
        let connection = Glibc.accept(descriptor, nil, nil)
        try #require(connection >= 0)
        return connection
    }

    func close() { Glibc.close(descriptor) }
}
