public import JSON

/// Changes the person's own settings file and keeps its comments. The host provides it.
public protocol SettingsWriter: AnyObject, Sendable {
    /// Sets some values and removes those that are nil, all in one step in which nobody else changes them.
    ///
    /// What runs goes on with the settings it has; the next command sees the change.
    /// - Parameter changes: is given what the person's own file says now, without what other layers add to it.
    /// - Returns: the file that was written.
    @discardableResult
    func edit(_ changes: @Sendable (_ own: JSON) -> [(key: [String], value: JSON?)]) async throws -> String
}

extension SettingsWriter {
    /// Sets some values and removes those that are nil, all in one step.
    ///
    /// - Returns: the file that was written.
    @discardableResult
    public func change(_ values: [(key: [String], value: JSON?)]) async throws -> String {
        try await edit { _ in values }
    }
}
