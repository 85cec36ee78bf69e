import Capabilities
import FileKit
import Glibc

/// The files that tell which keys hosts have: those of the user first, then those of the system.
///
///     let files = KnownHosts(user: settings.userKnownHostsFiles, global: settings.globalKnownHostsFiles)
///     let known = try files.entries(for: settings.knownHostName)
///     switch known.verdict(on: key) { … }                 // before anything else is sent
///
/// All operations block for as long as the disk takes.
public struct KnownHosts: Sendable {
    /// Files of the user. New hosts are added to the first.
    public let user: [String]
    /// Files of the system, which are only read.
    public let global: [String]

    /// A larger file is not one of known hosts. It is read in pieces.
    static let largestFile = 64 << 20
    private static let piece = 1 << 16

    /// Files in their order. Those that do not exist are empty.
    public init(user: [String], global: [String]) {
        (self.user, self.global) = (user, global)
    }

    /// What all files say about a host. The files are read for each call, because other programs change them.
    ///
    /// Throws `.tooLarge` for a file or a number of lines beyond the limits. A file that cannot be read is among the
    /// problems of the result, because ssh continues without it too.
    public func entries(for name: KnownHostName) throws(SSHError) -> KnownHostEntries {
        var (lines, problems): ([KnownHostLine], [KnownHostsProblem]) = ([], [])
        for file in user + global {
            var reader = KnownHostsReader(file, for: name)
            if let reason = try Self.read(file, into: &reader) {
                problems.append(
                    KnownHostsProblem(
                        place: SSHFilePlace(file: file, line: 0), words: "cannot be read: \(reason)"))
            }
            lines += reader.lines
            problems += reader.problems
        }
        return KnownHostEntries(name: name, lines: lines, problems: problems)
    }

    /// Reads a file in pieces. Returns why it cannot be read.
    private static func read(_ file: String, into reader: inout KnownHostsReader) throws(SSHError) -> String? {
        let descriptor: FileDescriptor
        do throws(FileError) {
            let real = try Files.canonical(file)
            // The usual way to have no file.
            if real == "/dev/null" { return nil }
            guard try Files.info(real).kind == .regular else { return "it is not a regular file" }
            descriptor = try FileDescriptor.reading(real)
        } catch {
            return error.errno == ENOENT || error.errno == ENOTDIR ? nil : error.reason
        }
        var total = 0
        while true {
            let bytes: [UInt8]
            do throws(FileError) { bytes = try descriptor.read(upTo: piece) } catch { return error.reason }
            if bytes.isEmpty { break }
            total += bytes.count
            guard total <= largestFile else {
                throw SSHError(.tooLarge, "\(file) is larger than the limit of \(ByteCount(largestFile).words)")
            }
            try reader.read(bytes)
        }
        try reader.finish()
        return nil
    }
}
