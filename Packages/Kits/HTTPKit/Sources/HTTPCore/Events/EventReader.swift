import Glibc

/// The parser state between lines, and the effect of each line.
struct EventReader: Sendable {
    /// The location of a complete event's data.
    enum Found {
        case none
        case inChunk(Range<Int>)
        case apart([UInt8])
    }

    private(set) var lastEventID: String
    private(set) var retry: Duration?
    private(set) var failure: HTTPError?
    private(set) var hasMarkup = false

    private let limits: EventLimits
    private let readsErrorField: Bool

    // The specification's buffers. `data` omits the last line feed, so that "no data" is a distinct value.
    private var data: [UInt8] = []
    private var hasData = false
    private var type = ServerSentEvent.defaultType
    private var hasType = false
    private var endedType = ServerSentEvent.defaultType
    private var id: String

    /// The beginning of an incomplete line.
    private var carry: [UInt8] = []
    private var isInComment = false
    private var endedWithReturn = false
    /// The number of byte order mark bytes read; `nil` once the stream has begun.
    private var markBytes: Int? = 0
    private var ends = LineEnds()

    init(limits: EventLimits, lastEventID: String, readsErrorField: Bool) {
        self.limits = limits
        self.lastEventID = lastEventID
        self.id = lastEventID
        self.readsErrorField = readsErrorField
    }

    mutating func beginChunk() {
        ends = LineEnds()
    }

    /// The event whose data was just found.
    @inline(__always)
    func event(_ data: ArraySlice<UInt8>) -> ServerSentEvent {
        ServerSentEvent(type: endedType, data: data, lastEventID: lastEventID)
    }

    /// Reads to the end of an event with data, or of the chunk. Reads nothing after a failure.
    mutating func readEvent(_ chunk: UnsafeRawBufferPointer, _ position: inout Int) -> Found {
        guard failure == nil else { return .none }
        do throws(HTTPError) {
            return try unsafe readLines(chunk, &position)
        } catch {
            failure = error
            (data, carry) = ([], [])
            return .none
        }
    }
}

// MARK: - Lines

extension EventReader {
    private mutating func readLines(
        _ chunk: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTPError) -> Found {
        var start = unsafe markBytes == nil ? position : skipMark(chunk)
        if endedWithReturn, start < chunk.count {
            endedWithReturn = false
            if unsafe chunk[start] == 10 { start += 1 }
        }
        // The data of a one-line event stays in place until the event ends, which avoids a copy.
        var lone: Range<Int>?
        while start < chunk.count {
            // In most streams every other line is empty, which is detected without a search.
            let end = unsafe chunk[start] == 10 ? start : ends.next(in: chunk, from: start)
            guard end < chunk.count else { break }
            let first = start
            start = end + 1
            if unsafe chunk[end] == 13 {
                if start == chunk.count {
                    endedWithReturn = true
                } else if unsafe chunk[start] == 10 {
                    start += 1
                }
            }
            if !carry.isEmpty || isInComment {
                try unsafe endCarriedLine(with: UnsafeRawBufferPointer(rebasing: chunk[first..<end]))
            } else if first < end {
                try unsafe readLine(chunk, first..<end, &lone)
            } else if case let found = endEvent(lone), hasEnded(found) {
                position = start
                return found
            }
        }
        position = chunk.count
        if let lone { try unsafe append(UnsafeRawBufferPointer(rebasing: chunk[lone])) }
        try unsafe keep(UnsafeRawBufferPointer(rebasing: chunk[start...]))
        return .none
    }

    @inline(__always)
    private func hasEnded(_ found: Found) -> Bool {
        if case .none = found { false } else { true }
    }

    /// Matches the mark across chunks and returns where the lines begin. A false match is put back.
    private mutating func skipMark(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard var matched = markBytes else { return 0 }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var position = 0
        while position < bytes.count {
            guard unsafe bytes[position] == mark[matched] else {
                carry.append(contentsOf: mark[..<matched])
                markBytes = nil
                return position
            }
            position += 1
            matched += 1
            markBytes = matched == mark.count ? nil : matched
            if matched == mark.count { break }
        }
        return position
    }

