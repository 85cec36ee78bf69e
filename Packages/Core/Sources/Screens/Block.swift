public import Capabilities
public import JSON

/// A part of what a screen shows: its content, with an id that stays the same from value to value.
///
/// Whoever shows it keeps the focus, the selection and the scroll position by the ids of blocks, rows and nodes.
///
/// ```swift
/// Block.stack([
///     Block(.text("2 hosts")),
///     Block(.table(Table(readings, id: "city")), id: "readings"),
/// ])
/// ```
public struct Block: Sendable, Hashable {
    /// The id, unique among its siblings.
    public let id: String
    /// The title; nil for none.
    public let title: String?
    /// What can be done with it.
    public let links: [Link]
    /// What it shows.
    public let content: Content

    /// What a block shows.
    public indirect enum Content: Sendable, Hashable {
        /// In this order: a paragraph; a Markdown document; source code; a change as a unified diff; named values.
        case text(RichText), markdown(MarkdownText), code(Code), diff(Diff), values(Values)
        /// In this order: rows with columns; a tree; lines that grow; a conversation that grows.
        case table(Table), tree(Tree), log(Log), transcript(Transcript)
        /// In this order: steps with their states; spans over time; series of numbers; a number within a range; how far
        /// something is.
        case timeline(Timeline), waterfall(Waterfall), chart(Chart), gauge(Gauge), progress(ProgressBar)
        /// In this order: values to enter for an action; a text to enter for an action.
        case form(Form), composer(Composer)
        /// In this order: blocks below or beside each other; two blocks with a border; one of several blocks; a block
        /// that can be folded.
        case stack(Stack), split(Split), tabs(Tabs), collapsible(Collapsible)
        /// Why there is nothing to show.
        case placeholder(Placeholder)
    }

    /// - Parameter id: by default the name of the content's kind.
    public init(_ content: Content, id: String? = nil, title: String? = nil, links: [Link] = []) {
        self.id = id ?? content.record.kind
        self.title = title
        self.links = links
        self.content = content
    }

    /// Blocks below each other, or beside each other.
    public static func stack(
        _ blocks: [Block], _ axis: Stack.Axis = .vertical, id: String? = nil, title: String? = nil
    ) -> Block { Block(.stack(Stack(blocks, axis)), id: id, title: title) }

    /// The blocks directly inside it.
    public var children: [Block] {
        switch content {
        case .stack(let stack): stack.blocks
        case .split(let split): [split.first, split.second]
        case .tabs(let tabs): tabs.blocks
        case .collapsible(let collapsible): [collapsible.block]
        default: []
        }
    }

    /// The ids that are not unique where they must be, each with its place: those of siblings, rows, steps and nodes.
    public var repeatedIDs: [String] {
        let own: [String] =
            switch content {
            case .table(let table): if case .all(let rows) = table.rows { rows.map(table.id) } else { [] }
            case .timeline(let timeline): timeline.steps.map(\.id)
            case .waterfall(let waterfall): waterfall.bars.map(\.id)
            case .tree(let tree): tree.allIDs
            default: children.map(\.id)
            }
        var seen: Set<String> = []
        let repeated = own.filter { !seen.insert($0).inserted }
        return Set(repeated).sorted().map { "\(id) \($0)" } + children.flatMap(\.repeatedIDs)
    }

    /// The feeds that it shows.
    package var feeds: [any AnyFeed] {
        switch content {
        case .log(let log): [log.feed]
        case .transcript(let transcript): [transcript.feed]
        default: children.flatMap(\.feeds)
        }
    }

    /// The actions of the forms in it, each with the names of the arguments that it gets.
    package var entryActions: [(id: String, arguments: [String])] {
        switch content {
        case .form(let form): [(form.action, form.values.map(\.key) + (form.parameters ?? []))]
        case .composer(let composer): composer.targets
        default: children.flatMap(\.entryActions)
        }
    }

    /// The links of it, its rows and the blocks inside.
    public var allLinks: [Link] {
        var all = links
        switch content {
        case .table(let table): all += table.rowLinks + [table.detail].compactMap { $0 }
        case .tree(let tree): all += tree.nodeLinks + [tree.detail].compactMap { $0 }
        case .timeline(let timeline): all += timeline.rowLinks
        case .placeholder(let placeholder): all += [placeholder.retry].compactMap { $0 }
        default: break
        }
        return all + children.flatMap(\.allLinks)
    }
}

// MARK: Content

extension Block {
    /// Whether it has something to show, not only a frame for it and the reason why there is nothing. Asks the source of
    /// a long table for a row.
    ///
    /// A paragraph counts only if it is the whole value, because beside other blocks it explains what is missing.
    ///
    /// - Throws: what the source of a table throws.
    package func hasContent() async throws -> Bool {
        if case .text(let text) = content { return !text.plain.isEmpty }
        return try await hasContentBesideText()
    }

    private func hasContentBesideText() async throws -> Bool {
        switch content {
        case .text, .placeholder: return false
        case .markdown(let markdown): return !markdown.text.isEmpty
        case .code(let code): return !code.text.isEmpty
        case .diff(let diff): return !diff.text.isEmpty
        case .values(let values): return values.values.contains { $0.value != .null }
        case .table(let table):
            switch table.rows {
            case .all(let rows): return !rows.isEmpty
            case .source(let source): return try await !source.rows(RowSource.Request(count: 1)).rows.isEmpty
            }
        case .tree(let tree): return !tree.nodes.isEmpty
        // A feed that has dropped its oldest entries has newer ones.
        case .log(let log): return log.feed.end > 0
        case .transcript(let transcript): return transcript.feed.end > 0
        case .timeline(let timeline): return !timeline.steps.isEmpty
        case .waterfall(let waterfall): return !waterfall.bars.isEmpty
        case .chart(let chart): return chart.series.contains { $0.values.contains(where: \.isFinite) }
        case .gauge, .progress, .form, .composer: return true
        case .stack, .split, .tabs, .collapsible:
            for child in children where try await child.hasContentBesideText() { return true }
            return false
        }
    }
}

