/// The modules that a Swift file imports, whatever stands before and after the word.
public func importedModules(in text: String) -> [String] {
    let attribute = /(?:@\w+(?:\([^)]*\))?\s+)*/
    let access = /(?:(?:public|package|internal|fileprivate|private)\s+)?/
    let kind = /(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?/
    return lines(of: text, with: ["import "]).compactMap { _, line in
        let line = line.drop { $0 == " " || $0 == "\t" }
        guard let before = line.prefixMatch(of: attribute) else { return nil }
        guard let access = line[before.range.upperBound...].prefixMatch(of: access) else { return nil }
        let rest = line[access.range.upperBound...]
        guard rest.hasPrefix("import ") else { return nil }
        let named = rest.dropFirst("import ".count).drop { $0 == " " }
        guard let kind = named.prefixMatch(of: kind) else { return nil }
        return String(named[kind.range.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }
}
