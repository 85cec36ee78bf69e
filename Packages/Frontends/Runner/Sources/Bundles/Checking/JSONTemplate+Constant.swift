import Expressions
import JSON

extension JSONTemplate {
    /// The value, where no expression is in it.
    var constant: JSON? {
        if !expressions.isEmpty { return nil }
        // Without expressions no scope is asked, so that nothing can be missing.
        do { return try value(in: Scope()) } catch { return nil }
    }
}