    /// Keeps the beginning of a line, except of a comment, however long it is.
    private mutating func keep(_ bytes: UnsafeRawBufferPointer) throws(HTTPError) {
        guard bytes.count > 0, !isInComment else { return }
        if carry.isEmpty, unsafe bytes[0] == UInt8(ascii: ":") {
            isInComment = true
            return
        }
        guard carry.count + bytes.count <= limits.line else { throw Self.tooLarge("a line", limits.line) }
        unsafe carry.append(contentsOf: bytes)
    }

    private mutating func endCarriedLine(with bytes: UnsafeRawBufferPointer) throws(HTTPError) {
        if isInComment {
            isInComment = false
            return
        }
        try unsafe keep(bytes)
        var line: [UInt8] = []
        swap(&line, &carry)
        let failure = unsafe line.withUnsafeBytes { line -> HTTPError? in
            do throws(HTTPError) {
                var lone: Range<Int>?
                try unsafe readLine(line, 0..<line.count, &lone)
                if let lone { try unsafe append(UnsafeRawBufferPointer(rebasing: line[lone])) }
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
        // A long line is rare, so its memory is released at once.
        if line.count <= 4096 {
            line.removeAll(keepingCapacity: true)
            carry = line
        }
    }
}

// MARK: - Fields

extension EventReader {
    /// Reads one line that is not empty. Data is left in `lone` when it is the first line of its event.
    @inline(__always)
    private mutating func readLine(
        _ chunk: UnsafeRawBufferPointer, _ line: Range<Int>, _ lone: inout Range<Int>?
    ) throws(HTTPError) {
        guard line.count <= limits.line else { throw Self.tooLarge("a line", limits.line) }
        // The names are known, so the colon needs no search: it follows the name or the line is another field.
        if let value = unsafe EventField.data.value(in: chunk, line) {
            try unsafe addData(chunk, value, &lone)
        } else {
            try unsafe readOther(chunk, line, &lone)
        }
    }

    private mutating func readOther(
        _ chunk: UnsafeRawBufferPointer, _ line: Range<Int>, _ lone: inout Range<Int>?
    ) throws(HTTPError) {
        if let value = unsafe EventField.event.value(in: chunk, line) {
            guard value.count <= limits.name else { throw Self.tooLarge("the type of an event", limits.name) }
            hasType = !value.isEmpty
            // Streams use few types, so the previous event's string can usually be reused.
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: chunk[value])
            if hasType, unsafe !type.hasBytes(bytes) { type = unsafe String(decoding: bytes, as: UTF8.self) }
        } else if let value = unsafe EventField.id.value(in: chunk, line) {
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: chunk[value])
            guard unsafe !bytes.contains(0) else { return }
            guard value.count <= limits.name else { throw Self.tooLarge("the id of an event", limits.name) }
            if unsafe !id.hasBytes(bytes) { id = unsafe String(decoding: bytes, as: UTF8.self) }
        } else if let value = unsafe EventField.retry.value(in: chunk, line) {
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: chunk[value])
            if let milliseconds = unsafe Self.number(bytes) { retry = .milliseconds(milliseconds) }
        } else if readsErrorField, let value = unsafe EventField.error.value(in: chunk, line) {
            (type, hasType) = ("error", true)
            try unsafe addData(chunk, value, &lone)
        } else if unsafe chunk[line.lowerBound] == UInt8(ascii: "<") {
            hasMarkup = true
        }
    }

    @inline(__always)
    private mutating func addData(
        _ chunk: UnsafeRawBufferPointer, _ value: Range<Int>, _ lone: inout Range<Int>?
    ) throws(HTTPError) {
        if let first = lone {
            try unsafe append(UnsafeRawBufferPointer(rebasing: chunk[first]))
            lone = nil
        }
        if hasData {
            try unsafe append(UnsafeRawBufferPointer(rebasing: chunk[value]))
        } else {
            guard value.count <= limits.event else { throw Self.tooLarge("the data of an event", limits.event) }
            lone = value
        }
    }

    private mutating func append(_ value: UnsafeRawBufferPointer) throws(HTTPError) {
        let feed = hasData ? 1 : 0
        guard data.count + feed + value.count <= limits.event else {
            throw Self.tooLarge("the data of an event", limits.event)
        }
        if hasData { data.append(10) }
        hasData = true
        unsafe data.append(contentsOf: value)
    }

    @inline(__always)
    private mutating func endEvent(_ lone: Range<Int>?) -> Found {
        lastEventID = id
        endedType = hasType ? type : ServerSentEvent.defaultType
        hasType = false
        if let lone { return .inChunk(lone) }
        guard hasData else { return .none }
        hasData = false
        var whole: [UInt8] = []
        swap(&whole, &data)
        return .apart(whole)
    }

    /// A number of only ASCII digits; a number that is too large becomes the maximum.
    private static func number(_ digits: UnsafeRawBufferPointer) -> Int64? {
        guard digits.count > 0 else { return nil }
        var number: Int64 = 0
        var isTooLarge = false
        for index in 0..<digits.count {
            let digit = unsafe digits[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carried) = product.addingReportingOverflow(Int64(digit))
            isTooLarge = isTooLarge || overflow || carried
            number = isTooLarge ? .max : sum
        }
        return number
    }

    private static func tooLarge(_ what: String, _ limit: Int) -> HTTPError {
        HTTPError(
            .tooLarge, "the event stream was ended: \(what) is larger than the limit of \(limit) bytes", status: .ok)
    }
}

