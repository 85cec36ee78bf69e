import FileKit

/// Reads a file piece by piece as UTF-8, whatever it is written in.
struct TextReader: ~Copyable {
    private static let pieceLength = 1 << 16

    let format: FileFormat
    private let file: FileDescriptor
    private var head: [UInt8]?
    private var decoder: UTF16Decoder?

    /// Looks at the beginning, from which on it then reads.
    init(_ file: consuming FileDescriptor) throws(FileError) {
        let head = try file.read(upTo: Self.pieceLength)
        format = FileFormat(head: head[...], hasNUL: head.prefix(FileFormat.headLength).contains(0))
        self.file = file
        if case .utf16(let isBigEndian) = format { decoder = UTF16Decoder(isBigEndian: isBigEndian) }
        self.head = Array(head.dropFirst(format.markLength))
    }

    /// The next piece, or nil at the end. It may end in the middle of a character.
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
