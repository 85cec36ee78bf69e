import CoreTesting
public import Cryptography
import ProcessKit

/// `openssl s_server`, for handshakes that our own TLS refuses. It answers every GET with a page.
public enum OpenSSLServer {
    /// Runs the server for the length of `body`, which gets the port.
    ///
    /// - Parameter options: Additional arguments, such as `-tls1_1`.
    public static func run<Result>(
        _ identity: Identity, _ options: [String] = [], isolation: isolated (any Actor)? = #isolation,
        during body: (_ port: Int) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.run { folder in
            let files = try identity.write(into: folder, as: "server")
            var command = Command(
                "python3",
                ["-c", "\(PeerPrograms.supervisor)\nsupervise(sys.argv[1:])", "openssl", "s_server", "-www"]
                    + ["-accept", "127.0.0.1:0", "-cert", files.chain, "-cert_chain", files.chain, "-key", files.key]
                    + options,
                environment: PeerPrograms.environment())
            command.input = .pipe
            return try await Launcher.standalone.withChild(command, grace: .milliseconds(200)) { child in
                while let line = try await child.output.nextLine().map({ String(decoding: $0, as: UTF8.self) }) {
                    guard line.hasPrefix("ACCEPT "), let port = line.split(separator: ":").last.flatMap({ Int($0) })
                    else { continue }
                    return try await body(port)
                }
                throw ScriptError.failed(
                    "openssl s_server did not start: \(String(decoding: child.errorTail, as: UTF8.self))")
            }
        }
    }
}
