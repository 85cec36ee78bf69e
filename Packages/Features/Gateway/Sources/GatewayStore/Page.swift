/// The requested page of a list.
public struct PageRequest: Sendable, Hashable {
    /// The page number, from 1.
    public let number: Int
    /// The number of items on a page, at most 100.
    public let size: Int

    /// Clamps values to the limits.
    public init(number: Int = 1, size: Int = 50) {
        // Larger page numbers would be empty anyway, and this limit keeps the offset from overflowing.
        self.number = min(max(number, 1), 1 << 40)
        self.size = min(max(size, 1), 100)
    }

    var offset: Int { (number - 1) * size }
}

/// One page of a list, with the length of the whole list.
public struct Page<Element: Sendable>: Sendable {
    /// The items of this page; empty after the last page.
    public let items: [Element]
    /// The page that was requested.
    public let request: PageRequest
    /// The number of items on all pages.
    public let total: Int

    /// A page with these items, out of `total` on all pages.
    public init(items: [Element], request: PageRequest, total: Int) {
        self.items = items
        self.request = request
        self.total = total
    }

    /// The number of pages.
    public var pages: Int { (total + request.size - 1) / request.size }
    /// Whether a page follows.
    public var hasNext: Bool { request.number < pages }
    /// Whether it is not the first page.
    public var hasPrevious: Bool { request.number > 1 }

    /// The same page with each item transformed.
    public func map<Other: Sendable>(_ transform: (Element) throws -> Other) rethrows -> Page<Other> {
        Page<Other>(items: try items.map(transform), request: request, total: total)
    }
}

extension Page: Equatable where Element: Equatable {}

/// Text for one line of a list.
enum Line {
    /// The beginning of a text, with each run of spaces, line breaks and control characters replaced by one space.
    static func title(of text: String, longest: Int = 60) -> String {
        // Limit the work: a text may have megabytes, and a single character thousands of scalars.
        let scalars = text.unicodeScalars.prefix(16 * longest)
        let words = scalars.split { $0.properties.isWhitespace || $0.properties.generalCategory == .control }
        let line = words.map { String(String.UnicodeScalarView($0)) }.joined(separator: " ")
        return String(line.prefix(longest))
    }
}
