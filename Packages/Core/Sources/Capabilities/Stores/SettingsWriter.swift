public import JSON

/// Changes the person's settings file without losing its comments. The host provides it.
public protocol SettingsWriter: AnyObject, Sendable {
    /// Sets some values and removes those that are nil, atomically.
    ///
    /// Running actions keep their present settings; the next command sees the change.
    /// - Parameter changes: receives the content of the person's file, without the values of other layers.
    /// - Returns: the file that was written.
    @discardableResult
    func edit(_ changes: @Sendable (_ own: JSON) -> [(key: [String], value: JSON?)]) async throws -> String
}

extension SettingsWriter {
    /// Sets some values and removes those that are nil, atomically.
    ///
    /// - Returns: the file that was written.
    @discardableResult
    public func change(_ values: [(key: [String], value: JSON?)]) async throws -> String {
        try await edit { _ in values }
    }
}
