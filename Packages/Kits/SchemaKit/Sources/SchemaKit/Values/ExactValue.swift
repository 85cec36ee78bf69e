import Glibc
import JSON

/// Equality as JSON Schema defines it: numbers by their value, strings by their code points, objects in any order.
enum ExactValue {
    /// Whether two values are equal. The cost grows by one for each part, and for each 64 bytes of text.
    static func areEqual(_ left: JSON, _ right: JSON, cost: inout Int) -> Bool {
        cost += 1
        switch (left, right) {
        case (.null, .null): return true
        case (.bool(let left), .bool(let right)): return left == right
        case (.string(let left), .string(let right)):
            cost += left.utf8.count >> 6
            return left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)):
            guard left.count == right.count else { return false }
            for index in left.indices where !areEqual(left[index], right[index], cost: &cost) { return false }
            return true
        case (.object(let left), .object(let right)):
            guard left.count == right.count else { return false }
            for (name, value) in left {
                guard let other = right[name], areEqual(value, other, cost: &cost) else { return false }
            }
            return true
        case (.big(let left), .big(let right)):
            cost += left.utf8.count >> 4
            return left.utf8.count == right.utf8.count && left == right
        case (.int, .int), (.int, .double), (.double, .int), (.double, .double):
            return ExactNumber.areEqual(left, right)
        case (.big(let digits), .int), (.big(let digits), .double), (.int, .big(let digits)),
            (.double, .big(let digits)):
            cost += digits.utf8.count >> 2
            return ExactNumber.areEqual(left, right)
        default: return false
        }
    }

    /// A hash that equal values have in common.
    static func hash(_ value: JSON, into hasher: inout Hasher, cost: inout Int) {
        cost += 1
        switch value {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int(let number): hasher.combine(number)
        case .double(let number):
            if let whole = Int(exactly: number), whole.magnitude <= 1 << 53 {
                hasher.combine(whole)
            } else {
                hash(largeOrBroken: value, into: &hasher)
            }
        case .big(let digits):
            cost += digits.utf8.count >> 4
            hash(largeOrBroken: value, into: &hasher)
        case .string(let text):
            cost += text.utf8.count >> 6
            ByteName(text).hash(into: &hasher)
        case .array(let elements):
            hasher.combine(elements.count)
            for element in elements { hash(element, into: &hasher, cost: &cost) }
        case .object(let members):
            var sum = 0
            for (name, value) in members {
                cost += name.utf8.count >> 6
                var one = Hasher()
                ByteName(name).hash(into: &one)
                hash(value, into: &one, cost: &cost)
                sum &+= one.finalize()
            }
            hasher.combine(sum)
        }
    }

    /// What no `Double` and `Int` hold both; or an `Int` beyond 2^53, as which it may be written as well.
    private static func hash(largeOrBroken value: JSON, into hasher: inout Hasher) {
        guard let number = ExactNumber(value) else { return }
        if number.exponent >= 0, number.exponent + number.digits.count <= 19 {
            var whole: Int? = 0
            for digit in number.digits { whole = Self.append(Int(digit), to: whole, number.isNegative) }
            for _ in 0..<number.exponent { whole = Self.append(0, to: whole, number.isNegative) }
            if let whole { return hasher.combine(whole) }
        }
        hasher.combine(number)
    }

    private static func append(_ digit: Int, to whole: Int?, _ isNegative: Bool) -> Int? {
        guard let (product, overflows) = whole?.multipliedReportingOverflow(by: 10), !overflows else { return nil }
        let (sum, passes) = product.addingReportingOverflow(isNegative ? -digit : digit)
        return passes ? nil : sum
    }
}

/// A value that can be looked up among many.
struct ExactKey: Hashable {
    let value: JSON

    static func == (left: ExactKey, right: ExactKey) -> Bool {
        var cost = 0
        return ExactValue.areEqual(left.value, right.value, cost: &cost)
    }

    func hash(into hasher: inout Hasher) {
        var cost = 0
        ExactValue.hash(value, into: &hasher, cost: &cost)
    }
}

/// A name that is compared by its bytes; Swift's strings treat "é" as one scalar and as two as equal.
struct ByteName: Hashable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: ByteName, right: ByteName) -> Bool { left.text.hasSameBytes(as: right.text) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Whether both strings have the same UTF-8 bytes.
    @inline(__always)
    func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let (left, right) = (utf8.span, other.utf8.span)
        return unsafe left.withUnsafeBufferPointer { left in
            unsafe right.withUnsafeBufferPointer { right in
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return unsafe memcmp(first, second, left.count) == 0
            }
        }
    }
}
