/// A path as it may be recorded: words stay, and all other segments, such as ids and keys, are replaced by `{}`.
///
/// `/v1/projects/4f2a/files` becomes `/v1/projects/{}/files`. The path of a webhook often contains a secret that the redactor
/// does not know, so only segments that look like the words of an API are kept.
enum PathTemplate {
    /// The longest part of a word: `completions`, `authorization`.
    private static let longest = 16

    static func of(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.isEmpty || isKept($0.utf8) ? String($0) : "{}" }
            .joined(separator: "/")
    }

    private static func isKept(_ segment: Substring.UTF8View) -> Bool {
        isVersion(segment)
            || segment.split(omittingEmptySubsequences: false, whereSeparator: "-_.".utf8.contains).allSatisfy { part in
                part.count <= longest && part.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
            }
    }

    /// `v1`, `v1beta`, `v2alpha1`.
    private static func isVersion(_ segment: Substring.UTF8View) -> Bool {
        let digits = segment.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let rest = segment.dropFirst(1 + digits.count)
        return segment.first == UInt8(ascii: "v") && (1...3).contains(digits.count)
            && (rest.isEmpty || rest.starts(with: "alpha".utf8) || rest.starts(with: "beta".utf8)) && rest.count <= 6
    }
}
