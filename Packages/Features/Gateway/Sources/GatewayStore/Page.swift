/// Which part of a list is wanted.
public struct PageRequest: Sendable, Hashable {
    /// Counted from 1.
    public let number: Int
    /// How many items a page has, at most 100.
    public let size: Int

    /// Takes what is beyond the limits as the limit.
    public init(number: Int = 1, size: Int = 50) {
        // No list is so long that a larger number would be more than an empty page, and its offset fits an integer.
        self.number = min(max(number, 1), 1 << 40)
        self.size = min(max(size, 1), 100)
    }

    var offset: Int { (number - 1) * size }
}

/// Part of a list, and how long all of it is.
public struct Page<Element: Sendable>: Sendable {
    public let items: [Element]
    public let request: PageRequest
    /// How many items there are on all pages.
    public let total: Int

    public init(items: [Element], request: PageRequest, total: Int) {
        self.items = items
        self.request = request
        self.total = total
    }

    /// How many pages there are.
    public var pages: Int { (total + request.size - 1) / request.size }
    public var hasNext: Bool { request.number < pages }
    public var hasPrevious: Bool { request.number > 1 }

    /// The same page of something made from each item.
    public func map<Other: Sendable>(_ transform: (Element) throws -> Other) rethrows -> Page<Other> {
        Page<Other>(items: try items.map(transform), request: request, total: total)
    }
}

extension Page: Equatable where Element: Equatable {}

/// Text cut down to what fits a line of a list.
enum Line {
    /// The beginning of a text, with every run of spaces, line breaks and control characters as one space.
    static func title(of text: String, longest: Int = 60) -> String {
        // Nobody needs more for a title; a text may have megabytes, and a single character thousands of scalars.
        let scalars = text.unicodeScalars.prefix(16 * longest)
        let words = scalars.split { $0.properties.isWhitespace || $0.properties.generalCategory == .control }
        let line = words.map { String(String.UnicodeScalarView($0)) }.joined(separator: " ")
        return String(line.prefix(longest))
    }

    /// A pattern for LIKE with `\` as its escape, which finds a text as it is.
    static func pattern(_ text: String) -> String {
        var pattern = "%"
        for scalar in text.unicodeScalars {
            if ["%", "_", "\\"].contains(scalar) { pattern += "\\" }
            pattern.unicodeScalars.append(scalar)
        }
        return pattern + "%"
    }
}
