import Capabilities
import CoreTesting
import FileKit
import Glibc
import LoopKit
import ProcessKit
import SSHClient
import SSHCore
import Synchronization
import Testing

/// A real sshd on 127.0.0.1, with keys made for the test in its folder.
struct Server: Sendable {
    let port: Int
    let folder: String
    let process: ChildProcess

    private static let launcher = Launcher.standalone
    static let loop = EventLoop()
    static let variables: CommandEnvironment = ["PATH": "/usr/bin:/bin:/usr/sbin", "LC_ALL": "C"]

    /// Runs a server. The names of keys, such as `host-ed25519`, `user-ecdsa` and `user-rsa`, have their types.
    ///
    /// - Parameters:
    ///   - host: the types of its keys.
    ///   - user: the types of the user's keys, which it accepts.
    static func run(
        host: [String] = ["ed25519"], user: [String] = ["ed25519"], options: [String] = [],
        _ body: @Sendable (Server) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.run { folder in
            try await makeKeys(host.map { "host-\($0)" } + user.map { "user-\($0)" }, in: folder)
            let accepted = try user.map { try Files.read("\(folder)/user-\($0).pub", limit: 1 << 16) }
            try Files.writeAtomically(accepted.flatMap(\.self), to: "\(folder)/accepted")
            // As an administrator it needs this folder, which is there only while it is a service.
            if getuid() == 0 { try Files.makeDirectories("/run/sshd") }
            for attempt in 1... {
                var words = ["-D", "-e", "-f", "/dev/null", "-p", String(try freePort())]
                for type in host { words += ["-h", "\(folder)/host-\(type)"] }
                let standard = [
                    "ListenAddress=127.0.0.1", "UsePAM=no", "StrictModes=no", "PidFile=none", "PermitRootLogin=yes",
                    "AuthorizedKeysFile=\(folder)/accepted", "PasswordAuthentication=no",
                    "KbdInteractiveAuthentication=no", "PrintMotd=no",
                    // Otherwise bash reads the start-up file of this user, which may do anything.
                    "SetEnv=SHLVL=5",
                ]
                for option in options + standard { words += ["-o", option] }
                var command = Command("/usr/sbin/sshd", words, environment: variables)
                command.errors = .pipe
                command.endsDescendants = true
                let port = Int(words[5]) ?? 0
                let hasRun = try await launcher.withChild(command) { child in
                    var line: [UInt8]?
                    repeat {
                        line = try await child.errors.nextLine()
                    } while line.map { !String(decoding: $0, as: UTF8.self).contains("Server listening") } ?? false
                    // Without that line, another program had the port in the meantime.
                    guard line != nil else { return false }
                    try await body(Server(port: port, folder: folder, process: child))
                    return true
                }
                if hasRun { return }
                try #require(attempt < 5, "sshd does not start")
            }
        }
    }

    private static func freePort() throws -> Int {
        let listener = try Listener()
        return listener.port
    }

    static func makeKeys(_ names: [String], in folder: String, passphrase: String = "") async throws {
        let lines = names.map { name in
            let type = name.split(separator: "-").last.map(String.init) ?? ""
            let bits = type == "rsa" ? " -b 2048" : ""
            return "ssh-keygen -q -t \(type)\(bits) -N '\(passphrase)' -C '' -f \(folder)/\(name)"
        }
        _ = try await shell(lines.joined(separator: " && "))
    }

    /// Runs a script on this machine.
    static func shell(_ script: String) async throws -> [UInt8] {
        let done = try await launcher.run(
            Command("sh", ["-c", script], environment: variables), timeout: .seconds(60))
        try #require(done.status.isSuccess, "\(String(decoding: done.errors, as: UTF8.self))")
        return done.output
    }

    // MARK: Connections

    var known: String { "\(folder)/known" }

    /// The settings of a host with lines before those of the server.
    func settings(_ lines: String = "") throws -> SSHSettings {
        try Self.settings(port: port, in: folder, lines)
    }

    static func settings(port: Int, in folder: String, _ lines: String = "") throws -> SSHSettings {
        var account = try SSHAccount.current(environment: [:])
        account.environment = [:]
        let text = """
            \(lines)
            HostName 127.0.0.1
            Port \(port)
            User \(account.name)
            UserKnownHostsFile \(folder)/known
            GlobalKnownHostsFile none
            IdentityFile \(folder)/user-ed25519
            IdentityAgent none

            """
        let file = "\(folder)/config-\(UInt64.random(in: 0...UInt64.max))"
        try Files.writeAtomically(Array(text.utf8), to: file)
        return try SSHConfig(file: file, of: account).settings(for: SSHAddress("server"))
    }

    /// The public key in a file: its type and its text.
    func publicKey(_ name: String) throws -> String {
        let fields = try Files.read("\(folder)/\(name).pub", limit: 1 << 16).split(separator: 32)
        return fields.prefix(2).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }

    /// Writes the file of known hosts.
    func know(_ text: String) throws { try Files.writeAtomically(Array(text.utf8), to: known) }

    /// Makes all of its keys known.
    func trust(_ types: String...) throws {
        try know(types.map { "[127.0.0.1]:\(port) \(try publicKey("host-\($0)"))\n" }.joined())
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
