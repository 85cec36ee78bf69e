extension JSONCursor {
    /// Steps over a number that starts here with a digit or a minus.
    mutating func number() throws(JSONError) -> JSON {
        let start = offset
        let isNegative = byte == JSONByte.minus
        if isNegative { offset += 1 }
        var magnitude: UInt64 = 0
        let whole = try digits(into: &magnitude)
        if whole > 1, self[offset - whole] == JSONByte.zero { throw failure(.leadingZero, at: offset - whole) }
        guard byte == JSONByte.dot || byte | 0x20 == UInt8(ascii: "e") else {
            // Eighteen digits fit whatever they are.
            if whole <= 18 { return .int(isNegative ? -Int(magnitude) : Int(magnitude)) }
            return integer(start..<offset)
        }
        var fraction = 0
        if byte == JSONByte.dot {
            offset += 1
            fraction = try digits(into: &magnitude)
        }
        var exponent = 0
        if byte | 0x20 == UInt8(ascii: "e") { exponent = try self.exponent() }
        if whole + fraction <= JSONDecimal.mostDigits,
            let value = JSONDecimal.double(magnitude, scale: exponent - fraction)
        {
            return .double(isNegative ? -value : value)
        }
        return .double(try double(start..<offset))
    }

    /// Steps over digits, of which there must be one, adding them to a magnitude that may wrap beyond 19.
    @inline(__always)
    private mutating func digits(into magnitude: inout UInt64) throws(JSONError) -> Int {
        let start = offset
        while offset < count {
            let digit = unsafe bytes[offset] &- JSONByte.zero
            guard digit <= 9 else { break }
            magnitude = magnitude &* 10 &+ UInt64(digit)
            offset += 1
        }
        if offset == start { throw failure(.missingDigits) }
        return offset - start
    }

    private mutating func exponent() throws(JSONError) -> Int {
        offset += 1
        let isNegative = byte == JSONByte.minus
        if isNegative || byte == JSONByte.plus { offset += 1 }
        var magnitude: UInt64 = 0
        let length = try digits(into: &magnitude)
        // What is longer is left to the exact conversion, leading zeros included.
        let exponent = length <= 4 ? Int(magnitude) : 9999
        return isNegative ? -exponent : exponent
    }

    /// An integer in decimal, exact at any size.
    func integer(_ range: Range<Int>) -> JSON {
        let digits = text(range)
        return Int(digits).map(JSON.int) ?? .big(digits)
    }

    /// A number in decimal, rounded correctly.
    func double(_ range: Range<Int>) throws(JSONError) -> Double {
        guard let value = Double(text(range)), value.isFinite else {
            throw failure(.infiniteNumber, at: range.lowerBound)
        }
        return value
    }

    private func text(_ range: Range<Int>) -> String {
        unsafe String(decoding: units(range), as: UTF8.self)
    }
}
