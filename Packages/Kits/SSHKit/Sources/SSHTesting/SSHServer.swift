import CoreTesting
import FileKit
import Glibc
public import ProcessKit

/// A real sshd on 127.0.0.1, with keys made for the test in its folder.
public struct SSHServer: Sendable {
    /// Where it listens.
    public let port: Int
    /// Its folder, with the keys of the host and of the user, and the file of known hosts.
    public let folder: String
    /// The server.
    public let process: ChildProcess

    private static let launcher = Launcher.standalone
    /// What servers and scripts see.
    public static let variables: CommandEnvironment = ["PATH": "/usr/bin:/bin:/usr/sbin", "LC_ALL": "C"]

    /// A server that was started otherwise.
    public init(port: Int, folder: String, process: ChildProcess) {
        (self.port, self.folder, self.process) = (port, folder, process)
    }

    /// Why there is no server.
    public struct Problem: Error, CustomStringConvertible {
        public let description: String

        /// In words.
        public init(_ description: String) {
            self.description = description
        }
    }

    /// Runs a server. The names of keys, such as `host-ed25519`, `user-ecdsa` and `user-rsa`, have their types.
    ///
    /// - Parameters:
    ///   - host: the types of its keys.
    ///   - user: the types of the user's keys, which it accepts.
    ///   - options: settings of the server, before those of all tests.
    public static func run(
        host: [String] = ["ed25519"], user: [String] = ["ed25519"], options: [String] = [],
        _ body: @Sendable (SSHServer) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.run { folder in
            try await makeKeys(host.map { "host-\($0)" } + user.map { "user-\($0)" }, in: folder)
            let accepted = try user.map { try Files.read("\(folder)/user-\($0).pub", limit: 1 << 16) }
            try Files.writeAtomically(accepted.flatMap(\.self), to: "\(folder)/accepted")
            // As an administrator it needs this folder, which is there only while it is a service.
            if getuid() == 0 { try Files.makeDirectories("/run/sshd") }
            for _ in 1...5 {
                let port = try freePort()
                var words = ["-D", "-e", "-f", "/dev/null", "-p", String(port)]
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
                let hasRun = try await launcher.withChild(command) { child in
                    var line: [UInt8]?
                    repeat {
                        line = try await child.errors.nextLine()
                    } while line.map { !String(decoding: $0, as: UTF8.self).contains("Server listening") } ?? false
                    // Without that line, another program had the port in the meantime.
                    guard line != nil else { return false }
                    // It would stop when nobody reads what it logs.
                    async let log: Void = drain(child)
                    try await body(SSHServer(port: port, folder: folder, process: child))
                    child.send(.terminate)
                    try await log
                    return true
                }
                if hasRun { return }
            }
            throw Problem("sshd does not start")
        }
    }

    private static func drain(_ child: ChildProcess) async throws {
        while try await child.errors.read() != nil {}
    }

    /// A port that nobody listens on now.
    private static func freePort() throws -> Int {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var count = socklen_t(MemoryLayout<sockaddr_in>.size)
        let hasPort = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, count) == 0 && getsockname(socket, $0, &count) == 0
            }
        }
        guard hasPort else { throw Problem("no port is free") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Makes keys whose names end with their types.
    public static func makeKeys(_ names: [String], in folder: String, passphrase: String = "") async throws {
        let lines = names.map { name in
            let type = name.split(separator: "-").last.map(String.init) ?? ""
            let bits = type == "rsa" ? " -b 2048" : ""
            return "ssh-keygen -q -t \(type)\(bits) -N '\(passphrase)' -C '' -f \(folder)/\(name)"
        }
        _ = try await shell(lines.joined(separator: " && "))
    }

    /// Runs a script on this machine, and returns what it prints. Throws if it fails.
    @discardableResult
    public static func shell(_ script: String) async throws -> [UInt8] {
        let done = try await launcher.run(
            Command("sh", ["-c", script], environment: variables), timeout: .seconds(60))
        guard done.status.isSuccess else { throw Problem(String(decoding: done.errors, as: UTF8.self)) }
        return done.output
    }

    // MARK: Files

    /// The file of known hosts of `configuration`.
    public var known: String { "\(folder)/known" }

    /// Lines of settings for a host that is this server.
    public static func configuration(port: Int, in folder: String, user: String) -> String {
        """
        HostName 127.0.0.1
        Port \(port)
        User \(user)
        UserKnownHostsFile \(folder)/known
        GlobalKnownHostsFile none
        IdentityFile \(folder)/user-ed25519
        IdentityAgent none

        """
    }

    /// The public key in a file: its type and its text.
    public func publicKey(_ name: String) throws -> String {
        let fields = try Files.read("\(folder)/\(name).pub", limit: 1 << 16).split(separator: 32)
        return fields.prefix(2).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }

    /// Writes the file of known hosts.
    public func know(_ text: String) throws { try Files.writeAtomically(Array(text.utf8), to: known) }

    /// Makes all of its keys known.
    public func trust(_ types: String...) throws {
        try know(types.map { "[127.0.0.1]:\(port) \(try publicKey("host-\($0)"))\n" }.joined())
    }
}
