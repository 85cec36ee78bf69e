public import Capabilities
import FileKit
import Synchronization

/// What happened to a server, and what it said. It is kept in a file with a limit, so that it can be read after the program
/// has ended.
public final class ServerLog: Sendable {
    /// The file.
    public let path: String
    private let redactor: Redactor
    private let now: @Sendable () -> Timestamp
    /// What is not in the file yet.
    private let pending = Mutex([UInt8]())

    /// The file is cut to its newer half at this size.
    public static let largest = 512 << 10
    private static let longestLine = 8_000
    private static let batch = 64 << 10

    /// A log at a path; its folder is created with the first line.
    public init(_ path: String, redactor: Redactor, now: @escaping @Sendable () -> Timestamp) {
        self.path = path
        self.redactor = redactor
        self.now = now
    }

    /// Adds lines, each with the time and its kind. A log that cannot be written must not stop a server.
    ///
    /// - Parameter isUrgent: whether it is in the file at once. What servers say all the time is written in batches.
    public func write(_ kind: String, _ text: String, isUrgent: Bool = true) {
        let time = now().iso8601
        let lines = text.split(whereSeparator: \.isNewline).map { line in
            "\(time) \(kind): \(PlainText.escape(redactor.redact(String(line)), limit: Self.longestLine))\n"
        }
        guard !lines.isEmpty else { return }
        pending.withLock { pending in
            pending += Array(lines.joined().utf8)
            if isUrgent || pending.count > Self.batch { flush(&pending) }
        }
    }

    private func flush(_ pending: inout [UInt8]) {
        defer { pending = [] }
        do {
            try Files.makeDirectories(AbsolutePath(path).folder.text)
            var bytes = try read() + pending
            if bytes.count > Self.largest {
                let half = bytes.suffix(Self.largest / 2)
                bytes = Array(half.drop { $0 != UInt8(ascii: "\n") }.dropFirst())
            }
            try Files.writeAtomically(bytes, to: path, mode: 0o600)
        } catch {
            // There is nobody to tell: the server goes on.
        }
    }

    /// The lines, the oldest first.
    public func lines() throws -> [String] {
        let bytes = try pending.withLock { pending in
            if !pending.isEmpty { flush(&pending) }
            return try read()
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func read() throws -> [UInt8] {
        do throws(FileError) { return try Files.read(path, limit: 2 * Self.largest) } catch {
            if error.kind == .notFound { return [] }
            throw error
        }
    }
}
