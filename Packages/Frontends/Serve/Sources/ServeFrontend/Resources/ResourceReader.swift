import Capabilities
import JSON
import MCPKit
import Registry
import Screens

/// Reads conversations and screens with the rights of a host.
struct ResourceReader: Sendable {
    let session: WorkbenchSession
    let caller: Caller
    let redactor: Redactor
    /// How long reading may take.
    let limit: Duration
    /// The largest content.
    let most: ByteCount

    /// How many rows of a long list are read.
    private static let mostRows = 1_000

    /// The conversations that may be read.
    func conversations() async throws -> [ToolLink] {
        let found = try await session.perform(
            ConversationActions.list, as: caller, output: SilentOutput(), limit: limit)
        return (found.json.array ?? []).compactMap { conversation in
            guard let id = conversation["id"]?.string else { return nil }
            let title = conversation["title"]?.string.map { redactor.redact($0) }
            return ToolLink(
                address: ResourceAddress.text(ofConversation: id), name: id, title: title,
                summary: conversation["updated"]?.string.map { "A conversation, changed \($0)" },
                mediaType: "text/markdown")
        }
    }

    /// The content of a resource.
    func content(_ address: ResourceAddress, named text: String) async throws -> ToolResource {
        let content: String
        let type: String
        switch address {
        case .conversation(let id):
            content = redactor.redact(try await conversation(id))
            type = "text/markdown"
        case .screen(let id, let given):
            let arguments = try session.newest.registry.screens.find(id).arguments(given)
            content = redactor.redact(try await screen(id, arguments)).text()
            type = "application/json"
        }
        guard content.utf8.count <= most.bytes else {
            throw ServeFailure(
                .tooLarge,
                "\(PlainText.escape(text)) has \(ByteCount(content.utf8.count).words), and serve.result-limit is "
                    + "\(most.words); raise the limit",
                exit: .failed)
        }
        return ToolResource(address: text, mediaType: type, content: .text(content))
    }

    private func conversation(_ id: String) async throws -> String {
        let found = try await session.perform(
            ConversationActions.one, ["conversation": .string(id)], as: caller, output: SilentOutput(), limit: limit)
        return found.json.string ?? ""
    }

    /// The first value of a screen, with the first rows of long lists.
    private func screen(_ id: String, _ arguments: JSONObject) async throws -> JSON {
        try await session.open(id, arguments, as: caller, output: SilentOutput()) { view in
            let block = try await withTimeLimit(limit, on: ContinuousClock()) { try await view.block() }
            guard let block else { throw SessionError.timedOut(limit) }
            return try await Self.filled(block).json
        }
    }

    private static func filled(_ block: Block) async throws -> Block {
        func with(_ content: Block.Content) -> Block {
            Block(content, id: block.id, title: block.title, links: block.links)
        }
        func filled(_ blocks: [Block]) async throws -> [Block] {
            var all: [Block] = []
            for block in blocks { all.append(try await Self.filled(block)) }
            return all
        }
        switch block.content {
        case .table(let table):
            guard case .source(let source) = table.rows else { return block }
            let page = try await source.rows(RowSource.Request(count: mostRows))
            let whole = Screens.Table(
                table.columns, .all(page.rows), id: table.rowID, links: table.rowLinks, detail: table.detail,
                empty: table.empty)
            return with(.table(whole.fitting().table))
        case .stack(let stack): return with(.stack(Stack(try await filled(stack.blocks), stack.axis)))
        case .tabs(let tabs): return with(.tabs(Tabs(try await filled(tabs.blocks))))
        case .split(let split):
            let both = try await filled([split.first, split.second])
            return with(.split(Split(both[0], both[1], split.axis, fraction: split.fraction)))
        case .collapsible(let part):
            return with(.collapsible(Collapsible(try await Self.filled(part.block), isOpen: part.isOpen)))
        default: return block
        }
    }
}
