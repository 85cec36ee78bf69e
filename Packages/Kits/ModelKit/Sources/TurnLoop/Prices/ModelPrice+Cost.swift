public import Capabilities

extension ModelPrice {
    /// What the work cost, exact to the billionth of a dollar. Nil when a count or a price that matters is not known,
    /// because half a sum would look like a whole one.
    public func cost(of usage: Usage) -> Cost? {
        guard let input = usage.inputTokens, let output = usage.outputTokens else { return nil }
        let cached = usage.cachedTokens ?? 0
        let written = usage.cacheWriteTokens ?? 0
        guard input >= 0, output >= 0, cached >= 0, written >= 0, cached <= input, written <= input - cached else {
            return nil
        }
        var sum = 0
        let items = [
            (input - cached - written, self.input), (cached, cachedInput), (written, cacheWrite), (output, self.output),
        ]
        for (count, price) in items where count > 0 {
            guard let price else { return nil }
            let (product, isTooLarge) = count.multipliedReportingOverflow(by: price.femtodollars)
            let (total, isTooMuch) = sum.addingReportingOverflow(product)
            if isTooLarge || isTooMuch { return nil }
            sum = total
        }
        // A billionth of a dollar is a million of the units in which prices are kept; a half counts as one.
        return Cost(nanodollars: sum / 1_000_000 + (sum % 1_000_000 >= 500_000 ? 1 : 0))
    }
}
