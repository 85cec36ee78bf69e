import JSON

/// How far a long operation has come.
public struct Progress: Record, Hashable {
    /// What is being done, such as `copying model.gguf`.
    public var activity: String
    /// The amount done so far, in the unit of `total`; nil if it is not counted.
    public var completed: Int?
    /// The whole amount, such as a number of bytes or files; nil if it is unknown.
    public var total: Int?

    /// By default nothing is counted, and only the activity is shown.
    public init(_ activity: String, completed: Int? = nil, of total: Int? = nil) {
        self.activity = activity
        self.completed = completed
        self.total = total
    }

    /// From 0 to 1, if both numbers are known.
    public var fraction: Double? {
        guard let completed, let total, total > 0 else { return nil }
        return min(1, max(0, Double(completed) / Double(total)))
    }

    public static let fields: [Field<Progress>] = [
        Field("activity", "What is being done") { $0.activity },
        Field("completed", "The amount done so far") { $0.completed },
        Field("total", "The total amount") { $0.total },
    ]
}
