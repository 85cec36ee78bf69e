import FileKit
import Glibc
import LoopKit
import SSHClient
import SSHCore
import SSHTesting
import Synchronization
import Testing

typealias Server = SSHServer

extension SSHServer {
    static let loop = EventLoop()

    /// The settings of a host with lines before those of the server.
    func settings(_ lines: String = "") throws -> SSHSettings {
        try Self.settings(port: port, in: folder, lines)
    }

    static func settings(port: Int, in folder: String, _ lines: String = "") throws -> SSHSettings {
        let account = try SSHAccount.current(environment: [:])
        let text = "\(lines)\n" + configuration(port: port, in: folder, user: account.name)
        let file = "\(folder)/config-\(UInt64.random(in: 0...UInt64.max))"
        try Files.writeAtomically(Array(text.utf8), to: file)
        return try SSHConfig(file: file, of: account).settings(for: SSHAddress("server"))
    }

    /// Connects, for a person without restrictions.
    func connect(_ lines: String = "", asking questions: SSHQuestions = SSHQuestions()) async throws -> SSHConnection {
        var configuration = SSHConfiguration.standalone(loop: Self.loop)
        configuration.questions = questions
        return try await SSHConnection.connect(to: settings(lines), with: configuration)
    }

    /// Connects, lends the connection and closes it.
    func with(
        _ lines: String = "", asking questions: SSHQuestions = SSHQuestions(),
        _ body: (SSHConnection) async throws -> Void = { _ in }
    ) async throws {
        let connection = try await connect(lines, asking: questions)
        do { try await body(connection) } catch {
            await connection.close()
            throw error
        }
        await connection.close()
    }
}

/// A listening socket on 127.0.0.1.
final class Listener: Sendable {
    let port: Int
    private let socket: Int32

    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var count = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { [socket] pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, count) == 0 && listen(socket, 16) == 0 && getsockname(socket, $0, &count) == 0
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        try #require(result, "no port is free")
    }

    deinit { close(socket) }

    /// Serves one connection on a thread: passes its socket to the body, and closes it.
    func serve(_ body: @escaping @Sendable (Int32) -> Void) throws {
        _ = try OwnThread { [self] in
            let client = accept(socket, nil, nil)
            guard client >= 0 else { return }
            body(client)
            close(client)
        }
    }
}

/// The error of SSH that the body throws.
func failure(_ body: () async throws -> Void) async throws -> SSHError {
    do {
        try await body()
    } catch let error as SSHError {
        return error
    }
    Issue.record("nothing was thrown")
    throw CancellationError()
}

/// Collects what a command prints.
final class Collected: Sendable {
    private let state = Mutex((output: [UInt8](), errors: [UInt8](), pieces: 0))

    var output: [UInt8] { state.withLock { $0.output } }
    var errors: [UInt8] { state.withLock { $0.errors } }
    var text: String { String(decoding: output, as: UTF8.self) }

    func take(_ piece: SSHPiece) {
        state.withLock { state in
            state.pieces += 1
            switch piece {
            case .output(let bytes): state.output += bytes
            case .errors(let bytes): state.errors += bytes
            }
        }
    }
}

extension SSHConnection {
    /// Runs a line and returns its end and what it has printed.
    func outcome(_ line: String, input: SSHInput = .none) async throws -> (exit: SSHExit, printed: Collected) {
        let printed = Collected()
        let exit = try await run(SSHCommand(line: line), input: input) { printed.take($0) }
        return (exit, printed)
    }
}
