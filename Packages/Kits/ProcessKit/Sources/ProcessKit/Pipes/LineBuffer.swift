import Glibc

/// Bytes read and not yet taken, cut into lines on demand.
struct LineBuffer {
    private var bytes: [UInt8] = []
    private var start = 0
    // Where the search for a newline goes on, so that a long line is not searched again for each part that arrives.
    private var searched = 0

    var count: Int { bytes.count - start }

    /// Makes one read of at most 64 KiB; the result is that of `read`.
    mutating func readOnce(_ descriptor: Int32) -> Int {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            (start, searched) = (0, 0)
        } else if start > bytes.count / 2 {
            bytes.removeSubrange(..<start)
            (start, searched) = (0, searched - start)
        }
        var result = 0
        bytes.append(addingCapacity: 1 << 16) { (free: inout OutputSpan<UInt8>) in
            unsafe free.withUnsafeMutableBufferPointer { buffer, filled in
                unsafe result = read(descriptor, buffer.baseAddress, 1 << 16)
                filled = max(result, 0)
            }
        }
        return result
    }

    /// The next whole line without its newline, or nil when none is complete yet.
    mutating func takeLine(limit: Int) throws(ProcessError) -> [UInt8]? {
        let newline = unsafe bytes.withUnsafeBufferPointer { buffer -> Int? in
            guard let base = buffer.baseAddress,
                let found = unsafe memchr(base + searched, 0x0A, buffer.count - searched)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
        }
        guard (newline ?? bytes.count) - start <= limit else {
            throw ProcessError(.lineTooLong, "a child process wrote a line longer than the limit of \(limit) bytes")
        }
        guard let newline else {
            searched = bytes.count
            return nil
        }
        defer { (start, searched) = (newline + 1, newline + 1) }
        return Array(bytes[start..<newline])
    }

    /// Throws away what is there of a line; whether that was all of it.
    mutating func skipLine() -> Bool {
        let newline = bytes[max(start, searched)...].firstIndex(of: 0x0A)
        start = newline.map { $0 + 1 } ?? bytes.count
        searched = start
        return newline != nil
    }

    /// Everything that is there, or nil when there is nothing.
    mutating func takeAll() -> [UInt8]? {
        guard count > 0 else { return nil }
        defer { (bytes, start, searched) = ([], 0, 0) }
        return start == 0 ? bytes : Array(bytes[start...])
    }
}
