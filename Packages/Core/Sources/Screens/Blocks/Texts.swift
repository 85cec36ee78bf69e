public import Capabilities
public import JSON

/// A paragraph.
struct Paragraph: BlockContent {
    static let kind = "text"
    let text: RichText

    static let fields: [Field<Paragraph>] = [Field("text", "The text in parts") { $0.text }]
    var size: BlockSize { BlockSize(bytes: text.runs.reduce(0) { $0 + $1.text.utf8.count }) }
}

/// A Markdown document.
public struct MarkdownText: BlockContent, Hashable {
    static let kind = "markdown"
    /// The document.
    public let text: String
    /// Whether more of it will come, so that its end may be unfinished.
    public let isOpen: Bool

    /// By default the document is complete.
    public init(_ text: String, isOpen: Bool = false) {
        self.text = text
        self.isOpen = isOpen
    }

    public static let fields: [Field<MarkdownText>] = [
        Field("text", "The document") { $0.text },
        Field("open", "Whether more of it will come") { $0.isOpen },
    ]
    var size: BlockSize { BlockSize(bytes: text.utf8.count) }
}

/// Source code.
public struct Code: BlockContent, Hashable {
    static let kind = "code"
    /// The code.
    public let text: String
    /// Its language, as in a fenced block of Markdown; nil if it is not known.
    public let language: String?

    /// By default the language is not known.
    public init(_ text: String, language: String? = nil) {
        self.text = text
        self.language = language
    }

    public static let fields: [Field<Code>] = [
        Field("text", "The code") { $0.text },
        Field("language", "Its language") { $0.language },
    ]
    var size: BlockSize { BlockSize(bytes: text.utf8.count + (language?.utf8.count ?? 0)) }
}

/// A change of one or more files.
public struct Diff: BlockContent, Hashable {
    static let kind = "diff"
    /// The change as a unified diff.
    public let text: String

    /// A change as a unified diff.
    public init(_ text: String) { self.text = text }

    public static let fields: [Field<Diff>] = [Field("text", "The change as a unified diff") { $0.text }]
    var size: BlockSize { BlockSize(bytes: text.utf8.count) }
}

/// Named values, such as the members of one record.
public struct Values: BlockContent, Hashable {
    static let kind = "values"
    /// The names and shapes.
    public let properties: [Schema.Property]
    /// The values by name. Those without a value are not shown.
    public let values: JSONObject

    /// Values of any kind.
    public init(_ properties: [Schema.Property], _ values: JSONObject) {
        self.properties = properties
        self.values = values
    }

    /// The members of a record.
    public init<Value: Record>(_ record: Value) {
        self.init(Value.fields.map(\.property), record.json.object ?? [:])
    }

    public static let fields: [Field<Values>] = [
        Field("properties", "The names and shapes") { $0.properties.map(Column.init) },
        Field("values", "The values by name") { JSON.object($0.values) },
    ]
    var size: BlockSize { BlockSize(nodes: values.count, bytes: values.textSize + properties.textSize) }
}

/// A property, for frontends.
struct Column: Record {
    let property: Schema.Property

    static let fields: [Field<Column>] = [
        Field("name", "The name of the member") { $0.property.name },
        Field("summary", "The meaning in one line") { $0.property.summary },
        Field("role", "How it is shown: plain, name, state, minor or detail") { column in
            switch column.property.role {
            case .plain: "plain"
            case .name: "name"
            case .state: "state"
            case .minor: "minor"
            case .detail: "detail"
            }
        },
        Field("schema", "The JSON Schema of the values") { JSON.object($0.property.schema.jsonSchema) },
    ]
}

extension JSONObject {
    /// The bytes of the texts inside, roughly.
    var textSize: Int { reduce(0) { $0 + $1.key.utf8.count + $1.value.textSize } }
}

extension JSON {
    /// The bytes of the texts inside, roughly.
    var textSize: Int {
        if let string { return string.utf8.count }
        // Even an empty one takes room.
        if let array { return array.reduce(array.count) { $0 + $1.textSize } }
        return object?.textSize ?? 8
    }
}

extension [Schema.Property] {
    /// The bytes of the texts in these columns.
    var textSize: Int { map(Column.init).json.textSize }
}

extension [Link] {
    /// The bytes of the texts in these links.
    var textSize: Int { isEmpty ? 0 : json.textSize }
}
