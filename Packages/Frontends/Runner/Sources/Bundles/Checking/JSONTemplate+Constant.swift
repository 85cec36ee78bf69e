import Expressions
import JSON

extension JSONTemplate {
    /// The value, where no expression is in it.
    var constant: JSON? {
        if !expressions.isEmpty { return nil }
        // Without expressions no scope is asked, so that nothing can be missing.
        do { return try value(in: Scope()) } catch { return nil }
    }

    /// The beginning of an address up to where its path begins, where no expression can change which server it names.
    var constantServer: JSON? {
        guard case .text(let template) = self, case .text(let plain) = template.pieces.first,
            let scheme = plain.firstRange(of: "://"),
            let end = plain[scheme.upperBound...].firstIndex(where: { "/?#".contains($0) })
        else { return nil }
        return .string(String(plain[..<end]))
    }
}
