import FileKit
import Glibc

/// A part of a file that moves along it, and always begins and is searched at the beginning of a line.
struct LineWindow {
    private(set) var bytes: [UInt8]
    /// Where what was read ends.
    private(set) var end = 0
    /// Where the lines begin that were not searched yet; those before are kept as context.
    private var start = 0
    /// Up to here lines were noted, or are gone.
    var noted = 0
    /// Whether the end of the file was read.
    private(set) var isLast = false
    /// The number of the line that begins at `counted`.
    private var number = 1
    private var counted = 0
    /// Where the bytes begin that were not looked through for a NUL.
    private var unchecked = 0

    init(length: Int) {
        bytes = [UInt8](repeating: 0, count: length)
    }

    mutating func reset() {
        (end, start, noted, number, counted, unchecked) = (0, 0, 0, 1, 0, 0)
        isLast = false
    }

    /// Reads until the window is full or the file ends.
    mutating func fill(_ file: borrowing FileDescriptor) throws(FileError) {
        while end < bytes.count {
            let room = end..<bytes.count
            let descriptor = file.rawValue
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe read(descriptor, buffer.baseAddress.map { unsafe $0 + room.lowerBound }, room.count)
            }
            if count < 0, errno == EINTR { continue }
            // What cannot be read to its end is searched as far as it could be.
            guard count > 0 else {
                isLast = true
                return
            }
            end += count
        }
    }

    /// Replaces all by the rest of the file in UTF-8; false when it is too large for that.
    mutating func decode(
        _ file: borrowing FileDescriptor, _ decoder: UTF16Decoder, limit: Int
    ) throws(FileError) -> Bool {
        var decoder = decoder
        var text = decoder.decode(bytes[2..<end])
        while text.count <= limit {
            let piece = try file.read(upTo: 1 << 16)
            if piece.isEmpty {
                text += decoder.finish()
                reset()
                end = text.count
                if text.count < bytes.count { text += [UInt8](repeating: 0, count: bytes.count - text.count) }
                bytes = text
                isLast = true
                return true
            }
            text += decoder.decode(piece)
        }
        return false
    }

    /// What the file is, by its beginning.
    var format: FileFormat {
        let head = min(end, FileFormat.headLength)
        return FileFormat(head: bytes.prefix(min(end, FileFormat.longestSignature)), hasNUL: find(0, 0..<head) != nil)
    }

    /// Leaves bytes out at the beginning of the file.
    mutating func skip(_ count: Int) {
        (start, noted, counted) = (count, count, count)
    }

    /// Whether there is a NUL in what was read since the last question.
    var hasNUL: Bool {
        mutating get {
            defer { unchecked = end }
            return find(0, unchecked..<end) != nil
        }
    }

    /// The lines that are there as a whole and were not searched yet.
    var searchable: Range<Int> {
        if isLast { return start..<end }
        guard let last = bytes[start..<end].lastIndex(of: Byte.newline) else { return start..<start }
        return start..<(last + 1)
    }

    var isFull: Bool { end == bytes.count }

    /// Makes room: what was searched goes, but for some lines of context.
    mutating func advance(keeping context: Int) {
        let searched = searchable.upperBound
        var keep = searched
        for _ in 0..<context where keep > 0 { keep = lineStart(of: keep - 1, after: 0) }
        _ = number(of: keep)
        unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress, keep > 0 else { return }
            unsafe memmove(base, base + keep, end - keep)
        }
        (end, start, counted, unchecked) = (end - keep, searched - keep, counted - keep, unchecked - keep)
        noted = max(0, noted - keep)
    }

    /// Makes the window larger, for a line that does not fit; false when it has the largest size.
    mutating func grow(to limit: Int) -> Bool {
        guard bytes.count < limit else { return false }
        bytes += [UInt8](repeating: 0, count: min(bytes.count, limit - bytes.count))
        return true
    }

    // MARK: Lines

    /// Where the line ends that a place is in: at its line break, or at the limit.
    func lineEnd(from place: Int, before limit: Int) -> Int {
        find(Byte.newline, place..<max(place, limit)) ?? limit
    }

    /// Where the line begins that a place is in.
    func lineStart(of place: Int, after limit: Int) -> Int {
        var start = place
        while start > limit, bytes[start - 1] != Byte.newline { start -= 1 }
        return start
    }

    /// The number of the line that begins there; places are asked for in their order, but for lines of context.
    mutating func number(of place: Int) -> Int {
        let range = min(counted, place)..<max(counted, place)
        let breaks = unsafe bytes.withUnsafeBufferPointer { buffer in
            var breaks = 0
            for index in range where unsafe buffer[index] == Byte.newline { breaks += 1 }
            return breaks
        }
        number += place < counted ? -breaks : breaks
        counted = place
        return number
    }

    private func find(_ byte: UInt8, _ range: Range<Int>) -> Int? {
        unsafe bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress, !range.isEmpty,
                let found = unsafe memchr(base + range.lowerBound, Int32(byte), range.count)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }
}
