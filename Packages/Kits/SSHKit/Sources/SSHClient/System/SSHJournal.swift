import Capabilities
import FileKit
import Glibc
import SSHCore

/// What the system's ssh says about a connection, with LogLevel DEBUG1.
struct SSHJournal: Sendable {
    let text: String
    let settings: SSHSettings

    /// A file gets no larger than that for long.
    private static let limit = 1 << 20

    /// Reads what ssh has written to a file, the last of it if it is long. A file that is not there says nothing.
    ///
    /// - Parameters:
    ///   - start: what was said before this place is left out.
    ///   - messages: what it has said elsewhere before.
    init(path: String, _ settings: SSHSettings, from start: Int = 0, before messages: [UInt8] = []) {
        var bytes = messages
        do throws(FileError) {
            let file = try FileDescriptor.reading(path)
            lseek(file.rawValue, off_t(max(start, Self.size(path) - Self.limit)), SEEK_SET)
            while true {
                let piece = try file.read(upTo: 1 << 16)
                if piece.isEmpty { break }
                bytes += piece
            }
        } catch {
            // There is nothing to tell.
        }
        (text, self.settings) = (String(decoding: bytes, as: UTF8.self), settings)
    }

    /// The bytes of a file now.
    static func size(_ path: String) -> Int {
        do throws(FileError) { return Int(try Files.info(path).size) } catch { return 0 }
    }

    /// Empties a file that has become large. ssh appends to it.
    static func shorten(_ path: String) {
        if size(path) > limit { unsafe truncate(path, 0) }
    }

    private var lines: [Substring] { text.split(whereSeparator: \.isNewline) }

    /// The last thing that is not for developers.
    var last: String {
        let line = lines.last { !$0.hasPrefix("debug") && !$0.allSatisfy(\.isWhitespace) }
        return line.map { PlainText.escape(String($0), limit: 300) } ?? "ssh says nothing about it"
    }

    /// Whether a signal has ended a command.
    var hasSignal: Bool { lines.contains { $0.contains("rtype exit-signal") } }

    /// Why ssh has ended.
    func error(wasAccepted: Bool) -> SSHError {
        let own = lines.filter { !$0.hasPrefix("debug") }.map { PlainText.escape(String($0), limit: 300) }
        let whole = own.joined(separator: "\n")
        let last = last
        if wasAccepted {
            return SSHError(.disconnected, "the connection to \(settings.hostName) has ended: \(last)")
        }
        if whole.contains("REVOKED") || whole.contains("is marked as revoked") {
            return SSHError(.hostKeyRevoked, "the key of \(settings.knownHostName) is revoked: \(last)")
        }
        if whole.contains("IDENTIFICATION HAS CHANGED") || whole.contains("POSSIBLE DNS SPOOFING") {
            let place = own.first { $0.hasPrefix("Offending") }.map { " (\($0))" } ?? ""
            return SSHError(
                .hostKeyChanged,
                "the key of \(settings.knownHostName) is not the known one\(place); another machine may answer in its place: find out why it has "
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
