/// A block that differs from the one that was shown before, with its place.
public struct BlockChange: Sendable, Hashable {
    /// The ids from the outermost block inwards, without its own; the changed one is the last. Empty if everything changed.
    public let path: [String]
    /// The new block.
    public let block: Block
}

extension Block {
    /// What has changed since `old` was shown. Only the innermost blocks that differ are named, unless blocks were added,
    /// removed or moved.
    public func changes(since old: Block) -> [BlockChange] {
        guard self != old else { return [] }
        guard hasSameFrame(as: old) else { return [BlockChange(path: [], block: self)] }
        let inner = zip(children, old.children).flatMap { child, before in
            child.changes(since: before).map { BlockChange(path: [child.id] + $0.path, block: $0.block) }
        }
        return inner.isEmpty ? [BlockChange(path: [], block: self)] : inner
    }

    /// Whether it can differ from `old` only inside its children.
    private func hasSameFrame(as old: Block) -> Bool {
        guard id == old.id, title == old.title, links == old.links, !children.isEmpty,
            children.map(\.id) == old.children.map(\.id)
        else { return false }
        return switch (content, old.content) {
        case (.stack(let new), .stack(let old)): new.axis == old.axis
        case (.split(let new), .split(let old)): new.axis == old.axis && new.fraction == old.fraction
        case (.tabs, .tabs): true
        case (.collapsible(let new), .collapsible(let old)): new.isOpen == old.isOpen
        default: false
        }
    }
}
