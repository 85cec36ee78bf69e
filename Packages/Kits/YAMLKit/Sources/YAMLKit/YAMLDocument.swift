public import JSON

/// A YAML file: its value, and where each part of it stands. It answers as `JSONDocument` does.
///
///     let document = try YAMLDocument(parsing: bytes, name: "nightly.yaml")
///     document.value["steps"]?[0]
///     document.position(of: ["steps", "0", "action"])
///
/// It reads the part of YAML that means one thing only: no tags, no merged maps, no second document, no key twice.
public struct YAMLDocument: Sendable {
    /// The name of the file, for messages.
    public let name: String
    /// What the text says; an empty text says `{}`.
    public let value: JSON
    private let root: YAMLSyntax?

    public init(parsing text: [UInt8], name: String, limits: YAMLLimits = YAMLLimits()) throws(YAMLError) {
        self.name = name
        var reader = try YAMLTreeReader(text, limits: limits)
        root = try reader.document()
        value = root?.json ?? [:]
    }

    /// The line and the column, counted from 1, of the value at a path.
    public func position(of path: [String]) -> (line: Int, column: Int)? {
        guard var node = root else { return nil }
        for name in path {
            guard let child = node.child(name) else { return nil }
            node = child.value
        }
        return (node.place.line, node.place.column)
    }

    /// The line and the column, counted from 1, of the key that a path ends in.
    public func keyPosition(of path: [String]) -> (line: Int, column: Int)? {
        guard var node = root, !path.isEmpty else { return nil }
        var place = node.place
        for name in path {
            guard let child = node.child(name) else { return nil }
            (place, node) = child
        }
        return (place.line, place.column)
    }

    /// The version of libyaml in use.
    public static var libraryVersion: String { YAMLLibrary.version }
}
