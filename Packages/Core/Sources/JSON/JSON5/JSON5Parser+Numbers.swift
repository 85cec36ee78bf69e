extension JSON5Parser {
    /// Reads a number, which starts here with a sign, a digit or a dot.
    mutating func number() throws(JSONError) -> JSON {
        let start = cursor.offset
        let isNegative = cursor.byte == JSONByte.minus
        if isNegative || cursor.byte == JSONByte.plus { cursor.offset += 1 }
        if startsIdentifier {
            let place = cursor.offset
            let word = try identifier()
            let isNumber = word == "Infinity" || word == "NaN"
            throw isNumber ? cursor.failure(.wordForInfinity, at: start) : cursor.failure(.missingDigits, at: place)
        }
        if cursor.byte == JSONByte.zero, cursor[cursor.offset + 1] | 0x20 == UInt8(ascii: "x") {
            return try hexadecimal(isNegative: isNegative)
        }
        let sign = isNegative ? "-" : ""
        let whole = digits()
        if whole.utf8.count > 1, whole.hasPrefix("0") {
            throw cursor.failure(.leadingZero, at: cursor.offset - whole.utf8.count)
        }
        guard cursor.byte == JSONByte.dot || cursor.byte | 0x20 == UInt8(ascii: "e") else {
            if whole.isEmpty { throw cursor.failure(.missingDigits) }
            return Int(sign + whole).map(JSON.int) ?? .big(sign + whole)
        }
        var fraction = ""
        if cursor.byte == JSONByte.dot {
            cursor.offset += 1
            fraction = digits()
        }
        if whole.isEmpty, fraction.isEmpty { throw cursor.failure(.missingDigits) }
        let exponent = try exponent()
        // A digit on either side of the dot is what the conversion is sure to understand.
        guard let value = Double("\(sign)0\(whole).\(fraction)0\(exponent)"), value.isFinite else {
            throw cursor.failure(.infiniteNumber, at: start)
        }
        return .double(value)
    }

    private mutating func digits() -> String {
        var digits = ""
        while JSONByte.zero...JSONByte.nine ~= cursor.byte {
            digits.unicodeScalars.append(Unicode.Scalar(cursor.byte))
            cursor.offset += 1
        }
        return digits
    }

    private mutating func exponent() throws(JSONError) -> String {
        guard cursor.byte | 0x20 == UInt8(ascii: "e") else { return "" }
        cursor.offset += 1
        let isNegative = cursor.byte == JSONByte.minus
        if isNegative || cursor.byte == JSONByte.plus { cursor.offset += 1 }
        let digits = digits()
        if digits.isEmpty { throw cursor.failure(.missingDigits) }
        return (isNegative ? "e-" : "e") + digits
    }

    private mutating func hexadecimal(isNegative: Bool) throws(JSONError) -> JSON {
        let start = cursor.offset
        cursor.offset += 2
        guard JSONByte.hexadecimal(cursor.byte) != nil else { throw cursor.failure(.missingDigits) }
        var magnitude: UInt64 = 0
        while let digit = JSONByte.hexadecimal(cursor.byte) {
            if magnitude >> 60 != 0 { throw cursor.failure(.largeHexadecimal, at: start) }
            magnitude = magnitude << 4 | UInt64(digit)
            cursor.offset += 1
        }
        let text = (isNegative && magnitude != 0 ? "-" : "") + String(magnitude)
        return Int(text).map(JSON.int) ?? .big(text)
    }
}
