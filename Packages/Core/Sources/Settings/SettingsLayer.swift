public import JSON

/// The settings of one origin, with their places where they come from a file.
public struct SettingsLayer: Sendable {
    public let origin: SettingsOrigin
    public let value: JSONObject
    private let document: JSONDocument?

    public init(origin: SettingsOrigin, value: JSONObject) {
        self.origin = origin
        self.value = value
        document = nil
    }

    /// Reads a settings file's text.
    ///
    /// - Throws: the problem with its line and column when it is no JSON5 object.
    public init(origin: SettingsOrigin, text: [UInt8]) throws(SettingsProblem) {
        let document: JSONDocument
        do {
            document = try JSONDocument(parsing: text, name: origin.words)
        } catch {
            throw SettingsProblem(
                origin: origin, line: error.line, column: error.column, key: error.path, message: error.message)
        }
        guard let object = document.value.object else {
            throw SettingsProblem(
                origin: origin, line: 1, column: 1,
                message: "settings must be an object in braces, not \(document.value.kindName)")
        }
        self.origin = origin
        self.value = object
        self.document = document
    }

    /// The problem with its place in the file: the key's where the key is wrong, else the value's.
    func problem(at key: [String], _ message: String, isAboutKey: Bool = false) -> SettingsProblem {
        var place = isAboutKey ? document?.keyPosition(of: key) : document?.position(of: key)
        // What is missing stands nowhere, so the place is that of what it is missing in.
        for depth in key.indices.reversed() where place == nil { place = document?.position(of: Array(key[..<depth])) }
        return SettingsProblem(origin: origin, line: place?.line, column: place?.column, key: key, message: message)
    }
}