/// A field that an event stream may have. Names are compared byte by byte: `Data` is another field.
struct EventField {
    private let name: StaticString

    static let data = EventField(name: "data")
    static let event = EventField(name: "event")
    static let id = EventField(name: "id")
    static let retry = EventField(name: "retry")
    static let error = EventField(name: "error")

    /// The range of the value if the line is this field: after the colon and one space, or empty without a colon.
    @inline(__always)
    func value(in chunk: UnsafeRawBufferPointer, _ line: Range<Int>) -> Range<Int>? {
        let count = name.utf8CodeUnitCount
        guard line.count >= count, let base = chunk.baseAddress,
            unsafe memcmp(base + line.lowerBound, name.utf8Start, count) == 0
        else { return nil }
        var start = line.lowerBound + count
        guard start < line.upperBound else { return start..<start }
        guard unsafe chunk[start] == UInt8(ascii: ":") else { return nil }
        start += 1
        if start < line.upperBound, unsafe chunk[start] == UInt8(ascii: " ") { start += 1 }
        return start..<line.upperBound
    }
}

extension String {
    /// Whether its UTF-8 is exactly these bytes.
    func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let same = unsafe utf8.withContiguousStorageIfAvailable { own in
            guard own.count == bytes.count else { return false }
            guard let left = own.baseAddress, let right = bytes.baseAddress else { return true }
            return unsafe memcmp(left, right, own.count) == 0
        }
        return same ?? false
    }
}

/// The next line end of a chunk, CR or LF. It caches the next position of each, so that a chunk is searched once for
/// each and not once for every line.
struct LineEnds {
    private var nextFeed = -1
    private var nextReturn = -1

    /// The first line end at or after the position, or the count of the chunk when it has none.
    @inline(__always)
    mutating func next(in chunk: UnsafeRawBufferPointer, from position: Int) -> Int {
        if nextFeed < position { nextFeed = unsafe Self.find(10, in: chunk, from: position) }
        if nextReturn < position { nextReturn = unsafe Self.find(13, in: chunk, from: position) }
        return min(nextFeed, nextReturn)
    }

    @inline(__always)
    private static func find(_ byte: Int32, in chunk: UnsafeRawBufferPointer, from position: Int) -> Int {
        guard position < chunk.count, let base = chunk.baseAddress,
            let found = unsafe memchr(base + position, byte, chunk.count - position)
        else { return chunk.count }
        return unsafe UnsafeRawPointer(found) - base
    }
}
