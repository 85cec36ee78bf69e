import FileKit
import Glibc

/// A window that moves along a file. It always begins at the beginning of a line.
struct LineWindow {
    private(set) var bytes: [UInt8]
    /// The end of the bytes that were read.
    private(set) var end = 0
    /// The beginning of the lines that were not searched yet. Earlier lines are kept as context.
    private var start = 0
    /// The end of the lines that were added to the result or discarded.
    var noted = 0
    /// Whether the end of the file was read.
    private(set) var isLast = false
    /// The number of the line that begins at `counted`.
    private var number = 1
    private var counted = 0
    /// The beginning of the bytes that were not checked for a NUL.
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
            // A file that cannot be read to the end is searched as far as possible.
            guard count > 0 else {
                isLast = true
                return
            }
            end += count
        }
    }

    /// Replaces the content by the rest of the file in UTF-8. False if it is too large for that.
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

    /// The format of the file, from its beginning.
    var format: FileFormat {
        let head = min(end, FileFormat.headLength)
        return FileFormat(head: bytes.prefix(min(end, FileFormat.longestSignature)), hasNUL: find(0, 0..<head) != nil)
    }

    /// Skips bytes at the beginning of the file.
    mutating func skip(_ count: Int) {
        (start, noted, counted) = (count, count, count)
    }

    /// Whether the bytes read since the last call contain a NUL.
    var hasNUL: Bool {
        mutating get {
            defer { unchecked = end }
            return find(0, unchecked..<end) != nil
        }
    }

    /// The complete lines that were not searched yet.
    var searchable: Range<Int> {
        if isLast { return start..<end }
        guard let last = bytes[start..<end].lastIndex(of: Byte.newline) else { return start..<start }
        return start..<(last + 1)
    }

    var isFull: Bool { end == bytes.count }

    /// Discards searched lines, except for some lines of context.
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

    /// Enlarges the window for a line that does not fit. False if it has the maximum size.
    mutating func grow(to limit: Int) -> Bool {
        guard bytes.count < limit else { return false }
        bytes += [UInt8](repeating: 0, count: min(bytes.count, limit - bytes.count))
        return true
    }

    // MARK: Lines

    /// The end of the line at a place: its line break, or the limit.
    func lineEnd(from place: Int, before limit: Int) -> Int {
        find(Byte.newline, place..<max(place, limit)) ?? limit
    }

    /// The beginning of the line at a place.
    func lineStart(of place: Int, after limit: Int) -> Int {
        var start = place
        while start > limit, bytes[start - 1] != Byte.newline { start -= 1 }
        return start
    }

    /// The number of the line that begins there. Places must be given in order, except for context lines.
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
