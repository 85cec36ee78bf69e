public import JSON

/// Changes the person's own settings file and keeps its comments. The host provides it.
public protocol SettingsWriter: AnyObject, Sendable {
    /// Sets some values and removes those that are nil, all in one step.
    ///
    /// What runs goes on with the settings it has; the next command sees the change.
    /// - Returns: the file that was written.
    @discardableResult
    func change(_ values: [(key: [String], value: JSON?)]) async throws -> String
}
