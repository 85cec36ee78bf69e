import Capabilities
import CoreTesting
import FileKit
import Glibc
import SSHCore
import SSHTesting
import Synchronization
import Testing

@testable import SSHClient

@Suite("Hosts that do not speak SSH", .timeLimit(.minutes(5)))
struct FaultTests {
    /// The error of connecting to a host that does what the body says.
    private static func failing(
        _ lines: String = "", _ body: @escaping @Sendable (Int32) -> Void
    ) async throws -> SSHError {
        try await TemporaryDirectory.run { folder in
            let listener = try Listener()
            try listener.serve(body)
            let settings = try Server.settings(port: listener.port, in: folder, lines)
            return try await failure {
                try await SSHConnection.connect(to: settings, with: .standalone(loop: Server.loop)).close()
            }
        }
    }

    private static func send(_ socket: Int32, _ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return unsafe Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Reads until the client ends the connection.
    private static func wait(_ socket: Int32) {
        var byte: UInt8 = 0
        while unsafe recv(socket, &byte, 1, 0) > 0 {}
    }

    @Test("Silence, an early end, a banner without end and nonsense are errors that name the host")
    func strangers() async throws {
        let silent = try await Self.failing("ConnectTimeout 1") { Self.wait($0) }
        #expect(silent.kind == .timedOut && silent.exit == .unreachable && silent.message.contains("127.0.0.1"))
        let early = try await Self.failing { socket in _ = Self.send(socket, "SSH-2.0-early\r\n") }
        #expect(early.kind == .handshake, "\(early)")
        let closed = try await Self.failing { _ in }
        #expect(closed.kind == .handshake, "\(closed)")
        let endless = try await Self.failing { socket in
            while Self.send(socket, String(repeating: "no version\r\n", count: 100)) {}
        }
        #expect(endless.kind == .handshake && endless.message.contains("8.0 KiB"), "\(endless)")
        let nonsense = try await Self.failing { socket in
            _ = Self.send(socket, "SSH-2.0-x\r\n" + String(repeating: "A", count: 1 << 16))
            Self.wait(socket)
        }
        #expect(nonsense.kind == .handshake, "\(nonsense)")
    }

    @Test("A file that is not libssh2, or is none, is told with its path")
    func library() throws {
        #expect(SSHLibrary.reason(against: "/nonexistent/libssh2.so.1")?.contains("/nonexistent/libssh2.so.1") == true)
        #expect(SSHLibrary.reason(against: "libc.so.6") == "libc.so.6 has no libssh2_keepalive_send")
        try SSHLibrary.require()
    }

    @Test(
        "A port where nobody listens, and a name without an address, are unreachable, and a cancelled task stops at once"
    )
    func unreachable() async throws {
        try await TemporaryDirectory.run { folder in
            let port = try Listener().port
            let configuration = SSHConfiguration.standalone(loop: Server.loop)
            for line in ["", "HostName a.invalid"] {
                let settings = try Server.settings(port: port, in: folder, line)
                let error = try await failure {
                    try await SSHConnection.connect(to: settings, with: configuration).close()
                }
                #expect(error.kind == .unreachable && error.message.contains(settings.hostName), "\(error)")
            }
            let listener = try Listener()
            let reached = Promise<Void>()
            try listener.serve { socket in
                reached.settle(())
                Self.wait(socket)
            }
            let settings = try Server.settings(port: listener.port, in: folder)
            let waiting = Task {
                try await SSHConnection.connect(to: settings, with: configuration).close()
            }
            try await reached.value()
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }
}