// MARK: JSON

/// A kind of content, declared once for its JSON and for its schema.
protocol BlockContent: Record {
    /// The word that names the kind.
    static var kind: String { get }
    /// How much it is, without blocks inside.
    var size: BlockSize { get }
}

extension BlockContent {
    var kind: String { Self.kind }
}

/// How much a block is.
struct BlockSize: Sendable, Hashable {
    /// Blocks, rows, nodes and points.
    var nodes = 0
    /// The bytes of all texts.
    var bytes = 0

    static func += (left: inout BlockSize, right: BlockSize) {
        left.nodes += right.nodes
        left.bytes += right.bytes
    }
}

extension Block.Content {
    var record: any BlockContent {
        switch self {
        case .text(let text): Paragraph(text: text)
        case .markdown(let markdown): markdown
        case .code(let code): code
        case .diff(let diff): diff
        case .values(let values): values
        case .table(let table): table
        case .tree(let tree): tree
        case .log(let log): log
        case .transcript(let transcript): transcript
        case .timeline(let timeline): timeline
        case .waterfall(let waterfall): waterfall
        case .chart(let chart): chart
        case .gauge(let gauge): gauge
        case .progress(let progress): progress
        case .form(let form): form
        case .composer(let composer): composer
        case .stack(let stack): stack
        case .split(let split): split
        case .tabs(let tabs): tabs
        case .collapsible(let collapsible): collapsible
        case .placeholder(let placeholder): placeholder
        }
    }

    /// Every kind, for the schema.
    static let kinds: [any BlockContent.Type] = [
        Paragraph.self, MarkdownText.self, Code.self, Diff.self, Values.self, Table.self, Tree.self, Log.self,
        Transcript.self, Timeline.self, Waterfall.self, Chart.self, Gauge.self, ProgressBar.self, Form.self,
        Composer.self,
        Stack.self, Split.self, Tabs.self, Collapsible.self, Placeholder.self,
    ]
}

extension Block: OutputValue {
    public static var schema: Schema { .any }

    /// The block for other frontends: the content's members, besides `type`, `id`, `title` and `links`.
    public var json: JSON {
        let record = content.record
        var object: JSONObject = ["type": .string(record.kind), "id": .string(id)]
        if let title { object.append("title", .string(title)) }
        if !links.isEmpty { object.append("links", links.json) }
        for (name, value) in record.json.object ?? [:] { object.append(name, value) }
        return .object(object)
    }

    /// JSON Schema 2020-12 of all blocks, below `$defs` as `block`.
    public static var jsonSchema: JSONObject {
        var kinds: [JSON] = []
        for kind in Content.kinds {
            let properties: [Schema.Property] =
                [
                    Schema.Property("type", "The kind", .string, keywords: ["const": .string(kind.kind)]),
                    Schema.Property("id", "The id, unique among its siblings", .string),
                    Schema.Property("title", "The title", .optional(.string)),
                    Schema.Property("links", "What can be done with it", .optional([Link].schema)),
                ] + kind.properties
            kinds.append(.object(Schema.record(properties).jsonSchema(accepting: .unknownMembers)))
        }
        return ["oneOf": .array(kinds)]
    }

    /// A reference to the schema of a block, as the keyword of a property.
    static let reference: JSONObject = ["$ref": "#/$defs/block"]
    /// The same for a list of blocks.
    static let references: JSONObject = ["items": .object(reference)]
}

extension BlockContent {
    static var properties: [Schema.Property] { fields.map(\.property) }
}

// MARK: Limits

/// A value is too large to be shown.
public struct BlockTooLarge: Failure, Hashable {
    /// The largest number of blocks, rows, nodes and points.
    public static let mostNodes = 10_000
    /// The largest number of bytes in texts.
    public static let mostBytes = 1 << 20

    /// The id of the largest block.
    public let block: String
    let size: BlockSize

    public var code: String { "screen.too-large" }
    public var exit: ExitCode { .failed }
    public var message: String {
        "the screen has \(size.nodes) rows and blocks with \(ByteCount(size.bytes).words) of text, most of it in "
            + "\(block.quotedForMessage); at most \(Self.mostNodes) and \(ByteCount(Self.mostBytes).words) are shown. "
            + "A longer list needs a source of rows, and a longer text a feed"
    }
}

extension Block {
    /// The size of it and all blocks inside.
    var size: BlockSize {
        var size = ownSize
        for child in children { size += child.size }
        return size
    }

    private var ownSize: BlockSize {
        var size = content.record.size
        size.nodes += 1
        size.bytes += id.utf8.count + (title?.utf8.count ?? 0) + links.textSize
        return size
    }

    /// Why it is too large to be shown; nil if it is not.
    public var excess: BlockTooLarge? {
        let total = size
        guard total.nodes > BlockTooLarge.mostNodes || total.bytes > BlockTooLarge.mostBytes else { return nil }
        var open = [self]
        var largest = (id: id, size: BlockSize())
        while let block = open.popLast() {
            let own = block.ownSize
            if max(own.nodes, own.bytes / 100) > max(largest.size.nodes, largest.size.bytes / 100) {
                largest = (block.id, own)
            }
            open += block.children
        }
        return BlockTooLarge(block: largest.id, size: total)
    }
}
