import Capabilities
import CoreTesting
import FileKit
import Glibc
import LoopKit
import SSHClient
import SSHCore
import SSHTesting
import Synchronization
import Testing

@Suite("Forwarded connections", .timeLimit(.minutes(5)))
struct ForwardTests {
    /// Forwards a port to an echo server on this machine, by libssh2 or by the system's ssh, and passes where it listens.
    ///
    /// - Parameter connections: how many have ended before the forwarding is stopped.
    private func forwarding(
        _ key: String, connections: Int, at local: PortForward.Local = .port(0), to port: Int? = nil,
        options: [String] = [],
        _ body: @Sendable (String) async throws -> Void
    ) async throws -> [String] {
        let log = EventLog()
        try await Server.run(host: [key], options: options) { server in
            try server.trust(key)
            let echo = try Listener()
            for _ in 0..<3 { try echo.serve { Self.echo($0) } }
            let link = try await SSHHost.connect(to: server.settings(), with: .standalone(loop: Server.loop))
            let forward = try PortForward(at: local, loop: Server.loop)
            let destination = try SSHDestination(host: "127.0.0.1", port: port ?? echo.port)
            let running = Task {
                try await forward.run(to: destination, by: link) { log.add($0) }
            }
            try await body(forward.address)
            try await log.ended(connections)
            running.cancel()
            _ = await running.result
            await link.close()
        }
        return log.lines
    }

    /// Sends back what comes, until its end.
    private static func echo(_ socket: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return }
            var sent = 0
            while sent < count {
                let part = unsafe buffer.withUnsafeBytes {
                    unsafe send(socket, $0.baseAddress?.advanced(by: sent), count - sent, 0)
                }
                guard part > 0 else { return }
                sent += part
            }
        }
    }

    @Test(
        "Bytes pass in both directions, also half closed, several connections at once", arguments: ["ed25519", "rsa"])
    func both(key: String) async throws {
        let log = try await forwarding(key, connections: 3) { address in
            let port = address.split(separator: ":").last ?? ""
            #expect(address.hasPrefix("127.0.0.1:"))
            // Each side ends its half only after all has come.
            let script =
                "for n in 1 2 3; do (head -c 300000 /dev/zero | tr '\\0' $n | timeout 20 python3 -c \"import socket,sys\n"
                + "s = socket.create_connection(('127.0.0.1', \(port)))\n"
                + "import threading\n"
                + "d = sys.stdin.buffer.read()\n"
                + "threading.Thread(target=lambda: (s.sendall(d), s.shutdown(socket.SHUT_WR))).start()\n"
                + "g = b''\n"
                + "while True:\n p = s.recv(65536)\n if not p: break\n g += p\n"
                + "print(len(g), g == d)\") & done; wait"
            let printed = String(decoding: try await Server.shell(script), as: UTF8.self)
            #expect(printed == "300000 True\n300000 True\n300000 True\n")
        }
        #expect(
            log.count { $0.hasPrefix("opened") } == 3 && log.count { $0.hasPrefix("ended") && $0.hasSuffix(" ") } == 3,
            "\(log)")
    }

    @Test(
        "What the host cannot reach, or does not forward, is told, and the next connection is taken",
        arguments: ["ed25519", "rsa"])
    func refused(key: String) async throws {
        for options in [[], ["AllowTcpForwarding=no"]] {
            let log = try await forwarding(key, connections: 2, to: 1, options: options) { address in
                let port = address.split(separator: ":").last ?? ""
                let script =
                    "for n in 1 2; do timeout 20 python3 -c \"import socket; s = socket.create_connection(('127.0.0.1', \(port))); "
                    + "print(s.recv(10))\"; done"
                let printed = String(decoding: try await Server.shell(script), as: UTF8.self)
                #expect(printed == "b''\nb''\n")
            }
            #expect(log.count { $0.contains("does not connect to 127.0.0.1:1") } == 2, "\(log)")
        }
    }

    @Test("A socket can be opened by this user alone, an existing path is left, and all is gone at the end")
    func socket() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/socket"
            _ = try await forwarding("ed25519", connections: 1, at: .socket(path)) { address in
                #expect(address == path)
                let mode = try Files.info(path).mode
                #expect(mode & 0o777 == 0o600)
                let script =
                    "timeout 20 python3 -c \"import socket; s = socket.socket(socket.AF_UNIX); s.connect('\(path)'); "
                    + "s.sendall(b'hi'); print(s.recv(10))\""
                let printed = String(decoding: try await Server.shell(script), as: UTF8.self)
                #expect(printed == "b'hi'\n")
            }
            #expect(!Files.exists(path))
            try Files.writeAtomically([1], to: path)
            #expect(throws: SSHError.self) { try PortForward(at: .socket(path), loop: Server.loop) }
            #expect(Files.exists(path))
        }
    }
}

/// What happened to connections, in words.
private final class EventLog: Sendable {
    private let held = Mutex<[String]>([])
    private let news = Signal()

    var lines: [String] { held.withLock { $0 } }

    func add(_ event: PortForward.Event) {
        let line =
            switch event {
            case .opened(let number): "opened \(number)"
            case .ended(let number, let error): "ended \(number) \(error.map { "\($0)" } ?? "")"
            }
        held.withLock { $0.append(line) }
        news.raise()
    }

    /// Waits until so many connections have ended.
    func ended(_ count: Int) async throws {
        var seen = 0
        while lines.count(where: { $0.hasPrefix("ended") }) < count { seen = try await news.wait(beyond: seen) }
    }
}
