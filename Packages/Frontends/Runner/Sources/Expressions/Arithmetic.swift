import JSON

/// Sums and products. Whole numbers stay whole and never wrap around.
struct Arithmetic {
    let offset: Int

    func plus(_ left: JSON, _ right: JSON) throws(ExpressionError) -> JSON {
        if left.string != nil || right.string != nil {
            throw ExpressionError("'+' adds numbers; texts are joined with '~'", at: offset)
        }
        return try number("+", left, right, { $0.addingReportingOverflow($1) }, +)
    }

    func minus(_ left: JSON, _ right: JSON) throws(ExpressionError) -> JSON {
        try number("-", left, right, { $0.subtractingReportingOverflow($1) }, -)
    }

    func times(_ left: JSON, _ right: JSON) throws(ExpressionError) -> JSON {
        try number("*", left, right, { $0.multipliedReportingOverflow(by: $1) }, *)
    }

    /// Whole where it comes out even.
    func divided(_ left: JSON, _ right: JSON) throws(ExpressionError) -> JSON {
        if let left = left.int, let right = right.int, right != 0 {
            let (quotient, remainder) = right == -1 ? (0, 1) : left.quotientAndRemainder(dividingBy: right)
            if remainder == 0 { return .int(quotient) }
        }
        if right.double == 0 { throw ExpressionError("a number is divided by zero", at: offset) }
        return try number("/", left, right, { _, _ in (0, true) }, /)
    }

    func remainder(_ left: JSON, _ right: JSON) throws(ExpressionError) -> JSON {
        guard let left = left.int, let right = right.int else {
            throw ExpressionError("'%' needs whole numbers", at: offset)
        }
        if right == 0 { throw ExpressionError("a number is divided by zero", at: offset) }
        return .int(right == -1 ? 0 : left % right)
    }

    private func number(
        _ sign: String, _ left: JSON, _ right: JSON, _ whole: (Int, Int) -> (partialValue: Int, overflow: Bool),
        _ fraction: (Double, Double) -> Double
    ) throws(ExpressionError) -> JSON {
        if let left = left.int, let right = right.int {
            let result = whole(left, right)
            if !result.overflow { return .int(result.partialValue) }
        }
        guard let left = left.double, let right = right.double else {
            let wrong = left.double == nil ? left : right
            throw ExpressionError("'\(sign)' needs numbers and was given \(wrong.kindName)", at: offset)
        }
        let result = fraction(left, right)
        guard result.isFinite else { throw ExpressionError("the number is too large", at: offset) }
        return .double(result)
    }
}
