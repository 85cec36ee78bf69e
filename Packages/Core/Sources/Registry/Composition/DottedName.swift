/// The form of ids: lower-case words with digits and hyphens, joined by dots.
enum DottedName {
    static func isValid(_ name: String) -> Bool {
        !name.isEmpty && name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy(isWord)
    }

    /// One word of an id, which is also the form of a parameter's name.
    static func isWord(_ word: some StringProtocol) -> Bool {
        guard let first = word.utf8.first, (97...122).contains(first), !word.hasSuffix("-") else {
            return false
        }
        return word.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-") }
    }
}
