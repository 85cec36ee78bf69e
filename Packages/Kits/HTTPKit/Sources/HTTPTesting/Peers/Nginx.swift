public import Cryptography
import FileKit
import ProcessKit

/// A real nginx with one worker, for what must be right against a server that we did not write.
///
/// | Path | Answer |
/// |---|---|
/// | `/hello` | `hello` |
/// | a file put into `files` | the file, with ranges, and compressed when it is `.txt` or `.json` |
/// | `/large` | `largeSize` zeros from a sparse file |
/// | `/echo` | the method, the target, and the headers `Authorization`, `Cookie`, `X-Test`, one a line |
/// | `/status/<code>` | 400, 401, 403, 404, 409, 429, 500 or 503 with JSON words |
/// | `/redirect/<code>` | 301, 302, 303, 307 or 308 to `/echo` |
/// | `/redirect/loop` | itself |
/// | `/upload/<name>` | PUT stores the file in `uploads` |
/// | `/private` | `secret` for the user `lab` with the password `bench` |
/// | `/slow` | 1 MiB at 64 KiB a second |
public struct Nginx: Sendable {
    /// HTTP/1.1 without TLS.
    public let port: Int
    /// HTTP/1.1 and HTTP/2 by ALPN, with the certificate of `run`.
    public let tlsPort: Int
    /// HTTP/1.1 at a path.
    public let socketPath: String
    /// What is put here is served.
    public let files: String
    /// Where `/upload` stores.
    public let uploads: String
    private let log: String

    /// The size of `/large`.
    public static let largeSize = 4 << 30

    /// One line of the access log.
    public struct LogLine: Sendable, Hashable {
        /// The number of the connection, the same for every request on it.
        public let connection: String
        public let version: String
        public let request: String
        public let status: Int
        public let bodyBytesSent: Int
    }

    /// The requests that have ended, in that order. A line is written when the last byte has been sent, which may be
    /// after the client has it: look at lines of earlier requests only.
    public func accessLog() throws -> [LogLine] {
        String(decoding: try Files.read(log, limit: 64 << 20), as: UTF8.self).split(separator: "\n").compactMap {
            line in
            let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard words.count == 5, let status = Int(words[3]), let bytes = Int(words[4]) else { return nil }
            return LogLine(
                connection: words[0], version: words[1], request: words[2], status: status, bodyBytesSent: bytes)
        }
    }

    /// Runs nginx for the length of `body`.
    ///
    /// - Parameters:
    ///   - tls: The certificate of the ports with TLS.
    ///   - isLogging: Whether `accessLog` is written, which costs time.
    public static func run<Result>(
        tls: Identity, isLogging: Bool = true, isolation: isolated (any Actor)? = #isolation,
        during body: (Nginx) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.run { folder in
            for name in ["files", "uploads", "temporary"] { try Files.makeDirectories("\(folder)/\(name)") }
            _ = try tls.write(into: folder, as: "server")
            try Files.writeAtomically(Array("lab:{PLAIN}bench\n".utf8), to: "\(folder)/users")
            try TemporaryDirectory.makeSparseFile("\(folder)/large", size: largeSize)
            try TemporaryDirectory.makeSparseFile("\(folder)/slow", size: 1 << 20)
            try Files.writeAtomically(
                Array(NginxConfiguration.template(folder: folder, isLogging: isLogging).utf8), to: "\(folder)/template")
            var command = Command(
                "python3", ["-c", NginxConfiguration.launcher, folder], environment: PeerPrograms.environment(),
                workingDirectory: folder)
            command.input = .pipe
            return try await Launcher.standalone.withChild(command, grace: .milliseconds(500)) { child in
                let line = try await child.output.nextLine().map { String(decoding: $0, as: UTF8.self) } ?? ""
                let ports = line.split(separator: " ").compactMap { Int($0) }
                guard ports.count == 2 else {
                    let words = String(decoding: child.errorTail, as: UTF8.self)
                    throw ScriptError.failed("nginx was not started; is it installed? \(words)")
                }
                return try await body(
                    Nginx(
                        port: ports[0], tlsPort: ports[1], socketPath: "\(folder)/socket",
                        files: "\(folder)/files", uploads: "\(folder)/uploads", log: "\(folder)/access.log"))
            }
        }
    }
}
