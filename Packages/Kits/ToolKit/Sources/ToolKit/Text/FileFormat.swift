import FileKit

/// The format of a file, from its first bytes.
enum FileFormat: Sendable, Equatable {
    case utf8(hasMark: Bool)
    case utf16(isBigEndian: Bool)
    /// Not text, with the name of the format.
    case binary(String)

    /// How much of a file is checked.
    static let headLength = 8192
    static let longestSignature = 16

    /// From at least `longestSignature` bytes, and whether there is a NUL in the first `headLength`.
    init(head: ArraySlice<UInt8>, hasNUL: Bool) {
        let signature = Self.signatures.first { head.starts(with: $0.bytes) }
        if let signature, signature.isCertain {
            self = .binary(signature.name)
        } else if head.starts(with: [0xFF, 0xFE, 0, 0]) || head.starts(with: [0, 0, 0xFE, 0xFF]) {
            self = .binary("text in UTF-32")
        } else if head.starts(with: [0xFF, 0xFE]) {
            self = .utf16(isBigEndian: false)
        } else if head.starts(with: [0xFE, 0xFF]) {
            self = .utf16(isBigEndian: true)
        } else if hasNUL {
            self = .binary(signature?.name ?? "binary file")
        } else {
            self = .utf8(hasMark: head.starts(with: [0xEF, 0xBB, 0xBF]))
        }
    }

    /// From the whole content.
    init(whole content: [UInt8]) {
        self.init(head: content.prefix(Self.longestSignature), hasNUL: content.prefix(Self.headLength).contains(0))
    }

    private struct Signature: Sendable {
        let bytes: [UInt8]
        let name: String
        /// Whether no text begins like this. Otherwise there must be a NUL as well.
        let isCertain: Bool

        init(_ bytes: [UInt8], _ name: String, isCertain: Bool) {
            self.bytes = bytes
            self.name = name
            self.isCertain = isCertain
        }
    }

    private static let signatures: [Signature] = [
        Signature([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "PNG image", isCertain: true),
        Signature([0xFF, 0xD8, 0xFF], "JPEG image", isCertain: true),
        Signature(Array("GIF87a".utf8), "GIF image", isCertain: false),
        Signature(Array("GIF89a".utf8), "GIF image", isCertain: false),
        Signature(Array("%PDF-".utf8), "PDF document", isCertain: true),
        Signature([0x50, 0x4B, 0x03, 0x04], "ZIP archive", isCertain: true),
        Signature([0x1F, 0x8B], "gzip archive", isCertain: true),
        Signature([0x28, 0xB5, 0x2F, 0xFD], "Zstandard archive", isCertain: true),
        Signature([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "xz archive", isCertain: true),
        Signature(Array("BZh".utf8), "bzip2 archive", isCertain: false),
        Signature([0x7F, 0x45, 0x4C, 0x46], "ELF program or library", isCertain: true),
        Signature([0x00, 0x61, 0x73, 0x6D], "WebAssembly module", isCertain: true),
        Signature(Array("SQLite format 3\0".utf8), "SQLite database", isCertain: false),
        Signature(Array("OggS".utf8), "Ogg media file", isCertain: false),
        Signature(Array("wOFF".utf8), "WOFF font", isCertain: false),
        Signature(Array("wOF2".utf8), "WOFF font", isCertain: false),
    ]

    /// A note about an unusual text format; nil for plain UTF-8.
    var note: String? {
        switch self {
        case .utf8(hasMark: true): "the file begins with a byte order mark (UTF-8)"
        case .utf16(isBigEndian: false): "the file is in UTF-16 (little-endian) and is shown in UTF-8"
        case .utf16(isBigEndian: true): "the file is in UTF-16 (big-endian) and is shown in UTF-8"
        default: nil
        }
    }

    /// The length of the byte order mark.
    var markLength: Int {
        switch self {
        case .utf8(hasMark: true): 3
        case .utf16: 2
        default: 0
        }
    }
}

/// Converts UTF-16 to UTF-8 piece by piece. An unpaired surrogate becomes a replacement character.
struct UTF16Decoder: Sendable {
    private let isBigEndian: Bool
    /// Incomplete input at the end of a piece: an odd byte, or the first half of a pair.
    private var rest: [UInt8] = []

    init(isBigEndian: Bool) {
        self.isBigEndian = isBigEndian
    }

    /// Converts the next piece.
    mutating func decode(_ piece: some Sequence<UInt8>) -> [UInt8] {
        let bytes = rest + piece
        var count = bytes.count & ~1
        if count >= 2, unit(bytes, at: count - 2) & 0xFC00 == 0xD800 { count -= 2 }
        rest = Array(bytes[count...])
        return text(bytes, count)
    }

    /// The rest at the end of the file.
    mutating func finish() -> [UInt8] {
        defer { rest = [] }
        return rest.isEmpty ? [] : Array("\u{FFFD}".utf8)
    }

    private func unit(_ bytes: [UInt8], at place: Int) -> UInt16 {
        let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
        return isBigEndian ? first << 8 | second : second << 8 | first
    }

    private func text(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
        var units: [UInt16] = []
        units.reserveCapacity(count / 2)
        for place in stride(from: 0, to: count, by: 2) { units.append(unit(bytes, at: place)) }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}

/// Reads a file piece by piece as UTF-8, whatever its encoding.
struct TextReader: ~Copyable {
    private static let pieceLength = 1 << 16

    let format: FileFormat
    private let file: FileDescriptor
    private var head: [UInt8]?
    private var decoder: UTF16Decoder?

    /// Checks the beginning. Reading then starts there.
    init(_ file: consuming FileDescriptor) throws(FileError) {
        let head = try file.read(upTo: Self.pieceLength)
        format = FileFormat(head: head[...], hasNUL: head.prefix(FileFormat.headLength).contains(0))
        self.file = file
        if case .utf16(let isBigEndian) = format { decoder = UTF16Decoder(isBigEndian: isBigEndian) }
        self.head = Array(head.dropFirst(format.markLength))
    }

    /// The next piece; nil at the end. It may end in the middle of a character.
    mutating func next() throws(FileError) -> [UInt8]? {
        if let head = head.take(), !head.isEmpty { return decoded(head) }
        let piece = try file.read(upTo: Self.pieceLength)
        if !piece.isEmpty { return decoded(piece) }
        let last = decoder?.finish() ?? []
        return last.isEmpty ? nil : last
    }

    private mutating func decoded(_ piece: [UInt8]) -> [UInt8] {
        decoder?.decode(piece) ?? piece
    }
}
