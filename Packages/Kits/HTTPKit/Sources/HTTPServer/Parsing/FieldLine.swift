import HTTPCore

/// One line of the head: a name, a colon and a value.
struct FieldLine {
    let kind: Kind
    let name: String
    let value: String

    /// The few names that decide how the request is read.
    enum Kind {
        case host, contentLength, transferEncoding, connection, expect, other
    }

    init(_ line: Span<UInt8>) throws(RequestRefusal) {
        guard !line.isEmpty, line[0] != Byte.space, line[0] != Byte.tab else {
            throw RequestRefusal(.badRequest, "has a header line that goes on in the next one")
        }
        guard let colon = line.first(Byte.colon), colon > 0 else {
            throw RequestRefusal(.badRequest, "has a header line without a name and a colon")
        }
        for place in 0..<colon where !HTTPHeaders.isTokenByte(line[place]) {
            throw RequestRefusal(.badRequest, "has a header with a malformed name")
        }
        var (start, end) = (colon + 1, line.count)
        while start < end, line[start] == Byte.space || line[start] == Byte.tab { start += 1 }
        while end > start, line[end - 1] == Byte.space || line[end - 1] == Byte.tab { end -= 1 }
        for place in start..<end where !HTTPHeaders.isValueByte(line[place]) {
            throw RequestRefusal(.badRequest, "has a header with a control character")
        }
        kind = Self.kind(line, 0..<colon)
        name = line.text(0..<colon)
        value = line.text(start..<end)
    }

    private static func kind(_ line: Span<UInt8>, _ range: Range<Int>) -> Kind {
        switch range.count {
        case 4 where line.isWord(range, "host"): .host
        case 6 where line.isWord(range, "expect"): .expect
        case 10 where line.isWord(range, "connection"): .connection
        case 14 where line.isWord(range, "content-length"): .contentLength
        case 17 where line.isWord(range, "transfer-encoding"): .transferEncoding
        default: .other
        }
    }
}

/// The line before a chunk: its size in hexadecimal digits, and perhaps extensions, which nobody uses.
enum ChunkLine {
    static func size(_ line: Span<UInt8>) throws(RequestRefusal) -> Int {
        var size = 0
        var place = 0
        while place < line.count, let digit = Byte.hex(line[place]) {
            // Fifteen digits cannot overflow, and no body is that large.
            guard place < 15 else { throw RequestRefusal(.contentTooLarge, "has a chunk that is too large") }
            size = size << 4 | Int(digit)
            place += 1
        }
        guard place > 0, place == line.count || line[place] == UInt8(ascii: ";") else {
            throw RequestRefusal(.badRequest, "has a chunk with a malformed size")
        }
        for index in place..<line.count where !HTTPHeaders.isValueByte(line[index]) {
            throw RequestRefusal(.badRequest, "has a chunk with a control character before it")
        }
        return size
    }
}
