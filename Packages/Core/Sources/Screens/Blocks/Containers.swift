public import Capabilities
import JSON

/// Blocks below or beside each other.
public struct Stack: BlockContent, Hashable {
    static let kind = "stack"

    /// How the blocks are arranged.
    public enum Axis: String, Choice {
        /// Below each other.
        case vertical
        /// Beside each other.
        case horizontal
    }

    /// The blocks in order.
    public let blocks: [Block]
    /// How they are arranged.
    public let axis: Axis

    /// By default the blocks are below each other.
    public init(_ blocks: [Block], _ axis: Axis = .vertical) {
        self.blocks = blocks
        self.axis = axis
    }

    public static let fields: [Field<Stack>] = [
        Field("axis", "How the blocks are arranged") { $0.axis },
        Field(Schema.Property("blocks", "The blocks in order", .array(.any), keywords: Block.references)) {
            $0.blocks.json
        },
    ]

    var size: BlockSize { BlockSize() }
}

/// Two blocks with a border between them.
public struct Split: BlockContent, Hashable {
    static let kind = "split"
    /// The block above, or on the left.
    public let first: Block
    /// The block below, or on the right.
    public let second: Block
    /// How they are arranged.
    public let axis: Stack.Axis
    /// The part of the room that the first block gets, from 0 to 1.
    public let fraction: Double

    /// By default both get the same room, beside each other.
    public init(_ first: Block, _ second: Block, _ axis: Stack.Axis = .horizontal, fraction: Double = 0.5) {
        self.first = first
        self.second = second
        self.axis = axis
        self.fraction = fraction
    }

    public static let fields: [Field<Split>] = [
        Field("axis", "How they are arranged") { $0.axis },
        Field("fraction", "The part of the room that the first block gets, from 0 to 1") { $0.fraction },
        Field(Schema.Property("first", "The block above, or on the left", .any, keywords: Block.reference)) {
            $0.first.json
        },
        Field(Schema.Property("second", "The block below, or on the right", .any, keywords: Block.reference)) {
            $0.second.json
        },
    ]

    var size: BlockSize { BlockSize() }
}

/// Blocks of which one is shown at a time, chosen by their titles.
public struct Tabs: BlockContent, Hashable {
    static let kind = "tabs"
    /// The blocks in order; each has a title.
    public let blocks: [Block]

    /// Blocks with titles.
    public init(_ blocks: [Block]) { self.blocks = blocks }

    public static let fields: [Field<Tabs>] = [
        Field(
            Schema.Property(
                "blocks", "The blocks in order; each has a title", .array(.any), keywords: Block.references)
        ) { $0.blocks.json }
    ]

    var size: BlockSize { BlockSize() }
}

/// A block that can be folded away. Its title stays.
public struct Collapsible: BlockContent, Hashable {
    static let kind = "collapsible"
    /// What is seen while it is open.
    public let block: Block
    /// Whether it is open at first.
    public let isOpen: Bool

    /// By default it is folded at first.
    public init(_ block: Block, isOpen: Bool = false) {
        self.block = block
        self.isOpen = isOpen
    }

    public static let fields: [Field<Collapsible>] = [
        Field("open", "Whether it is open at first") { $0.isOpen },
        Field(Schema.Property("block", "What is seen while it is open", .any, keywords: Block.reference)) {
            $0.block.json
        },
    ]

    var size: BlockSize { BlockSize() }
}

/// Why there is nothing to show.
public struct Placeholder: BlockContent, Hashable {
    static let kind = "placeholder"

    /// The reasons.
    public enum Reason: String, Choice {
        /// In this order: it is being read; there is nothing; it cannot be shown.
        case loading, empty, failed
    }

    /// The reason.
    public let reason: Reason
    /// What happened, and what to do next.
    public let message: String
    /// What to do about it; nil for nothing in particular.
    public let retry: Link?

    /// By default nothing in particular can be done about it.
    public init(_ reason: Reason, _ message: String, retry: Link? = nil) {
        self.reason = reason
        self.message = message
        self.retry = retry
    }

    public static let fields: [Field<Placeholder>] = [
        Field("reason", "The reason", .state) { $0.reason },
        Field("message", "What happened, and what to do next") { $0.message },
        Field("retry", "What to do about it") { $0.retry },
    ]

    var size: BlockSize { BlockSize(bytes: message.utf8.count + (retry.map { [$0].textSize } ?? 0)) }
}
