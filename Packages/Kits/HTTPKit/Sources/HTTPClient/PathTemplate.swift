/// A path as it may be recorded: words stay, and whatever else a path can hold, such as an id or a key, is left out.
///
/// `/v1/projects/4f2a/files` is `/v1/projects/{}/files`. Addresses of hooks have secrets in their paths that nobody knows as
/// such, so only what looks like a word of an API is kept.
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
