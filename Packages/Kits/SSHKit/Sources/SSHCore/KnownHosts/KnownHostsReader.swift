import Capabilities
import Glibc

/// Reads one file of known hosts in pieces, and keeps the lines about one host, by the rules of `hostfile.c` of OpenSSH.
struct KnownHostsReader {
    /// Longer lines are not read. The longest key and a thousand names fit in many times.
    static let longestLine = 1 << 20
    /// More lines about one host are not kept.
    static let mostLines = 1_000
    private static let mostProblems = 20

    private let file: String
    private let name, portless: [UInt8]
    private(set) var lines: [KnownHostLine] = []
    private(set) var problems: [KnownHostsProblem] = []
    /// The beginning of a line whose end was not read yet.
    private var held: [UInt8] = []
    private var isSkipping = false
    private var number = 1

    /// - Parameter name: the host whose lines are kept.
    init(_ file: String, for name: KnownHostName) {
        self.file = file
        self.name = Array(name.description.utf8)
        portless = name.portless.map { Array($0.utf8) } ?? []
    }

    /// Reads the next piece.
    mutating func read(_ piece: [UInt8]) throws(SSHError) {
        var rest = piece[...]
        while let end = Self.lineFeed(in: rest) {
            if held.isEmpty, !isSkipping {
                try take(rest[..<end])
            } else {
                hold(rest[..<end])
                try takeHeld()
            }
            number += 1
            rest = rest[(end + 1)...]
        }
        hold(rest)
    }

    /// Reads the last line, which need not have an end.
    mutating func finish() throws(SSHError) {
        try takeHeld()
    }

    private static func lineFeed(in bytes: ArraySlice<UInt8>) -> Int? {
        // The library's search is many times as fast as ours without optimisation, and files have megabytes.
        let offset = unsafe bytes.withUnsafeBytes { buffer -> Int? in
            guard let start = buffer.baseAddress, let found = unsafe memchr(start, 10, buffer.count) else { return nil }
            return unsafe start.distance(to: UnsafeRawPointer(found))
        }
        return offset.map { bytes.startIndex + $0 }
    }

    private mutating func hold(_ bytes: ArraySlice<UInt8>) {
        if held.count + bytes.count > Self.longestLine { isSkipping = true }
        if isSkipping { held = [] } else { held += bytes }
    }

    private mutating func takeHeld() throws(SSHError) {
        if isSkipping { note("is longer than \(ByteCount(Self.longestLine).words) and was not read") }
        try take(held[...])
        (held, isSkipping) = ([], false)
    }

    private mutating func note(_ words: String) {
        guard problems.count < Self.mostProblems else { return }
        problems.append(KnownHostsProblem(place: SSHFilePlace(file: file, line: number), words: words))
    }

    // MARK: A line

    private static func isGap(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }

    /// The bytes up to the next space or tab.
    private static func field(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        bytes.prefix { !isGap($0) }
    }

    private mutating func take(_ line: ArraySlice<UInt8>) throws(SSHError) {
        guard line.count <= Self.longestLine else {
            return note("is longer than \(ByteCount(Self.longestLine).words) and was not read")
        }
        var rest = line.drop(while: Self.isGap)
        guard let first = rest.first, first != UInt8(ascii: "#"), first != 0 else { return }
        var marker = KnownHostLine.Marker.none
        if first == UInt8(ascii: "@") {
            let word = Self.field(rest)
            // ssh ignores other words, and lines with two of them.
            guard let known = KnownHostLine.Marker(word) else { return }
            marker = known
            rest = rest[word.endIndex...].drop(while: Self.isGap)
        }
        // ssh takes a zero byte after the names for a space, and one after that for the end.
        let names = rest.prefix { !Self.isGap($0) && $0 != 0 }
        guard let matched = match(names) else { return }
        rest = rest[names.endIndex...].dropFirst().drop(while: Self.isGap).prefix { $0 != 0 }
        guard let key = Self.key(rest) else {
            return note(
                "is about \(matched ? "this host" : "this host without its port") and has no key that can be read")
        }
        guard lines.count < Self.mostLines else {
            throw SSHError(
                .tooLarge, "\(file) has more than \(Self.mostLines) lines about one host; remove some of them")
        }
        lines.append(
            KnownHostLine(
                key: key, marker: marker, place: SSHFilePlace(file: file, line: number), hasPort: matched,
                isHashed: HashedName.isHashed(names)))
    }

    /// Whether the names of a line are those of the host: true with its port, false without, nil if they are not.
    private func match(_ names: ArraySlice<UInt8>) -> Bool? {
        if matches(names, name) { return true }
        return !portless.isEmpty && matches(names, portless) ? false : nil
    }

    private func matches(_ names: ArraySlice<UInt8>, _ name: [UInt8]) -> Bool {
        if HashedName.isHashed(names) { return HashedName.matches(names, name) }
        return HostPattern.verdict(on: name[...], of: names, lowercasing: true) == .matched
    }

    /// The key of a line: its type, then itself.
    private static func key(_ rest: ArraySlice<UInt8>) -> HostKey? {
        let type = field(rest)
        let text = field(rest[type.endIndex...].drop(while: isGap))
        return HostKey(type: type, text: text)
    }
}

/// A line of a file of known hosts that is about the host.
struct KnownHostLine: Sendable, Hashable {
    /// What a line says about its key.
    enum Marker: Sendable, Hashable {
        /// It is a key of the host.
        case none
        /// It signs keys of hosts.
        case authority
        /// It must not be accepted.
        case revoked

        init?(_ word: ArraySlice<UInt8>) {
            switch String(decoding: word, as: UTF8.self) {
            case "@cert-authority": self = .authority
            case "@revoked": self = .revoked
            default: return nil
            }
        }
    }

    let key: HostKey
    let marker: Marker
    let place: SSHFilePlace
    /// Whether its names have the port of the host, which the port 22 never is.
    let hasPort: Bool
    let isHashed: Bool
}

/// A line that could not be read although it may be about the host, or a file.
public struct KnownHostsProblem: Sendable, Hashable, CustomStringConvertible {
    /// The line; 0 for the whole file.
    public let place: SSHFilePlace
    /// What is wrong, as the rest of a sentence that begins with the place.
    public let words: String

    /// `/home/me/.ssh/known_hosts:3 is about this host and has no key that can be read`.
    public var description: String { (place.line > 0 ? place.description : place.file) + " " + words }
}
