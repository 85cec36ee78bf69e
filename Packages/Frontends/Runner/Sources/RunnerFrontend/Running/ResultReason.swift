import Capabilities
import JSON

/// Why an action's result stands for a failure, in the result's own words.
enum ResultReason {
    /// As many are told; the result itself has all of them.
    private static let most = 3

    /// The reasons and what mends them, of the result or of the rows in it that are not well; nil where it has none.
    static func text(_ result: JSON) -> String? {
        let all = result.array ?? [result]
        let failed = all.filter { $0["state"]?.string == "failed" }
        let rows = failed.isEmpty ? all : failed
        let reasons = rows.compactMap(reason)
        guard !reasons.isEmpty else { return nil }
        let more = reasons.count > most ? "; and \(reasons.count - most) more" : ""
        return reasons.prefix(most).joined(separator: "; ") + more
    }

    private static func reason(_ row: JSON) -> String? {
        let mend = row["mend"]?.string
        // A row that says how it is mended is not well, whatever it calls what it has found.
        guard let why = row["reason"]?.string ?? (mend == nil ? nil : row["found"]?.string) else { return mend }
        let name = row["id"]?.string.map { "\($0): " } ?? ""
        return name + why + (mend.map { "; \($0)" } ?? "")
    }
}
