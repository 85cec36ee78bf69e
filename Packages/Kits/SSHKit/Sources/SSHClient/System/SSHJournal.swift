import Capabilities
import FileKit
import SSHCore

/// What the system's ssh says about a connection, in the file that it writes with LogLevel DEBUG1.
struct SSHJournal: Sendable {
    let path: String
    let settings: SSHSettings

    private static let limit = 1 << 20

    /// All of it. A file that is not there says nothing.
    var text: String {
        do throws(FileError) { return String(decoding: try Files.read(path, limit: Self.limit), as: UTF8.self) } catch {
            return ""
        }
    }

    private var lines: [Substring] { text.split(whereSeparator: \.isNewline) }

    /// The last thing that is not for developers.
    var last: String {
        let line = lines.last { !$0.hasPrefix("debug") && !$0.allSatisfy(\.isWhitespace) }
        return line.map { PlainText.escape(String($0), limit: 300) } ?? "ssh says nothing about it"
    }

    /// How many commands a signal has ended so far.
    var signals: Int { lines.count { $0.contains("rtype exit-signal") } }

    /// Why ssh has ended.
    ///
    /// - Parameter messages: what it has said elsewhere.
    func error(_ messages: [UInt8] = []) -> SSHError {
        let lines = String(decoding: messages, as: UTF8.self).split(whereSeparator: \.isNewline) + lines
        let own = lines.filter { !$0.hasPrefix("debug") }.map { PlainText.escape(String($0), limit: 300) }
        let whole = own.joined(separator: "\n")
        let last = own.last { !$0.isEmpty } ?? last
        if lines.contains(where: { $0.contains("Authenticated to") }) {
            return SSHError(.disconnected, "the connection to \(settings.hostName) has ended: \(last)")
        }
        if whole.contains("REVOKED") || whole.contains("is marked as revoked") {
            return SSHError(.hostKeyRevoked, "the key of \(settings.knownHostName) is revoked: \(last)")
        }
        if whole.contains("IDENTIFICATION HAS CHANGED") || whole.contains("POSSIBLE DNS SPOOFING") {
            let place = own.first { $0.hasPrefix("Offending") }.map { " (\($0))" } ?? ""
            return SSHError(
                .hostKeyChanged,
                "the key of \(settings.knownHostName) is not the known one\(place); somebody may be in between: find out why it has "
                    + "changed before you remove that line")
        }
        if whole.contains("Host key verification failed") || whole.contains("host key is known for") {
            return SSHError(.unknownHost, "\(settings.knownHostName) is not a known host: \(own.first ?? last)")
        }
        if whole.contains("Permission denied") || whole.contains("Too many authentication failures") {
            return SSHError(.authentication, "\(settings.user)@\(settings.hostName) was not accepted: \(last)")
        }
        for words in [
            "Could not resolve hostname", "connect to host", "Connection timed out", "No route to host",
            "Network is unreachable", "Connection refused",
        ] where whole.contains(words) {
            return SSHError(.unreachable, "cannot connect to \(settings.hostName) port \(settings.port): \(last)")
        }
        return SSHError(.handshake, "ssh cannot connect to \(settings.hostName): \(last)")
    }
}
